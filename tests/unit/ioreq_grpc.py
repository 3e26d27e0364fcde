# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_connections.sh: streams of gRPC are no requests that wait."""
import json
rows = {r["server_address"]: r for r in json.load(open("grpc.json"))["requests"]}
# Settings, until 3 ms, and the call, from 4 to 9 ms
quiet = rows["10.0.0.1:8001"]
assert (quiet["multiplexed"], quiet["answered"], quiet["pushed"]) == (0, 2, 20), quiet
assert quiet["wait"]["max"] <= 5_000_000, quiet
# Updates of the window are no requests
busy = rows["10.0.0.1:8002"]
assert (busy["multiplexed"], busy["wait"]["count"]) == (1, 0), busy
links = json.load(open("grpc.paths"))["links"]
assert (links["clients"], links["maybe_multiplexed"]) == (2, 0), links
