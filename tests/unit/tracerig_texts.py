# SPDX-License-Identifier: GPL-2.0
"""usage: tracerig_texts.py long FROM TO | groups CASES

long: copy a case.json, with texts that are longer than any that tracerig watch writes.
groups: copy CASES/1/case.json to 1001 more cases, each of another group.
"""
import json
import os
import sys

if sys.argv[1] == "long":
    with open(sys.argv[2], encoding="utf-8") as f:
        o = json.load(f)
    o["group"] = "g" + "\u00e9" * 1000000
    o["alarm"]["keys"] = "k" * 200000
    o["alarm"]["comm"] = "c" * 200000
    with open(sys.argv[3], "w", encoding="utf-8") as f:
        json.dump(o, f, ensure_ascii=False)
else:
    with open(sys.argv[2] + "/1/case.json", encoding="utf-8") as f:
        o = json.load(f)
    for number in range(2, 1003):
        o["case"] = number
        o["group"] = f"group {number}"
        os.mkdir(f"{sys.argv[2]}/{number}")
        with open(f"{sys.argv[2]}/{number}/case.json", "w", encoding="utf-8") as f:
            json.dump(o, f)
