# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_failures.sh: a response in which the trace ends has the time until both ends have its bytes."""
import json
MS = 1_000_000
(flow,) = json.load(open("requests.json"))["requests"]
assert (flow["answered"], flow["unclear"]) == (3, 0), flow
# Until 4000, 4000 and 4003 ms
assert flow["service"]["time"] == (3999 + 3999 + 4002) * MS, flow["service"]
for request in json.load(open("paths.json"))["slowest"]:
    steps = {s["step"]: s["time"] for s in request["waited_for"]}
    assert "unseen" not in steps and steps["rest"] >= 3999 * MS, request
