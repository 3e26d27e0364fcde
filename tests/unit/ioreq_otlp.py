# SPDX-License-Identifier: GPL-2.0
# Of test_ioreq_outputs.sh, in its directory of results.
import otlp
from truth_tiers import COMMS, HOSTS, match, requests
spans, resources = otlp.read("out.otlp")
assert [(r["service.name"], r["host.name"], r["process.pid"]) for r in resources] == \
    [(COMMS[h], HOSTS[h], 100 * (h + 1)) for h in range(3)], resources
def key(s):
    return (s["kind"], s["resource"]["host.name"], s["attributes"]["thread.id"], s["attributes"]["ioreq.sent"],
            s["attributes"]["ioreq.received"], int(s["startTimeUnixNano"]), int(s["endTimeUnixNano"]))
def truth_key(r, side):
    return ((3, 2)[side], HOSTS[r["host"] + side], r["pid"][side], *r["bytes"], *r["axis"][side])
assert len(spans) == 2 * len(requests)
by_key = {key(s): s for s in spans.values()}
found = {want: by_key[got] for got, want in match(by_key, [truth_key(r, side) for r in requests.values() for side in (0, 1)])}
traces = set()
for r in requests.values():
    client, server = found[truth_key(r, 0)], found[truth_key(r, 1)]
    assert server["parentSpanId"] == client["spanId"]
    if r["parent"] in "-?":
        assert "parentSpanId" not in client
        assert client["traceId"] not in traces
        traces.add(client["traceId"])
    else:
        assert client["parentSpanId"] == found[truth_key(requests[r["parent"]], 1)]["spanId"]
    for s in client, server:
        a = s["attributes"]
        assert [a["ioreq.sent"], a["ioreq.received"]] == r["bytes"]
        assert (a["server.address"], a["server.port"]) == (f"10.0.0.{r['host'] + 1}", 80), a
        assert a["client.address"] == f"10.0.0.{r['host']}" and 40000 <= a["client.port"] < 50000
        assert a["ioreq.monotonic"] == r["at"][s["kind"] == 2][0], a
        assert a["network.transport"] == "tcp" and "ioreq.unclear" not in a
    assert client["attributes"].get("ioreq.ambiguous_parent", False) == (r["parent"] == "?")

spans, _ = otlp.read("top.otlp")
longest = sorted(requests, key=lambda n: requests[n]["at"][0][0] - requests[n]["at"][0][1])[:3]
match([key(s) for s in spans.values()],
      [truth_key(r, side) for n, r in requests.items() if n in longest or r["parent"] in longest for side in (0, 1)])

# Only one side, or both sides that did not see the same; requests without a response are errors
spans, _ = otlp.read("requests.otlp")
kinds, unanswered = {}, 0
for line in open("requests.truth"):
    client, server, answered, clear, *rest = line.split("\t")
    if answered != "1":
        unanswered += bool(client.count(":") and not client[0].isdigit())
    else:
        for kind, party in (3, client), (2, server):
            if party.count(":") and not party[0].isdigit() and (kind == 3 or clear == "1"):
                kinds[kind] = kinds.get(kind, 0) + 1
got = [s["kind"] for s in spans.values() if "status" not in s]
failed = [s["kind"] for s in spans.values() if "status" in s]
assert failed.count(3) == unanswered > 10, (failed.count(3), unanswered)
assert {k: got.count(k) for k in kinds} == kinds, (kinds, got.count(2), got.count(3))
unclear = [s for s in spans.values() if "ioreq.unclear" in s["attributes"]]
assert len(unclear) > 30 and all(s["kind"] == 3 for s in unclear)
assert all(1.7e18 <= int(s["startTimeUnixNano"]) < 1.7e18 + 1e11 for s in spans.values())
