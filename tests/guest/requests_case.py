# SPDX-License-Identifier: GPL-2.0
"""usage: requests_case.py CASE NS

CASE is of a request during which its server slept for 4 s, and for which its client waited NS.
"""
import json
import sys

with open(sys.argv[1] + "/case.json") as f:
    alarm = json.load(f)["alarm"]
assert alarm["chart"] == "request.8080", alarm
assert 4e9 <= alarm["value"] < int(sys.argv[2]), (alarm, sys.argv[2])
keys = dict(k.split("=") for k in alarm["keys"].split())
assert int(keys["common_pid"]) == alarm["pid"] and int(keys["id"]), alarm
