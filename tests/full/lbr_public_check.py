# SPDX-License-Identifier: GPL-2.0
"""usage: lbr_public_check.py TEXT JSON VISITS.csv

lbr-public: lbrtime's results for TEXT of perf script, as JSON and as visits. Times add up to the
recording's duration, and no function has more; an interval is whole, and a visit in it reliable,
only if the oldest branches of its sample are the newest ones of the sample before.
"""
import csv
import json
import re
import sys

HEADER = re.compile(r"^\s*(?:\S.*?\s)?(\d+)/(\d+)\s+(?:\[(\d+)\]\s+)?(\d+)\.(\d+):")
BRANCH = re.compile(r"\S+/\S+/[-PMN]+/\S+")


def samples(path):
    """Yields lane, thread, time in ns, branches from the oldest one"""
    for line in open(path, errors="replace"):
        m = HEADER.match(line)
        if m and "PERF_RECORD_" not in line:
            ns = int(m[4]) * 10**9 + int(m[5].ljust(9, "0")[:9])
            yield m[3] or m[2], int(m[2]), ns, BRANCH.findall(line)[::-1]


def overlap(now, was):
    return any(now[:n] == was[-n:] for n in range(1, min(len(now), len(was)) + 1))


text, result, visits = sys.argv[1:]
last, first, joined, nr = {}, {}, {}, 0
for lane, thread, ns, branches in samples(text):
    first.setdefault(lane, ns)
    if lane in last:
        joined[thread, ns] = overlap(branches, last[lane][1])
    last[lane] = ns, branches
    nr += 1
j = json.load(open(result))
assert j["samples"] == nr > 0, (j["samples"], nr)
duration = sum(last[lane][0] - first[lane] for lane in last)
assert j["time"] <= duration, (j["time"], duration)
if "PERF_RECORD_SWITCH" not in open(text, errors="replace").read():
    assert j["time"] == duration, (j["time"], duration)
for method, unknown in j["unknown"].items():
    times = [f["time"][method] for f in j["functions"]]
    assert max(times) <= j["time"], method
    assert abs(sum(times) + unknown - j["time"]) <= 0.001 * j["time"] + nr, (method, sum(times), unknown)
whole = reliable = 0
for row in csv.DictReader(open(visits)):
    if row["state"] == "whole":
        whole += row["visit"] == "0"
        reliable += row.get("reliable") == "1"
        assert joined[int(row["pid"]), int(row["time"])], row
print(f"{nr} samples, {whole} whole intervals, {reliable} reliable visits in them")
