# SPDX-License-Identifier: GPL-2.0
"""usage: tracecast_marks_check.py REPORT COUNT RECORDS

The marks of tracecast_marks.py are in REPORT in order, each once with all its bytes, and
RECORDS in all.
"""
import re, sys
lines = [l for l in open(sys.argv[1]) if re.search(r"\[\d+\]", l)]
marks = [re.search(r"mark (\d+) (x*)", l) for l in lines]
marks = [(int(m[1]), len(m[2])) for m in marks if m]
n = int(sys.argv[2])
assert marks == [(i, 2500 if i % 100 == 0 else i % 60) for i in range(n)] + [(n, 0)], \
    (len(marks), [m for i, m in enumerate(marks) if m[0] != i][:5])
assert len(lines) == int(sys.argv[3]), (len(lines), sys.argv[3])
assert not any("DROPPED" in l for l in open(sys.argv[1]))
