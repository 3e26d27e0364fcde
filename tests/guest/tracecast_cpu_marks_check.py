# SPDX-License-Identifier: GPL-2.0
"""usage: tracecast_cpu_marks_check.py REPORT CPUS COUNT once|again [EVERY]

COUNT marks of tracecast_cpu_marks.py are in REPORT of each CPU, recorded there, in order, each
with all its bytes and once; with "again", some may be there twice.
"""
import re, sys
cpus, count = int(sys.argv[2]), int(sys.argv[3])
every, large = (int(sys.argv[5]), 2500) if sys.argv[5:] else (100, 7)
got = [[] for _ in range(cpus)]
for line in open(sys.argv[1]):
    m = re.search(r"\[(\d+)\].*: cpu (\d+) mark (\d+) (x*)", line)
    if not m:
        assert "mark" not in line, line
        continue
    assert int(m[1]) == int(m[2]), line
    n = int(m[3])
    assert len(m[4]) == (large if n % every == 0 else n % 60), line
    got[int(m[2])].append(n)
for cpu in range(cpus):
    marks = got[cpu] if sys.argv[4] == "once" else sorted(set(got[cpu]))
    assert marks == list(range(count)), (cpu, len(marks), [i for i, n in enumerate(marks) if n != i][:5])
