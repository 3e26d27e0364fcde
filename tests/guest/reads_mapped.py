# SPDX-License-Identifier: GPL-2.0
"""Touch 40 scattered bytes of the mapped file mnt/mapped."""
import mmap, random
open("/proc/self/comm", "w").write("mapped")
random.seed(1)
with open("mnt/mapped", "rb") as f:
    m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
    for i in range(40):
        m[random.randrange(len(m))]
