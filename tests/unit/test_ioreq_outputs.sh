#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
#
# ioreq for other programs: Chrome's trace events, OpenTelemetry's spans, folded
# stacks, and the page in a browser; against the truth about requests within requests.
set -u

ioreq=$TOOLS/ioreq
# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"

"$UNIT/gen_tiers" front.dat app.dat db.dat 400 1 >truth || exit 1
hosts=(front=front.dat app=app.dat db=db.dat)
for format in chrome otlp folded html; do
	"$ioreq" "${hosts[@]}" --format=$format >out.$format 2>err || wrong "$format fails"
	[ ! -s err ] || wrong "$format: messages"
	"$ioreq" "${hosts[@]}" --format=$format --top=3 >top.$format 2>err || wrong "$format --top fails"
done
"$UNIT/gen_requests" web.dat other.dat 300 1 >requests.truth || exit 1
"$ioreq" web=web.dat db=other.dat --format=chrome >requests.chrome || wrong "chrome fails"
"$ioreq" web=web.dat db=other.dat --format=json >requests.json || wrong "json fails"
"$ioreq" web=web.dat db=other.dat --format=otlp --epoch=1700000000 >requests.otlp || wrong "otlp fails"

# Two hosts that have sent each other nothing
"$ioreq" front=front.dat db=db.dat --format=chrome >front.chrome || wrong "chrome of two that have nothing in common fails"
"$ioreq" front=front.dat db=db.dat --format=html >front.html || wrong "html of two that have nothing in common fails"

cat >truth.py <<'END'
HOSTS = ["front", "app", "db"]
COMMS = ["curl", "app server", "<b>db</b>"]
calls, requests, made_for = [], {}, {}
for line in open("truth"):
    f = line.rstrip("\n").split("\t")
    if f[0] == "call":
        calls.append((int(f[1]), int(f[2]), int(f[3]), f[4], int(f[5]), int(f[6]), int(f[7]), f[8]))
        made_for[int(f[1]), int(f[3]), int(f[5])] = f[9]
    else:
        n = [int(x) for x in f[3:]]
        requests[f[1]] = {"parent": f[2], "pid": (n[0], n[3]), "at": (n[1:3], n[4:6]), "bytes": n[6:8]}
# Clocks are ahead by these, and known as well as messages between hosts tell
AHEAD = [0, 7000000000000, 3000000000000]
CLOSE = 20000
first = min(c[4] - AHEAD[c[0]] for c in calls)

def match(got, want):
    """pairs of entries that are the same but for two times, their last items"""
    got, want = sorted(got), sorted(want)
    assert [g[:-2] for g in got] == [w[:-2] for w in want]
    for g, w in zip(got, want):
        assert abs(g[-2] - w[-2]) <= CLOSE and abs(g[-1] - w[-1]) <= CLOSE, (g, w)
    return list(zip(got, want))
# Its client is on the first host, or on the second one
for r in requests.values():
    r["host"] = 0 if r["parent"] == "-" else 1
    r["axis"] = [[t - AHEAD[r["host"] + side] - first for t in r["at"][side]] for side in (0, 1)]
END

# --- Chrome's trace events
python3 - <<'END' || wrong "chrome is not right"
import json, collections
from truth import *

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
    # Slices of a thread lie in one another or apart
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
# Which is which: times on the hosts' own clocks are exact. Each call is its request's
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
# Of each request, three arrows: the request's, its message's and its answer's
assert len(flows) == 3 * len(requests)
def ends(name):
    return sorted((*(pids.index(e["pid"]) for e in f), *(e["tid"] for e in f)) for f in flows.values() if f[0]["name"] == name)
assert ends("request") == sorted((r["host"], r["host"] + 1, *r["pid"]) for r in requests.values())
assert ends("answer") == sorted((r["host"] + 1, r["host"], *r["pid"][::-1]) for r in requests.values())
assert all(e["tid"] >= 10000000 for f in flows.values() if f[0]["name"] == "asked" for e in f)

# What others see of other traces: pipelining, several threads
slices, flows, *_ = read("requests.chrome")
assert any(e["args"].get("unclear") for e in slices) and len(flows) > 300
# Its clients' calls overlap, each of them: slices or asynchronous events
every = [e for e in json.load(open("requests.chrome"))["traceEvents"] if e.get("cat") in ("call", "overlapping") and e["ph"] != "e"]
assert any(e["ph"] == "b" for e in every)
result = json.load(open("requests.json"))
assert len(every) == sum(h["calls"] for h in result["hosts"])

