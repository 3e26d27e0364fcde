# SPDX-License-Identifier: GPL-2.0
"""usage: chart_same.py STATE DESK SETTING LINES

The charts in the kernel's file STATE are those in the JSON file DESK, whose charts have
SETTING; LINES is the number of their alarms, for the summary.
"""
import json, re, sys

# Each chart or part of one: its lines, and the account of its values
kernel, name = {}, None
for line in open(sys.argv[1]):
    word, _, rest = line.rstrip().partition(": ")
    number = [int(n) for n in re.findall(r"\b\d+\b", rest)]
    if word in ("chart", "part"):
        name = rest
        kernel[name] = {"center": None, "limit": None}
    elif word in ("center", "limit"):
        kernel[name][word] = number[0]
    elif word == "values" and "learnt" in rest or word == "part values":
        kernel[name]["learnt"], kernel[name]["values"] = number[:2]
        if word == "part values":
            kernel[name]["alarms"] = number[2]
    elif word == "alarms":
        kernel[name]["alarms"] = number[0]
    elif word.startswith("by "):
        # The numbers of the call's chart are sums over its parts; this is the chart's own
        kernel[next(iter(kernel))].update(learnt=number[-2], values=number[-1])
desk = {c["name"]: {k: c.get(k) for k in ("center", "limit", "learnt", "values", "alarms")}
    for c in json.load(open(sys.argv[2]))["charts"]}
if len(desk) > 1:
    first = next(iter(kernel))
    kernel[first]["alarms"] -= sum(c["alarms"] for n, c in kernel.items() if n != first)
if kernel != desk:
    sys.exit(f"{sys.argv[3]}: not the same\nkernel {kernel}\ndesk   {desk}")
print(f"{sys.argv[3]}: {sum(c['learnt'] + c['values'] for c in desk.values())} values, "
    f"{sys.argv[4]} lines of alarms, {', '.join(str(c['limit']) for c in desk.values())}")
