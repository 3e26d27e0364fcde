# SPDX-License-Identifier: GPL-2.0
"""usage: perf_waits.py FUNCTION

From perf sched timehist on standard input, print the stack with FUNCTION in which pathload
waited longest, and its waker.
"""
import collections, re, sys
# A line has the wait before a run, and the stack at the end of the run, where the next wait begins
waits, stack, waker = collections.Counter(), None, "-"
for line in sys.stdin:
    m = re.search(r"(\S+)\[[\d/]+\] +awakened: pathload\[", line)
    if m:
        waker = m[1]
    m = re.search(r"\] +pathload\[[\d/]+\] +([\d.]+) +[\d.]+ +[\d.]+ +(.*)", line)
    if m:
        if stack and sys.argv[1] in stack:
            waits[(" <- ".join(stack.split(" <- ")[:3]), waker)] += float(m[1])
        stack, waker = m[2], "-"
print(*waits.most_common(1)[0][0] if waits else "-", sep=", woken by ")