# --top: the longest requests and what they asked for, with all calls in them
slices, *_ = read("top.chrome")
longest = sorted(requests, key=lambda n: requests[n]["at"][0][0] - requests[n]["at"][0][1])[:3]
assert all(requests[n]["parent"] == "-" for n in longest)
want = [r for n, r in requests.items() if n in longest or r["parent"] in longest]
assert sum(e["cat"] == "request" for e in slices) == 2 * len(want)
assert 20 < sum(e["cat"] == "call" for e in slices) < 100
END

# --- OpenTelemetry, by the JSON encoding of OTLP
cat >otlp.py <<'END'
import json, re

def need(value, kind, *where):
    assert isinstance(value, kind) and (kind is not int or not isinstance(value, bool)), (value, kind, where)
    return value

def only(o, required, optional=()):
    need(o, dict)
    assert set(required) <= set(o) <= set(required) | set(optional), o
    return o

def attributes(a):
    found = {}
    for kv in need(a, list):
        only(kv, ["key", "value"])
        (kind, value), = need(kv["value"], dict).items()
        if kind == "intValue":
            assert re.fullmatch(r"-?\d+", need(value, str)), value
            value = int(value)
        elif kind == "boolValue":
            need(value, bool)
        else:
            assert kind == "stringValue", kind
            need(value, str)
        assert kv["key"] not in found, kv
        found[kv["key"]] = value
    return found

def read(name):
    spans = {}
    resources = []
    for r in only(json.load(open(name)), ["resourceSpans"])["resourceSpans"]:
        only(r, ["resource", "scopeSpans"])
        resource = attributes(only(r["resource"], ["attributes"])["attributes"])
        assert {"service.name", "host.name", "process.pid"} <= set(resource)
        resources.append(resource)
        for scoped in r["scopeSpans"]:
            only(scoped, ["scope", "spans"])
            only(scoped["scope"], ["name", "version"])
            assert scoped["spans"]
            for s in need(scoped["spans"], list):
                only(s, ["traceId", "spanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano", "attributes"], ["parentSpanId"])
                assert re.fullmatch("[0-9a-f]{32}", s["traceId"]) and int(s["traceId"], 16), s
                for key in "spanId", "parentSpanId":
                    assert key not in s or re.fullmatch("[0-9a-f]{16}", s[key]) and int(s[key], 16), s
                assert need(s["kind"], int) in (2, 3) and need(s["name"], str), s
                for key in "startTimeUnixNano", "endTimeUnixNano":
                    assert re.fullmatch(r"\d+", need(s[key], str)) and int(s[key]) < 2 ** 64, s
                assert int(s["startTimeUnixNano"]) <= int(s["endTimeUnixNano"]), s
                assert s["spanId"] not in spans, "not its own"
                spans[s["spanId"]] = s | {"resource": resource, "attributes": attributes(s["attributes"])}
    for s in spans.values():
        if "parentSpanId" in s:
            assert spans[s["parentSpanId"]]["traceId"] == s["traceId"], s
    return spans, resources
END
python3 - <<'END' || wrong "otlp is not right"
import otlp
from truth import *
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

# One side only, or both that did not see the same
spans, _ = otlp.read("requests.otlp")
kinds = {}
for line in open("requests.truth"):
    client, server, answered, clear, *rest = line.split("\t")
    if answered == "1":
        for kind, party in (3, client), (2, server):
            if party.count(":") and not party[0].isdigit() and (kind == 3 or clear == "1"):
                kinds[kind] = kinds.get(kind, 0) + 1
got = [s["kind"] for s in spans.values()]
assert {k: got.count(k) for k in kinds} == kinds, (kinds, got.count(2), got.count(3))
unclear = [s for s in spans.values() if "ioreq.unclear" in s["attributes"]]
assert len(unclear) > 30 and all(s["kind"] == 3 for s in unclear)
assert all(1.7e18 <= int(s["startTimeUnixNano"]) < 1.7e18 + 1e11 for s in spans.values())
END

# --- folded stacks
python3 - <<'END' || wrong "folded is not right"
import collections
from truth import *
want = collections.Counter()
for host, tgid, _, op, _, took, _, name in calls:
    want[f"{HOSTS[host]};{COMMS[host]}-{tgid};{op};{name}".replace(" ", "_")] += took
got = collections.Counter()
for line in open("out.folded"):
    stack, time = line.rstrip("\n").split(" ")
    assert stack.count(";") == 3
    got[stack] += int(time)
assert got == want and len(open("top.folded").readlines()) == 3
END
"$ioreq" "${hosts[@]}" --format=folded --by=comm,call >by.folded || wrong "folded --by fails"
grep -qE '^curl;sendto [0-9]+$' by.folded || wrong "folded --by has other frames"

