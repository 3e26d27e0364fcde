# SPDX-License-Identifier: GPL-2.0
"""pathdiff-storm: the first cause is a wait for a tag of the disk."""
import json, sys
r = json.load(sys.stdin)
c = [c for c in r["causes"] if c["named"]][0]
assert r["trace"]["executions"] >= 2000, r["trace"]["executions"]
assert c["kind"] == "wait" and c["caller"] == "blk_mq_get_tag", c["headline"]
print(c["headline"])
