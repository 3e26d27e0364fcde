# SPDX-License-Identifier: GPL-2.0
"""test_ioreq.sh: stock.csv and stock.json against stock.truth."""
import collections, csv, json
want = collections.defaultdict(list)
for line in open("stock.truth"):
    tgid, tid, op, name, result, size, start, took = line.rstrip("\n").split("\t")
    want[tgid, op, name].append((int(result) < 0, int(size), int(took)))
got = {}
for r in csv.DictReader(open("stock.csv")):
    key = r["tgid"], r["call"], r["name"]
    assert key not in got, key
    got[key] = [int(r[k]) for k in ("count", "failed", "bytes", "time")]
    assert r["type"] == ("unknown" if r["name"] == "unknown" else "socket" if ">" in r["name"] else "file"), r
assert got == {k: [len(v), *map(sum, zip(*v))] for k, v in want.items()}, [(k, got.get(k), want.get(k)) for k in got.keys() | want.keys() if got.get(k) != [len(want[k]), *map(sum, zip(*want[k]))]][:5]
assert len(got) > 300 and any(k[2] == "unknown" for k in got)
result = json.load(open("stock.json"))
assert result["hosts"][0]["stock"] and result["requests"] == []