# --- sums by the client that calls were made for
"$ioreq" "${hosts[@]}" --by=client,host,call --format=csv >clients.csv 2>err || wrong "--by=client fails"
"$ioreq" "${hosts[@]}" --by=client,host,call --format=json >clients.json 2>>err || wrong "--by=client fails"
[ ! -s err ] || wrong "--by=client: messages"
python3 - <<'END' || wrong "--by=client is not right"
import bisect, collections, csv, json
from truth import *
threads = collections.defaultdict(list)
for c in calls:
    threads[c[0], c[2]].append(c)
labels = collections.defaultdict(set)
for r in requests.values():
    top = r
    while top["parent"] not in "-?":
        top = requests[top["parent"]]
    for side in 0, 1:
        begin, over = r["at"][side]
        thread = threads[r["host"] + side, r["pid"][side]]
        for c in thread[bisect.bisect_left(thread, begin, key=lambda c: c[4]):]:
            if c[4] + c[5] > over:
                break
            labels[c].add("ambiguous" if top["parent"] == "?" else "front:curl")
want = collections.defaultdict(lambda: [0, 0, 0])
for c in calls:
    who = labels[c]
    entry = want["-" if not who else "ambiguous" if len(who) > 1 else min(who), HOSTS[c[0]], c[3]]
    entry[0] += 1
    entry[1] += c[6]
    entry[2] += c[5]
rows = list(csv.DictReader(open("clients.csv")))
got = {(r["client"], r["host"], r["call"]): [int(r[k]) for k in ("count", "bytes", "time")] for r in rows}
assert got == want and len(rows) == len(got), (got, dict(want))
assert {k[0] for k in got} == {"-", "ambiguous", "front:curl"}
assert [{k: str(v) for k, v in c.items()} for c in json.load(open("clients.json"))["calls"]] == \
    [{k: v for k, v in r.items() if v} for r in rows]
END
"$ioreq" "${hosts[@]}" --by=client,call >out 2>err || wrong "--by=client in text fails"
grep -qE '^front:curl +pread64 +[0-9]' out || wrong "--by=client in text does not tell of the client"

# --- the page: what needs no browser
for page in out top; do
	# The page's own three script elements, and nothing that is loaded
	[ "$(grep -ciE '</?script' $page.html)" -eq 6 ] || wrong "$page: markup of the trace in the page"
	grep -qE '<b>' $page.html && wrong "$page: elements of the trace in the page"
	grep -qiE 'https?:|src=[^\/]|@import|url\(|fetch\(|XMLHttp' $page.html && wrong "$page: loads something"
	sed -n '/id="data">/,/<\/script>/p' $page.html | sed '1d;$d' >data.json
	python3 -c 'import json; json.load(open("data.json"))' || wrong "$page: no JSON"
done

# --- the page has the stacks of its requests' calls
"$UNIT/gen_tiers" one.dat two.dat three.dat 100 2 /no/such/prog 1234 2345 >stacks.truth || exit 1
"$ioreq" one.dat two.dat three.dat --format=html >stacks.html 2>err || wrong "html with stacks fails"
[ "$(sort err)" = "$(printf 'ioreq: %s.dat: /no/such/prog: No such file or directory: kept as offsets\n' three two)" ] ||
	wrong "it is not told whose files are missing"
python3 - <<'END' || wrong "the stacks of the page are not right"
import collections, json, re
data = json.loads(re.search(r'id="data">(.*?)</script>', open("stacks.html").read(), re.S).group(1))
true = collections.defaultdict(list)
for line in open("stacks.truth"):
    f = line.rstrip("\n").split("\t")
    if f[0] == "call":
        true[int(f[3]), f[4], int(f[6])].append((f[8], f[10]))
with_stack = without = 0
for r in data["list"]:
    for op, name, at, took, size, result, kind, *stack in r["server"].get("calls", []):
        offsets = {o for n, o in true[r["server"]["pid"], op, took] if n == name}
        frames = data["stacks"][stack[0]] if stack else []
        assert len(frames) == (3 if stack else 0), frames
        if len(offsets) == 1:
            offset, = offsets
            assert (f"prog+0x{offset}" == frames[1] and "libc" in frames[0]) if stack else offset == "-", (offset, frames)
            with_stack += bool(stack)
            without += not stack
assert with_stack > 100 and without > 100, (with_stack, without)
END

# shellcheck source=tests/unit/browser
. "$TRACERIG_TOP/tests/unit/browser"

