#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
#
# ioreq on several hosts: their clocks, which request was made for which other one, and
# what clients waited for, against the truth and against other arithmetic.
set -u

ioreq=$TOOLS/ioreq
program=$ioreq
# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"

hosts=(web=web.dat app=app.dat db=db.dat alone=alone.dat)
cat >truth.py <<'END'
import collections, json
clocks, calls, requests = {}, [], {}
for line in open("truth"):
    f = line.rstrip("\n").split("\t")
    if f[0] == "clock":
        clocks[int(f[1])] = [int(x) for x in f[2:]]
    elif f[0] == "call":
        calls.append({"host": int(f[1]), "tid": int(f[2]), "op": f[3], "type": int(f[4]),
                      "start": int(f[5]), "finish": int(f[6]), "socket": int(f[7]), "name": f[8]})
    else:
        n = [int(x) for x in f[1:]]
        requests[n[0]] = {"parent": n[1], "tid": (n[2], n[5]), "begin": (n[3], n[6]), "over": (n[4], n[7]),
                          "there": n[8], "back": n[9], "host": 1 if n[1] else 0}
LAST = max(c["finish"] for c in calls if c["host"] == 1)
names = ["web", "app", "db", "alone"]

def shown(host, true):
    ahead, rate, then, begin, step = clocks[host]
    drift = (min(true, step) - begin) * rate + max(0, true - step) * then
    return true + ahead + drift // 10**9

def true_time(host, time):
    low, high = time - 3 * 10**9, time + 3 * 10**9
    while low < high:
        mid = (low + high) // 2
        if shown(host, mid) < time:
            low = mid + 1
        else:
            high = mid
    return low
END

# --- clocks
for seed in 1 2 3 4 5 6; do
	"$UNIT/gen_chain" web.dat app.dat db.dat alone.dat 3000 $seed >truth || exit 1
	"$ioreq" --clocks --format=json "${hosts[@]}" >clocks.json 2>err || wrong "--clocks fails"
	"$ioreq" --clocks --format=csv "${hosts[@]}" >clocks.csv 2>>err || wrong "--clocks fails"
	"$ioreq" --requests --format=json "${hosts[@]}" >requests.json 2>>err || wrong "--requests fails"
	[ ! -s err ] || wrong "messages about good files"
	python3 - <<'END' || wrong "the clocks of seed $seed are not right"
import csv
from truth import *
found = {h["name"]: h["clock"] for h in json.load(open("clocks.json"))["hosts"]}
assert found["web"]["state"] == "reference" and found["alone"] == {"messages": 0, "state": "alone"}
rtt = {}
for r in requests.values():
    trip = r["over"][0] - r["begin"][0]
    rtt[r["host"]] = min(trip, rtt.get(r["host"], trip))
for number, name in ((1, "app"), (2, "db")):
    c = found[name]
    assert c["state"] == "aligned" and c["reference"] == "web", c
    error = c["offset"] - (c["at"] - true_time(number, c["at"]))
    assert abs(error) <= c["bound"] <= c["worst"], (name, error, c)
    # Of one host against the next one; those of a chain add up
    assert c["bound"] <= sum(rtt[h] for h in range(number)) / 2, (name, c, rtt)
    times = [t for x in calls if x["host"] == number and x["socket"] for t in (x["start"], x["finish"])]
    begin, end = min(times), max(times)
    mean = (true_time(number, end) - true_time(number, begin)) / (end - begin)
    drift = (1 / mean - 1) * 1e6
    assert abs(drift - c["drift"]) <= c["drift_bound"] + 1, (name, drift, c)
rows = {row["host"]: row for row in csv.DictReader(open("clocks.csv"))}
assert list(rows) == names
for name, c in found.items():
    row = rows[name]
    assert set(row) - {"host"} >= set(c)
    for key in set(row) - {"host"}:
        if key not in c:
            assert row[key] == "", (key, row)
        elif key in ("drift", "drift_bound", "steady"):
            assert float(row[key]) == c[key], (key, row)
        else:
            assert row[key] == str(c[key]), (key, row)

