# SPDX-License-Identifier: GPL-2.0
"""usage: memory_case.py CASE.JSON

test_memory.sh: give the case enough values that reading it needs megabytes.
"""
import json, sys

with open(sys.argv[1]) as file:
    case = json.load(file)
case["values"] *= 300
with open(sys.argv[1], "w") as file:
    json.dump(case, file)
