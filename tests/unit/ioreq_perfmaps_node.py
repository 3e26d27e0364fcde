# SPDX-License-Identifier: GPL-2.0
"""usage: ioreq_perfmaps_node.py lines|check

test_ioreq_perfmaps.sh: stacks in the function that node has compiled, from the map that it
has written (maps/perf-1000.map), as lines for gen_stacks; or whether ioreq names them
(node.json).
"""
import json, sys

code = {}
for number, line in enumerate(open("maps/perf-1000.map", encoding="utf-8", errors="replace")):
    start, size, name = line.rstrip("\n").split(" ", 2)
    # Where code was moved or freed, the later entry is valid
    for other in [o for o in code if o < int(start, 16) + int(size, 16) and int(start, 16) < o + code[o][0]]:
        del code[other]
    code[int(start, 16)] = int(size, 16), name
# ~ is bytecode, which no CPU executes
mine = {start: (size, name) for start, (size, name) in code.items()
        if "readSettings " in name and not name.startswith("JS:~")}
assert mine and all(name.split()[1].endswith("/perfmaps.js:7:22") for _, name in mine.values()), mine
if sys.argv[1] == "lines":
    for i, (start, (size, _)) in enumerate(sorted(mine.items()), 1):
        # The last return address is at the end of the function
        print(f"stack {i} 0 1 {start:x},{start + 1:x},{start + size:x},{start + size // 2:x}")
        print(f"call 1000 read /dev/zero 100 {1000 * i} {i}")
else:
    stacks = {s["stack"]: s for g in json.load(open("node.json"))["stacks"] for s in g["stacks"]}
    assert len(stacks) == len(mine)
    for i, (start, (size, name)) in enumerate(sorted(mine.items()), 1):
        frames = stacks[i]["frames"]
        assert [f["address"] for f in frames] == [start, start + 1, start + size, start + size // 2], frames
        assert all(f["function"] == name for f in frames), (frames, name)
