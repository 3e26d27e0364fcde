#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# sanitizers: check-full
#
# Which request an event loop with more than 64 of them, and a pool of threads, asks others
# for: what ioreq asserts, against the truth.
set -u

ioreq=$TOOLS/ioreq
program=$ioreq
# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"

hosts=(web=web.dat app=app.dat db=db.dat)
cat >links.py <<'END'
import collections, json, sys
mode, recall = sys.argv[1], float(sys.argv[2])
truth, going, files, logs = {}, [], collections.Counter(), collections.Counter()
for line in open("truth"):
    f = line.split()
    if f[0] == "link":
        truth[int(f[1]), int(f[2])] = int(f[3]), int(f[4])
        going.append(int(f[5]))
    else:
        (files if f[0] == "file" else logs)[f[1]] += 1
assert sorted(going)[len(going) // 5] >= 64, "too few requests at a time"

def links(name):
    spans = {}
    for resource in json.load(open(name))["resourceSpans"]:
        host = next(a["value"]["stringValue"] for a in resource["resource"]["attributes"] if a["key"] == "host.name")
        for scope in resource["scopeSpans"]:
            for s in scope["spans"]:
                a = {x["key"]: list(x["value"].values())[0] for x in s["attributes"]}
                spans[s["spanId"]] = (host, s["kind"], (int(a["thread.id"]), int(a["ioreq.monotonic"])),
                                      s.get("parentSpanId"), "ioreq.ambiguous_parent" in a)
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

# Calls on files, by the client that they were made for
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
    # A thread of a pool takes up what waits without anybody's seeing it
    least = {"loop": recall, "pool": 0.7}.get(mode, 0)
    assert sum(known.values()) >= least * sum(true.values()), (got, true)

compare("pread64", files)
if mode == "loop":
    compare("write", logs)
END

# A second seed with sanitizers is for make check-full
seeds=(1 2)
[ "${TOOLS%-san/bin}" = "$TOOLS" ] || [ -n "${TRACERIG_FULL-}" ] || seeds=(1)
for seed in "${seeds[@]}"; do
	for mode in "loop 0.95" "batch 0.95" "proxy 0.95" "answers 0.95" "shuffle 0" "pool 0.95" "queue 0.4" \
		"uring 0.95" "mix 0.75" "parts 0.95"; do
		# shellcheck disable=SC2086 # two words
		set -- $mode
		"$UNIT/gen_loops" web.dat app.dat db.dat 3000 "$seed" "$1" >truth || exit 1
		"$ioreq" --format=otlp "${hosts[@]}" >links.otlp 2>err || wrong "otlp fails"
		"$ioreq" --format=otlp --by=client "${hosts[@]}" >client.otlp 2>>err || wrong "otlp with clients fails"
		"$ioreq" --format=json --by=client,host,call "${hosts[@]}" >files.json 2>>err || wrong "--by=client fails"
		[ ! -s err ] || wrong "messages about good files"
		python3 links.py "$1" "$2" || wrong "links of $1, seed $seed"
	done
done

# What the loop does for others while a request waits is no step of that one's
"$UNIT/gen_loops" web.dat app.dat db.dat 3000 3 loop >truth || exit 1
"$ioreq" --paths --format=json "${hosts[@]}" >paths.json || wrong "--paths fails"
python3 - <<'END' || wrong "what clients waited for is not right"
import collections, json
p = json.load(open("paths.json"))
waits = collections.Counter()
for c in p["causes"]:
    if c["host"] == "app":
        waits[c["step"]] += c["time"]
print("#", dict(waits))
# Those of all other requests would be many times as many
files = sum(c["pieces"] for c in p["causes"] if c["host"] == "app" and c["step"] == "files")
truth = sum(line.startswith("file") for line in open("truth"))
assert waits["busy"] > waits["files"] > 0 and truth / 2 < files <= truth, (waits, files, truth)
END
exit $failed
