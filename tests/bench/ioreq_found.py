# SPDX-License-Identifier: GPL-2.0
"""usage: ioreq_found.py DIRECTORY

Print the number of calls in DIRECTORY/result, after checking that its requests are those in
DIRECTORY/truth.
"""
import json, sys
truth = dict(line.split("=") for line in open(sys.argv[1] + "/truth"))
result = json.load(open(sys.argv[1] + "/result"))
calls = sum(h["calls"] for h in result["hosts"])
found = {r["client"]: r["answered"] - r["unclear"] for r in result["requests"]}
assert calls == int(truth["calls"]) == sum(c["count"] for c in result["calls"]), (calls, truth)
assert found == {"app server": int(truth["asked"]), "curl": int(truth["requests"]) - int(truth["asked"])}, (found, truth)
print(calls)
