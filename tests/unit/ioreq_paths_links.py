# SPDX-License-Identifier: GPL-2.0
# Of test_ioreq_paths.sh, in its directory of results.
import os
import collections, json
from truth_paths import LAST, names, requests
lossy = os.environ["LOSSY"]
spans = {}
for resource in json.load(open(f"links{lossy}.otlp"))["resourceSpans"]:
    host = next(a["value"]["stringValue"] for a in resource["resource"]["attributes"] if a["key"] == "host.name")
    for scope in resource["scopeSpans"]:
        for s in scope["spans"]:
            a = {x["key"]: list(x["value"].values())[0] for x in s["attributes"]}
            s["key"] = ({2: "server", 3: "client"}[s["kind"]], names.index(host), int(a["thread.id"]), int(a["ioreq.monotonic"]))
            s["ambiguous"] = "ioreq.ambiguous_parent" in a
            spans[s["spanId"]] = s

# The requests that a thread worked on, by the truth
work = collections.defaultdict(list)
for n, r in requests.items():
    if not r["parent"]:
        work[r["tid"][1]].append((r["begin"][1], r["over"][1], n))
by_key = {("client", r["host"], r["tid"][0], r["begin"][0]): n for n, r in requests.items()}
server_key = {("server", r["host"] + 1, r["tid"][1], r["begin"][1]): n for n, r in requests.items()}
seen = linked = ambiguous = alone = handed = neither = 0
for s in spans.values():
    if s["key"][:2] != ("client", 1) or s["key"] not in by_key:
        continue
    seen += 1
    r = requests[by_key[s["key"]]]
    if "parentSpanId" in s:
        parent = server_key.get(spans[s["parentSpanId"]]["key"])
        assert parent == r["parent"], ("wrong link", r, parent)
        linked += 1
    assert not (s["ambiguous"] and "parentSpanId" in s)
    ambiguous += s["ambiguous"]
    neither += not s["ambiguous"] and "parentSpanId" not in s
    tid = r["tid"][0]
    # Requests that are in progress at the end of the trace are not in the truth
    if lossy or r["parent"] not in requests:
        continue
    candidates = [n for begin, over, n in work[tid] if begin <= r["begin"][0] < over]
    if tid < 210:
        assert candidates == [r["parent"]] and "parentSpanId" in s, (r, s)
    elif tid == 220:
        assert r["parent"] in candidates
        alone += "parentSpanId" in s
        assert len(candidates) > 1 and s["ambiguous"] or "parentSpanId" in s or r["begin"][0] > LAST - 3 * 10**6, (r, candidates, s)
    else:
        # Another thread received the request: the effects of the response may show the parent
        assert s["ambiguous"] or "parentSpanId" in s, r
        handed += "parentSpanId" in s
links = json.load(open(f"paths{lossy}.json"))["links"]
assert links["ambiguous"] >= ambiguous, (links, ambiguous)
if not lossy:
    assert links["followed"] == linked > 500 and not links["outlived"] and not neither, (links, linked, neither)
    assert alone > 500 and handed > 500 and ambiguous < seen / 100, (alone, handed, ambiguous)
    open("links", "w").write(str(linked))
else:
    assert 200 < linked < int(open("links").read()) and ambiguous > 300, (linked, ambiguous)
