# SPDX-License-Identifier: GPL-2.0
"""test_lbrtime.sh: the CSV in the file out without quotes; commas of a field are semicolons."""
import csv
for r in csv.reader(open("out")):
    print(",".join(c.replace(",", ";") for c in r))
