# SPDX-License-Identifier: GPL-2.0
"""test_ioreq.sh: 120 damaged copies of three traces, each with a few random bytes."""
import random
random.seed(1)
data = [open(name, "rb").read() for name in ("b.dat", "small.dat", "small-stock.dat")]
for i in range(120):
    bad = bytearray(data[i % 3])
    for _ in range(1 + i % 5):
        bad[random.randrange(len(bad))] = random.randrange(256)
    open(f"bad{i}.dat", "wb").write(bad)
