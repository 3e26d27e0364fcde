# SPDX-License-Identifier: GPL-2.0
"""usage: tracerig_cases.py TRUTH ALARMS CASES KIND=CHART,...

TRUTH has the slow operations, KIND and the nanoseconds that their program measured in each
line; ALARMS is what --on-alarm appended, and CASES the directory.  Each operation needs
a case whose worst alarm is of one of its charts and took as long, and if that was kept, it
has alarms of all of them.
"""
import json, os, sys

truth, alarms, cases = sys.argv[1:4]
charts = {kind: names.split(",") for kind, names in (a.split("=", 1) for a in sys.argv[4:])}
SLOW, MS = 300_000_000, 1_000_000

notices, notice = [], None
for line in open(alarms):
    name, _, value = line.rstrip("\n").partition("=")
    if name == "TRACERIG_ALARMS":
        notice = {}
        notices.append(notice)
    if notice is not None:
        notice[name.removeprefix("TRACERIG_")] = value

all_notices = list(notices)
for line in open(truth):
    kind, took = line.split()
    # The chart begins later than the program's clock, by what it takes to get there
    fits = range(SLOW - 50 * MS, int(took) + 1)
    found = [n for n in notices if n["CHART"] in charts[kind] and int(n["VALUE"]) in fits]
    if not found:
        sys.exit(f"{kind} of {took} ns is in no case: {notices}")
    # In their order: each operation has one that no earlier one of its kind has
    for n in found[:1]:
        notices.remove(n)
        if n["CASE"] == "0":
            continue
        if not os.path.exists(n["DIR"]):
            # A worse one took its place
            assert any(o["GROUP"] == n["GROUP"] and int(o["VALUE"]) > int(n["VALUE"]) for o in all_notices), n
            continue
        assert n["DIR"] == os.path.join(os.path.realpath(cases), n["CASE"]), n
        with open(os.path.join(n["DIR"], "case.json")) as file:
            case = json.load(file)
        assert case["alarm"]["value"] == int(n["VALUE"]), (case["alarm"], n)
        slow = {a["chart"] for a in case["alarms"] if a["value"] in fits}
        if not slow >= set(charts[kind]):
            sys.exit(f"case {n['CASE']} has alarms of {slow} only, not of {charts[kind]}")
        w = case["window"]
        assert w["begin"] <= case["alarm"]["time"] - case["alarm"]["value"], (w, case["alarm"])
        assert w["end"] >= case["alarm"]["time"], (w, case["alarm"])
        assert case["losses"]["lost"] == case["losses"]["dropped"] == 0, case["losses"]
