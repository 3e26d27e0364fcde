# SPDX-License-Identifier: GPL-2.0
"""Reads and writes of random blocks of /dev/vda."""
import mmap, os, random
random.seed(1)
buffer = mmap.mmap(-1, 4096)
fd = os.open("/dev/vda", os.O_RDWR | os.O_DIRECT)
for i in range(1500):
    at = random.randrange(16000) * 4096
    if i % 3:
        os.preadv(fd, [buffer], at)
    else:
        os.pwritev(fd, [buffer], at)
