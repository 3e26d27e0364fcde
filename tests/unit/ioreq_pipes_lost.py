# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_pipes.sh: calls of a worker whose job was lost are attributed to no client."""
import collections, json
got = collections.Counter()
for c in json.load(open("files.json"))["calls"]:
    got[c["client"]] += c["count"]
print("#", dict(got))
assert not set(got) - {"red", "green", "blue", "grey", "client", "-", "ambiguous"}, got
assert sum(got[name] for name in ("red", "green", "blue", "grey")) > (sum(got.values()) - got["-"]) / 2
