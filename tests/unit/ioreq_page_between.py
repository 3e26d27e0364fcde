# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_outputs.sh: the time in the network or a queue of each kind of request."""
import json, sys
print(json.dumps([r["between"] for r in json.load(sys.stdin)["requests"]], separators=(",", ":")))
