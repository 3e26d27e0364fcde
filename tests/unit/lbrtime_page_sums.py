# SPDX-License-Identifier: GPL-2.0
"""usage: lbrtime_page_sums.py VISITS

test_lbrtime_html.sh: sums over the visits of a CSV, as the page's script adds them up:
count, time, time weighed by place, and number of unreliable ones.
"""
import collections, csv, sys
n = total = weighed = 0
told, unsure = collections.Counter(), 0
rows = list(csv.DictReader(open(sys.argv[1])))
for r in rows:
    told[r["time"], r["cpu"]] += int(r["duration"])
for r in rows:
    n += 1
    unsure += r["reliable"] == "0"
    total += int(r["duration"])
    weighed += int(r["duration"]) * (n % 1009)
print(n, total, weighed, unsure)
