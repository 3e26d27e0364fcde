# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_failures.sh: after its response a log is written for a request, and no file is read."""
import json

calls = [e for e in json.load(open("over.chrome"))["traceEvents"] if e.get("cat") == "call"]
got = {op: {"request" in e["args"] for e in calls if e["name"] == op} for op in ("write", "read")}
assert got == {"write": {True}, "read": {False}}, got
