# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_outputs.sh: what the text says of the times of each kind of request, as the page's columns."""
import json, re, sys
rows = []
for line in sys.stdin:
    m = re.match(r"  network or queue of (\S+) requests?: to server (.*), of which (.*) before the server waited; to client (.*), of which (.*) before the client waited$", line)
    if m:
        rows[-1] = list(m.groups()) + rows[-1]
    m = re.match(r"  (\S+) requests? by one thread: (.*)$", line)
    if m:
        rows.append([m[1], re.sub(r" \d+ %", "", m[2])])
print(json.dumps(["time in all", ["divided", "to server", "before server waited", "to client", "before client waited",
                                  "by one thread", "steps of these"], *rows], separators=(",", ":")))
