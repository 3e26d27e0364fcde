# SPDX-License-Identifier: GPL-2.0
"""usage: memory_case.py CASE.JSON

test_memory.sh: give the case a text so long that reading it needs megabytes. It is of version
1, which has no sum of case.json.
"""
import json, sys

with open(sys.argv[1]) as file:
    case = json.load(file)
case["version"] = 1
case.pop("sha256", None)
case["host"]["cmdline"] = "x" * (3 << 20)
with open(sys.argv[1], "w") as file:
    json.dump(case, file)
