# SPDX-License-Identifier: GPL-2.0
"""test_lbrtime.sh: a semicolon in a name does not end a part of a chain."""
import csv
import sys

rows = list(csv.DictReader(sys.stdin))
assert "<[u8; 4]>::h" in {r["function"] for r in rows}
chains = {r["chain"] for r in rows}
assert "main;<[u8_ 4]>::h" in chains and not any("[u8;" in c for c in chains), chains
