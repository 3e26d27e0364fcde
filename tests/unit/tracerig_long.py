# SPDX-License-Identifier: GPL-2.0
"""usage: tracerig_long.py LIST NUMBER <CASE.json >LONG.json

Makes the case's list, such as window.cpus, NUMBER items long.
"""
import json
import sys

*path, name = sys.argv[1].split(".")
number = int(sys.argv[2])
case = json.load(sys.stdin)
parent = case[path[0]] if path else case
item = "x" if name == "missing" else dict(parent[name][0])
parent[name] = (parent[name] + [item] * number)[:number]
json.dump(case, sys.stdout)
