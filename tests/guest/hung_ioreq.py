# SPDX-License-Identifier: GPL-2.0
"""iosys-hung.sh: ioreq's pending calls are the faults that did not end."""
import json
def faults(name):
    return [(p["comm"], p["time"] > 10**9) for p in json.load(open(name))["pending"] if p["call"] == "fault"]
assert faults("open.json") == [("hungwork", True)] * 2, faults("open.json")
assert faults("ended.json") == [], faults("ended.json")
