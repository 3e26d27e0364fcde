# SPDX-License-Identifier: GPL-2.0
"""usage: boot_check.py REPORT LEDGER

tracecast-boot.sh: all marks arrived, and so did events recorded before there was an address.
"""
import re
import sys

from ledger import Ledger, marks

report, ledger = open(sys.argv[1]).read(), Ledger(sys.argv[2])
assert ledger["generated"] == ledger["delivered"] + ledger.lost()
got = marks(report)
assert got == list(range(101)), got
# From the time before user space could set up an address
first = re.search(r"sched_process_exec", report)
assert first and first.start() < report.index("mark 0"), "no event from the boot arrived"
