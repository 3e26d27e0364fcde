#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
usage: lbr_hidden.py SAMPLES HELD DENSE >PERF.txt 2>TRUTH

Prints, as perf script does, what perf record -e cycles:u -c PERIOD -j any_call,any_ret records
of a program: main calls one of 60 functions by chance, each from a place of its own. In a part
HELD of the intervals, the kernel has 2 to 6 us in the middle: the counter stops, the cycles of
the LBR go on, and no branch shows it. In a part DENSE of the intervals, visits are so short that
the registers hold only the last ones. Samples hit short visits, so that the others' begins are known.

TRUTH: of all time, % that branches show, but in an interval with time in the kernel, which may be
in any of its visits; then % in such intervals, shown by branches or not.
"""
import random
import sys

NS, PERIOD, DEPTH = 0.5, 24000, 32


def main():
    samples, held, dense = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    rng = random.Random(20261129)
    ring, wall, start, total, hidden, some, tail = [], 0, 0, 0, 0, 0, 0
    # User cycles since the last sample
    counted, longest, stay, kernel, f = 0, 3000, 0, 0, 0
    while True:
        returns = len(ring) and ring[-1][2] == "CALL"
        if not returns:
            f = rng.randrange(60)
        cycles = rng.randrange(10, 20)
        if returns and PERIOD - counted > 150:
            cycles = min(rng.randrange(longest // 2, longest), PERIOD - counted - 60)
        # By their bytes, functions may take as long
        if returns:
            branch = f"f{f}+0x{longest:x}", f"main+{16 * f + 5:#x}", "RET"
        else:
            branch = f"main+{16 * f:#x}", f"f{f}+0x0", "CALL"
        extra = 0
        if counted + cycles >= PERIOD:
            now = wall + PERIOD - counted
            time = round(1e9 + now * NS)
            print(f"prog 48/48 [000] {time // 10**9}.{time % 10**9:09}: 401000 {branch[0].split('+')[0]}+0x4 "
                  + " ".join(f"{b[3][0]}/{b[3][1]}/P/-/-/{b[1]}/{b[2]}" for b in reversed(ring)))
            if start:
                total += now - start
                shown = now - max(start, ring[0][0] - ring[0][1])
                # If branches were lost, too, after the sample before, it was not measured
                # how long it is into its visit
                hidden += tail if shown == now - start else 0
                tail = 0
                if kernel:
                    some += now - start
                    if shown == now - start:
                        hidden += shown
                    else:
                        tail = shown
            samples -= 1
            if not samples:
                break
            start, counted, kernel = now, counted - PERIOD, 0
            longest = 800 if rng.random() < dense else 3000
            stay = rng.randrange(4000, 12000) if rng.random() < held else 0
        elif counted >= PERIOD / 2 and stay:
            extra = kernel = stay
            stay = 0
        counted += cycles
        wall += cycles + extra
        ring.append((wall, cycles + extra, branch[2], branch))
        del ring[:-DEPTH]
    print(f"{100 * hidden / total:.2f} {100 * some / total:.2f}", file=sys.stderr)


main()
