# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_connections.sh: processes of one name at one port are one server."""
import csv
(r,) = csv.DictReader(open("restart.csv"))
assert (r["server"], r["server_address"], r["answered"]) == ("back", "10.0.0.1:8001", "15"), r
assert {r["tgid"] for r in csv.DictReader(open("process.csv"))} == {"200", "201", "209"}
