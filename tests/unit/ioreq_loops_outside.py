# SPDX-License-Identifier: GPL-2.0
"""usage: ioreq_loops_outside.py MODE

test_ioreq_loops.sh: requests of an event loop have no more computing than its thread has time.
"""
import collections, json, sys
mode = sys.argv[1]
(outside,) = (int(line.split()[1]) for line in open("truth") if line.startswith("outside"))
p = json.load(open("paths.json"))
time = collections.Counter()
for c in p["causes"]:
    if c["host"] == "app":
        time[c["step"]] += c["time"]
print("#", mode, outside, dict(time))
assert 0 < time["rest"] <= outside, (time, outside)
assert mode not in ("queue", "few") or time["ambiguous_rest"] > 0, time
assert sum(c["time"] for c in p["causes"]) == p["links"]["waited"]
