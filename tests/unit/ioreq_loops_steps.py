# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_loops.sh: work of an event loop for other requests is no step of a waiting request."""
import collections, json
p = json.load(open("paths.json"))
waits = collections.Counter()
for c in p["causes"]:
    if c["host"] == "app":
        waits[c["step"]] += c["time"]
print("#", dict(waits))
# The steps of all other requests would be many times as many
files = sum(c["pieces"] for c in p["causes"] if c["host"] == "app" and c["step"] == "files")
truth = sum(line.startswith("file") for line in open("truth"))
assert waits["busy"] > waits["files"] > 0 and truth / 2 < files <= truth, (waits, files, truth)
