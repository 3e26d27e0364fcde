# SPDX-License-Identifier: GPL-2.0
"""test_lbrtime.sh: compare callers.fit with callers.truth."""
import csv, itertools
truth = [[int(x) for x in line.split()] for line in open("callers.truth")]
rows = csv.DictReader(open("callers.fit"))
given = [list(g) for _, g in itertools.groupby(rows, key=lambda r: r["time"])]
wrong = n = 0
assert len(truth) == len(given)
for t, g in zip(truth, given):
    if g[0]["state"] == "whole" and len(g) == len(t):
        wrong += sum(abs(a - int(r["duration"])) for a, r in zip(t, g)) / 2
        n += 1
assert n > 1000 and wrong / 50000 / n < 0.1, (n, wrong / 50000 / n)
