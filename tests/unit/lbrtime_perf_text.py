# SPDX-License-Identifier: GPL-2.0
"""test_lbrtime.sh: write perf.txt, the output of perf script for the program in cycles.truth.

A sample does not empty the registers, of which there are 32.
"""
depth, out = 32, []
regs = {}
for line in open("cycles.truth"):
    f = line.rstrip("\n").split("\t")
    if f[0] == "M":
        out.append((0, f"prog 700/700 [000] 1.000000000: PERF_RECORD_MMAP2 {f[1]}/{f[1]}: "
                       f"[{f[2]}({f[3]}) @ {f[4]} 08:01 12 0]: r-xp {f[5]}"))
    elif f[0] == "S":
        head = f
    elif f[5] != "-":
        regs.setdefault(head[2], []).insert(0, (f[4], f[5]))
    else:
        ts = int(head[1])
        brs = " ".join(f" {a}/{b}/P/-/-/0" for a, b in regs.get(head[2], [])[:depth])
        out.append((ts, f"prog 700/{head[4]} [{int(head[2]):03}] {ts // 10**9}.{ts % 10**9:09}: "
                        f"{int(f[4], 16):16x} {f[1]} {brs}"))
out.sort(key=lambda o: o[0])
open("perf.txt", "w").write("\n".join(o[1] for o in out) + "\n")
