# SPDX-License-Identifier: GPL-2.0
"""ioreq.sh: the row of the client in requests.csv."""
import csv
row, = [r for r in csv.DictReader(open("requests.csv")) if r["client"] == "client"]
number = {k: int(v) for k, v in row.items() if v.isdigit()}
assert row["server"] == "slowserver", row
assert number["answered"] == 50 and number["unclear"] == number["unanswered"] == 0, row
assert number["received"] > 50 * 20000, row
# Five slow ones, of 0.3 seconds; the client waits for all of that time, and a bit more
assert number["service"] >= 5 * 300_000_000, row
assert number["service_p99"] >= 300_000_000 > number["service_p50"], row
assert number["wait"] == number["service"] + number["between"], row
assert number["between"] >= 0, row
# One thread for each connection; time.sleep() is not a call that iosys records
assert number["stepped"] == 50 and number["rest"] >= 5 * 300_000_000, row
