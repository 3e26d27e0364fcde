# SPDX-License-Identifier: GPL-2.0
"""usage: ioreq_perfmaps.py RESULT FUNCTION...

test_ioreq_perfmaps.sh: whether the frames of RESULT (JSON), by stack, have these FUNCTIONs,
- for none.
"""
import json, sys

result = json.load(open(sys.argv[1]))
stacks = sorted((s["stack"], [f.get("function", "-") for f in s["frames"]])
                for g in result["stacks"] for s in g["stacks"])
found = [f for _, frames in stacks for f in frames]
assert found == sys.argv[2:], found
