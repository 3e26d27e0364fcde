# SPDX-License-Identifier: GPL-2.0
"""usage: ioreq_uring_check.py MODE CLIENTS EACH RECALL

ioreq-uring.sh: compare requests.csv and links.otlp with the proxy's log.
"""
import collections, csv, sys

import otlp

mode, n = sys.argv[1], int(sys.argv[2]) * int(sys.argv[3])
truth, numbers = {}, collections.defaultdict(dict)
for line in open("truth"):
    up, i, down, j = map(int, line.split())
    truth[up, i] = down, j
asked = {(r["client"], r["server"]): r for r in csv.DictReader(open("requests.csv"))}
for pair, count in {("client", "uringproxy"): n, ("uringproxy", "server"): len(truth)}.items():
    r = asked[pair]
    assert (int(r["answered"]), int(r["unclear"]), int(r["unanswered"])) == (count, 0, 0), (pair, count, r)

# A server's span has its client's span as parent
spans = {s["spanId"]: (resource["service.name"], s["kind"], int(a["client.port"]), int(a["ioreq.monotonic"]), s.get("parentSpanId"))
         for resource, s, a in otlp.spans("links.otlp")}
for who, kind in ("uringproxy", 3), ("uringproxy", 2):
    ports = collections.defaultdict(list)
    for id, s in spans.items():
        if s[:2] == (who, kind):
            ports[s[2]].append((s[3], id))
    for port, all in ports.items():
        for i, (time, id) in enumerate(sorted(all)):
            numbers[kind][id] = port, i
found = {numbers[3][id]: numbers[2].get(s[4]) for id, s in spans.items() if s[:2] == ("uringproxy", 3)}
assert found.keys() == truth.keys()
told = {k: v for k, v in found.items() if v}
wrong = sum(truth[k] != v for k, v in told.items())
print(f"# {mode}: {len(truth)} requests of the proxy for {n} of clients; {len(told)} have a parent, {wrong} of them wrong")
assert wrong <= 0.02 * len(told) and len(told) - wrong >= float(sys.argv[4]) * len(truth)
