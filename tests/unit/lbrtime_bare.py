# SPDX-License-Identifier: GPL-2.0
"""test_lbrtime.sh: each sample in a stripped file has the start of its function as name."""
import csv
functions = [line.split() for line in open("functions")]
assert len(functions) == 3
want = [f"[frames.bare+{int(start, 16):#x}]" for _, start, length in functions for _ in range(int(length, 16))]
got = [row["function"] for row in csv.DictReader(open("out"))]
assert got == want and len(got) > 100, (len(got), len(want), set(got))
