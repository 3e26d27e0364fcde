# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_failures.sh: a response that the client has before the server's call returns."""
import json
MS = 1_000_000
p = json.load(open("paths.json"))
steps = sorted([(s["step"], s["time"] / MS) for s in q["waited_for"] if s["time"]] for q in p["slowest"])
assert steps == [[("between", 1), ("own", 3), ("rest", 4)], [("between", 10), ("own", 1), ("rest", 2)]], steps
assert p["links"]["waited"] == sum(c["time"] for c in p["causes"]) == (8 + 13) * MS
