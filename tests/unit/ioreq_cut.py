# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_connections.sh: responses that are cut off count as failures, with their time; whole ones do not."""
import json, re
S = 1_000_000_000
both, server = sorted(json.load(open("cut.json"))["requests"], key=lambda r: r["client"] != "front")
assert (both["answered"], both["unanswered"], both["cut_off"], both["unanswered_time"]) == (0, 3, 3, 3 * S + 2 * S + 7 * S // 10), both
assert (server["answered"], server["unanswered"], server["cut_off"], server["unanswered_time"]) == (0, 1, 1, S), server
# The parts that the clients received, or that the server sent
assert (both["received"], server["received"]) == (600, 200), (both, server)
causes = [(c["step"], c["object"], c["time"], c["requests"]) for c in json.load(open("cut.paths"))["causes"]]
assert causes == [
    ("unanswered", "cut off in the response: client closed the connection", 3_700_000_000, 3),
    ("unanswered", "cut off in the response: connection reset", 3 * S, 1),
], causes
data = json.loads(re.search(r'id="data">(.*?)</script>', open("cut.html").read(), re.S)[1])
assert sorted((r["cut_off"], r["unanswered"]) for r in data["list"]) == [(True, True)] * 4, data["list"]
(whole,) = json.load(open("whole.json"))["requests"]
assert (whole["answered"], whole["unanswered"], whole["cut_off"]) == (5, 0, 0), whole
