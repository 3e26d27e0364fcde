#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# perf's own filters refuse ctlchart(), with an error and without a chart; they take
# ordinary filters as ever, beside a chart in ftrace.
. "$TRACERIG_TOP/tests/guest/functions"

need_ctlchart
call ucl=1s >"$complete/filter"
python3 - "$(cat "$complete/id")" "$(call ucl=1s)" <<'END'
import ctypes, errno, fcntl, os, struct, sys

PERF_EVENT_OPEN = 298
SET_FILTER = 0x40082406
id, call = int(sys.argv[1]), sys.argv[2]
libc = ctypes.CDLL(None, use_errno=True)

# struct perf_event_attr, PERF_ATTR_SIZE_VER0: type tracepoint, disabled
attr = ctypes.create_string_buffer(struct.pack("=IIQQQQQ", 2, 64, id, 0, 0, 0, 1) + bytes(16), 64)

def set_filter(text):
    fd = libc.syscall(PERF_EVENT_OPEN, attr, -1, 0, -1, 0)
    assert fd >= 0, os.strerror(ctypes.get_errno())
    try:
        fcntl.ioctl(fd, SET_FILTER, ctypes.create_string_buffer(text.encode()))
        return 0
    except OSError as e:
        return e.errno
    finally:
        os.close(fd)

for text in call, "nr_sector > 8 && " + call, "!" + call:
    assert set_filter(text) == errno.EINVAL, text
assert set_filter("nr_sector > 8") == 0
END
same 1 "$(grep -c '^chart: ' "$complete/ctlchart")" "charts in ftrace after perf was refused"
