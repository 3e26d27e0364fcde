# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_failures.sh: one multiplexed connection beside one that is not."""
import json
(r,) = json.load(open("requests.json"))["requests"]
# The client's turns: two each time on the one, one on the other
assert (r["answered"], r["unclear"], r["multiplexed"], r["service"]["count"]) == (20 + 20, 20, 1, 20), r
