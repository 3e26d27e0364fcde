# SPDX-License-Identifier: GPL-2.0
"""ioreq-paths.sh: paths.json against web.log and app.log."""
import json
result = json.load(open("paths.json"))
requests = {int(n): (int(begin), int(end)) for _, n, begin, end in (line.split() for line in open("web.log"))}
queries = [(int(n), int(begin), int(end)) for _, n, begin, end in (line.split() for line in open("app.log"))]
assert len(requests) == 20 and len(queries) == 30
links = result["links"]
assert links["clients"] == 20 and links["followed"] == 30 and not links["ambiguous"] and not links["outlived"], links
assert [(p["depth"], p["client"], p["server"], p["requests"]) for p in result["paths"]] == \
    [(0, "web", "app", 20), (1, "app", "db", 30)]
# Each request, with the queries that were made for it and no others
for r in result["slowest"]:
    number, = [n for n, (begin, end) in requests.items() if begin <= r["begin"] and r["begin"] + r["wait"] <= end and
               (n % 4) == sum(p["depth"] == 1 and p["step"] == "rest" for p in r["waited_for"])]
    requests.pop(number)
    slept = sum(p["time"] for p in r["waited_for"] if p["process"] == "db" and p["step"] == "rest")
    assert (slept >= 300_000_000) == (number == 5), (number, slept)
    journal = [p for p in r["waited_for"] if p["object"].endswith("/journal") and p["step"] == "files"]
    assert bool(journal) == (number == 5) and all(p["depth"] == 1 and p["process"] == "db" for p in journal)
assert not requests
