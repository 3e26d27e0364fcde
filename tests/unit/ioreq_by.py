# SPDX-License-Identifier: GPL-2.0
# Of test_ioreq.sh, in its directory of results.
import csv, json, math
FIELDS = {"host": ["host"], "comm": ["comm"], "process": ["tgid"], "call": ["call"],
          "object": ["type", "major", "minor", "id", "name"], "size": ["size"]}
TYPES = {0: "anon", 1: "fifo", 8: "file", 12: "socket"}
rows = list(csv.DictReader(open("out.csv")))
# A process has the name of its first thread, or else of the thread that made the call
COMMS = {"1000": "postgres", "1001": "nginx"}
calls = []
for host, name in (("web", "a.truth"), ("db", "b.truth")):
    for line in open(name):
        f = line.rstrip("\n").split("\t")
        if f[0] == "call":
            comm = COMMS.get(f[1], "thread" if f[2] == "1102" else "<...>")
            calls.append(({"host": host, "comm": comm, "tgid": f[1], "call": f[3],
                           "type": TYPES[int(f[4])], "major": str(int(f[5]) >> 20),
                           "minor": str(int(f[5]) & 0xfffff), "id": f[6], "name": f[7],
                           "size": str(1 << int(f[9]).bit_length() - 1 if int(f[9]) else 0)},
                          int(f[8]), int(f[9]), int(f[11])))
ALL = [field for fields in FIELDS.values() for field in fields]
for by in "call", "comm,call", "object,host", "process", "call,size":
    fields = [field for word in by.split(",") for field in FIELDS[word]]
    want = {}
    for call, *numbers in calls:
        want.setdefault(tuple(call[f] for f in fields), []).append(numbers)
    got = list(csv.DictReader(open(f"by-{by}.csv")))
    for row in got:
        group = want.pop(tuple(row[f] for f in fields))
        times = sorted(t for _, _, t in group)
        assert [int(row[k]) for k in ("count", "failed", "bytes", "time", "p50", "p99", "max")] == \
            [len(group), sum(r < 0 for r, _, _ in group), sum(b for _, b, _ in group), sum(times)] + \
            [times[math.ceil(p * len(times) / 100) - 1] for p in (50, 99, 100)], (by, row)
        assert all(not row[f] for f in ALL if f not in fields and (f, by) != ("comm", "process")), (by, row)
    assert not want, by
    texts = [{k: str(v) for k, v in c.items()} for c in json.load(open(f"by-{by}.json"))["calls"]]
    assert texts == [{k: v for k, v in row.items() if v or k in fields} for row in got], by
