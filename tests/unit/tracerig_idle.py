# SPDX-License-Identifier: GPL-2.0
"""usage: trace-cmd report -R -t CASE/trace.dat | tracerig_idle.py CASE/case.json EXPLAINED

Check the time, in what explain --format=json wrote, in which the case's request was queued
and no other one was in the device. Prints "idle" if that is a fourth of it or more.
"""
import json
import re
import sys

keys = dict(k.split("=") for k in json.load(open(sys.argv[1]))["alarm"]["keys"].split())
times = {}
for line in sys.stdin:
    m = re.search(r" (\d+)\.(\d{9}): (block_bio_queue|block_rq_issue|block_rq_complete): .*\bsector=(\w+)", line)
    if m:
        times.setdefault(int(m[4], 0), {})[m[3]] = int(m[1]) * 10**9 + int(m[2])
if "sector" not in keys:
    sys.exit()  # the operation is a thread's
own = times.pop(int(keys["sector"]))
begin, end = own["block_bio_queue"], own["block_rq_issue"]
busy = [(max(begin, t["block_rq_issue"]), min(end, t.get("block_rq_complete", end)))
        for t in times.values() if "block_rq_issue" in t]
idle, at = 0, begin
for first, last in sorted(b for b in busy if b[0] < b[1]):
    idle += max(0, first - at)
    at = max(at, last)
idle += max(0, end - at)
explained = json.load(open(sys.argv[2]))
evidence = [p["evidence"] for p in explained["parts"] if p["name"].startswith("queue of")]
stated = re.findall(r"; no recorded one was in the device for ([\d.]+) (ns|us|ms|s)$", "\n".join(evidence), re.M)
if 4 * idle >= end - begin:
    (value, unit), = stated
    ns = float(value) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]
    assert abs(ns - idle) <= 0.001 * idle + 1, (evidence, idle)
    print("idle")
else:
    assert not stated, (evidence, idle, end - begin)
