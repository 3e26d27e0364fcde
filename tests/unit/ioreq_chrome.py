# SPDX-License-Identifier: GPL-2.0
# Of test_ioreq_outputs.sh, in its directory of results.
import json, collections
from truth_tiers import AHEAD, COMMS, HOSTS, calls, first, made_for, match, requests

def read(name):
    events = json.load(open(name))["traceEvents"]
    slices, flows, names = [], collections.defaultdict(list), {}
    for e in events:
        if e["ph"] == "X":
            e["ns"] = round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000)
            slices.append(e)
        elif e["ph"] in "sf":
            flows[e["id"]].append(e)
        elif e["ph"] == "M":
            names[e["name"], e["pid"], e["tid"]] = e["args"].get("name")
    # Slices of a thread are nested or separate
    threads = collections.defaultdict(list)
    for e in slices:
        threads[e["pid"], e["tid"]].append(e)
    for key, thread in threads.items():
        open_ = []
        for e in sorted(thread, key=lambda e: (e["ns"][0], -e["ns"][1])):
            while open_ and open_[-1] <= e["ns"][0]:
                open_.pop()
            assert not open_ or e["ns"][1] <= open_[-1], ("does not nest", e)
            open_.append(e["ns"][1])
        assert ("thread_name", *key) in names, key
    for e in slices:
        assert ("process_name", e["pid"], 0) in names
    # Arrows have two ends, in a slice each
    for flow in flows.values():
        assert [e["ph"] for e in flow] == ["s", "f"] and flow[1]["bp"] == "e", flow
        for e in flow:
            at = round(e["ts"] * 1000)
            assert any(s["ns"][0] <= at <= s["ns"][1] for s in threads[e["pid"], e["tid"]]), e
    return slices, flows, names, threads

slices, flows, names, threads = read("out.chrome")
process = {pid: name for (what, pid, _), name in names.items() if what == "process_name"}
assert sorted(process.values()) == ["app: app server-200", "db: <b>db</b>-300", "front: curl-100"], process
number = {name: pid for pid, name in process.items()}
pids = [number["front: curl-100"], number["app: app server-200"], number["db: <b>db</b>-300"]]
got = [(pids.index(e["pid"]), e["tid"], e["name"], e["args"]["bytes"], e["args"]["object"], *e["ns"])
       for e in slices if e["cat"] == "call"]
want = [(h, tid, op, b, name, start - AHEAD[h] - first, start - AHEAD[h] - first + took)
        for h, _, tid, op, start, took, b, name in calls]
assert len(match(got, want)) > 5000
got = [(pids.index(e["pid"]), e["name"], e["args"]["sent"], e["args"]["received"], e["args"].get("asked for") == "ambiguous", *e["ns"])
       for e in slices if e["cat"] == "request"]
want = []
for r in requests.values():
    h = r["host"]
    for side in 0, 1:
        other = h + 1 - side
        want.append((h + side, ("to", "from")[side] + f" {HOSTS[other]}:{COMMS[other]}",
                     *r["bytes"], r["parent"] == "?", *r["axis"][side]))
assert len(match(got, want)) > 1000
# Times on the hosts' own clocks are exact, and identify calls. Each call is its request's
begins = {(r["host"] + side, r["at"][side][0]): n for n, r in requests.items() for side in (0, 1)}
told = {e["args"]["request"]: begins[pids.index(e["pid"]), e["args"]["monotonic"]] for e in slices if e["cat"] == "request"}
assert len(told) == len(requests)
for e in slices:
    if e["cat"] == "call":
        n = made_for[pids.index(e["pid"]), e["tid"], e["args"]["monotonic"]]
        assert told.get(e["args"].get("request")) == n, (n, e)
    else:
        asked_for = e["args"].get("asked for", "-")
        parent = requests[told[e["args"]["request"]]]["parent"]
        assert told.get(asked_for, {"ambiguous": "?"}.get(asked_for, asked_for)) == parent, (parent, e)
# No effect precedes its cause
assert all(f[0]["ts"] <= f[1]["ts"] for f in flows.values())
assert json.load(open("out.chrome"))["otherData"]["clocks"].startswith("aligned: ")
clocks = json.load(open("front.chrome"))["otherData"]["clocks"]
assert clocks.startswith("not aligned: "), clocks
assert any(r["parent"] == "?" for r in requests.values())
# Each request has three arrows: the request's, its message's and its response's
assert len(flows) == 3 * len(requests)
def ends(name):
    return sorted((*(pids.index(e["pid"]) for e in f), *(e["tid"] for e in f)) for f in flows.values() if f[0]["name"] == name)
assert ends("request") == sorted((r["host"], r["host"] + 1, *r["pid"]) for r in requests.values())
assert ends("response") == sorted((r["host"] + 1, r["host"], *r["pid"][::-1]) for r in requests.values())
assert all(e["tid"] >= 10000000 for f in flows.values() if f[0]["name"] == "asked" for e in f)

# Other traces have, in addition, pipelining and several threads
slices, flows, *_ = read("requests.chrome")
assert any(e["args"].get("unclear") for e in slices) and len(flows) > 300
# Its clients' calls overlap, each of them: slices or asynchronous events
every = [e for e in json.load(open("requests.chrome"))["traceEvents"] if e.get("cat") in ("call", "overlapping") and e["ph"] != "e"]
assert any(e["ph"] == "b" for e in every)
result = json.load(open("requests.json"))
assert len(every) == sum(h["calls"] for h in result["hosts"])

# --top: the longest requests and their downstream requests, with all calls in them
slices, *_ = read("top.chrome")
longest = sorted(requests, key=lambda n: requests[n]["at"][0][0] - requests[n]["at"][0][1])[:3]
assert all(requests[n]["parent"] == "-" for n in longest)
want = [r for n, r in requests.items() if n in longest or r["parent"] in longest]
assert sum(e["cat"] == "request" for e in slices) == 2 * len(want)
assert 20 < sum(e["cat"] == "call" for e in slices) < 100
