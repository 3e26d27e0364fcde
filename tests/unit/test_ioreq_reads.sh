#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# ioreq --reads: what programs asked for, and what disks read for it, against the truth.
set -u

ioreq=$TOOLS/ioreq
program=$ioreq
# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"

for kind in "" both requests; do
	# shellcheck disable=SC2086 # or none
	"$UNIT/gen_reads" reads.dat 3000 5 $kind >truth || exit 1
	"$ioreq" --reads --format=json reads.dat >reads.json 2>err || wrong "--reads fails"
	"$ioreq" --reads --format=csv reads.dat >reads.csv 2>>err || wrong "--reads in csv fails"
	[ ! -s err ] || wrong "messages about good files"
	python3 - <<'END' || wrong "reads are not right (${kind:-bios})"
import collections, csv, json
asked, disk, ahead = (collections.defaultdict(list) for i in range(3))
for line in open("truth"):
    f = line.rstrip("\n").split("\t")
    if f[0] == "asked":
        if int(f[2]):
            asked[f[1]].append(int(f[2]))
    else:
        disk[f[1]].append(int(f[2]))
        ahead[f[1]].append(int(f[3]))

def p50(sizes):
    return sorted(sizes)[(len(sizes) + 1) // 2 - 1] if sizes else 0

reads = json.load(open("reads.json"))["reads"]
names = [r["object"] or "-" for r in reads]
assert set(names) == set(asked) | set(disk), names
stray = collections.Counter()
for r, name in zip(reads, names):
    if name == "-":
        # At the end of the trace nobody knows the process any more
        stray["bytes"] += r["disk"]["bytes"]
        stray["ahead"] += r["ahead"]
        continue
    assert r["process"] == "reader" and r["type"] == "file"
    assert (r["asked"]["count"], r["asked"]["bytes"], r["asked"]["p50"]) == (len(asked[name]), sum(asked[name]), p50(asked[name])), r
    assert (r["disk"]["count"], r["disk"]["bytes"], r["disk"]["p50"]) == (len(disk[name]), sum(disk[name]), p50(disk[name])), r
    assert r["ahead"] == sum(ahead[name]) > 0
    assert r["wasted"] == max(0, sum(disk[name]) - sum(asked[name])) > 0
assert stray["bytes"] == sum(disk["-"]) and stray["ahead"] == sum(ahead["-"])
wasted = [r["wasted"] for r in reads]
assert wasted == sorted(wasted, reverse=True) and len(reads) >= 4
rows = list(csv.DictReader(open("reads.csv")))
assert [(r["process"], r["object"], int(r["reads"]), int(r["asked"]), int(r["requests"]), int(r["disk"]), int(r["ahead"]), int(r["wasted"])) for r in rows] == \
    [(r["process"], r["object"], r["asked"]["count"], r["asked"]["bytes"], r["disk"]["count"], r["disk"]["bytes"], r["ahead"], r["wasted"]) for r in reads]
END
done
"$ioreq" --reads --top=1 reads.dat >out || wrong "--reads in text fails"
grep -q '^\.\.\. [0-9]* more (--top)$' out || wrong "text does not say that there is more"
grep -q 'no reads of disks' out && wrong "text says that there are no reads of disks"
"$UNIT/gen_chain" web.dat app.dat db.dat alone.dat 30 1 >truth || exit 1
"$ioreq" --reads db.dat | grep -q 'no reads of disks, or they were not recorded: trace-cmd record ' || wrong "text does not say what is missing"
expect 2 '--reads is for text, json and csv' --reads --format=html reads.dat
exit $failed
