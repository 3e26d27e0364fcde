# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_failures.sh: time in which a request arrives is not the server's."""
import json
MS = 1_000_000
r = [f for f in json.load(open("requests.json"))["requests"] if f["server"] == "slow"]
steps = {k: v for f in r for k, v in f["steps"].items() if v}
assert len(r) == 1 and steps == {"arriving": 800 * MS, "rest": 17 * MS}, r
p = json.load(open("paths.json"))
assert p["links"]["waited"] == (312 + 305 + 170 + 206) * MS, p["links"]
got = {(c["process"], c["step"]): (c["time"] // MS, c["requests"]) for c in p["causes"] if c["time"]}
# Of 2, the call that receives the body is short. 2, 1 and 1 ms more than the server's time; of the server that is not recorded, what its client
# did not let pass
assert got == {("client", "sending"): (750, 3), ("slow", "arriving"): (200, 2), ("slow", "rest"): (17, 3),
               ("slow", "between"): (6, 3), ("10.0.0.1:8001", "unseen"): (20, 1)}, got
threads = {(r["pid"], s["process"], s.get("thread")) for r in p["slowest"] for s in r["waited_for"]}
assert threads == {(101, "client", 101), (101, "slow", 201), (102, "client", 102), (102, "slow", 202), (103, "client", 103),
                   (103, "10.0.0.1:8001", None), (104, "slow", 204)}, threads
