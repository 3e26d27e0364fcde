# SPDX-License-Identifier: GPL-2.0
"""usage: tracerig_texts.py long FROM TO | groups FILE

long: copy a case.json, with texts that are longer than any that tracerig watch writes.
groups: write a groups.json that has as many groups as a watch tells apart.
"""
import json
import sys

if sys.argv[1] == "long":
    with open(sys.argv[2], encoding="utf-8") as f:
        o = json.load(f)
    o["group"] = "g" + "\u00e9" * 1000000
    o["alarm"]["keys"] = "k" * 200000
    o["alarm"]["comm"] = "c" * 200000
    to = sys.argv[3]
else:
    groups = [{"group": f"group {i}", "count": 1} for i in range(1000)]
    o = {"format": "tracerig-groups", "version": 1, "next": 2, "groups": groups}
    to = sys.argv[2]
with open(to, "w", encoding="utf-8") as f:
    json.dump(o, f, ensure_ascii=False)
