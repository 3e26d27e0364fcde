# SPDX-License-Identifier: GPL-2.0
# Of test_ioreq.sh, in its directory of results.
import csv, json, math

TYPES = {0: "anon", 1: "fifo", 8: "file", 12: "socket"}
COMMS = {"1000": "postgres", "1001": "nginx"}
want, pending, calls = {}, [], {"web": 0, "db": 0}
for host, name in (("web", "a.truth"), ("db", "b.truth")):
    for line in open(name):
        f = line.rstrip("\n").split("\t")
        if f[0] == "open":
            pending.append((host, int(f[1]), int(f[2]), f[3], f[4], int(f[5]), int(f[6])))
            continue
        calls[host] += 1
        key = (host, f[1], f[3], TYPES[int(f[4])], str(int(f[5]) >> 20),
               str(int(f[5]) & 0xfffff), f[6], f[7])
        want.setdefault(key, []).append((int(f[8]), int(f[9]), int(f[11])))

def rank(values, p):
    return sorted(values)[math.ceil(p * len(values) / 100) - 1]

rows = list(csv.DictReader(open("out.csv")))
assert len(rows) == len(want) > 50, (len(rows), len(want))
for row in rows:
    key = tuple(row[k] for k in ("host", "tgid", "call", "type", "major", "minor", "id", "name"))
    group = want.pop(key)
    times = [t for _, _, t in group]
    got = [int(row[k]) for k in ("count", "failed", "bytes", "time", "p50", "p99", "max")]
    assert got == [len(group), sum(r < 0 for r, _, _ in group), sum(b for _, b, _ in group),
                   sum(times), rank(times, 50), rank(times, 99), max(times)], (key, got)
    assert row["comm"] == COMMS.get(row["tgid"], row["comm"]), row
assert not want
times = [int(row["time"]) for row in rows]
assert times == sorted(times, reverse=True)

result = json.load(open("out.json"))
assert {h["name"]: h["calls"] for h in result["hosts"]} == calls
assert all(row.pop("size") == row.pop("client") == "" for row in rows)
assert [{k: str(v) for k, v in c.items()} for c in result["calls"]] == rows
got = [(p["host"], p["tgid"], p["pid"], p["call"], p["name"], p["start"], p["time"])
       for p in result["pending"]]
assert len(pending) > 10 and sorted(got) == sorted(pending)
assert all(p["comm"] == "hanger" for p in result["pending"])
