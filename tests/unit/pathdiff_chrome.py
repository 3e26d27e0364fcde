# SPDX-License-Identifier: GPL-2.0
"""test_pathdiff_cli.sh: slices in out.json are nested, and the wait is one of them."""
import json
events = json.load(open("out.json"))["traceEvents"]
slices = [e for e in events if e["ph"] == "X"]
for tid in 1, 11:
    stack = []
    for e in [e for e in slices if e["tid"] == tid]:
        while stack and e["ts"] >= stack[-1] - 1e-6:
            stack.pop()
        assert not stack or e["ts"] + e["dur"] <= stack[-1] + 1e-6, e
        stack.append(e["ts"] + e["dur"])
    assert [e["name"] for e in slices if e["tid"] == tid][-1] == "schedule"
assert any(e["name"] == "blocked, woken by irq disk0" and e["dur"] > 4999 for e in slices)
