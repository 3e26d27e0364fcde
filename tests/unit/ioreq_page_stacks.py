# SPDX-License-Identifier: GPL-2.0
"""test_ioreq_outputs.sh: compare the stacks in stacks.html with stacks.truth."""
import collections, json, re
data = json.loads(re.search(r'id="data">(.*?)</script>', open("stacks.html").read(), re.S).group(1))
true = collections.defaultdict(list)
for line in open("stacks.truth"):
    f = line.rstrip("\n").split("\t")
    if f[0] == "call":
        true[int(f[3]), f[4], int(f[6])].append((f[8], f[10]))
with_stack = without = 0
for r in data["list"]:
    for op, name, at, took, size, result, kind, other, *stack in r["server"].get("calls", []):
        offsets = {o for n, o in true[r["server"]["pid"], op, took] if n == name}
        frames = data["stacks"][stack[0]] if stack else []
        assert len(frames) == (3 if stack else 0), frames
        if len(offsets) == 1:
            offset, = offsets
            assert (f"prog+0x{offset}" == frames[1] and "libc" in frames[0]) if stack else offset == "-", (offset, frames)
            with_stack += bool(stack)
            without += not stack
assert with_stack > 100 and without > 100, (with_stack, without)
