# SPDX-License-Identifier: GPL-2.0
"""usage: arm_ledgers.py DIRECTORY

Check that both ledgers of each session say that everything arrived, and name each file after
its session.
"""
import os, re, sys
out = sys.argv[1]
facts = open(f"{out}/facts.txt").read()
for name in "tap", "before", "after":
    ours = re.search(rf"^-- {name}\nsession: (\w+), over\n(generated: (\d+) = .*)", facts, re.M)
    theirs = re.search(rf"session {ours[1]}, over, in (\S+)\n *(generated: (\d+) = .*)",
                       open(f"{out}/ledger").read())
    print(f"{name}: {ours[2]}; {theirs[2]}")
    n = ours[3]
    assert int(n) >= (4 if name == "tap" else 4000)
    assert ours[2] == f"generated: {n} = lost 0 + held 0 + acknowledged {n} + abandoned 0"
    assert theirs[2] == (f"generated: {n} = delivered {n} + lost in the ring 0"
                         " + lost on the wire 0 + in flight 0")
    os.link(theirs[1], f"{out}/{name}.dat")
