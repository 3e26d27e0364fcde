# SPDX-License-Identifier: GPL-2.0
"""usage: reads_check.py BYTES

ioreq-reads.sh: compare reads.json with the files' sizes and the BYTES that the disk read.
"""
import json, os, sys
read = int(sys.argv[1])

reads = json.load(open("reads.json"))["reads"]
whole, = [r for r in reads if r["object"].endswith("mnt/whole") and r["asked"]["count"]]
mapped, = [r for r in reads if r["object"].endswith("mnt/mapped") and r["asked"]["count"]]
size = os.path.getsize("mnt/whole")
print("# disk:", read, "whole:", whole["disk"], whole["ahead"], "mapped:", mapped["asked"], mapped["disk"])
assert whole["process"] == "whole" and mapped["process"] == "mapped"
assert whole["asked"]["bytes"] == whole["disk"]["bytes"] == size and whole["wasted"] == 0, whole
assert whole["ahead"] > size / 2, whole
# A fault reads around its page
assert 20 <= mapped["asked"]["count"] <= 40 and mapped["disk"]["bytes"] > 8 * mapped["asked"]["bytes"], mapped
assert mapped["wasted"] == mapped["disk"]["bytes"] - mapped["asked"]["bytes"]
assert reads[0] == mapped, reads[0]
# The rest is read by the file system to find them
mine = whole["disk"]["bytes"] + mapped["disk"]["bytes"]
others = sum(r["disk"]["bytes"] for r in reads) - mine
assert mine <= read <= mine + others and read - mine < 1000000, (mine, read, others)
