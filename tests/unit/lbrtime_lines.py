# SPDX-License-Identifier: GPL-2.0
# Of test_lbrtime.sh, in its directory of results.
import random
random.seed(20261123)
# main calls A, which calls f, g or h, which call spin; all time is in these
now, ring, due, times = 0, [], 50000, [0]
text, truth = open("callers.txt", "w"), open("callers.truth", "w")
def run(ns, place):
    global now, due, times
    while now + ns >= due:
        ns -= due - now
        times[-1] += due - now
        now = due
        stack = " ".join(f"{a}/{b}/P/-/-/0" for a, b in reversed(ring[-32:]))
        print(f"# lbrtime: {5 if len(ring) > 32 else 4:x} {len(ring)}", file=text)
        ring.clear()
        print(f"prog 7/7 [000] {1 + now // 10**9}.{now % 10**9:09d}: 401000 {place} {stack}", file=text)
        print(*times, file=truth)
        times, due = [0], due + 50000
    now += ns
    times[-1] += ns
def go(start, end):
    ring.append((start, end))
    times.append(0)
for i in range(4000):
    f, ns = random.choice([("f", 15000), ("g", 7500), ("h", 30000)])
    site = "A+0x" + str(" fgh".index(f)) + "0"
    for ns, place, end in [(20, "main+0x10", "A+0x0"), (5, site, f + "+0x0"), (5, f + "+0x4", "spin+0x0"),
                           (ns, "spin+0x20", f + "+0x9"), (5, f + "+0xf", site + "5"), (5, "A+0x905", "main+0x15")]:
        run(ns, place)
        go(place, end)
