# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_failures.sh: bytes that the other side's thread does not wait for, of gen_failures."""
import csv, json
MS = 1_000_000
p = json.load(open("paths.json"))
assert p["links"]["waited"] == (25 + 14 + 34 + 34) * MS, p["links"]
got = {(c["process"], c["step"]): (c["time"] // MS, c["requests"]) for c in p["causes"] if c["time"]}
# 1: from 5 to 25 ms. 2: from 8 to 10 ms. 3: until 30 ms. 4: unknown
assert got == {("client", "client_late"): (20 + 2, 2), ("slow", "server_late"): (30, 1), ("slow", "rest"): (4 + 4 + 2 + 2, 4),
               ("slow", "between"): (1 + 1 + 3 + 4 + 1 + 1 + 32, 4)}, got
(r,) = json.load(open("requests.json"))["requests"]
assert (r["between"], r["split"]) == ((21 + 10 + 32 + 32) * MS, 4), r
assert (r["there"], r["late"], r["back"], r["late_client"]) == (64 * MS, 30 * MS, 31 * MS, 22 * MS), r
(row,) = csv.DictReader(open("requests.csv"))
assert row["late_client"] == str(22 * MS), row
# The steps of each request in order of time, with their threads: the way to the server before
# its steps, and the way back after them. Of 1, the request is received after 1 ms, and the
# response by the call that begins when the client is ready; of 2, the client polls for 3 + 4 ms
# after the response. 3 and 4 have the response after 1 ms.
steps = {r["pid"]: [(s["process"], s["thread"], s["step"], s["time"] // MS) for s in r["waited_for"] if s["time"]] for r in p["slowest"]}
assert steps == {101: [("slow", 201, "between", 1), ("slow", 201, "rest", 4), ("client", 101, "client_late", 20)],
                 102: [("slow", 202, "between", 1), ("slow", 202, "rest", 4), ("client", 102, "client_late", 2), ("slow", 202, "between", 3 + 4)],
                 103: [("slow", 203, "server_late", 30), ("slow", 203, "between", 1), ("slow", 203, "rest", 2), ("slow", 203, "between", 1)],
                 104: [("slow", 204, "between", 31), ("slow", 204, "rest", 2), ("slow", 204, "between", 1)]}, steps
assert all(sum(s["time"] for s in r["waited_for"]) == r["wait"] for r in p["slowest"])
