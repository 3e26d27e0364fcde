# SPDX-License-Identifier: GPL-2.0
# Of test_ioreq_paths.sh, in its directory of results.
import csv
import json
from truth_paths import calls, names, requests, true_time
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
    # Each host relative to the next one; the offsets of a chain add up
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

# The times by route: the sums are within those of the requests that may have used it
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
