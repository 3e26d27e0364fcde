# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_connections.sh: streams of a connection beside requests with early responses."""
import json
got = {r["server_address"]: r["multiplexed"] for r in json.load(open("streams.json"))["requests"]}
assert got == {"10.0.0.1:8001": 1, "10.0.0.1:8002": 0}, got
