# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_stacks.sh: 60 damaged copies of small.dat, most of them in its records."""
import random
random.seed(3)
data = open("small.dat", "rb").read()
start = data.index(b"io_map", data.index(b"print fmt"))
for i in range(60):
    bad = bytearray(data)
    for _ in range(1 + i % 4):
        # Mostly the records, which are at the end
        bad[random.randrange(len(bad) - 8192 if i % 3 else 0, len(bad))] = random.randrange(256)
    open(f"bad{i}.dat", "wb").write(bad)
