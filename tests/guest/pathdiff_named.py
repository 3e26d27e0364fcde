# SPDX-License-Identifier: GPL-2.0
"""pathdiff-ctlchart.sh: print the executions in result.json, and its causes with their executions."""
import json
r = json.load(open("result.json"))
first, *others = sorted(r["causes"], key=lambda c: not c["named"])
print(r["trace"]["executions"], f"{first['kind']}:{first['function']}", first["executions"],
      ", ".join(f"{c['kind']}:{c['function']} in {c['executions']}" for c in others))
