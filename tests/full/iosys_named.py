# SPDX-License-Identifier: GPL-2.0
"""usage: iosys_named.py RESULT OBJECT FUNCTION

Print the number of calls on OBJECT in RESULT (ioreq --stacks --format=json), and the number of
them with a frame in a function whose name contains FUNCTION.
"""
import json, sys

with open(sys.argv[1], encoding="utf-8") as f:
    groups = [g for g in json.load(f)["stacks"] if g["name"].endswith(sys.argv[2])]
stacks = [s for g in groups for s in g["stacks"]]
print(sum(s["count"] for s in stacks),
      sum(s["count"] for s in stacks if any(sys.argv[3] in f.get("function", "") for f in s["frames"])))
