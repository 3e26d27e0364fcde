# SPDX-License-Identifier: GPL-2.0
"""usage: panic_check.py REPORT EVENTS LEDGER COUNT PID

tracecast-panic.sh: each mark and the last switch to PID arrived, or the LEDGER counts
them as missing.
"""
import json
import re
import sys

from ledger import Ledger, marks

report, events, ledger, count, pid = open(sys.argv[1]).read(), sys.argv[2], Ledger(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
assert ", panic" in ledger.text, "the ledger does not report the panic"
assert ledger["generated"] == ledger["delivered"] + ledger.lost() + ledger["in flight"]
assert ledger["lost on the wire"] == 0, "there is no network to lose anything"
missing = ledger.lost() + ledger["not sent yet"]
got = marks(report)
assert len(got) == len(set(got)) and got == sorted(got)
# What CPUs had that stopped in the panic is not counted, and the ledger says so
assert count - len(got) <= missing or "unknown" in ledger.text, (count, len(got), ledger.text)
# All of it arrived, except what the guest had no time for, or stopped in
if missing or "unknown" in ledger.text:
    sys.exit(0)
assert got == list(range(count)), (len(got), count)
events = [json.loads(line) for line in open(events)]
end = [e["time"] for e in events if e["event"] == "sched_switch" and e["next_pid"] == pid]
mark = re.findall(r"([0-9.]+): .*mark %d\b" % (count - 1), report)
assert end and end[-1] / 1e9 > float(mark[0]), ("the last switch is not there", end[-3:], mark)
