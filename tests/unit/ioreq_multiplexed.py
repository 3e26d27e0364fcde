# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_failures.sh: one multiplexed connection beside one that is not."""
import json

import otlp

with open("mux.chrome") as f:
    calls = [e["args"] for e in json.load(f)["traceEvents"] if e.get("cat") == "call"]
# Which request bytes of the one are of is not known; of the other, it is
for port, known in ("40001", False), ("40002", True):
    got = {isinstance(a.get("request"), int) for a in calls if port in a["object"]}
    assert got == {known}, (port, got)
(r,) = json.load(open("requests.json"))["requests"]
# The client's turns: two each time on the one, one on the other
assert (r["answered"], r["unclear"], r["multiplexed"], r["service"]["count"]) == (20 + 20, 20, 1, 20), r
# Their times are not those of single requests, and are in no ranking
assert r["wait"]["count"] == 20, r
with open("mux-paths.json") as f:
    paths = json.load(f)
assert (paths["links"]["clients"], paths["links"]["multiplexed"]) == (20, 20), paths["links"]
# Ten times, the client sends from 0 and has responses until 5 ms, and from 6 to 11 ms
assert paths["links"]["multiplexed_time"] == 10 * 2 * 5000000, paths["links"]
assert paths["links"]["waited"] == r["wait"]["time"], (paths["links"], r)
with open("mux.chrome") as f:
    said = [e["args"].get("multiplexed") for e in json.load(f)["traceEvents"] if e.get("cat") == "request" and e["pid"] == 1]
assert sorted(said, key=str) == [None] * 20 + ["yes"] * 20, said
said = [a.get("ioreq.multiplexed") for _, s, a in otlp.spans("mux.otlp") if s["kind"] == 3]
assert sorted(said, key=str) == [None] * 20 + [True] * 20, said
