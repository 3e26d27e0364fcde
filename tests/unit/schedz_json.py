# SPDX-License-Identifier: GPL-2.0
"""usage: schedz_json.py EVENTS

test_schedz_cli.sh: the events of schedz decode --format=json are all there, in order.
"""
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
assert len(events) == sum(1 for line in open("want")) - 1
times = [e["time"] for e in events]
assert times == sorted(times)
switch = [e for e in events if e["event"] == "sched_switch"]
assert all(isinstance(e["next_comm"], str) and e["cpu"] in (0, 1) for e in switch)
