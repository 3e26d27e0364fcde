# SPDX-License-Identifier: GPL-2.0
# Of test_ioreq_reads.sh, in its directory of results.
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
        # At the end of the trace the process is unknown
        stray["bytes"] += r["disk"]["bytes"]
        stray["ahead"] += r["ahead"]
        continue
    assert (r["process"], r["type"], r["dev"]) == ("reader", "file", "253:3"), r
    assert (r["asked"]["count"], r["asked"]["bytes"], r["asked"]["p50"]) == (len(asked[name]), sum(asked[name]), p50(asked[name])), r
    assert (r["disk"]["count"], r["disk"]["bytes"], r["disk"]["p50"]) == (len(disk[name]), sum(disk[name]), p50(disk[name])), r
    assert r["ahead"] == sum(ahead[name]) > 0
    assert r["wasted"] == max(0, sum(disk[name]) - sum(asked[name])) > 0
assert stray["bytes"] == sum(disk["-"]) and stray["ahead"] == sum(ahead["-"])
wasted = [r["wasted"] for r in reads]
assert wasted == sorted(wasted, reverse=True) and len(reads) >= 4
rows = list(csv.DictReader(open("reads.csv")))
assert [(r["process"], r["dev"], r["object"], int(r["reads"]), int(r["asked"]), int(r["requests"]), int(r["disk"]), int(r["ahead"]), int(r["wasted"])) for r in rows] == \
    [(r["process"], r["dev"], r["object"], r["asked"]["count"], r["asked"]["bytes"], r["disk"]["count"], r["disk"]["bytes"], r["ahead"], r["wasted"]) for r in reads]
