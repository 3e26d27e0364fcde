# SPDX-License-Identifier: GPL-2.0
"""test_ctlchart_html.sh: the events around each alarm in data.json are those of the trace."""
import json
every = [tuple(line.split()) for line in open("all")]
at = {event: i for i, event in enumerate(every)}
data = json.load(open("data.json"))
alarms = data["charts"][0]["worst"]
assert len(alarms) > 40, len(alarms)
for a in alarms:
    around = [(str(int(data["first"]) + e[0]), str(e[1]), e[3]) for e in a["around"]]
    begin = at[around[0]]
    assert around == every[begin:begin + 4], (a, every[begin:begin + 4])
    assert a["before"] == 2 and a["around"][1][0] == a["t"], a
