# SPDX-License-Identifier: GPL-2.0
"""test_lbrtime.sh: function and chain of each visit in the file out."""
import csv
print(*(r["function"] + "|" + r["chain"] for r in csv.DictReader(open("out"))), sep="\n")
