# SPDX-License-Identifier: GPL-2.0
"""
usage: lbr_begins.py SEED DEPTH BODY SAMPLES ROUNDS CYCLES

Prints, as perf script does, SAMPLES samples of a program that calls functions at random and
runs loops of ROUNDS rounds with BODY branches between them. Each loop is sampled twice: soon
after its beginning, and, DEPTH branches later or more, near its end or soon after it. No interval
is whole.
"""
import random
import sys

seed, depth, body, samples, rounds, with_cycles = map(int, sys.argv[1:7])
rng = random.Random(seed)


def calls():
    """Straight code: functions of 3 to 9 branches"""
    for _ in range(rng.randrange(12, 30)):
        base = 0x400000 + 0x1000 * (int(rng.paretovariate(0.7)) % 200)
        for i in range(3 + (base >> 12) % 7):
            yield base + 0x20 * i, base + 0x20 * i + 0x10


ring, time = [], 10**9


def sample():
    global samples
    samples -= 1
    print(f"p 9/9 [000] {time // 10**9}.{time % 10**9:09}: {ring[-1][1]:x} [unknown] "
          + " ".join(f"{f:#x}/{t:#x}/P/-/-/{cycles(f)}" for f, t in reversed(ring)))


def cycles(address):
    """Of 1 ns, for the visit that ends with a branch there"""
    return with_cycles * (20 + (address >> 5) * 7 % 31)


def run(branch):
    global time
    time += cycles(branch[0]) or 30
    ring.append(branch)
    del ring[:-depth]


while samples > 0:
    for branch in calls():
        run(branch)
    base = 0x800000 + 0x10000 * rng.randrange(200)
    first = rng.randrange(2 * body + 1, 2 * depth)
    second = first + depth + rng.randrange(depth) + body * rounds
    for n in range(second + rng.randrange(depth // 2)):
        if n in (first, second):
            sample()
        i = n % body
        run((base + 0x20 * i, base + 0x20 * (i + 1) % (0x20 * body)))
