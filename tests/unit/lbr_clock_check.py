# SPDX-License-Identifier: GPL-2.0
"""usage: lbr_clock_check.py CLOCK used|refused|either

test_lbrtime_clock.sh: the clock in clock.json, if there is one, is CLOCK (see lbr_clock.py) at
all times and on all CPUs within its error, and so are its limits. It is used, refused, or either.
"""
import json
import re
import sys

ghz = [float(a) for a in re.split("[,+-]", sys.argv[1])]
wanted = sys.argv[2]
j = json.load(open("clock.json"))
ns, error = j["ns_per_cycle"], j["ns_per_cycle_error"]
assert wanted == "either" or bool(ns) == (wanted == "used"), j["ns_per_cycle"]
for true in (1 / g for g in ghz):
    # The interrupts of perf's samples are beyond it
    if ns and j["ns_per_cycle_least"] > 0.1:
        assert abs(ns - true) <= error + 1e-9, (ns, error, true)
    # One in a thousand intervals may belong to a sample that is late
    if "ns_per_cycle_most" in j:
        assert j["ns_per_cycle_least"] <= true <= j["ns_per_cycle_most"] * 1.001, (true, j["ns_per_cycle_most"])
