# SPDX-License-Identifier: GPL-2.0
"""test_lbrtime.sh: the branches in again.txt are those of cycles.truth."""
import re
truth, head, n = {}, None, 0
for line in open("cycles.truth"):
    f = line.rstrip("\n").split("\t")
    if f[0] == "S":
        head = truth.setdefault((int(f[1]), int(f[2])), [])
    elif f[0] == "V" and f[5] != "-":
        head.insert(0, f"{f[4]}/{f[5]}")
for line in open("again.txt"):
    if line[0] == "#" or "PERF_RECORD_" in line:
        continue
    m = re.match(r" *\S+ +7[01]0/\d+ +\[(\d+)\] +(\d+)\.(\d{9}): +[0-9a-f]+ lt_f\d+ ?(.*)$", line)
    got = [b.split("/-/-/-/")[0] for b in m[4].split()]
    assert got == truth[int(m[2] + m[3]), int(m[1])], line
    n += len(got)
assert n > 10000
