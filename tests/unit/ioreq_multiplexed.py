# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_failures.sh: one multiplexed connection beside one that is not."""
import json

with open("mux.chrome") as f:
    calls = [e["args"] for e in json.load(f)["traceEvents"] if e.get("cat") == "call"]
# Which request bytes of the one are of is not known; of the other, it is
for port, known in ("40001", False), ("40002", True):
    got = {isinstance(a.get("request"), int) for a in calls if port in a["object"]}
    assert got == {known}, (port, got)
(r,) = json.load(open("requests.json"))["requests"]
# The client's turns: two each time on the one, one on the other
assert (r["answered"], r["unclear"], r["multiplexed"], r["service"]["count"]) == (20 + 20, 20, 1, 20), r
