#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 60
#
# Work that processes hand to others through pipes: whose requests those make, and whose
# calls on files theirs are, against the truth.
set -u

ioreq=$TOOLS/ioreq
program=$ioreq
# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"

cat >links.py <<'END'
import collections, json, sys
truth, files = {}, collections.Counter()
for line in open("truth"):
    f = line.split()
    if f[0] == "link":
        truth[int(f[1]), int(f[2])] = int(f[3]), int(f[4])
    else:
        files[f[1]] += 1
spans = {}
for resource in json.load(open("links.otlp"))["resourceSpans"]:
    for scope in resource["scopeSpans"]:
        for s in scope["spans"]:
            a = {x["key"]: list(x["value"].values())[0] for x in s["attributes"]}
            spans[s["spanId"]] = (s["kind"], (int(a["thread.id"]), int(a["ioreq.monotonic"])),
                                  s.get("parentSpanId"), "ioreq.ambiguous_parent" in a)
found, steps = {}, collections.Counter()
for kind, key, parent, ambiguous in spans.values():
    if kind == 3 and 3000 <= key[0] < 4000:
        assert ambiguous == (parent is None), key
        # A worker was asked by a front end, that is asked
        while parent and spans[parent][1][0] >= 3000:
            up = spans[spans[parent][2]]
            assert spans[parent][0] == 2 and up[0] == 3 and 2000 <= up[1][0] < 3000
            parent = up[2]
            steps[key] += 1
        found[key] = parent and spans[parent][1]
asked = {(e["client"], e["server"]): e for e in json.load(open("files.json"))["requests"]}
assert found.keys() == truth.keys() and len(truth) >= 2000
asserted = {k: v for k, v in found.items() if v}
wrong = sum(truth[k] != v for k, v in asserted.items())
got = collections.Counter()
for c in json.load(open("files.json"))["calls"]:
    if c["call"] == "pread64":
        got[c.get("client", "-")] += c["count"]
print(f"# {sys.argv[1]}: {len(truth)} requests, {len(asserted)} asserted, {wrong} wrong; files {dict(got)}, true {dict(files)}")
print("#", {k: (e["answered"], e["unclear"]) for k, e in asked.items() if k[0] != k[1]})
if sys.argv[1] != "sizes":
    assert len(asserted) == len(truth) and not wrong
    assert got == files
pipes = asked.get(("front", "worker"))
if sys.argv[1] == "turns":
    assert pipes["answered"] == len(truth) and not pipes["unclear"]
    assert set(steps.values()) == {1} and steps.keys() == truth.keys()
else:
    assert not pipes and not steps
END

for seed in 1 2; do
	for mode in turns early sizes; do
		"$UNIT/gen_pipes" host.dat 2400 $seed $mode >truth || exit 1
		"$ioreq" --format=otlp host.dat >links.otlp 2>err || wrong "otlp fails"
		"$ioreq" --format=json --by=client,call host.dat >files.json 2>>err || wrong "--by=client fails"
		[ ! -s err ] || wrong "messages about good files"
		python3 links.py $mode || wrong "links of $mode, seed $seed"
	done
done

# A worker whose job was lost asks for nobody that is known, and not for itself
for seed in 1 2 3; do
	"$UNIT/gen_pipes" host.dat 2400 $seed lossy >truth || exit 1
	"$ioreq" --format=json --by=client,call host.dat >files.json 2>/dev/null || wrong "--by=client fails"
	python3 - <<'END' || wrong "clients where records are lost, seed $seed"
import collections, json
got = collections.Counter()
for c in json.load(open("files.json"))["calls"]:
    got[c["client"]] += c["count"]
print("#", dict(got))
assert not set(got) - {"red", "green", "blue", "grey", "client", "-", "ambiguous"}, got
assert sum(got[name] for name in ("red", "green", "blue", "grey")) > (sum(got.values()) - got["-"]) / 2
END
done
exit $failed
