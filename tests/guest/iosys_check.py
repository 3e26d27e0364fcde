#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: iosys_check.py LOG REPORT [--pending | --some]

Compare the log of iosyswork with the io_syscall and io_pending events in a trace-cmd report:
every call, in order, with all of its fields. With --some, events may be missing.
"""
import re
import sys

from compare import bad, end, read_events, read_log

FIELDS = ("tid op result start end fd id dev type name fd2 id2 dev2 type2 name2 "
          "bytes stream how").split()
TYPES = {"0": "anon", "1": "fifo", "2": "chr", "4": "dir", "6": "blk", "8": "file",
         "12": "socket"}
EVENT = re.compile(
    r"^\s*.*-(?P<tid>\d+)\s+\[\d+\].*?(?P<event>io_syscall|io_pending):\s+"
    r"(?P<op>\w+)(?:=(?P<result>-?\d+) bytes=(?P<bytes>\d+))? "
    r"start=(?P<start>\d+) duration=(?P<duration>\d+) "
    r"(?:comm=(?P<comm>.*) pid=(?P<pid>\d+) )?"
    r"tgid=(?P<tgid>\d+) nr=(?P<nr>\d+) abi=(?P<abi>\w+) flags=(?P<flags>[\w|]*) "
    r"fd=(?P<fd>-?\d+) type=(?P<type>\w+) dev=(?P<dev>\d+:\d+) id=(?P<id>\d+) "
    r"name=(?P<name>.*) fd2=(?P<fd2>-?\d+) type2=(?P<type2>\w+) "
    r"dev2=(?P<dev2>\d+:\d+) id2=(?P<id2>\d+) name2=(?P<name2>.*) "
    r"family=(?P<family>\d+) protocol=(?P<protocol>\d+)"
    r"(?: isn=(?P<isn>\d+) peer_isn=(?P<peer_isn>\d+) stream=(?P<stream>.*)|"
    r" offset=0 address=0 ip=0 fault=)?$")


def ranges(event):
    # The kernel prints "{0x5,0xa}", libtraceevent "5 10"
    numbers = [int(n, 0) for n in re.findall(r"0x[0-9a-f]+|[0-9]+", event["stream"])]
    return list(zip(numbers[::2], numbers[1::2]))


def same_name(call, event):
    flags = event["flags"].split("|")
    if call["how"] == "cut":
        return ("name_cut" in flags and len(event["name"]) == 255 and
                call["name"].endswith(event["name"]))
    if ("name_asked" in flags) != call["how"].endswith("asked"):
        return False
    return call["name"] == event["name"]


def compare(call, event):
    for field in ("op", "result", "bytes", "fd", "id", "dev", "fd2", "id2", "dev2", "name2"):
        if call[field] != event[field]:
            bad(f"{field}: {event[field]} instead of {call[field]}: {call}\n  {event}")
    for field in ("type", "type2"):
        if TYPES[call[field]] != event[field]:
            bad(f"{field}: {event[field]} instead of {TYPES[call[field]]}: {call}")
    if not same_name(call, event):
        bad(f"name: {event['name']} {event['flags']} instead of {call['name']}")
    if ("bytes_unknown" in event["flags"].split("|")) != (call["how"] == "uncounted"):
        bad(f"bytes unknown: {event['flags']}: {call}")
    if event["abi"] != ("compat" if call["how"].startswith("compat") else "native"):
        bad(f"abi: {event['abi']}: {call}")
    start, duration = int(event["start"]), int(event["duration"])
    if not int(call["start"]) <= start <= start + duration <= int(call["end"]):
        bad(f"time: {start} + {duration} is not in {call['start']} to {call['end']}: {call}")
    compare_stream(call, event)


PIPE, WRITTEN = 1 << 63, 1 << 62


def split_pipes(pairs):
    """Return: the ranges of a socket; and the ranges of pipes, by whether they were written."""
    at = next((i for i, (first, _) in enumerate(pairs) if first & PIPE), len(pairs))
    socket, pipes = pairs[:at], []
    while at < len(pairs):
        head, count = pairs[at]
        pipes.append((bool(head & WRITTEN), pairs[at + 1:at + 1 + count]))
        at += 1 + count
    return socket, pipes


def compare_pipes(call, event, pipes):
    """Check that the call has the right number of pipes, each with all of its bytes. More: iosys-pipe.sh"""
    objects = [call["type"] == "1", call["type2"] == "1"]
    moves = call["bytes"] != "0"
    if len(pipes) != (sum(objects) if moves else 0):
        bad(f"pipes: {pipes}: {call}")
    for written, parts in pipes:
        if sum(end - start for start, end in parts) != int(call["result"]):
            bad(f"pipes: {parts} are not {call['result']} bytes: {call}")
        writes = event["op"] in ("write", "vmsplice") if call["id2"] == "0" else objects[1]
        if len(pipes) == 1 and written != writes:
            bad(f"pipes: written {written}: {call}")
    if len(pipes) == 2 and [written for written, _ in pipes] != [False, True]:
        bad(f"pipes: {pipes}: {call}")


def compare_stream(call, event):
    got, pipes = split_pipes(ranges(event))
    compare_pipes(call, event, pipes)
    peeks = call["how"] == "peeked" or (call["op"] == "tee" and call["bytes"] != "0")
    if ("peeked" in event["flags"].split("|")) != peeks:
        bad(f"peeked: {event['flags']}: {call}")
    if call["how"] == "shared":
        moved = sum(end - start for start, end in got)
        cut = "stream_cut" in event["flags"].split("|")
        if moved >= int(call["result"]) if cut else moved != int(call["result"]):
            bad(f"stream: {got} are not {call['result']} bytes")
        return
    want = []
    if call["stream"] != "-":
        start, end = call["stream"].split("-")
        want = [(int(start), int(end))]
    if got != want:
        bad(f"stream: {got} instead of {want}: {call}")


def of_workload(events, tgid):
    """Return: the events between the two calls that mark beginning and end."""
    mine = [e for e in events if e["tgid"] == tgid and e["event"] == "io_syscall"]
    marks = [i for i, e in enumerate(mine) if e["fd"] in ("1000001", "1000002")]
    if len(marks) != 2:
        bad(f"{len(marks)} marks of the beginning and the end among {len(mine)} events")
        sys.exit(1)
    return mine[marks[0]:marks[1] + 1]


def check_calls(log, events):
    for tid in {call["tid"] for call in log}:
        calls = [call for call in log if call["tid"] == tid]
        mine = [event for event in events if event["tid"] == tid]
        if len(calls) != len(mine):
            bad(f"thread {tid}: {len(mine)} events of {len(calls)} calls:",
                [c["op"] for c in calls], [e["op"] for e in mine])
        for call, event in zip(calls, mine):
            compare(call, event)


def check_shared(log, events):
    """Two threads on one connection: their ranges are its bytes, each once."""
    tids = {call["tid"] for call in log if call["how"] == "shared"}
    parts = sorted(r for e in events if e["tid"] in tids and e["op"] == "write"
                   for r in ranges(e))
    cut = any(e["tid"] in tids and "stream_cut" in e["flags"] for e in events)
    at = 0
    for start, stop in parts:
        if start < at if cut else start != at:
            bad(f"shared: {start} comes after {at}")
        at = stop
    if not cut and at != sum(int(call["result"]) for call in log if call["how"] == "shared"):
        bad(f"shared: {at} bytes in all")
    print(f"# {len(parts)} ranges of {sum(c['how'] == 'shared' for c in log)} shared calls")


def check_isn(log, events):
    """Each side's own number is the other side's peer number."""
    seen = {}
    for e in events:
        if "->" in e["name"] and e["protocol"] == "6" and "isn_known" in e["flags"]:
            seen.setdefault(e["name"], set()).add((e["isn"], e["peer_isn"]))
    pairs = 0
    for name, isns in seen.items():
        if len(isns) != 1:
            bad(f"{name}: initial sequence numbers change: {isns}")
        local, remote = name.split("->")
        other = seen.get(f"{remote}->{local}")
        if other:
            pairs += 1
            if {(b, a) for a, b in isns} != other:
                bad(f"{name}: initial sequence numbers {isns}, and {other} at the other side")
    if pairs != 6:
        bad(f"{pairs} ends of 3 connections have initial sequence numbers")


def check_pending(log, events, tgid):
    """The reports are of the thread that hangs for four seconds, and of no other thread."""
    tids = {call["tid"] for call in log}
    hung = [call for call in log
            if int(call["end"]) - int(call["start"]) > 3500000000 and call["op"] == "read"]
    mine = [e for e in events if e["event"] == "io_pending" and e["tgid"] == tgid and
            e["pid"] in tids]
    for call in hung:
        reports = [e for e in mine if e["pid"] == call["tid"] and e["id"] == call["id"]]
        # One report per second, but a guest on a busy host may skip some
        if not reports:
            bad("no report of a call that took four seconds")
        last = 0
        for e in reports:
            for field in ("op", "fd", "id", "dev", "name"):
                if e[field] != call[field]:
                    bad(f"pending {field}: {e[field]} instead of {call[field]}")
            if e["comm"] != "iosyswork":
                bad(f"pending comm: {e['comm']}")
            if not max(10**9, last) < int(e["duration"]) < int(call["end"]) - int(call["start"]):
                bad(f"pending duration {e['duration']}")
            last = int(e["duration"])
    for e in mine:
        calls = [c for c in log if c["tid"] == e["pid"] and
                 int(c["end"]) - int(c["start"]) > 10**9]
        if not calls:
            bad(f"pending for no reason: {e}")
    if not hung:
        bad("nothing hung")


def check_some(log, events):
    """Each event belongs to one call; a restarted call has two events."""
    compared = 0
    for event in events:
        calls = [c for c in log if c["tid"] == event["tid"] and
                 int(c["start"]) <= int(event["start"]) <= int(c["end"])]
        for call in [c for c in calls if len(calls) == 1 or c["result"] == event["result"]]:
            compare(call, event)
            compared += 1
    if compared < 10:
        bad(f"only {compared} events to compare")
    return compared


def main():
    log = read_log(sys.argv[1], FIELDS)
    events = list(read_events(sys.argv[2], EVENT, "io_(syscall|pending):"))
    tgid = log[0]["tid"]
    if "--some" in sys.argv:
        compared = check_some(log, [e for e in events if e["tgid"] == tgid])
        end(f"{compared} of {len(log)} calls,")
    calls = of_workload(events, tgid)
    check_calls(log, calls)
    check_shared(log, calls)
    check_isn(log, calls)
    if "--pending" in sys.argv:
        check_pending(log, events, tgid)
    end(f"{len(log)} calls, {len(calls)} events,")


main()
