# SPDX-License-Identifier: GPL-2.0
"""usage: key_check.py REPORT LEDGER

tracecast-key.sh: all marks up to the panic arrived, and none was refused.
"""
import sys

from ledger import Ledger, marks

report, ledger = open(sys.argv[1]).read(), Ledger(sys.argv[2])
assert ledger["generated"] == ledger["delivered"] + ledger.lost() + ledger["in flight"]
got = marks(report)
assert got[:100] == list(range(100)), got
# The ledger has what the panic left no time to send
assert got[100:] == [100] or ledger["not sent yet"] or ledger["lost on the wire"] or "unknown" in ledger.text, (got, ledger.text)
assert "with another key" not in ledger.text and "arrived before" not in ledger.text, ledger.text
