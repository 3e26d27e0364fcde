#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
usage: lbr_spin.py SAMPLES NS_PER_CYCLE INTERRUPT RESTART

Prints, as perf script does, what perf record -e cycles:u -c 50000 -j any_call,any_ret,u records of
a program with few long functions: main calls one of three functions by chance, each of which
calls spin for 9000, 18000 or 36000 cycles, so that a sample is nearly always in spin. A sample's
interrupt takes INTERRUPT ns of the interval after it. With RESTART, the count of cycles begins
anew after it; 32 registers keep the oldest branches, as perf reads them.
"""
import random
import sys

PERIOD, DEPTH = 50000, 32


def program(rng):
    """Branches: cycles of the visit that it ends, from, to, kind"""
    while True:
        f, spin = rng.choice((("f1", 18004), ("f2", 9004), ("f3", 36004)))
        yield 20, "main+0x2c", "top+0x0", "CALL"
        yield 5, "top+0x" + f[1], f + "+0x0", "CALL"
        yield 2, f + "+0xb", "spin+0x0", "CALL"
        yield spin, "spin+0x24", f + "+0x10", "RET"
        yield 4, f + "+0x1c", "top+0x1" + f[1], "RET"
        yield 5, "top+0x20", "main+0x31", "RET"


def main():
    samples, ns, interrupt, restart = (float(a) for a in sys.argv[1:5])
    rng = random.Random(20261124)
    ring, at, measured, sample_at, late = [], 0, 0, PERIOD, 1e9
    branches = program(rng)
    while samples > 0:
        cycles, source, target, kind = next(branches)
        end = at + cycles
        while sample_at < end and samples > 0:
            time = round(late + sample_at * ns)
            where = source.split("+")[0] + "+0x4"
            print(f"prog 48/48 [000] {time // 10**9}.{time % 10**9:09}: 401000 {where} "
                  + " ".join(f"{s}/{t}/P/-/-/{c}/{k}" for c, s, t, k in reversed(ring)))
            late += interrupt * rng.uniform(0.97, 1.03)
            if restart:
                measured = sample_at
            # A counter's interrupt skids
            sample_at += PERIOD + rng.randrange(-20, 20)
            samples -= 1
        ring.append((min(end - measured, 65535), source, target, kind))
        del ring[:-DEPTH]
        at = measured = end


main()
