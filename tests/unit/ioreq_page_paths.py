# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_outputs.sh: print what paths.txt shows first, which the page must show, too."""
import json, re
lines = open("paths.txt").read().split("\n")
at = lines.index("what to fix first") + 2
first = re.match(r"\s*(\S+ \S+)\s+(\S+ %)\s+(\S+)\s+(\S.*?:\d+) +(\S.*?)  +(.*)$", lines[at]).groups()
path, *numbers = re.split(r"  +", lines[lines.index("paths of requests, and steps of their critical paths") + 2])
answered, unanswered, response, p99, critical, *steps = numbers
print(json.dumps([list(first), path.replace("->", "\u2192"), answered, unanswered, response, p99, critical,
                  re.sub(r"\d+ %", "", steps[0])], ensure_ascii=False, separators=(",", ":")))
