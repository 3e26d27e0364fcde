# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_failures.sh: computing, waiting for a CPU and sleeping, by sched_switch."""
import json
MS = 1_000_000
# Of 20, 42, 93 and 110 ms, 12 of these in a call; 5, 2 and 1 ms without a CPU, 30 and 40 ms asleep
want = {"files": 12, "computing": 20 - 5 + 42 - 32 + 93 - 41 + 110 - 12, "runnable": 8, "sleeping": 70}
(r,) = json.load(open("requests.json"))["requests"]
assert {k: v // MS for k, v in r["steps"].items() if v} == want, r["steps"]
causes = json.load(open("paths.json"))["causes"]
got = {(c["step"], c["object"]): c["time"] // MS for c in causes if c["process"] == "slow" and c["time"] and c["step"] != "between"}
assert got == {("computing", ""): want["computing"], ("runnable", ""): 8, ("sleeping", ""): 30, ("sleeping", "woken by other"): 40,
               ("files", "/tmp/f"): 12}, got
p = json.load(open("paths.json"))
assert p["links"]["waited"] == sum(c["time"] for c in causes) == (30 + 51 + 101 + 117) * MS, p["links"]
# Where records were lost, the state is unknown
(r,) = json.load(open("lost.json"))["requests"]
steps = {k: v // MS for k, v in r["steps"].items() if v}
assert steps == {"files": 12, "computing": 20 - 5 + 42 - 32, "runnable": 7, "sleeping": 30, "rest": 93 + 110 - 12}, steps
