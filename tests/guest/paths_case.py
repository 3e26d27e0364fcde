# SPDX-License-Identifier: GPL-2.0
"""usage: paths_case.py find CASES PID NS FROM TO
       paths_case.py named FUNCTION NS <EXPLAIN.json

find: print the case whose alarm is the operation of thread PID that was delayed by NS; the
      delay began between the seconds FROM and TO of the boot clock.
named: the first finding is FUNCTION, by pathdiff, with the delay, compared with normal
       executions of the baseline, since the window has none.
"""
import json, os, sys

what, arguments = sys.argv[1], sys.argv[2:]
if what == "find":
    cases, pid, ns = arguments[0], int(arguments[1]), int(arguments[2])
    first, last = (float(a) * 1e9 for a in arguments[3:])
    for name in filter(str.isdigit, os.listdir(cases)):
        with open(f"{cases}/{name}/case.json") as file:
            alarm = json.load(file)["alarm"]
        end = alarm["start"] + alarm["value"]
        if alarm["pid"] == pid and alarm["value"] >= ns and alarm["start"] <= last and end >= first + ns:
            print(name)
            sys.exit()
    sys.exit(1)
explained = json.load(sys.stdin)
function, ns = arguments[0], int(arguments[1])
first = explained["findings"][0]
assert (first["by"], first["in"]) == ("pathdiff", function), explained["findings"]
assert first["ns"] >= 0.8 * ns, first
(pathdiff,) = [a for a in explained["analyzers"] if a["name"] == "pathdiff"]
result = pathdiff["result"]
assert result["trace"]["executions"] == result["limit"]["slow"], (result["trace"], result["limit"])
assert result["baseline"]["executions"] >= 30, result["baseline"]
assert function in result["causes"][0]["worst"]["path"], result["causes"]
