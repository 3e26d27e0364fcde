# SPDX-License-Identifier: GPL-2.0
# Of test_lbrtime.sh, in its directory of results.
import csv
def load(name):
    samples = {}
    for r in csv.DictReader(open(name)):
        samples.setdefault((r["time"], r["cpu"]), []).append(r)
    return samples
perf, dat = load("perf.equal"), load("cycles.fit")
assert perf.keys() == dat.keys()
states, same = {}, 0
for k, p in perf.items():
    s = p[0]["state"]
    states[s] = states.get(s, 0) + 1
    d = dat[k]
    # The branches given out as whole are the new ones, and others end as they did
    a, b = [v["function"] for v in p], [v["function"] for v in d]
    if s == "whole":
        assert a == b, (k, a, b)
        same += 1
    n = min(len(a), len(b))
    assert a[-n:] == b[-n:], (k, a, b)
assert same > 1000, states
