# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_failures.sh: peers are named with the port where they listen, or with none."""
import json
got = {c["object"]: c["time"] // 1_000_000 for c in json.load(open("paths.json"))["causes"] if c["step"] == "sockets"}
assert got == {"10.0.0.2:50001": 5, "10.0.0.1:50000": 1, "10.0.0.2": 4 + 2,
               "10.0.0.2:53": 1, "10.0.0.2:5353": 1, "10.0.0.1:9000": 1}, got