python3 - >wanted <<'END'
import json
from truth import *
longest = max(requests, key=lambda n: requests[n]["at"][0][1] - requests[n]["at"][0][0])
children = [r for r in requests.values() if r["parent"] == longest]
r = requests[longest]
inside = [c for c in calls if c[0] == 1 and c[2] == r["pid"][1] and r["at"][1][0] <= c[4] and c[4] + c[5] <= r["at"][1][1]]
deeper = sum(sum(c[0] == 2 and c[2] == k["pid"][1] and k["at"][1][0] <= c[4] and c[4] + c[5] <= k["at"][1][1] for c in calls) for k in children)
rows = 2 + len(inside) + 2 * len(children) + deeper
print(json.dumps([rows, len(children), len(inside), "front:curl asks app:app server", "app:app server answers in thread %d" % r["pid"][1]], separators=(",", ":")))
print(len(requests))
END
# The first row is the longest one, and is open: its calls, and what was asked for it
shows "$(head -n 1 wanted)" out.html \
	'const rows = [...document.querySelectorAll(".fall .row")], first = grids.singles.body.querySelector("tr.picked");
	const cells = [...first.children].map(td => td.textContent);
	return [rows.length, +cells[6], +cells[5], ...text(".fall .w").slice(0, 2)]' "the waterfall of the longest request"
# Bars lie within the request's, and those of the same depth one after the other
shows '[true,true]' out.html \
	'const bars = [...document.querySelectorAll(".fall .bar")].map(b => [parseFloat(b.style.left), parseFloat(b.style.width)]);
	const last = bars.map(b => b[0]);
	return [bars[0][0] === 0 && bars[0][1] === 100, bars.every(b => b[0] >= 0 && b[0] + b[1] <= 100.001)]' "bars"
# of a server of several threads: what it asked
"$UNIT/gen_chain" web.dat handed.dat data.dat alone.dat 400 1 >/dev/null || exit 1
"$ioreq" web=web.dat app=handed.dat db=data.dat --format=html >chain.html || wrong "html of several threads fails"
shows '[true,3,6]' chain.html \
	'const r = DATA.list.find(r => r.server && !r.server.alone && (asked.get(r.id) || []).length === 3);
	const fall = document.getElementById("waterfall");
	waterfall(fall, r);
	return [text(".fall .w")[1].includes("in several threads"), text(".fall .w").filter(t => t.startsWith("app:app asks")).length,
		fall.querySelectorAll(".client, .server").length - 2]' "a server of several threads"
# stacks of calls that are clicked
shows '[0,3,0,true]' stacks.html \
	'const shown = () => [...document.querySelectorAll(".fall pre")].filter(p => p.checkVisibility()).map(p => p.textContent);
	const row = document.querySelector(".fall .row.link"), before = shown().length;
	row.click();
	const lines = shown().join("\n").split("\n").length;
	row.click();
	return [before, lines, shown().length, text("p").join().includes("stack")]' "the stack of a call"
# names that are markup
shows '[true,0,4]' out.html \
	'return [text("td").includes("db:<b>db</b>"), document.querySelectorAll("b").length, document.scripts.length]' "names that are markup"
# filter and sort
shows '[true,true,true,"ascending"]' out.html \
	'const g = grids.singles, all = g.body.children.length, column = i => [...g.body.rows].map(r => r.cells[i].textContent);
	g.filter.value = "APP db";
	g.filter.dispatchEvent(new Event("input"));
	const some = g.body.children.length, right = column(0).every(t => t === "app:app server");
	g.filter.value = "";
	g.filter.dispatchEvent(new Event("input"));
	g.head.children[7].click();
	const down = column(7).map(t => +t.replace(/,/g, ""));
	g.head.children[7].click();
	const up = column(7).map(t => +t.replace(/,/g, ""));
	return [some > 0 && some < all && right, down.every((v, i) => !i || v <= down[i - 1]), up.every((v, i) => !i || v >= up[i - 1]),
		g.head.children[7].getAttribute("aria-sort")]' "filter and sort"
# what is between, where both sides are known, as in the sums
shows "$("$ioreq" "${hosts[@]}" --format=json | python3 -c '
import json, sys
print(json.dumps([r["between"] for r in json.load(sys.stdin)["requests"]], separators=(",", ":")))')" out.html \
	'const g = grids.kinds, at = [...g.head.children].findIndex(c => c.textContent.startsWith("between"));
	return g.columns[at][0] === "between" && DATA.requests.map(g.columns[at][1])' "the time between"
shows '["front, app, db",3,true]' out.html \
	'return [text("h1")[0], text("section").length, text("p").join().includes("Clocks are aligned")]' "the page"
shows '[true,true]' front.html \
	'return [text("p").join().includes("Clocks are not aligned"), DATA.list.every(r => !r.server || !r.client)]' "a host that is missing"
# another one that is picked, and what is ambiguous says so
shows '[true,true]' out.html \
	'const g = grids.singles, at = DATA.list.find(r => r.ambiguous);
	g.filter.value = "ambiguous";
	g.filter.dispatchEvent(new Event("input"));
	g.body.rows[0].click();
	return [!!at, text("p.bad").join().includes("several requests")]' "an ambiguous one"

exit "$failed"
