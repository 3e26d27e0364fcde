# SPDX-License-Identifier: GPL-2.0
# Of test_ioreq_paths.sh, in its directory of results.
import os
import collections, json
from truth_paths import calls, requests
found = collections.Counter()
for c in json.load(open("clients.json"))["calls"]:
    assert c["client"] in ("-", "ambiguous", "web:client"), c
    found[c["host"], c["call"], c["client"]] += c["count"]
links = json.load(open("paths.json"))["links"]
if os.environ["MODE"] == "early":
    late = sum(r["parent"] in requests and r["over"][0] > requests[r["parent"]]["over"][1] for r in requests.values())
    assert links["outlived"] == late > 200, (links, late)
    alone = sum(c["host"] == 2 and c["tid"] < 310 and c["op"] == "pread64" for c in calls)
    # The last ones have no response
    assert found["db", "pread64", "web:client"] >= alone - 30 and alone > 500, (found, alone)
