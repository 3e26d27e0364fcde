# SPDX-License-Identifier: GPL-2.0
"""usage: ioreq_loops_links.py MODE RECALL

test_ioreq_loops.sh: which request of a client each request of the proxy is for, against
the truth of gen_loops.
"""
import collections
import json
import sys

import otlp

mode, recall = sys.argv[1], float(sys.argv[2])
truth, going, files, logs = {}, [], collections.Counter(), collections.Counter()
for line in open("truth"):
    f = line.split()
    if f[0] == "link":
        truth[int(f[1]), int(f[2])] = int(f[3]), int(f[4])
        going.append(int(f[5]))
    elif f[0] != "outside":
        (files if f[0] == "file" else logs)[f[1]] += 1
assert sorted(going)[len(going) // 5] >= (4 if mode == "relay" else 64), "too few requests at a time"

def links(name):
    spans = {s["spanId"]: (resource["host.name"], s["kind"], otlp.call(a), s.get("parentSpanId"),
                           "ioreq.ambiguous_parent" in a)
             for resource, s, a in otlp.spans(name)}
    found = {}
    for host, kind, key, parent, ambiguous in spans.values():
        if host == "app" and kind == 3:
            assert ambiguous == (parent is None), key
            found[key] = parent and spans[parent][2]
    return found

found = links("links.otlp")
assert found.keys() == truth.keys() and found == links("client.otlp")
asserted = {k: v for k, v in found.items() if v}
wrong = sum(truth[k] != v for k, v in asserted.items())
print(f"# {mode}: {len(truth)} requests of the proxy, {len(asserted)} asserted, {wrong} of them wrong; "
      f"recall {100 * (len(asserted) - wrong) / len(truth):.1f} %")
assert wrong <= 0.02 * len(asserted), wrong
assert len(asserted) - wrong >= recall * len(truth)

# Calls on files, by their client
def compare(call, true):
    got = collections.Counter()
    for c in json.load(open("files.json"))["calls"]:
        if c["host"] == "app" and c["call"] == call:
            got[c.get("client", "-")] += c["count"]
    assert sum(got.values()) == sum(true.values()) > 1000
    known = {name.removeprefix("web:"): n for name, n in got.items() if name not in ("-", "ambiguous")}
    assert set(known) <= set(true), known
    for name, n in known.items():
        assert n <= 1.02 * true[name], (name, n, true)
    # A thread of a pool fetches waiting work without any event
    least = {"loop": recall, "pool": 0.7}.get(mode, 0)
    assert sum(known.values()) >= least * sum(true.values()), (got, true)

compare("pread64", files)
if mode == "loop":
    compare("write", logs)
