# SPDX-License-Identifier: GPL-2.0
"""usage: ioreq_pipes_links.py MODE

test_ioreq_pipes.sh: which request a worker's requests and calls on files are for, against
the truth of gen_pipes.
"""
import collections
import json
import sys

import otlp

truth, files = {}, collections.Counter()
for line in open("truth"):
    f = line.split()
    if f[0] == "link":
        truth[int(f[1]), int(f[2])] = int(f[3]), int(f[4])
    else:
        files[f[1]] += 1
spans = {s["spanId"]: (s["kind"], otlp.call(a), s.get("parentSpanId"), "ioreq.ambiguous_parent" in a)
         for _, s, a in otlp.spans("links.otlp")}
found, steps = {}, collections.Counter()
for kind, key, parent, ambiguous in spans.values():
    if kind == 3 and 3000 <= key[0] < 4000:
        assert ambiguous == (parent is None), key
        # A front end asked the worker, and a client asked the front end
        while parent and spans[parent][1][0] >= 3000:
            up = spans[spans[parent][2]]
            assert spans[parent][0] == 2 and up[0] == 3 and 2000 <= up[1][0] < 3000
            parent = up[2]
            steps[key] += 1
        found[key] = parent and spans[parent][1]
asked = {(e["client"], e["server"]): e for e in json.load(open("files.json"))["requests"]}
assert found.keys() == truth.keys() and len(truth) >= 2000
asserted = {k: v for k, v in found.items() if v}
wrong = sum(truth[k] != v for k, v in asserted.items())
got = collections.Counter()
for c in json.load(open("files.json"))["calls"]:
    if c["call"] == "pread64":
        got[c.get("client", "-")] += c["count"]
print(f"# {sys.argv[1]}: {len(truth)} requests, {len(asserted)} asserted, {wrong} wrong; files {dict(got)}, true {dict(files)}")
print("#", {k: (e["answered"], e["unclear"]) for k, e in asked.items() if k[0] != k[1]})
if sys.argv[1] != "sizes":
    assert len(asserted) == len(truth) and not wrong
    assert got == files
pipes = asked.get(("front", "worker"))
if sys.argv[1] == "turns":
    assert pipes["answered"] == len(truth) and not pipes["unclear"]
    assert set(steps.values()) == {1} and steps.keys() == truth.keys()
else:
    assert not pipes and not steps
