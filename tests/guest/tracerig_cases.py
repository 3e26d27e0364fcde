# SPDX-License-Identifier: GPL-2.0
"""usage: tracerig_cases.py TRUTH LOG CASES KIND=CHART,...

TRUTH has the slow operations, in each line KIND, the nanoseconds that their program
measured, and the operation's key, such as sector=8; LOG is what the watch printed, and
CASES the directory.  Each operation needs a case with an alarm of one of its charts that
has its key and took as long: the worst alarm, which LOG has, or if another operation was
delayed longer by the same cause, one in case.json.  A case that was kept has such alarms
of all of its charts.
"""
import json, os, re, sys

truth, log, cases = sys.argv[1:4]
charts = {kind: names.split(",") for kind, names in (a.split("=", 1) for a in sys.argv[4:])}
MS = 1_000_000
SLOW = 900 * MS
UNITS = {"ns": 1, "us": 1000, "ms": MS, "s": 1000 * MS}
CASE = re.compile(r"(like )?case (\d+): (\S+) took ([\d.]+) (\w+), limit [^,]*, (.*), process ")


def alarms_of(notice):
    """The worst alarm, as the log has it, and those of case.json, if the case was kept"""
    path = os.path.join(cases, notice["case"], "case.json")
    # A worse operation may have replaced it
    if not notice["kept"] or not os.path.exists(path):
        return [notice], None
    with open(path) as file:
        case = json.load(file)
    assert abs(case["alarm"]["value"] / notice["value"] - 1) < 0.001, (case["alarm"], notice)
    return case["alarms"], case


notices = []
for line in open(log):
    if m := CASE.search(line):
        value = float(m[4]) * UNITS[m[5]]
        notices.append({"kept": not m[1], "case": m[2], "chart": m[3], "value": value, "keys": m[6]})

for line in open(truth):
    kind, took, key = line.split()

    def fits(alarm):
        # The chart begins later than the program's clock, by what it takes to get there;
        # the log has four digits
        return (
            # "disk[dev=254:0]" is a part of the chart disk
            alarm["chart"].split("[")[0] in charts[kind]
            and key in re.split("[, ]+", alarm["keys"])
            and SLOW - 50 * MS <= alarm["value"] <= int(took) * 1.001
        )

    for notice in notices:
        alarms, case = alarms_of(notice)
        fitting = [a for a in alarms if fits(a)]
        if fitting:
            break
    else:
        sys.exit(f"{kind} of {took} ns, {key}, is in no case: {notices}")
    if not case:
        continue
    slow = {a["chart"].split("[")[0] for a in fitting}
    if not slow >= set(charts[kind]):
        sys.exit(f"case {notice['case']} has alarms of {slow} only, not of {charts[kind]}: {alarms}")
    w = case["window"]
    for alarm in fitting:
        assert w["begin"] <= alarm["time"] - alarm["value"], (w, alarm)
        assert w["end"] >= alarm["time"], (w, alarm)
    assert case["losses"]["lost"] == case["losses"]["dropped"] == 0, case["losses"]
