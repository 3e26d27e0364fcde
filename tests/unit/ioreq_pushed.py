# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_connections.sh: messages without a request are counted, and in no response time."""
import json
MS = 1_000_000
rows = {(r["client"], r["server"], r["server_address"]): r for r in json.load(open("pushed.json"))["requests"]}
def check(key, answered, pushed, received, wait, service):
    r = rows.pop(key)
    assert (r["answered"], r["unclear"], r["pushed"], r["received"]) == (answered, 0, pushed, received), r
    assert (r["wait"]["time"], r["service"]["time"]) == (wait * MS, service * MS), r
check(("front", "back", "10.0.0.1:8001"), 2, 11, 400, 20, 20)
check(("front", "10.0.0.2:8001", ""), 2, 11, 400, 20, 0)
# The server works on it for 8 s, or goes on once after 5 s
check(("10.0.0.2", "back", "10.0.0.1:8002"), 1, 0, 400, 0, 8010)
check(("front", "back", "10.0.0.1:8003"), 1, 0, 250, 5010, 5010)
assert not rows, rows