# What was on which way: the sums are within those of the requests that they may be of
for e in json.load(open("requests.json"))["requests"]:
    host = 0 if e["client_host"] == "web" else 1
    those = [r for r in requests.values() if r["host"] == host]
    assert 0 <= e["late"] <= e["there"] and 0 < e["split"] <= e["answered"] - e["unclear"], e
    worst = sum(found[names[h]].get("worst", 0) for h in (host, host + 1))
    for key in "there", "back":
        order = sorted(r[key] for r in those)
        least, most = sum(order[:e["split"]]), sum(order[-e["split"]:])
        assert least - worst * e["split"] <= e[key] <= most + worst * e["split"], (key, e)
    if host == 0 and e["split"] == len(those):
        for key in "there", "back":
            assert abs(e[key] - sum(r[key] for r in those)) <= worst * len(those), (key, e)
END
done
"$ioreq" --clocks "${hosts[@]}" >out 2>err || wrong "--clocks in text fails"
grep -qE '^db +[0-9,]+ -?[0-9.]+ .?s ahead of web, \+- [0-9.]+ us, at worst [0-9.]+ us; drift ' out || wrong "text does not tell of db's clock"
grep -q '^alone  *0 not aligned: no messages with another host$' out || wrong "text does not tell that alone is not aligned"
# In 6 seconds, 200 ppm are more than any message takes
"$UNIT/gen_chain" web.dat app.dat db.dat alone.dat 30000 6 >truth || exit 1
"$ioreq" --clocks --max-drift=1 "${hosts[@]}" >out 2>err || wrong "--max-drift=1 fails"
grep -q 'contradict a drift of 1 ppm' out || wrong "text does not tell of a contradiction"

# --- which request was made for which other one
for lossy in "" lossy; do
	for seed in 7 9; do
		# shellcheck disable=SC2086 # or none
		"$UNIT/gen_chain" web.dat app.dat db.dat alone.dat 3000 $seed $lossy >truth || exit 1
		"$ioreq" --paths --format=json "${hosts[@]}" >paths$lossy.json 2>err || wrong "--paths fails"
		"$ioreq" --format=otlp "${hosts[@]}" >links$lossy.otlp 2>>err || wrong "otlp fails"
		[ -n "$lossy" ] || [ ! -s err ] || wrong "messages about good files"
		LOSSY=$lossy python3 - <<'END' || wrong "the links${lossy:+ of a lossy trace} of seed $seed are not right"
import os
from truth import *
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

# Which requests a thread was at work on, from the truth
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
    # At the end of the trace are requests that are not over, of which the truth tells nothing
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
        # Another thread got the request: what the answer to this one led to may tell
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
END
	done
done

# --- what outlives the request that it was made for is its client's all the same
for mode in early lossy; do
	"$UNIT/gen_chain" web.dat app.dat db.dat alone.dat 3000 5 $mode >truth || exit 1
	"$ioreq" --by=client,host,call --format=json "${hosts[@]}" >clients.json 2>/dev/null || wrong "--by=client fails"
	"$ioreq" --paths --format=json "${hosts[@]}" >paths.json 2>/dev/null || wrong "--paths fails"
	MODE=$mode python3 - <<'END' || wrong "clients of what outlives its request are not right ($mode)"
import os
from truth import *
found = collections.Counter()
for c in json.load(open("clients.json"))["calls"]:
    assert c["client"] in ("-", "ambiguous", "web:client"), c
    found[c["host"], c["call"], c["client"]] += c["count"]
links = json.load(open("paths.json"))["links"]
if os.environ["MODE"] == "early":
    late = sum(r["parent"] in requests and r["over"][0] > requests[r["parent"]]["over"][1] for r in requests.values())
    assert links["outlived"] == late > 200, (links, late)
    alone = sum(c["host"] == 2 and c["tid"] < 310 and c["op"] == "pread64" for c in calls)
    # The last ones have no answer
    assert found["db", "pread64", "web:client"] >= alone - 30 and alone > 500, (found, alone)
END
done

# --- what clients waited for
"$UNIT/gen_tiers" web.dat app.dat db.dat 400 3 >tiers || exit 1
hosts=(front=web.dat app=app.dat db=db.dat)
"$ioreq" --paths --format=json "${hosts[@]}" >paths.json 2>err || wrong "--paths fails"
"$ioreq" --paths --format=csv "${hosts[@]}" >paths.csv 2>>err || wrong "--paths in csv fails"
"$ioreq" --paths "${hosts[@]}" >paths.txt 2>>err || wrong "--paths in text fails"
[ ! -s err ] || wrong "messages about good files"
python3 - <<'END' || wrong "what clients waited for is not right"
import collections, csv, json
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

