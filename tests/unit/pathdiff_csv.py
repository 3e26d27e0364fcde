# SPDX-License-Identifier: GPL-2.0
"""test_pathdiff_cli.sh: out.csv has the 50 executions with the extra function."""
import csv
rows = [r for r in csv.DictReader(open("out.csv")) if r["function"]]
assert len(rows) == 50, len(rows)
assert all(r["kind"] == "extra" and r["function"] == "f9" and 5000000 <= int(r["self"]) for r in rows)
assert all(r["comm"] == "reader" for r in rows)
