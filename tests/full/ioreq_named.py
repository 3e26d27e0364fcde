# SPDX-License-Identifier: GPL-2.0
"""usage: ioreq_named.py DIRECTORY RESULT WHERE STEP OBJECT FILE TEXT

True if the first of RESULT's causes is at WHERE in STEP on OBJECT and, unless FILE is empty,
most of its time is from the line of DIRECTORY/FILE that contains TEXT.
"""
import json, re, sys
with open(sys.argv[2]) as f:
    result = json.load(f)
where, step, name, file, text = sys.argv[3:]
first, *_ = result["causes"]
right = True
if file:
    with open(f"{sys.argv[1]}/{file}") as f:
        line, = [n for n, source in enumerate(f, 1) if text in source]
    right = first["code"].endswith(f"/{file}:{line}") and first["code_time"] * 2 > first["time"]
    print("#", first["code"], first["code_time"])
print("#", sys.argv[2].rsplit("/", 1)[1], *(f"{c['host']}:{c['process']} {c['step']} {c['object']} {c['time'] / 1e6:.0f} ms;"
                                           for c in result["causes"][:3]))
sys.exit(not (re.fullmatch(where, f"{first['host']}:{first['process']}") and first["step"] == step and
              re.search(name, first["object"]) and right))
