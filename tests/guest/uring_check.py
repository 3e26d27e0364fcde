#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: uring_check.py LOG REPORT

Compare what a program wrote down of its requests (uringwork, aiowork) with the
io_request and io_pending events in a trace-cmd report: each has one event, with all
that is known of it.
"""
import collections
import re
import sys

from compare import REQUEST, bad, end, read_events, read_log

TYPES = {"0": "anon", "1": "fifo", "2": "chr", "6": "blk", "8": "file", "12": "socket"}
ECANCELED = "-125"
OBJECT = (r"fd=(?P<fd>-?\d+) type=(?P<type>\w+) dev=(?P<dev>\d+:\d+) id=(?P<id>\d+) "
          r"name=(?P<name>.*)")
EVENT = re.compile(
    r"^\s*.*io_request:\s+(?P<kind>\w+):(?P<op>\w+)=(?P<result>-?\d+) bytes=(?P<bytes>\d+) "
    r"start=(?P<start>\d+) duration=(?P<duration>\d+) comm=(?P<comm>.*) pid=(?P<pid>\d+) "
    r"tgid=(?P<tgid>\d+) user_data=(?P<user_data>\w+) parts=(?P<parts>\d+) "
    rf"flags=(?P<flags>[\w|]*) {OBJECT} fd2=-1 type2=anon dev2=0:0 id2=0 name2= "
    r"family=(?P<family>\d+) protocol=(?P<protocol>\d+) isn=\d+ peer_isn=\d+ stream=[\d ]* stack=0$")
PENDING = re.compile(
    r"^\s*.*io_pending:\s+(?P<kind>\w+):(?P<op>\w+) start=(?P<start>\d+) duration=(?P<duration>\d+) "
    rf"comm=(?P<comm>.*) pid=(?P<pid>\d+) tgid=(?P<tgid>\d+) nr=.*? {OBJECT} fd2=")


def compare(request, event, kind):
    how = request["how"]
    if event["kind"] != kind:
        bad(f"kind: {event['kind']}")
    fields = ["op", "result", "bytes", "parts", "fd", "id", "dev", "name"]
    if how == "gone":
        request["result"] = ECANCELED
    if how == "unissued" or (request["fd"] != "-1" and request["result"] == "-9"):
        # It failed before its descriptor was looked up
        request.update(id="0", dev="0:0", type="0", name="")
    for field in fields:
        if request[field] != event[field]:
            bad(f"{field}: {event[field]} instead of {request[field]}: {request}\n  {event}")
    if event["type"] != TYPES[request["type"]]:
        bad(f"type: {event['type']}: {request}")
    flags = set(event["flags"].split("|")) - {""}
    if flags - {"isn_known"} != {"index": {"fd_index"}, "asked": {"name_asked"}}.get(how, set()):
        bad(f"flags: {flags}: {request}")
    if request["tid"] not in ("0", event["pid"]):
        bad(f"pid: {event['pid']}: {request}")
    start, end = int(event["start"]), int(event["start"]) + int(event["duration"])
    if not int(request["start"]) <= start or (how != "gone" and end > int(request["end"])):
        bad(f"time: {start} to {end}: {request}")


def check_hanging(requests, pending, kind):
    hung = [r for r in requests if r["how"] == "hangs"]
    if len(hung) != 1:
        bad(f"{len(hung)} requests hung")
    for request in hung:
        mine = [e for e in pending if e["tgid"] == request["tgid"] and e["id"] == request["id"]]
        if not mine:
            bad("a request that took four seconds was not reported")
        last = 0
        for e in mine:
            if (e["kind"], e["op"], e["name"], e["pid"]) != \
                    (kind, request["op"], request["name"], request["tid"]):
                bad(f"pending: {e}")
            if not max(10**9, last) < int(e["duration"]) < int(request["end"]) - int(request["start"]):
                bad(f"pending: {e['duration']} after {last}")
            last = int(e["duration"])
    for e in pending:
        if not any(e["tgid"] == r["tgid"] and e["id"] == r["id"] for r in hung) and \
                any(e["tgid"] == r["tgid"] for r in requests):
            bad(f"reported as pending without a reason: {e}")


def main():
    requests = read_log(sys.argv[1], REQUEST)
    kind = "aio" if "--aio" in sys.argv else "uring"
    tgids = {r["tgid"] for r in requests}
    events = [e for e in read_events(sys.argv[2], EVENT, "io_request:") if e["tgid"] in tgids]
    mine = collections.defaultdict(list)
    for event in events:
        mine[event["tgid"], str(int(event["user_data"], 0))].append(event)
    for request in requests:
        found = mine.pop((request["tgid"], request["user_data"]), [])
        if len(found) != 1:
            bad(f"{len(found)} events: {request}")
        for event in found:
            compare(request, event, kind)
    for event in mine.values():
        bad(f"this event has no request: {event}")
    pending = list(read_events(sys.argv[2], PENDING, r"io_pending:\s+(uring|aio):"))
    check_hanging(requests, pending, kind)
    ops = collections.Counter(r["op"] for r in requests)
    end(f"{len(requests)} requests ({', '.join(f'{op} {n}' for op, n in sorted(ops.items()))}),",
        f"{len(events)} events,")


main()
