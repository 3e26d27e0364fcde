# SPDX-License-Identifier: GPL-2.0
"""usage: explain_check.py TRACERIG DIR

Check that TRACERIG explain names the causes of the cases in DIR, which explain_faults.py made.
Prints a line for each fault; cases without an injected fault, for example of a busy host, are
only printed.
"""
import json
import re
import subprocess
import sys

tracerig, top = sys.argv[1:]
found = {}
with open(top + "/truth") as truth:
    for line in truth:
        fault, case, delayed, expression = line.rstrip("\n").split(" ", 3)
        said = json.loads(subprocess.run([tracerig, "explain", "--format=json", f"{top}/{fault}/{case}"],
                                         check=True, stdout=subprocess.PIPE).stdout)
        right = bool(re.search(expression, said["cause"]))
        name = said["cause"] or "no cause: " + said["why_none"]
        print(f"# {fault} {case}{'' if delayed == '1' else ', not injected'}: {name}, "
              f"{said['confidence']} %, {said['duration'] / 1e6:.2f} ms, usually {said['usual'] / 1e6:.2f} ms")
        if delayed == "1":
            found.setdefault(fault, []).append(right)
        else:
            found.setdefault(fault, [])
for fault, right in found.items():
    # One of the cases may be slow for another reason as well
    good = right and sum(right) >= len(right) - 1 and any(right)
    print(f"{'ok' if good else 'not ok'} explain names {fault} ({sum(right)} of {len(right)})")
