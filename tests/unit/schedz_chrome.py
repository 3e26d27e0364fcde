# SPDX-License-Identifier: GPL-2.0
"""usage: schedz_chrome.py SLICES

test_schedz_cli.sh: no two slices of a thread overlap.
"""
import json, sys
slices = json.load(open(sys.argv[1]))["traceEvents"]
assert len(slices) > 1000
end = {}
for s in slices:
    assert s["ts"] >= end.get(s["tid"], 0) - 0.002
    end[s["tid"]] = s["ts"] + s["dur"]
