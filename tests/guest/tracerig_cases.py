# SPDX-License-Identifier: GPL-2.0
"""usage: tracerig_cases.py TRUTH LOG CASES KIND=CHART,...

TRUTH has the slow operations, KIND and the nanoseconds that their program measured in each
line; LOG is what the watch printed, and CASES the directory.  Each operation needs a case
whose worst alarm is of one of its charts and took as long, and if that was kept, it has
alarms of all of them.
"""
import json, os, re, sys

truth, log, cases = sys.argv[1:4]
charts = {kind: names.split(",") for kind, names in (a.split("=", 1) for a in sys.argv[4:])}
MS = 1_000_000
SLOW = 300 * MS
UNITS = {"ns": 1, "us": 1000, "ms": MS, "s": 1000 * MS}
CASE = re.compile(r"(like )?case (\d+): (\S+) took ([\d.]+) (\w+), limit ")

notices = []
for line in open(log):
    if m := CASE.search(line):
        notices.append({"kept": not m[1], "case": m[2], "chart": m[3], "value": float(m[4]) * UNITS[m[5]]})

for line in open(truth):
    kind, took = line.split()

    def fits(value):
        # The chart begins later than the program's clock, by what it takes to get there;
        # the log has four digits
        return SLOW - 50 * MS <= value <= int(took) * 1.001

    found = [n for n in notices if n["chart"] in charts[kind] and fits(n["value"])]
    if not found:
        sys.exit(f"{kind} of {took} ns is in no case: {notices}")
    # In their order: each operation has one that no earlier one of its kind has
    notices.remove(found[0])
    path = os.path.join(cases, found[0]["case"], "case.json")
    # A worse one may have taken its place
    if not found[0]["kept"] or not os.path.exists(path):
        continue
    with open(path) as file:
        case = json.load(file)
    assert abs(case["alarm"]["value"] / found[0]["value"] - 1) < 0.001, (case["alarm"], found[0])
    slow = {a["chart"] for a in case["alarms"] if fits(a["value"])}
    if not slow >= set(charts[kind]):
        sys.exit(f"case {found[0]['case']} has alarms of {slow} only, not of {charts[kind]}")
    w = case["window"]
    assert w["begin"] <= case["alarm"]["time"] - case["alarm"]["value"], (w, case["alarm"])
    assert w["end"] >= case["alarm"]["time"], (w, case["alarm"])
    assert case["losses"]["lost"] == case["losses"]["dropped"] == 0, case["losses"]
