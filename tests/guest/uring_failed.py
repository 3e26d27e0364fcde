# SPDX-License-Identifier: GPL-2.0
"""usage: uring_failed.py LOG REQUESTS.csv

iosys-uring.sh: each connection that uringwork failed to make is in ioreq's report, by the
address that it asked for.
"""
import collections, csv, sys

from compare import REQUEST, read_log

want = collections.Counter(r["name"].split("->")[1] for r in read_log(sys.argv[1], REQUEST)
                           if r["op"] == "connect" and int(r["result"]) < 0 and "->" in r["name"])
got = {r["server"]: int(r["failed_connections"]) for r in csv.DictReader(open(sys.argv[2]))}
print(f"# {sum(want.values())} connections failed: {dict(want)}; {got}")
assert want and {server: got.get(server) for server in want} == want, "other connections are reported"
