#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: schedz-compare.py RAW EXPANDED MIN MAX_LATE

Both are texts of trace-cmd report -t -R -l. What was recorded into blocks began
later and ended earlier than the raw recording; in between, CPU by CPU, each event
must be there with all fields, in order. Their times are read one after the other:
at most MAX_LATE of a thousand may be more than 10 us apart, which a guest whose
host is busy cannot help. Fork, exec and exit happen with interrupts on: one with
events and other flags may come between the two recordings of one of them, so these
are compared by themselves, without common_flags. At least MIN events must have been
compared.
"""
import re
import sys
from collections import defaultdict

LINE = re.compile(
    r"^(?:\S+: )?\s*(?:.*)-(\d+)\s+(\d+)(\S*)\s+(\d+)\.(\d{9}): (sched_\w+):\s+(.*)$")
KINDS = {"sched_switch", "sched_waking", "sched_wakeup", "sched_wakeup_new",
         "sched_migrate_task", "sched_process_fork", "sched_process_exec",
         "sched_process_exit"}
INTERRUPTIBLE = {"sched_process_fork", "sched_process_exec", "sched_process_exit"}


def load(path):
    cpus = defaultdict(list)
    for line in open(path, errors="replace"):
        if "DROPPED" in line:
            sys.exit(f"{path}: {line.strip()}")
        m = LINE.match(line)
        if m and m[6] in KINDS:
            time = int(m[4]) * 10**9 + int(m[5])
            flags = "" if m[6] in INTERRUPTIBLE else m[3]
            cpus[int(m[2]), m[6] in INTERRUPTIBLE].append((time, (m[1], flags, m[6], m[7])))
    return cpus


raw, blocks = load(sys.argv[1]), load(sys.argv[2])
compared = late = 0
for cpu, events in blocks.items():
    truth = raw[cpu]
    what = [e[1] for e in events]
    begin = [i for i in range(len(truth))
             if [t[1] for t in truth[i:i + 40]] == what[:40]]
    if len(what) < 40 and not begin:
        continue
    if not begin:
        sys.exit(f"CPU {cpu}: the first events in blocks are in no place of the raw ones")
    # Where the same things happened again, the times tell
    begin = min(begin, key=lambda i: abs(truth[i][0] - events[0][0]))
    if begin + len(events) > len(truth):
        sys.exit(f"CPU {cpu}: {len(events)} events in blocks, {len(truth) - begin} raw ones")
    for n, (event, true) in enumerate(zip(events, truth[begin:])):
        if event[1] != true[1]:
            sys.exit(f"CPU {cpu}, event {n}:\n  raw    {true}\n  blocks {event}")
        late += abs(event[0] - true[0]) > 10000
    compared += len(events)
print(f"{compared} events on {len(blocks)} CPUs, {late} of them more than 10 us apart")
if compared < int(sys.argv[3]):
    sys.exit("too few events")
if late * 1000 > compared * int(sys.argv[4]):
    sys.exit("their times differ")
