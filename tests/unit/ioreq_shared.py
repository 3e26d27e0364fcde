# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_failures.sh: what a thread that handles several requests at a time computes."""
import csv, json
MS = 1_000_000
# On a CPU from the first request to the last response, and for the only one at that time
CPU, ALONE = 49 - 10, 5
(r,) = json.load(open("requests.json"))["requests"]
steps = {k: v / MS for k, v in r["steps"].items() if v}
paths = json.load(open("paths.json"))
causes = {(c["step"], c["object"]): c["time"] / MS for c in paths["causes"] if c["process"] == "slow" and c["time"]}
print("#", steps, causes)
# 1 is alone until 2 arrives, and 3 once 2 has its response
assert steps["computing"] == ALONE + 1 + 10 and steps["ambiguous_computing"] == 3 * 20 + 2 * 7 + 2, steps
assert ("ambiguous_computing", "for one of at most 3 requests") in causes, causes
computing = sum(t for (step, _), t in causes.items() if step == "computing")
assert ALONE <= computing <= CPU + ALONE, computing
assert paths["links"]["waited"] == sum(c["time"] for c in paths["causes"]) == (34 + 41 + 51 + 7) * MS
(row,) = csv.DictReader(open("requests.csv"))
assert int(row["ambiguous_computing"]) == r["steps"]["ambiguous_computing"]
assert any(c["step"] == "ambiguous_computing" and "at most 3" in c["object"] for c in csv.DictReader(open("paths.csv")))
slowest = [s for q in paths["slowest"] for s in q["waited_for"] if s["step"] == "ambiguous_computing"]
assert slowest and all(s["text"] == "ambiguous computing" and s["object"] for s in slowest)
