# SPDX-License-Identifier: GPL-2.0
# Of test_lbrtime.sh, in its directory of results.
import collections, csv
rows = list(csv.DictReader(open("small.fit")))
samples = []
for r in rows:
    if r["visit"] == "0":
        # The same address is another place in another process
        samples.append(dict(cpu=r["cpu"], T=int(r["interval"]), whole=r["state"] == "whole", v=[]))
    r["from"] = r["tgid"], r["from"]
    samples[-1]["v"].append(r)
last = {}
for s in samples:
    s["before"] = last.get(s["cpu"]) if s["whole"] else None
    s["after"] = None
    if s["before"]:
        s["before"]["after"] = s
    last[s["cpu"]] = s
def ends(s, i):
    v, n = s["v"], len(s["v"]) - 1
    a = v[i - 1]["from"] if i else None
    b = v[i]["from"] if i < n else None
    other = s["before"]
    while not i and other and not a:
        a = other["v"][-2]["from"] if len(other["v"]) > 1 else None
        other = other["before"]
    other = s["after"]
    while i == n and other and not b:
        b = other["v"][0]["from"] if len(other["v"]) > 1 else None
        other = other["after"]
    return a, b
# Where a visit began, which groups it: where the branch before it led. Of a return whose call
# was not seen that is where most led that the same one made into the same function.
def start(s, i):
    if i:
        v = s["v"][i - 1]
        return v["to"] if v["how"] != "unknown" else "0x0"
    if s["before"]:
        return start(s["before"], len(s["before"]["v"]) - 1)
    return "0x0"
votes = {}
def vote(s, i):
    return ends(s, i)[0], s["v"][i]["function"]
for s in samples:
    for i in range(len(s["v"])):
        if ends(s, i)[0] is None or int(start(s, i), 16) == 0:
            continue
        best = votes.setdefault(vote(s, i), [None, 0])
        if best[0] == start(s, i) or not best[1]:
            best[0] = start(s, i)
            best[1] += 1
        else:
            best[1] -= 1
def group(s, i):
    if ends(s, i)[0] is None:
        return None
    at = start(s, i)
    if int(at, 16) == 0:
        at = votes.get(vote(s, i), [None])[0]
    return s["v"][i]["function"], at
# Visits from the begin of a function are in groups by caller, if the callers differ in the
# number of samples for their visits
begins = {r["to"] for r in rows if r["kind"] == "call"}
calls, hits = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
for s in samples:
    for i in range(len(s["v"])):
        g = group(s, i)
        if g and g[1] in begins:
            calls[g[0]][ends(s, i)[0][1]] += 1
            hits[g[0]][ends(s, i)[0][1]] += i == len(s["v"]) - 1
apart = set()
for function in calls:
    share = sum(hits[function].values()) / sum(calls[function].values())
    terms = [(hits[function][c] - share * n) ** 2 / (share * n) for c, n in calls[function].items() if share * n >= 5]
    if terms and sum(terms) > len(terms) + 5 * (2 * len(terms)) ** 0.5:
        apart.add(function)
by_place = group
def group(s, i):
    g = by_place(s, i)
    return g + (ends(s, i)[0][1],) if g and g[0] in apart and g[1] in begins else g
def key(s, i):
    # But the code is the same
    return group(s, i), (ends(s, i)[1] or (0, "open"))[1], s["v"][i]["function"]
lines = []
for s in samples:
    n = len(s["v"]) - 1
    part = [0.5 if n and (i == n or (i == 0 and s["before"])) else 1 for i in range(n + 1)]
    s["keys"] = [key(s, i) for i in range(n + 1)]
    if s["whole"]:
        lines.append((s["keys"], part, s["T"]))
