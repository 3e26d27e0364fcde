# SPDX-License-Identifier: GPL-2.0
"""Print the first row of ctlchart sim's CSV on standard input in the format of the kernel's file."""
import csv, sys
r = next(csv.DictReader(sys.stdin))
print(r["center"], r["limit"], "learnt", r["learnt"], "judged", r["values"], "alarms", r["alarms"])
