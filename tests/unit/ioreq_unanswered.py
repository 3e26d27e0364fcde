# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_failures.sh: requests without a response are ranked by the time they were in flight."""
import json, re

import otlp

(r,) = json.load(open("requests.json"))["requests"]
assert (r["client"], r["server"], r["server_address"]) == ("client", "slow", "10.0.0.1:8001"), r
assert (r["answered"], r["unanswered"], r["unanswered_time"]) == (1, 2, 11_000_000_000), r
p = json.load(open("paths.json"))
assert p["links"]["clients"] == 3 and p["links"]["waited"] == 11_050_000_000, p["links"]
(path,) = p["paths"]
assert (path["requests"], path["unanswered"], path["unanswered_time"]) == (1, 2, 11_000_000_000), path
first = p["causes"][0]
assert (first["process"], first["step"], first["time"], first["requests"]) == ("slow", "unanswered", 11_000_000_000, 2), first
assert [s["wait"] for s in p["slowest"]] == [8_000_000_000, 3_000_000_000, 50_000_000], p["slowest"]
data = json.loads(re.search(r'id="data">(.*?)</script>', open("none.html").read(), re.S)[1])
single = sorted(((r["client"]["time"], r["unanswered"]) for r in data["list"]), reverse=True)
assert single == [(8_000_000_000, True), (3_000_000_000, True), (50_000_000, False)], single
# chrome's times are in us
events = json.load(open("none.chrome"))["traceEvents"]
got = sorted((e["dur"], e["args"].get("failure")) for e in events if e.get("cat") == "request" and e["pid"] == 1)
assert got == [(50_000, None), (3_000_000, "unanswered"), (8_000_000, "unanswered")], got
got = sorted((int(s["endTimeUnixNano"]) - int(s["startTimeUnixNano"]), s.get("status", {}).get("message"))
             for s in otlp.read("none.otlp")[0].values() if s["kind"] == 3)
assert got == [(50_000_000, None), (3_000_000_000, "unanswered"), (8_000_000_000, "unanswered")], got
