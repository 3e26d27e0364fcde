# SPDX-License-Identifier: GPL-2.0
"""usage: ioreq_known.py LINES

Print the lines for gen_stacks in LINES as the kernel prints them in iosys_stacks.
"""
import sys
ends = {0: "complete", 9: "pending"}
text = open(sys.argv[1]).read().split("\n")
stacks, maps = {}, {}
for line in text:
    f = line.split(" ")
    if f[0] == "map":
        dev, path = int(f[2]), f[5].replace("\\", "\\134")
        maps[f[1]] = f"map {f[1]} dev={dev >> 20}:{dev & 0xfffff} ino={f[3]} build_id={f[4].strip('-')} rows=1 bytes=2 path={path}\n# no table: x"
    if f[0] == "stack":
        frames = [int(x, 16) for x in f[4].split(",")] if f[4] != "-" else []
        at = [(x >> 32 & 0x7fffffff, x & 0xffffffff) if x >> 63 else (0, x) for x in frames]
        stacks[f[1]] = f"stack {f[1]} end={ends.get(int(f[2]), 'odd_rule')} guessed={f[3]} frames={','.join(f'{m}+{o:#x}' for m, o in at)}"
print("\n".join([*stacks.values(), *maps.values()]))
