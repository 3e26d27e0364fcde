# SPDX-License-Identifier: GPL-2.0
"""usage: lbr_spin_check.py NS WHOLE RESTART OPTIONS

test_lbrtime_cut.sh: spin.json against the program that lbr_spin.py made up: a cycle of NS,
at least the share WHOLE of intervals whole, cycles counted from the sample on if RESTART,
and OPTIONS given to lbrtime.
"""
import json, sys
ns, whole, restart, given = (float(a) for a in sys.argv[1:])
j = json.load(open("spin.json"))
states = j["intervals"]
assert states["whole"]["count"] >= whole * (j["samples"] - 1), states
# One in a thousand intervals may belong to a sample that is late
assert j["ns_per_cycle_least"] <= ns <= j["ns_per_cycle_most"] * 1.001, j["ns_per_cycle_most"]
assert j["ns_per_cycle_most"] < 1.5 * ns
# The clock is used only if it was found or given
assert bool(j["ns_per_cycle"]) == (given > 0 or not restart)
functions = {f["function"]: f for f in j["functions"]}
for m in "ratio", "fit":
    assert functions["spin"]["time"][m] > 0.95 * j["time"], (m, functions)
# By cycles, time is that of spin or unknown
if j["ns_per_cycle"]:
    other = sum(f["time"]["cycles"] for f in functions.values() if f["function"] != "spin")
    assert other < 0.01 * j["time"], functions
