# SPDX-License-Identifier: GPL-2.0
"""usage: block_reads.py LOG DISK FIRST COUNT [PAUSE]

Read COUNT blocks of DISK, one after the other with PAUSE seconds between them, and append
the sector of each and its duration in ns to LOG.
"""
import mmap, os, sys, time

log, disk, first, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
pause = float(sys.argv[5]) if len(sys.argv) > 5 else 0
buffer = mmap.mmap(-1, 4096)
fd = os.open(disk, os.O_RDONLY | os.O_DIRECT)
with open(log, "a") as out:
    for block in range(first, first + count):
        start = time.monotonic_ns()
        assert os.preadv(fd, [buffer], block * 4096) == 4096
        print(block * 8, time.monotonic_ns() - start, file=out)
        time.sleep(pause)
