# SPDX-License-Identifier: GPL-2.0
"""usage: tracerig_impossible.py CASE.JSON

Write copies of it as version 1 whose members cannot be together to impossible.d, print the
number of each and what is wrong, and write the right one to impossible.d/good.
"""
import copy
import json
import os
import sys

top = json.load(open(sys.argv[1]))
# In version 2, the sum alone would find each change
top["version"] = 1
del top["sha256"]
clock = "must be ns, a non-negative integer less than 2^63"
changes = [
    ("o['window'].update(begin=2**64 - 1, end=0)", "window.begin " + clock),
    ("o['window'].update(begin=o['window']['end'] + 1)", "window.begin is after its end"),
    ("o['window']['cpus'][0].update(begin=5, end=4)", "window.cpus[0].begin is after its end"),
    ("o['window']['cpus'][0].update(cpu=8192)", "window.cpus[0].cpu must be less than 8192"),
    ("o['alarm'].update(start=2**63)", "alarm.start " + clock),
    ("o['alarm'].update(start=1, value=2**64 - 1)", "alarm.value is too large"),
    ("o['alarm'].update(time=o['window']['end'] + 1)", "alarm.time is not in the window"),
    ("o['alarms'][0].update(time=o['window']['begin'] - 1)", "alarms[0].time is not in the window"),
    ("o['alarm'].update(cpu=8192)", "alarm.cpu must be less than 8192"),
    ("o['host'].update(cpus=10**9)", "host.cpus must be from 1 to 8192"),
    ("o['host'].update(cpus=0)", "host.cpus must be from 1 to 8192"),
]
os.makedirs("impossible.d")
for i, (change, text) in enumerate(changes):
    o = copy.deepcopy(top)
    exec(change)
    json.dump(o, open(f"impossible.d/{i}", "w"))
    print(i, text)
json.dump(top, open("impossible.d/good", "w"))