# Its own connection: that of the call that got the request
OWN = {}
for n, r in requests.items():
    host = r["host"] + 1
    OWN[n], = {name for start, end, op, name in calls[host, r["pid"][1]] if op == "recvfrom" and end == r["at"][1][0]}

def walk(n, add):
    r = requests[n]
    host = r["host"] + 1
    wait = r["at"][0][1] - r["at"][0][0]
    begin, over = r["at"][1]
    add(host, "between", "", wait - (over - begin))
    rest = over - begin
    inside = [requests[c]["at"][0] for c in children[n]]
    for c in children[n]:
        walk(c, add)
    rest -= sum(end - start for start, end in inside)
    for start, end, op, name in calls[host, r["pid"][1]]:
        if start < begin or end > over or any(b <= start and end <= e for b, e in inside):
            continue
        rest -= end - start
        if op in ("sendto", "recvfrom"):
            # A query that may be for another one; with the port if that is the server's
            other = name.split("->")[1]
            if OWN[n] == name:
                add(host, "own", "", end - start)
            else:
                add(host, "sockets", other if other.endswith(":80") else other.split(":")[0], end - start)
        else:
            add(host, "sync" if "sync" in op else "files", name, end - start)
    add(host, "rest", "", rest)

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
assert {k: c["pieces"] for k, c in got.items()} == dict(pieces)
waited = sum(requests[n]["at"][0][1] - requests[n]["at"][0][0] for n in roots)
assert sum(want.values()) == waited
assert result["links"] == {"clients": len(roots), "waited": waited, "outlived": 0,
                           "followed": sum(r["parent"] not in "-?" for r in requests.values()),
                           "ambiguous": sum(r["parent"] == "?" for r in requests.values())}
assert result["links"]["ambiguous"] > 3 and len(want) > 9
times = [c["time"] for c in result["causes"]]
assert times == sorted(times, reverse=True)
paths = [(p["depth"], p["client_host"], p["server_host"], p["requests"]) for p in result["paths"]]
assert paths == [(0, "front", "app", len(roots)), (1, "app", "db", result["links"]["followed"])], paths
for p in result["paths"]:
    assert sum(p["wait_for"].values()) == p["critical"]
assert sum(p["critical"] for p in result["paths"]) == waited
# Single requests: the longest ones, with all of what they waited for
longest = sorted((requests[n]["at"][0][1] - requests[n]["at"][0][0] for n in roots), reverse=True)[:20]
assert [r["wait"] for r in result["slowest"]] == longest
for r in result["slowest"]:
    assert sum(piece["time"] for piece in r["waited_for"]) == r["wait"]
    n, = [n for n in roots if requests[n]["at"][0][0] == r["begin"] and requests[n]["pid"][0] == r["pid"]]
    one = collections.Counter()
    walk(n, lambda host, step, name, time: one.update({(HOSTS[host], step, name): time}))
    for piece in r["waited_for"]:
        one[piece["host"], piece["step"], piece["object"]] -= piece["time"]
    assert not any(one.values()), one
rows = list(csv.DictReader(open("paths.csv")))
assert rows == [{k: str(v) for k, v in c.items()} for c in result["causes"]]
END
# Of db the messages say nothing but the limit, on both sides
grep -q "; drift 0.000 +- " paths.txt || wrong "text tells a drift of -0"
grep -q '^front:curl -> app:app server ' paths.txt || wrong "text does not tell of the path"
grep -q '^  -> db:<b>db</b> ' paths.txt || wrong "text does not tell how the path goes on"
[ "$("$ioreq" --paths --top=2 --format=csv "${hosts[@]}" | wc -l)" -eq 3 ] || wrong "--top=2 is not 2"

# --- the line of code that most of it was called from
mkdir -p root/usr/bin
for i in 1 2 3 4 5; do
	printf '__attribute__((noinline)) void f%d(void)\n{\n\tvoid out(void);\n\tout();\n\tn++;\n}\n' $i
done | { printf 'int n;\n__attribute__((noinline)) void out(void)\n{\n\tn--;\n}\n' && cat &&
	printf 'int main(void)\n{\n\tf1();\n\tf2();\n\tf3();\n\tf4();\n\tf5();\n\treturn n;\n}\n'; } >prog.c
