# SPDX-License-Identifier: GPL-2.0
"""usage: arm_raw.py TRACE REPORT

Check that the events in the guest's TRACE are those in trace-cmd's REPORT of the received file.
"""
import re, sys
from collections import Counter, defaultdict

irqs, resched = str.maketrans("Db", "d."), str.maketrans("np", "N.")

def load(path, line, time):
    cpus = defaultdict(list)
    for text in open(path):
        if text.startswith("#") or text.startswith("cpus="):
            continue
        m = re.match(line, text)
        if not m:
            sys.exit(f"{path}: {text}")
        # The kernel prints more letters than trace-cmd: D and b with bottom halves off, n and p
        flags = m["flags"][0].translate(irqs) + m["flags"][1].translate(resched) + m["flags"][2:]
        cpus[int(m["cpu"])].append((time(m["time"]), m["pid"], flags, m["event"], m["text"].strip()))
    return cpus

# The kernel prints rounded microseconds
guest = load(sys.argv[1], r" *(.*)-(?P<pid>\d+) +\[(?P<cpu>\d+)\] (?P<flags>\S+) +"
             r"(?P<time>\d+\.\d{6}): (?P<event>\w+): (?P<text>.*)", lambda t: int(t.replace(".", "")))
here = load(sys.argv[2], r" *(.*)-(?P<pid>\d+) +(?P<cpu>\d+)(?P<flags>\S+) +"
            r"(?P<time>\d+\.\d{9}): (?P<event>\w+): (?P<text>.*)", lambda t: (int(t.replace(".", "")) + 500) // 1000)
assert sorted(guest) == sorted(here) == [0, 1], (sorted(guest), sorted(here))
kinds = Counter()
for cpu in guest:
    for n, (a, b) in enumerate(zip(guest[cpu], here[cpu])):
        assert a == b, f"CPU {cpu}, event {n}:\n{a} in the guest\n{b} here"
    assert len(guest[cpu]) == len(here[cpu]), (len(guest[cpu]), len(here[cpu]))
    kinds.update(event for _, _, _, event, _ in guest[cpu])
print(", ".join(f"{n} {kind}" for kind, n in kinds.most_common()))
assert len(kinds) == 8 and kinds["sched_switch"] > 2000, kinds
