# SPDX-License-Identifier: GPL-2.0
"""usage: lbr_truth_holds.py RESULTS CONDITION TABLE

Whether a CONDITION on RESULTS, by workload, and on p1's TABLE of samples is true.
"""
import json, sys
r = json.load(open(sys.argv[1], encoding="ascii"))
t = json.load(open(sys.argv[3], encoding="ascii"))
patterns, real = ("p1", "p2", "p3"), ("engine", "gzip", "sqlite", "python", "redis", "postgres")
def share(w, method):
    return r[w]["methods"][method]["told"]["share"]
def papers(w):
    return min(share(w, m) for m in ("equal", "share", "ratio"))
def sure(w, method):
    return r[w]["methods"][method]["told"]["sure"]
def kept(w, method):
    # Too few intervals prove nothing
    return sure(w, method) < 0.01 or r[w]["methods"][method]["told"]["sure_right"] >= 0.95
def sampled(*functions):
    return sum(t["samples"][f] for f in functions) / sum(t["samples"].values())
sys.exit(0 if eval(sys.argv[2]) else 1)
