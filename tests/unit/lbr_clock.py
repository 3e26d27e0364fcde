#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
usage: lbr_clock.py SAMPLES CLOCK MODE INTERRUPT RESTART SEED

Prints samples with branches, as perf script does, of a program on a CPU whose clock changes: main
calls functions that last 1000 to 18,000 cycles, in random order.

CLOCK is the clock in GHz: A,B,... in equal parts of the recording, or A-B from A to B in a
straight line; and joined by +, those of several CPUs, each of which runs the program and has
SAMPLES. MODE is perf (a sample each 100,000 cycles, and which branches are new is not
recorded) or lbrprof (a sample each 50 us, and it is recorded). A sample's interrupt takes
INTERRUPT ns of the interval after it. With RESTART, the count of cycles begins anew after it.
"""
import heapq
import random
import sys

DEPTH, CYCLES, NS = 32, 100000, 50000
RECORDED = 4 + 8  # enum lbrprof_flags: targets, cycles


def clock(text, part):
    """Return: GHz at this part of the recording, 0 to 1."""
    if "-" in text:
        first, last = map(float, text.split("-"))
        return first + (last - first) * part
    steps = [float(a) for a in text.split(",")]
    return steps[min(int(part * len(steps)), len(steps) - 1)]


def program(rng):
    """Branches: cycles of the visit that it ends, from, to, kind"""
    lengths = [1000 + 190 * ((7 * f) % 90) for f in range(60)]
    while True:
        f = rng.randrange(len(lengths))
        site = 16 * f
        yield rng.randrange(2900, 3100), f"main+{site + 5:#x}", f"f{f}+0x0", "CALL"
        yield lengths[f] + rng.randrange(40), f"f{f}+0x24", f"main+{site + 10:#x}", "RET"


def cpu(number, samples, text, mode, interrupt, restart, seed):
    """Yield: time and text of each sample of a CPU"""
    rng = random.Random(seed)
    branches = program(rng)
    ring, new, time, measured = [], 0, 1e9 + 1000 * number, 0
    cycles, source, target, kind = next(branches)
    for done in range(samples):
        ghz = clock(text, done / samples)
        # Cycles to the next sample; a counter's interrupt skids
        left = CYCLES if mode == "perf" else NS * ghz
        left += rng.randrange(-20, 20)
        while cycles <= left:
            left -= cycles
            time += cycles / ghz
            ring.append((min(measured + cycles, 65535), source, target, kind))
            new += 1
            del ring[:-DEPTH]
            measured = 0
            cycles, source, target, kind = next(branches)
        cycles -= left
        measured += left
        time += left / ghz
        held = ring if mode == "perf" else ring[-new:] if new else []
        flags = f"# lbrtime: {RECORDED | (new > DEPTH):x} {new}\n" if mode == "lbrprof" else ""
        ns = round(time)
        where = source.split("+")[0] + "+0x4"
        yield ns, (f"{flags}prog {48 + number}/{48 + number} [{number:03}] {ns // 10**9}.{ns % 10**9:09}: 401000 {where} "
                   + " ".join(f"{s}/{t}/P/-/-/{round(c)}/{k}" for c, s, t, k in reversed(held)))
        time += interrupt * rng.uniform(0.97, 1.03)
        if restart:
            measured = 0
        new = 0


def main():
    samples, clocks, mode, interrupt, restart, seed = sys.argv[1:]
    cpus = (cpu(i, int(samples), text, mode, float(interrupt), restart == "1", 1000 * i + int(seed))
            for i, text in enumerate(clocks.split("+")))
    for _, text in heapq.merge(*cpus):
        print(text)


main()
