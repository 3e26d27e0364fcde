# SPDX-License-Identifier: GPL-2.0
# Of test_ioreq_paths.sh: requests that last longer by the server's clock than by the client's.
import csv
import json
import re
from truth_paths import requests
want = sum(r["over"][1] - r["begin"][1] > r["over"][0] - r["begin"][0] for r in requests.values() if not r["parent"])
flow, = [e for e in json.load(open("rates.json"))["requests"] if e["client_host"] == "web"]
row, = [e for e in csv.DictReader(open("rates.csv")) if e["client_host"] == "web"]
links = json.load(open("rates-paths.json"))["links"]
assert want > 500 and flow["unclear"] == 0, (want, flow)
assert flow["contradicted"] == int(row["contradicted"]) == links["contradicted"] == want, (flow["contradicted"], links, want)
# The data have the difference, as measured; text has no negative time
assert flow["between"] == flow["wait"]["time"] - flow["service"]["time"] < 0, flow
lines = open("rates.text").read().split("\n")
at, = [i for i, line in enumerate(lines) if line.startswith("web:client")]
assert lines[at].endswith(" -"), lines[at]
line = f"  {want} requests longer by the server's clock than by the client's; time in the network is unknown: " \
    "the clocks' rates differ, or the server's last call ended late"
paths = open("rates-paths.text").read()
assert line in lines and line in paths.split("\n")
assert not re.search(r"(^| )-[0-9]", "\n".join(lines[at:])) and not re.search(r"(^| )-[0-9]", paths[paths.index("what to fix first"):])
