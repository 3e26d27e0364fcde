# SPDX-License-Identifier: GPL-2.0
"""test_lbrtime_cut.sh: visits without attributed time may be off by the whole interval."""
import csv, itertools
unknown = 0
for _, rows in itertools.groupby(csv.DictReader(open("visits.csv")), key=lambda r: (r["time"], r["cpu"])):
    rows = list(rows)
    length = int(rows[0]["interval"])
    if int(rows[0]["start"]) <= int(rows[0]["time"]) - length + 1:
        continue
    for row, following in zip(rows, rows[1:]):
        if following["start"] != rows[0]["start"]:
            break
        if int(row["cycles"]) > 2:
            assert int(row["error"]) == length and row["reliable"] == "0", row
            unknown += 1
assert unknown > 100, unknown
