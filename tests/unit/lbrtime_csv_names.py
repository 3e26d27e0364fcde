# SPDX-License-Identifier: GPL-2.0
"""test_lbrtime.sh: functions in the chains of out (CSV) cannot be mistaken for others."""
import csv
rows = list(csv.DictReader(open("out")))
assert "<[u8; 4]>::h" in {r["function"] for r in rows}
chains = {r["chain"] for r in rows}
assert "main;<[u8_ 4]>::h" in chains and not any("[u8;" in c for c in chains), chains
