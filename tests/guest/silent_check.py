# SPDX-License-Identifier: GPL-2.0
"""usage: silent_check.py HEARTBEATS TRIP

tracecast-silent.sh: heartbeats that nothing answered came later and later, and again soon once
something did; and TRIP, the ledger's round trip in ms, is not that of the last heartbeat.
"""
import json
import sys

got, trip = json.load(open(sys.argv[1])), int(sys.argv[2])
silent, answered = got["silent"], got["answered"]
gaps = [b - a for a, b in zip(silent, silent[1:])]
print("heartbeats without an answer: %d, after %s s" % (len(silent), ", ".join("%.2f" % g for g in gaps)))
# 0, 0.2, 0.6, 1.4, 3 and 6.2 s, and none after four seconds more
assert 3 <= len(silent) <= 8, "they do not back off"
# A collector takes a sender for silent after five seconds
assert got["first"] > silent[-1]
waits = [b - a for a, b in zip([got["first"]] + answered, answered)]
assert min(waits) < 1, "they stay rare although they are answered: %s" % waits
# The answer may have been to the first one, so nothing less than a second is known
assert trip >= 1000, "a round trip that took a second or more was measured as %d ms" % trip
