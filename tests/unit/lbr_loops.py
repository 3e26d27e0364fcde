# SPDX-License-Identifier: GPL-2.0
"""test_lbrtime_cut.sh: samples of a program that runs in loops, as perf script prints them."""
import random
random.seed(4)
def body(rounds):
    for outer in range(rounds):
        base = 0x401000 + 0x1000 * random.choice([0, 0, 0, 1, 2])
        for inner in range(random.choice([3, 3, 3, 5, 40])):
            for i in range(random.choice([6, 11])):
                yield base + 0x20 * i, base + 0x20 * i + 0x10
        yield base + 0x800, 0x400100
stream = list(body(400))
at, time = 0, 10**9
for sample in range(2000):
    at += 499_979
    time += 1_000_000 + random.randrange(2000)
    r = [stream[(at - k) % len(stream)] for k in range(16)]
    print(f"p 9/9 [000] {time // 10**9}.{time % 10**9:09}: {r[0][1]:x} [unknown] "
          + " ".join(f"{f:#x}/{t:#x}/P/-/-/0" for f, t in r))
