# SPDX-License-Identifier: GPL-2.0
"""usage: schedz_stat.py STAT REPORT

test_schedz_cli.sh: the counts of schedz stat are those of trace-cmd's REPORT.
"""
import json, re, sys
stat = json.load(open(sys.argv[1]))
names = [re.search(r": (\w+): ", line) for line in open(sys.argv[2])]
names = [n[1] for n in names if n]
assert stat["events"] == 10000 and stat["lost"] == 0
for name, n in stat["kinds"].items():
    assert n == names.count(name), name
assert stat["others"] == names.count("other")
