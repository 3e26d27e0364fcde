# SPDX-License-Identifier: GPL-2.0
# Of test_ioreq_outputs.sh, in its directory of results.
import collections
from truth_tiers import COMMS, HOSTS, calls
want = collections.Counter()
for host, tgid, _, op, _, took, _, name in calls:
    want[f"{HOSTS[host]};{COMMS[host]}-{tgid};{op};{name}".replace(" ", "_")] += took
got = collections.Counter()
for line in open("out.folded"):
    stack, time = line.rstrip("\n").split(" ")
    assert stack.count(";") == 3
    got[stack] += int(time)
assert got == want and len(open("top.folded").readlines()) == 3
