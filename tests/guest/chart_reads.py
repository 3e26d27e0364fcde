# SPDX-License-Identifier: GPL-2.0
"""usage: chart_reads.py DISK SLOW

Four processes read 1000 blocks each of DISK; some of the last reads are of SLOW.
"""
import mmap, os, random, sys

for process in range(4):
    if os.fork() == 0:
        random.seed(process)
        buffer = mmap.mmap(-1, 4096)
        usual, slow = (os.open(path, os.O_RDONLY | os.O_DIRECT) for path in sys.argv[1:])
        for i in range(1000):
            late = i > 850 and random.random() < 0.1
            os.preadv(slow if late else usual, [buffer], random.randrange(100000) * 4096)
        os._exit(0)
for process in range(4):
    assert os.wait()[1] == 0
