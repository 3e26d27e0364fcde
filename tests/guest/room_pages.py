# SPDX-License-Identifier: GPL-2.0
"""schedz-room.sh: check that most of the ring buffer's pages is used."""
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
# A marker: header, common fields, address, text and its end, as a multiple of 4
used = size + 100 * (4 + 8 + 8 + 44)
print(f"{blocks} blocks of {size} bytes and 100 markers in {pages} pages: "
      f"{used * 100 // (pages * 4080)} % of them is used")
if blocks < 20:
    sys.exit("too few blocks")
if used < 0.8 * pages * 4080:
    sys.exit("more than a fifth of the pages is unused")
