# SPDX-License-Identifier: GPL-2.0
"""pathdiff-ctlchart.sh: print the executions in result.json, its first cause, and the cause's executions."""
import json
r = json.load(open("result.json"))
c = [c for c in r["causes"] if c["named"]][0]
print(r["trace"]["executions"], c["kind"] + ":" + c["function"], c["executions"])
