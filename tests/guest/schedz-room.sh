#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# vm: --cpus 1
# timeout: 300
#
# Blocks that share the ring buffer with a few other records leave little of its
# pages unused.  Without a look at the room in the page, each block would need a
# page of its own, and the record before it another.
set -euo pipefail

cd /sys/kernel/tracing
echo 20000 >buffer_size_kb
echo >trace
echo 1 >events/schedz/schedz_block/enable
python3 - <<'PY'
import os
r, w = os.pipe(), os.pipe()
if os.fork() == 0:
    while os.read(r[0], 1) == b"x":
        os.write(w[1], b"x")
    os._exit(0)
marker = os.open("trace_marker", os.O_WRONLY)
for n in range(30000):
    if n % 300 == 0:
        os.write(marker, b"%-40d\n" % n)
    os.write(r[1], b"x")
    os.read(w[0], 1)
os.write(r[1], b"e")
os.wait()
PY
echo 0 >tracing_on
echo 0 >events/schedz/schedz_block/enable
python3 - <<'PY'
import os, re, sys
pages = used = 0
fd = os.open("per_cpu/cpu0/trace_pipe_raw", os.O_RDONLY | os.O_NONBLOCK)
while True:
    try:
        page = os.read(fd, 4096)
    except BlockingIOError:
        break
    if not page:
        break
    pages += 1
blocks, size = map(int, re.search(r"blocks: (\d+) of (\d+) bytes", open("schedz").read()).groups())
# a marker: header, common fields, address, text and its end, as a multiple of 4
used = size + 100 * (4 + 8 + 8 + 44)
print(f"{blocks} blocks of {size} bytes and 100 markers in {pages} pages: "
      f"{used * 100 // (pages * 4080)} % of them is used")
if blocks < 20:
    sys.exit("too few blocks")
if used < 0.8 * pages * 4080:
    sys.exit("more than a fifth of the pages is unused")
PY
