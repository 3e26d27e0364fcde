# SPDX-License-Identifier: GPL-2.0
"""usage: tracerig_branches.py window|check TRUTH

Of what gen_lbr printed: the begin and end of an operation of thread 701, from one of its
samples to another, for which all visits are known; and whether tracerig explain, on
standard input, found the functions with the most time in it, by lbrtime.
"""
import collections
import json
import sys

visits, samples, mine = [], [], False
with open(sys.argv[2]) as f:
    for line in f:
        field = line.rstrip("\n").split("\t")
        if field[0] == "S":
            mine = field[4] == "701"
            if mine:
                samples.append(int(field[1]))
        elif field[0] == "V" and mine:
            visits.append((field[1], int(field[2]), int(field[2]) + int(field[3])))
start, end = samples[200], samples[260]
if sys.argv[1] == "window":
    print(start, end)
    sys.exit()
truth = collections.Counter()
for function, begin, over in visits:
    truth[function] += max(0, min(over, end) - max(begin, start))
said = json.load(sys.stdin)
found = {f["in"]: f["ns"] for f in said["findings"] if f["by"] == "lbrtime"}
assert found, said["doubts"]
for function, ns in truth.most_common(3):
    assert abs(found[function] - ns) < 0.15 * ns, (function, ns, found)
best = max(said["findings"], key=lambda f: f["percent"])
assert best["in"] == truth.most_common(1)[0][0], (best, truth)
assert "intervals_in_order" not in said["analyzers"][0]["result"]
