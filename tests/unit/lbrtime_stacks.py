# SPDX-License-Identifier: GPL-2.0
# Of test_lbrtime.sh, in its directory of results.
import collections, csv, json
want = collections.Counter()
for r in csv.DictReader(open("deep32.equal")):
    want[r["function"]] += int(r["duration"])
stacks = collections.defaultdict(list)
got, last = collections.Counter(), {}
for e in json.load(open("chrome.json"))["traceEvents"]:
    if e["ph"] == "M":
        continue
    t, s = e["tid"], stacks[e["tid"]]
    ns = round(e["ts"] * 1000)
    assert ns >= last.get(t, 0), e
    if s and ns > last[t]:
        got[s[-1]] += ns - last[t]
    last[t] = ns
    s.append(e["name"]) if e["ph"] == "B" else s.pop()
assert not any(stacks.values())
assert not any("args" in e and "error" in e["args"] for e in json.load(open("chrome.json"))["traceEvents"])
errors = collections.Counter(e["args"].get("error") for e in json.load(open("cycles.chrome"))["traceEvents"]
                             if e["ph"] == "B" and e["name"] != "(unknown)")
said = {int(r["error"]) for r in csv.DictReader(open("cycles.cycles"))}
assert len(errors) > 100 and set(errors) <= said, len(errors)
assert {f: n for f, n in got.items() if n and f != "(unknown)"} == {f: n for f, n in want.items() if n}, (got, want)
scope = json.load(open("scope.json"))
names = [f["name"] for f in scope["shared"]["frames"]]
got = collections.Counter()
for p in scope["profiles"]:
    assert len(p["samples"]) == len(p["weights"]) and sum(p["weights"]) <= p["endValue"]
    for s, w in zip(p["samples"], p["weights"]):
        if s:
            got[names[s[-1]]] += w
del got["(unknown)"]
assert got == {f: n for f, n in want.items() if n}
got = collections.Counter()
for line in open("folded"):
    stack, n = line.rsplit(" ", 1)
    got[stack.split(";")[-1]] += int(n)
for f, n in want.items():
    assert abs(got[f] - n) <= 200 + n / 1000, (f, n, got[f])
