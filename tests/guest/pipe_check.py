# SPDX-License-Identifier: GPL-2.0
"""iosys-pipe.sh: compare the byte ranges of the events in report.txt with calls.log."""
import collections, re
PIPE, WRITTEN = 1 << 63, 1 << 62
want, got = collections.Counter(), collections.Counter()
numbers = collections.defaultdict(set)
fifo = set()
for line in open("calls.log"):
    tid, op, parts = line.rstrip("\n").split("\t")
    words = parts.split()
    moved = tuple(tuple(words[i:i + 3]) for i in range(0, len(words), 3))
    want[int(tid), op, moved] += 1
mine = {m[0] for _, _, moved in want for m in moved}
cut = several = peeked = 0
for line in open("report.txt"):
    if " io_syscall: " not in line:
        continue
    m = re.search(r"-(\d+) +\[.* io_syscall: +(\w+)=(-?\d+) .* flags=(\S*) fd=.*? type=(\w+) .*? id=(\d+) .* type2=(\w+) .*? id2=(\d+) .* stream=(.*) stack=\d+$", line)
    tid, op, result, flags, type1, ino1, type2, ino2, stream = m.groups()
    if not {ino1, ino2} & mine:
        continue
    n = [int(x, 0) for x in re.findall(r"0x[0-9a-f]+|[0-9]+", stream)]
    pairs = list(zip(n[::2], n[1::2]))
    i, moved = 0, []
    # A socket's ranges come first
    while i < len(pairs) and not pairs[i][0] & PIPE:
        i += 1
    assert i == 0 or "socket" in (type1, type2), line
    while i < len(pairs):
        head, count = pairs[i]
        assert head & PIPE and 0 < count <= len(pairs) - i - 1, line
        way = "written" if head & WRITTEN else "read"
        ino = ino2 if way == "written" and ino2 != "0" else ino1
        numbers[head & (WRITTEN - 1)].add(ino)
        ranges = pairs[i + 1:i + 1 + count]
        assert all(a < b and not a & PIPE for a, b in ranges), line
        several += count > 1
        moved.append((ino, way, ",".join(f"{a}-{b}" for a, b in ranges)))
        i += 1 + count
    cut += "stream_cut" in flags
    peeked += "peeked" in flags
    assert ("peeked" in flags) == (op == "tee"), line
    if moved:
        # The bytes read are of the first object
        got[int(tid), op, tuple(sorted(moved, key=lambda m: m[1]))] += 1
    else:
        assert int(result) <= 0 or op == "close" or op.startswith("open"), line
print(f"# {sum(want.values())} calls on {len(mine)} pipes, {several} with several ranges, {peeked} peeked, {cut} cut")
missing, extra = want - got, got - want
# A call with more ranges than there is room for has the first ones
for key in list(extra):
    tid, op, ((ino, way, ranges),) = key if len(key[2]) == 1 else (0, 0, (("", "", ""),))
    whole = [k for k in missing if k[0] == tid and k[1] == op and k[2][0][2].startswith(ranges + ",")]
    if cut and whole and ranges.count(",") == 6:
        del extra[key], missing[whole[0]]
        cut -= 1
assert not missing and not extra and not cut, (list(extra)[:5], list(missing)[:5], cut)
assert sum(want.values()) > 500 and several and peeked == 12, (sum(want.values()), several, peeked)
# A pipe's number identifies it; a FIFO that is made again has a new number and the same inode
assert all(len(inos) == 1 for inos in numbers.values()), numbers
by_ino = collections.Counter(ino for inos in numbers.values() for ino in inos)
assert sorted(by_ino.values())[-1] == 3 and sorted(by_ino.values())[-2] == 1, by_ino
