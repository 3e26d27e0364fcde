#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: schedz-compare.py BEFORE EXPANDED AFTER MIN [late]

All are texts of trace-cmd report -t -R -l of one run. Each event was recorded raw first
(BEFORE), then in blocks (EXPANDED), then raw again (AFTER), by one probe after the other. So
for each event in blocks, which began later and ended earlier, both raw recordings must have
it with all fields, in order, CPU by CPU; and its time must not be before the first raw event's
or after the second's. Fork, exec and exit happen with interrupts on: an interrupt with events
and other flags may come between the recordings of one of them, so these are compared
separately, without common_flags. At least MIN events must have been compared. With "late",
some were recorded in blocks after the second raw recording, so times are not compared with
that, and what changes between two probes may have changed in either one.
"""
import re
import sys
from collections import defaultdict

LINE = re.compile(
    r"^(?:\S+: )?\s*(?:.*)-(\d+)\s+(\d+)(\S*)\s+(\d+)\.(\d{9}): (sched_\w+):\s+(.*)$")
KINDS = {"sched_switch", "sched_waking", "sched_wakeup", "sched_wakeup_new",
         "sched_migrate_task", "sched_process_fork", "sched_process_exec",
         "sched_process_exit"}
NEED_RESCHED = 4  # of common_flags, printed as "-0x5"
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


def same_flags(earlier, later):
    """Between two probes, another CPU may ask this one to reschedule."""
    return earlier == later or \
        earlier and later and int(earlier[1:], 16) | NEED_RESCHED == int(later[1:], 16)


def same_fields(earlier, later):
    """Between two probes, a waiting parent may turn a zombie to dead."""
    return earlier == later or \
        re.sub(r"prev_state=(32|0x20)\b", "prev_state=16", earlier) == \
        re.sub(r"prev_state=0x10\b", "prev_state=16", later)


def fields(event):
    """A task that is woken may still be runnable, and is then moved between two probes."""
    return re.sub(r" target_cpu=\d+$", "", event[3]) if event[2] == "sched_waking" else event[3]


def same(earlier, later):
    return earlier[0] == later[0] and same_flags(earlier[1], later[1]) and \
        earlier[2] == later[2] and same_fields(fields(earlier), fields(later))


def nearest(is_same, head, truth):
    """Return: the place of most of the events, and the first event that is elsewhere."""
    def alike(i):
        return next((n for n, (e, t) in enumerate(zip(head, truth[i:])) if not is_same(e, t[1])), len(head))

    best = max(range(len(truth)), key=alike, default=None)
    if best is None:
        return ", which has none"
    n = alike(best)
    there = truth[best + n] if best + n < len(truth) else "the end"
    return f":\n  {n} are there from {truth[best]}\n  blocks {head[n] if n < len(head) else 'the end'}\n  truth {there}"


def find(where, cpu, events, truth):
    """Return: the raw events that the events in blocks are."""
    def is_same(event, true):
        if where == "before":
            return same(true, event)
        # "late": an event in blocks is the earlier or the later of the two
        return same(event, true) or late and same(true, event)

    head = [e[1] for e in events[:40]]
    begin = [i for i in range(len(truth) - len(head) + 1)
             if all(is_same(e, t[1]) for e, t in zip(head, truth[i:i + 40]))]
    if not begin:
        sys.exit(f"CPU {cpu}: the first events in blocks are in no place of {where}" +
                 nearest(is_same, head, truth))
    # If the same sequence occurs twice, the times decide
    begin = min(begin, key=lambda i: abs(truth[i][0] - events[0][0]))
    found = truth[begin:begin + len(events)]
    for n, (event, true) in enumerate(zip(events, found)):
        if not is_same(event[1], true[1]):
            sys.exit(f"CPU {cpu}, event {n}:\n  {where} {true}\n  blocks {event}")
    if len(found) < len(events):
        sys.exit(f"CPU {cpu}: {len(events)} events in blocks, {len(found)} in {where}")
    return found


late = sys.argv[5:] == ["late"]
before, blocks, after = map(load, sys.argv[1:4])
widths = []
for (cpu, alone), events in sorted(blocks.items()):
    firsts = find("before", cpu, events, before[cpu, alone])
    lasts = find("after", cpu, events, after[cpu, alone])
    # An event that interrupts the writing of another event has its time stamp in the raw ring buffer
    shared = {t for t, _ in after[cpu, not alone]}
    for n, ((time, what), (first, _), (last, _)) in enumerate(zip(events, firsts, lasts)):
        if time < first or time > last and last not in shared and not late:
            sys.exit(f"CPU {cpu}, event {n}, {what}: {first} before, {time} in blocks, {last} after")
        widths.append(last - first)
if len(widths) < int(sys.argv[4]):
    sys.exit(f"{len(widths)} events are too few")
widths.sort()
cpus = len({cpu for cpu, _ in blocks})
print(f"{len(widths)} events on {cpus} CPUs, all between both raw times, which are "
      f"{widths[len(widths) // 2]} ns apart in the median")
