# SPDX-License-Identifier: GPL-2.0
"""usage: hung_check.py open|ends DISK FILE

Compare the io_pending events in report.txt with the faults in hungwork's log.
"""
import re, sys
EVENT = re.compile(
    r" (?P<event>io_pending|io_fault): +(?P<op>\w+)(?:=(?P<result>-?\d+))? start=(?P<start>\d+) "
    r"duration=(?P<duration>\d+) (?:comm=(?P<comm>.*) pid=(?P<pid>\d+) )?tgid=(?P<tgid>\d+) .*?"
    r"type=(?P<type>\w+) dev=(?P<dev>\d+:\d+) id=(?P<id>\d+) name=(?P<name>\S+) .*?"
    r"offset=(?P<offset>\d+) address=(?P<address>\w+) ip=(?P<ip>\w+)(?: fault=(?P<flags>[\w|]*))?")
ends, silent, file = sys.argv[1:]
faults = [line.rstrip("\n").split("\t") for line in open("log")]
tgid, events = faults[0][0], [m.groupdict() for m in map(EVENT.search, open("report.txt")) if m]
assert [f[8] for f in faults] == ["write", "read"], faults
pending = [e for e in events if e["event"] == "io_pending" and e["op"] == "fault" and e["tgid"] == tgid]
left = len(pending)
for tgid, tid, dev, inode, offset, address, start, end, how, function in faults:
    start, end, function = int(start), int(end), int(function)
    mine = [e for e in pending if (e["pid"], e["dev"], e["id"]) == (tid, dev, inode)]
    # One event per second, but a guest on a busy host may skip some
    assert mine, (how, events)
    last = 10**9
    for e in mine:
        assert e["comm"] == "hungwork", e
        assert (e["type"], e["name"]) == (("file", file) if how == "write" else ("blk", silent)), e
        assert e["offset"] == offset and int(e["address"], 0) == int(address), e
        assert function <= int(e["ip"], 0) < function + 128, e
        assert e["flags"] == ("write" if how == "write" else ""), e
        assert last <= int(e["duration"]) < end - start and start <= int(e["start"]) < end, (last, e)
        assert e["start"] == mine[0]["start"], e
        last = int(e["duration"]) + 500_000_000
    assert end - start > 3_000_000_000, (start, end)
    ended = [e for e in events if e["event"] == "io_fault" and e["start"] == mine[0]["start"]]
    assert len(ended) == (ends == "ends"), ended
    assert not ended or int(ended[0]["duration"]) > int(mine[-1]["duration"]), ended
    left -= len(mine)
# And no event of the program's other operations
assert not left, pending
print(f"# {len(pending)} times")
