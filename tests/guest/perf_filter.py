# SPDX-License-Identifier: GPL-2.0
"""usage: perf_filter.py EVENT-ID CALL

Check that perf refuses the ctlchart() CALL as filter of an event, alone and in an expression.
"""
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
