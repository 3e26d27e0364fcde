# SPDX-License-Identifier: GPL-2.0
"""test_lbrtime.sh: visits.json and the file around mark the same times as reliable as the CSV."""
import collections, csv, json, re
rows = list(csv.DictReader(open("cycles.cycles")))
told = collections.Counter()
for r in rows:
    told[r["time"], r["cpu"]] += int(r["duration"])
sure = [r["reliable"] == "1" for r in rows]
assert all(int(r["error"]) <= max(1000, told[r["time"], r["cpu"]] / 10) for r, s in zip(rows, sure) if s)
j = json.load(open("visits.json"))
assert [v["error"] for i in j["intervals_in_order"] for v in i["visits"]] == [int(r["error"]) for r in rows]
share = sum(int(r["duration"]) for r, s in zip(rows, sure) if s) / sum(told.values())
assert 0.1 < share < 1 and abs(share - j["reliable"]["cycles"]) < 1e-3, (share, j["reliable"])
pale = sum(1 for r, s in zip(rows, sure) if told[r["time"], r["cpu"]] and not s)
assert pale == sum(1 for line in open("around") if re.search(r" \((± [0-9.]+ +[mnu]?s|time unknown)\)$", line)), pale
