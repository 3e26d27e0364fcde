#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
#
# Faults that hang, on a file system that is frozen and on a disk that does not answer:
# io_pending tells of them each second, whether io_fault is enabled or not, and ioreq
# of those that did not end.
. "$TRACERIG_TOP/tests/guest/functions"

ioreq=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/ioreq

gcc -O1 -Wall -Wextra -pthread -o hungwork "$TRACERIG_TOP/tests/guest/hungwork.c"
null_disk hung memory_backed=1 size=64
mkfs.ext4 -q "$disk"
mkdir mnt
mount -o noatime "$disk" mnt
null_disk below memory_backed=1 size=4
echo "0 8192 linear $disk 0" | dmsetup --noudevsync create silent
dmsetup mknodes
silent=$(realpath /dev/mapper/silent)
trap 'umount mnt || true; dmsetup remove --noudevsync silent || true; remove_disks' EXIT

# hang EVENT...: record both faults, and print them
hang() {
	dmsetup suspend --noflush --nolockfs silent
	trace-cmd record -q -b 8192 "$@" -o trace.dat ./hungwork "$PWD/mnt/data" "$silent" 3 \
		"dmsetup resume --noudevsync silent" >log 2>err || die "$(cat err)"
	trace-cmd report trace.dat >report.txt 2>/dev/null
}

cat >check.py <<'END'
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
    # One a second, but a guest on a busy host may skip some
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
# And of nothing else that it did
assert not left, pending
print(f"# {len(pending)} times")
END

hang -e iosys:io_pending -e iosys:io_syscall
python3 check.py open "$silent" "$PWD/mnt/data" || die "io_pending does not tell of the faults" "$(grep "fault" report.txt)" "$(cat log)"
"$ioreq" --format=json trace.dat >open.json || die "ioreq fails"
hang -e iosys:io_pending -e iosys:io_fault
python3 check.py ends "$silent" "$PWD/mnt/data" || die "io_pending does not tell of the faults" "$(grep "fault" report.txt)" "$(cat log)"
"$ioreq" --format=json trace.dat >ended.json || die "ioreq fails"
python3 - <<'END' || die "ioreq does not tell which faults did not end" "$(cat open.json)"
import json
def faults(name):
    return [(p["comm"], p["time"] > 10**9) for p in json.load(open(name))["pending"] if p["call"] == "fault"]
assert faults("open.json") == [("hungwork", True)] * 2, faults("open.json")
assert faults("ended.json") == [], faults("ended.json")
END
