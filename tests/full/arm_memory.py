# SPDX-License-Identifier: GPL-2.0
"""usage: arm_memory.py FACTS

Compute the memory that tracecast and the tap use, from the free memory before and after.
"""
import re, sys
free = {m[1]: int(m[2]) for m in re.finditer(r"^free (.*): (\d+)$", open(sys.argv[1]).read(), re.M)}
tracecast = free["before"] - free["with tracecast"]
both = free["before"] - free["with both"]
print(f"{both} KiB of {free['before']} that were free: {tracecast} of tracecast, {both - tracecast} of the tap;"
      f" {free['before'] - free['after']} when both are off, {free['before'] - free['at the end']} after"
      " two more sessions")
# The window of tracecast alone is 256 KiB: with less, nothing was measured
assert 256 < tracecast < both <= 1024, free
# A session leaves no memory of the size of a window
assert free["after"] - free["at the end"] < 2 * 256, free