gcc -O0 -g -no-pie -o root/usr/bin/prog prog.c || exit 1
# Behind each call of out(), as a stack has it, and which function that is in
objdump -d --no-show-raw-insn root/usr/bin/prog | awk -F'[:<>]' '/^[0-9a-f]+ <f[1-5]>:/ { in_f = $2 }
	called { print called, $1; called = 0 }
	/call.*<out>/ { called = in_f }' | tr -d ' \t' | sed 's/^f./& /' >returns
[ "$(wc -l <returns)" -eq 5 ] || wrong "the program's calls cannot be found"
readelf -lW root/usr/bin/prog | awk '$1 == "LOAD" { print $2, $3, $5 }' >loads
python3 - <<'END' >offsets || wrong "the program's calls cannot be found"
loads = [[int(x, 16) for x in line.split()] for line in open("loads")]
for line in open("returns"):
    at = int(line.split()[1], 16)
    off, vaddr = next((off, vaddr) for off, vaddr, size in loads if vaddr <= at < vaddr + size)
    print(line.split()[0], f"{at - vaddr + off:x}")
END
# shellcheck disable=SC2046 # several numbers
"$UNIT/gen_tiers" web.dat app.dat db.dat 400 5 /usr/bin/prog $(cut -d' ' -f2 offsets) >tiers || exit 1
"$ioreq" --paths --symfs="$PWD/root" --format=json "${hosts[@]}" >paths.json 2>err || wrong "--paths with stacks fails"
"$ioreq" --paths --symfs="$PWD/root" --format=csv "${hosts[@]}" >paths.csv 2>>err || wrong "--paths with stacks in csv fails"
"$ioreq" --paths --symfs="$PWD/root" "${hosts[@]}" >paths.txt 2>>err || wrong "--paths with stacks in text fails"
[ ! -s err ] || wrong "messages about good files with stacks" "$(cat err)"
python3 - <<'END' || wrong "what clients waited for has another line of code"
import collections, csv, json
function = dict(reversed(line.split()) for line in open("offsets"))
line = {f"f{i}": n + 3 for n, text in enumerate(open("prog.c"), 1) for i in range(1, 6) if f"void f{i}(" in text}
causes = json.load(open("paths.json"))["causes"]
roots = set()
times = collections.defaultdict(collections.Counter)
parent, calls = {}, []
for text in open("tiers"):
    f = text.rstrip("\n").split("\t")
    if f[0] == "request":
        parent[f[1]] = f[2]
    else:
        calls.append(f)
for f in calls:
    host, op, took, name, request, offset = f[1], f[4], int(f[6]), f[8], f[9], f[10]
    # Of the requests that are ambiguous nothing is told
    if offset == "-" or parent[request] == "?":
        continue
    times[["front", "app", "db"][int(host)], "sync" if "sync" in op else "files", name][offset] += took
told = {(c["host"], c["step"], c["object"]): c for c in causes if c["code"]}
assert set(told) == set(times) and len(told) == 3, (set(told), set(times))
for key, c in told.items():
    (offset, time), = times[key].most_common(1)
    f = function[offset]
    assert c["code_time"] == time < c["time"], (key, c, times[key])
    where, name, _, source = c["code"].split(" ")
    assert (where, name) == (f"/usr/bin/prog+0x{offset}", f) and source.endswith(f"/prog.c:{line[f]}"), (c, f, line)
assert all(c["code_time"] == 0 for c in causes if not c["code"]) and len(causes) > len(told)
assert list(csv.DictReader(open("paths.csv"))) == [{k: str(v) for k, v in c.items()} for c in causes]
text = open("paths.txt").read().splitlines()
for c in told.values():
    at = next(i for i, t in enumerate(text) if t.endswith(f" {c['step']:<8} {c['object']}"))
    share = f"{100 * c['code_time'] / c['time']:.0f} % of it from {c['code'].replace('/usr/bin/', '')}"
    assert text[at + 1].strip() == share, (text[at + 1], share)
END

# --- wrong use
expect 2 '--paths is for text, json and csv' --paths --format=chrome web.dat
expect 2 '--max-drift=0 is no number' --max-drift=0 web.dat
expect 2 '--max-drift=100001 is more than 100000' --max-drift=100001 web.dat
exit $failed
