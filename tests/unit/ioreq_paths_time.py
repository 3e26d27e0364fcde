# SPDX-License-Identifier: GPL-2.0
# Of test_ioreq_paths.sh, in its directory of results.
import collections, csv, json
TEXTS = {"arriving": "request arriving", "own": "answering", "others": "other calls", "between": "network or queue"}
HOSTS, COMMS = ["front", "app", "db"], ["curl", "app server", "<b>db</b>"]
calls, requests, children = collections.defaultdict(list), {}, collections.defaultdict(list)
for line in open("tiers"):
    f = line.rstrip("\n").split("\t")
    if f[0] == "call":
        calls[int(f[1]), int(f[3])].append((int(f[5]), int(f[5]) + int(f[6]), f[4], f[8]))
    else:
        n = [int(x) for x in f[3:]]
        requests[f[1]] = {"parent": f[2], "host": 0 if f[2] == "-" else 1, "pid": (n[0], n[3]), "at": (n[1:3], n[4:6])}
        children[f[2]].append(f[1])

# The request's connection: that of the call that received it
OWN = {}
for n, r in requests.items():
    host = r["host"] + 1
    OWN[n], = {name for start, end, op, name in calls[host, r["pid"][1]] if op == "recvfrom" and end == r["at"][1][0]}

def going(host, pid, time):
    return sum(r["host"] + 1 == host and r["pid"][1] == pid and r["at"][1][0] <= time < r["at"][1][1] for r in requests.values())

def walk(n, add):
    r = requests[n]
    host = r["host"] + 1
    wait = r["at"][0][1] - r["at"][0][0]
    begin, over = r["at"][1]
    add(host, "between", "", wait - (over - begin))
    inside = [requests[c]["at"][0] for c in children[n]]
    for c in children[n]:
        walk(c, add)
    spans = [tuple(s) for s in inside]
    for start, end, op, name in calls[host, r["pid"][1]]:
        if start < begin or end > over or any(b <= start and end <= e for b, e in inside):
            continue
        spans.append((start, end))
        if op in ("sendto", "recvfrom"):
            # A query that may be for another request, or a response to another client
            other = name.split("->")[1]
            if OWN[n] == name:
                add(host, "own" if op == "sendto" else "arriving", "", end - start)
            elif other.endswith(":80"):
                add(host, "sockets", other, end - start)
            else:
                add(host, "busy", "", end - start)
        else:
            add(host, "sync" if "sync" in op else "files", name, end - start)
    # Outside of calls, for this request or for one of several
    rest = ambiguous = 0
    for start, end in sorted(spans) + [(over, over)]:
        if going(host, r["pid"][1], begin) > 1:
            ambiguous += start - begin
        else:
            rest += start - begin
        begin = end
    add(host, "rest", "", rest)
    if ambiguous:
        add(host, "ambiguous_rest", "for one of at most 2 requests", ambiguous)

want, pieces = collections.Counter(), collections.Counter()
roots = [n for n, r in requests.items() if r["parent"] == "-"]
def add(host, step, name, time):
    want[HOSTS[host], COMMS[host], step, name] += time
    pieces[HOSTS[host], COMMS[host], step, name] += 1
for n in roots:
    walk(n, add)
result = json.load(open("paths.json"))
got = {(c["host"], c["process"], c["step"], c["object"]): c for c in result["causes"]}
assert {k: c["time"] for k, c in got.items()} == dict(want), ({k: c["time"] for k, c in got.items()}, want)
# The network's time is one step, or if the clocks show it one before the server's steps and one after them
assert {k: c["pieces"] for k, c in got.items() if k[2] != "between"} == {k: n for k, n in pieces.items() if k[2] != "between"}
assert all(n <= got[k]["pieces"] <= 2 * n for k, n in pieces.items())
waited = sum(requests[n]["at"][0][1] - requests[n]["at"][0][0] for n in roots)
assert sum(want.values()) == waited
assert result["links"] == {"clients": len(roots), "waited": waited, "outlived": 0, "queued": 0, "multiplexed": 0, "multiplexed_time": 0, "maybe_multiplexed": 0, "guessed": 0, "contradicted": 0,
                           "followed": sum(r["parent"] not in "-?" for r in requests.values()),
                           "ambiguous": sum(r["parent"] == "?" for r in requests.values()),
                           "ambiguous_time": sum(r["at"][0][1] - r["at"][0][0] for r in requests.values() if r["parent"] == "?")}
assert result["links"]["ambiguous"] > 3 and len(want) > 9
times = [c["time"] for c in result["causes"]]
assert times == sorted(times, reverse=True)
links = result["links"]
paths = [(p["depth"], p["ambiguous"], p["client_host"], p["server_host"], p["requests"]) for p in result["paths"]]
assert paths == [(0, False, "front", "app", len(roots)), (1, False, "app", "db", links["followed"]), (0, True, "app", "db", links["ambiguous"])], paths
assert result["paths"][2]["wait"] == result["paths"][2]["critical"] == links["ambiguous_time"]
for p in result["paths"]:
    assert sum(p["wait_for"].values()) == p["critical"]
assert sum(p["critical"] for p in result["paths"] if not p["ambiguous"]) == waited
# Single requests: the longest ones, with their whole critical path
longest = sorted((requests[n]["at"][0][1] - requests[n]["at"][0][0] for n in roots), reverse=True)[:20]
assert [r["wait"] for r in result["slowest"]] == longest
# How far the clock of app is ahead of that of front, as gen_tiers sets it, and the error bound that ioreq prints
AHEAD = 7_000_000_000_000
bound, = [h["clock"]["worst"] for h in json.load(open("tiers-clocks.json"))["hosts"] if h["name"] == "app"]
divided = 0
for r in result["slowest"]:
    assert sum(piece["time"] for piece in r["waited_for"]) == r["wait"]
    n, = [n for n in roots if requests[n]["at"][0][0] == r["begin"] and requests[n]["pid"][0] == r["pid"]]
    one = collections.Counter()
    walk(n, lambda host, step, name, time: one.update({(HOSTS[host], step, name): time}))
    for piece in r["waited_for"]:
        assert piece["text"] == TEXTS.get(piece["step"], piece["text"]) != ""
        one[piece["host"], piece["step"], piece["object"]] -= piece["time"]
    assert not any(one.values()), one
    # In order of time: the way to the server, the server, and the way back
    rows = [(piece["depth"], piece["step"]) for piece in r["waited_for"]]
    assert rows[0] == (0, "between") and rows.index((0, "rest")) > 0
    if rows[-1] == (0, "between"):
        way = requests[n]["at"][0][1] - (requests[n]["at"][1][1] - AHEAD)
        assert abs(r["waited_for"][-1]["time"] - way) <= bound and rows.count((0, "between")) == 2, (r["waited_for"][-1], way, bound)
        divided += 1
    else:
        assert rows.count((0, "between")) == 1
assert divided >= 5, divided
rows = list(csv.DictReader(open("paths.csv")))
asks = [row for row in rows if row["step"] == "ambiguous"]
assert rows == [{k: str(v) for k, v in c.items()} for c in result["causes"]] + asks
# Ambiguous requests, by client and server
number = str(links["ambiguous"])
assert [(r["host"], r["process"], r["object"], r["time"], r["pieces"], r["requests"]) for r in asks] == \
    [("db", "<b>db</b>", "app:app server", str(links["ambiguous_time"]), number, number)], asks
