# SPDX-License-Identifier: GPL-2.0
"""test_lbrtime_cut.sh: reliable time is right, and time attributed by cycles nearly always."""
reliable = right = cells = 0
for line in open("cells"):
    cell, method, told, told_right, sure, sure_right, time = line.rstrip("\n").split("\t")
    told, sure, time = int(told), int(sure), int(time)
    if sure:
        reliable += sure
        right += sure * float(sure_right) / 100
        # Less than a microsecond is only a few visits: these are judged together, below
        assert sure < 1000 or float(sure_right) >= 97, line
    if method == "cycles" and told > time / 100:
        assert float(told_right) >= 90, line
        cells += 1
assert right / reliable >= 0.97 and cells >= 10, (right, reliable, cells)
