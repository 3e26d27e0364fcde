# SPDX-License-Identifier: GPL-2.0
"""ioreq-pipes.sh: the client of each read of a file is the one in the file's name."""
import collections, csv, json
each = 60 * 3
asked = collections.Counter()
ports = set()
for r in csv.DictReader(open("requests.csv")):
    assert int(r["unclear"]) == 0, r
    asked[r["client"], r["server"]] += int(r["answered"])
    ports |= {r["server_address"]} if r["server"] == "front" else set()
assert asked == {("red", "front"): each, ("blue", "front"): each, ("front", "worker"): 2 * each}, asked
# Each front end listens at another port, and so is a separate server
assert len(ports) == 3, ports
files = collections.Counter()
for c in json.load(open("calls.json"))["calls"]:
    name = c["name"].rpartition("/")[2]
    if c["call"] == "pread64" and name.startswith("data."):
        files[name, c.get("client")] += c["count"]
assert files == {("data.red", "red"): each, ("data.blue", "blue"): each}, files
