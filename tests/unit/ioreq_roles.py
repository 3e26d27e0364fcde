# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_connections.sh: which end of a connection that is older than the trace is the server."""
import json
got = {(r["client"], r["server"], r["server_address"]): (r["answered"], r["guessed"]) for r in json.load(open("roles.json"))["requests"]}
want = {
    # By the range of ports that connect takes
    ("front", "10.0.0.2:30000", ""): (5, 0),
    ("10.0.0.2", "back", "10.0.0.1:30000"): (5, 0),
    # By a port that three connections share
    ("front", "10.0.0.2:61000", ""): (15, 0),
    # By accept on that port
    ("10.0.0.2", "back", "10.0.0.1:7000"): (5, 0),
    # By the end that breaks the silence, though the ports are the other way round
    ("front", "10.0.0.2:40001", ""): (5, 1),
    ("10.0.0.2", "back", "10.0.0.1:50000"): (5, 1),
    # Only by the higher port
    ("10.0.0.2", "back", "10.0.0.1:55000"): (5, 1),
}
assert got == want, got
