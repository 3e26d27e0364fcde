# SPDX-License-Identifier: GPL-2.0
"""iosys-unix.sh: compare the byte ranges of the events in report.txt with calls.log."""
import collections, re
want, got, ends = collections.Counter(), collections.Counter(), collections.defaultdict(set)
for line in open("calls.log"):
    cookie, way, begin, end = line.split()
    want[int(cookie), way, int(begin), int(end)] += 1
for line in open("report.txt"):
    m = re.search(r" io_syscall: +(\w+)=.* flags=(\S*) fd=.* type=socket .*? id=(\d+) .* family=1 .*isn=(\d+) peer_isn=(\d+) stream=(.*) stack=\d+$", line)
    if not m or not m.group(6):
        continue
    op, flags, cookie, isn, peer, stream = m.groups()
    numbers = [int(n, 0) for n in re.findall(r"0x[0-9a-f]+|[0-9]+", stream)]
    # A large message has several buffers, one after the other
    assert len(numbers) == 2, line
    way = "peeked" if "peeked" in flags else "sent" if op in ("sendto", "sendmsg") else "got"
    assert "isn_known" in flags and int(isn) == int(cookie) & 0xffffffff, line
    ends[int(cookie)].add(int(peer))
    got[int(cookie), way, numbers[0], numbers[1]] += 1
mine = {key[0] for key in want}
got = collections.Counter({k: n for k, n in got.items() if k[0] in mine})
print(f"# {sum(want.values())} calls on {len(mine)} sockets, {sum(k[1] == 'peeked' for k in want)} peeked")
assert got == want, [list(d.items())[:5] for d in (got - want, want - got)]
assert sum(want.values()) > 200 and len(mine) == 8
for cookie in mine:
    peer, = ends[cookie]
    assert ends[peer] == {cookie}