# No code is without calls but where a call returns to: it says nothing
V, O = collections.Counter(), collections.Counter()
# Samples have a period where most of the shortest intervals are alike
after = sorted(s["T"] for s in samples if s["before"])
assert after[len(after) // 4] <= 1.05 * after[len(after) // 20]
period = after[len(after) // 10]
for keys, part, T in lines:
    O[keys[-1][0]] += 1 if keys[-1][0] else 0
    for k, p in zip(keys, part):
        V[k] += p
kinds = {k for s in samples for k in s["keys"]}
mean = sum(T for _, _, T in lines) / sum(V.values())
den = collections.Counter()
for keys, part, T in lines:
    for k, p in zip(keys, part):
        den[k] += p / mean
x = dict.fromkeys(kinds, 0.0)
for turn in range(6):
    time, visits = collections.Counter(), collections.Counter()
    for k in kinds:
        time[k[2]] += V[k] * x[k]
        visits[k[2]] += V[k]
    prior = {k: time[k[2]] / visits[k[2]] if time[k[2]] > 0 else mean for k in kinds}
    if not turn:
        x = dict(prior)
    for step in range(60):
        num, Y = collections.Counter(), collections.Counter()
        for keys, part, T in lines:
            y = sum(p * x[k] for k, p in zip(keys, part))
            for k, p in zip(keys, part):
                num[k] += p * T / y / mean
        for k in kinds:
            Y[k[0]] += V[k] * x[k]
        new = {}
        for k in kinds:
            up, down = num[k], den[k]
            if k[0] and Y[k[0]] > 0:
                up += V[k] * O[k[0]] / Y[k[0]]
                down += V[k] / period
            new[k] = (x[k] * up + 0.1) / (down + 0.1 / prior[k])
        change = sum(abs(new[k] - x[k]) * V[k] for k in kinds) / sum(new[k] * V[k] for k in kinds)
        x = new
        if change < 1e-6:
            break
together, visits = collections.Counter(), collections.Counter()
for k in kinds:
    if k[0]:
        together[k[0]] += V[k] * x[k]
        visits[k[0]] += V[k]
for k in kinds:
    if k[1] == "open" and not den[k] and k[0] and visits[k[0]] > 0:
        x[k] = together[k[0]] / visits[k[0]]

# Where samples cut a visit: a dense matrix, and relaxation instead of elimination
cuts = []
for s in samples:
    n = len(s["v"]) - 1
    s["middle"] = sum(x[k] for k in s["keys"][1 if s["before"] else 0:n])
    s["cut"] = None
for s in samples:
    n = len(s["v"]) - 1
    if not s["whole"] or not n:
        continue
    between, b = 0, s["after"]
    while b and len(b["v"]) == 1:
        between, b = between + b["T"], b["after"]
    if b:
        length = x[s["keys"][n]]
        cuts.append(dict(a=s, b=b, D=between, x=length + between if length < between else length))
ending = {id(c["b"]): i for i, c in enumerate(cuts)}
before = [ending.get(id(c["a"])) for c in cuts]
room = [c["x"] - c["D"] for c in cuts]
assert len(cuts) > 300 and None in before
squares = usual = total = 0
for j, i in enumerate(before):
    if i is None:
        continue
    s = cuts[j]["a"]
    squares += (s["T"] - s["middle"] - (room[i] + room[j]) / 2) ** 2
    usual += (room[i] ** 2 + room[j] ** 2) / 12
    total += s["middle"] + (room[i] + room[j]) / 2
# The fitted parameters fit these intervals better than others do
def seen(k):
    return den[k] + (V[k] / period if k[0] and together[k[0]] > 0 else 0)
pairs, found = len(cuts) - before.count(None), sum(x[k] * den[k] / (x[k] * seen(k) + 0.1) for k in kinds)
assert pairs > found
u = max((squares * pairs / max(pairs - found, 1) - usual) / total, 0.001 * sum(c["x"] for c in cuts) / len(cuts))
# (variables, sign of the second one, value, variance): the first part of cut i is variable 2 i, the last 2 i + 1
terms = []
for j, (c, i) in enumerate(zip(cuts, before)):
    c["x"] += min(u, c["x"])
    r, s = c["x"] - c["D"], c["a"]
    random = u * max(c["x"], u)
    terms.append(((2 * j, 2 * j + 1), 1, r, random))
    # A sample at a random place: p - q is uniform from -x to x, and x is random
    terms.append(((2 * j, 2 * j + 1), -1, 0, (r * r + random) / 3))
    if i is not None or not s["before"]:
        both = (2 * j,) if i is None else (2 * i + 1, 2 * j)
        terms.append((both, 1, s["T"] - s["middle"], u * max(s["middle"], u)))
of = collections.defaultdict(list)
for variables, sign, value, variance in terms:
    for v in variables:
        of[v].append((value, 1 / variance, [(o, sign) for o in variables if o != v]))
zero, part = set(), [0.0] * (2 * len(cuts))
turns = []
for turn in range(20):
    turns.append(set(zero))
    part = [0.0 if v in zero else p for v, p in enumerate(part)]
    for sweep in range(100000):
        moved = 0
        for v in range(len(part)):
            if v in zero:
                continue
            new = sum(w * (value - sum(sign * part[o] for o, sign in others)) for value, w, others in of[v]) / sum(w for _, w, _ in of[v])
            moved = max(moved, abs(new - part[v]))
            part[v] = new
        if moved < 1e-4:
            break
    negative = {v for v, p in enumerate(part) if p < 0}
    zero |= negative
    if not negative:
        break
# Their uncertainty: a column of the inverse for each, computed from what is near it
def sigma(v):
    out = [z for z in turns if v not in z][-1]
    near, edge = {v}, [v]
    for far in range(40):
        edge = {o for u in edge for _, _, others in of[u] for o, _ in others if o not in out} - near
        near |= edge
    z = dict.fromkeys(near, 0.0)
    for sweep in range(100000):
        moved = 0
        for u in near:
            new = ((u == v) - sum(w * sign * z.get(o, 0) for _, w, others in of[u] for o, sign in others)) / sum(w for _, w, _ in of[u])
            moved = max(moved, abs(new - z[u]))
            z[u] = new
        if moved < 1e-7 * z[v]:
            break
    return z[v] ** 0.5
def variance(k):
    return min(10 * x[k] ** 2, u * x[k] + x[k] ** 2 / (x[k] * seen(k) + 0.1))
def errors(s, w, p, q):
    n, cut, extra = len(s["v"]) - 1, s["before"] is not None, max(s["T"] - period, 0) if s["before"] else s["T"]
    left = variance(s["keys"][0])
    if cut:
        left = sigma(2 * [i for i, c in enumerate(cuts) if c["b"] is s][0] + 1) ** 2 + (w[0] - q) ** 2
    right = sigma(2 * [i for i, c in enumerate(cuts) if c["a"] is s][0]) ** 2 + (w[n] - p) ** 2
    inner = [variance(k) for k in s["keys"][1:n]]
    bounds = [0.0] + [extra ** 2 + min(left + sum(inner[:i]), right + sum(inner[i:])) for i in range(n)] + [0.0]
    return [min(2 * max(a, b) ** 0.5, s["T"]) for a, b in zip(bounds, bounds[1:])]
first, last = {}, {}
for i, c in enumerate(cuts):
    last[id(c["a"])] = max(part[2 * i], 0)
    first[id(c["b"])] = max(part[2 * i + 1], 0)
checked, sures = 0, []
for s in samples:
    if not s["whole"]:
        continue
    n, T = len(s["v"]) - 1, s["T"]
    w = [x[k] for k in s["keys"]]
    p, q = last.get(id(s)), first.get(id(s)) if s["before"] else 0
    cut = 1 if s["before"] else 0
    if n and None not in (p, q) and (p + q > 0 or n > cut):
        if n == cut or p + q >= T:
            w = [0.0] * (n + 1)
            p, q = p * T / (p + q), q * T / (p + q)
        f = (T - p - q) / (sum(w[cut:n]) or 1)
        w = [t * f for t in w[:n]] + [p]
        if cut:
            w[0] = q
        checked += 1
    else:
        if n:
            w[n] /= 2
            if s["before"]:
                w[0] /= 2
        w = [t * T / sum(w) for t in w]
    for v, t in zip(s["v"], w):
        assert abs(int(v["duration"]) - t) <= 2, (v, t)
    if n and None not in (p, q) and checked % 10 == 0:
        for v, e in zip(s["v"], errors(s, w, p, q)):
            assert abs(int(v["error"]) - e) <= 3 + e / 200, (v, e)
            sures.append(e)
assert checked > 300 and len(sures) > 100 and 5 * min(sures) < max(sures), (checked, len(sures))
