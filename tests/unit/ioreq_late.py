# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_failures.sh: requests whose last bytes are received after the response are clear."""
import json

MS = 1_000_000
(r,) = json.load(open("late.json"))["requests"]
# Turns of the client: two each time on 2, one on 3, which the server does not see alike; as
# often as on 2, that is multiplexed
assert (r["answered"], r["unclear"], r["multiplexed"]) == (20 + 6 + 3, 6 + 3, 1), r
# From the end of the first call that receives to the end of the call that sends
assert (r["service"]["count"], r["service"]["max"]) == (20, 3 * MS), r
sides = [e for e in json.load(open("late.chrome"))["traceEvents"] if e.get("cat") == "request" and not e["args"]["unclear"]]
assert len(sides) == 40 and all((e["args"]["sent"], e["args"]["received"]) == (100, 200) for e in sides), sides[:2]
