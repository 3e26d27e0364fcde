# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_outputs.sh: the slowest requests of the text, as the page has them."""
import json, re, sys
lines = sys.stdin.read().split("\nthe slowest requests, step by step\n")[1].splitlines()
out = []
for line in lines:
    if line.startswith(" "):
        out[-1].append((re.split(r"  +", line.strip()) + ["", ""])[:4])
    else:
        out.append([line])
assert len(out) == 3 and all(len(r) > 5 for r in out)
print(json.dumps(out, separators=(",", ":")))
