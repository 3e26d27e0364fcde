# SPDX-License-Identifier: GPL-2.0
"""usage: iosys_named.py RESULT OBJECT FUNCTION

How many calls on OBJECT there are in RESULT (ioreq --stacks --format=json), and how many of
them have a frame in a function whose name has FUNCTION.
"""
import json, sys

with open(sys.argv[1], encoding="utf-8") as f:
    groups = [g for g in json.load(f)["stacks"] if g["name"].endswith(sys.argv[2])]
stacks = [s for g in groups for s in g["stacks"]]
print(sum(s["count"] for s in stacks),
      sum(s["count"] for s in stacks if any(sys.argv[3] in f.get("function", "") for f in s["frames"])))
