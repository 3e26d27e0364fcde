# SPDX-License-Identifier: GPL-2.0
"""iosys-unix.sh: check that requests.csv and requests.otlp have the requests that were made."""
import csv

import otlp

rows = list(csv.DictReader(open("requests.csv")))
row, = [r for r in rows if r["server_address"].endswith("asked.socket")]
# The others are the socketpair, which has no path, and answers nothing
assert all(r is row or not r["server_address"] and int(r["answered"]) == 0 for r in rows), rows
assert row["client"] == row["server"] == "python3", row
assert int(row["answered"]) >= 24 and int(row["unclear"]) <= int(row["answered"]) - 24, row
named = 0
for _, s, a in otlp.spans("requests.otlp"):
    assert a["network.transport"] == "unix", s
    named += s["kind"] == 2 and a.get("server.address", "").endswith("asked.socket")
assert named >= 24, named
