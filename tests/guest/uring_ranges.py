#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: uring_ranges.py LOG REPORT

Compare what a program wrote down of the bytes that its requests sent and received
(uringstream) with the ranges in the io_request and io_part events of a trace-cmd report:
each result has its own, and all of them together are each stream once; and the last one has
the sum of the bytes.
"""
import collections
import re
import sys

from compare import bad, end, read_events, read_log

FIELDS = ("tgid user_data part op result stream way from end pipe pipe_way pipe_from pipe_end "
          "flags").split()
EVENT = re.compile(
    r"^\s*.*(?P<event>io_request|io_part):\s+(?P<kind>\w+):(?P<op>\w+)=(?P<result>-?\d+) "
    r"bytes=(?P<bytes>\d+) start=(?P<start>\d+) duration=(?P<duration>\d+) comm=.* pid=\d+ "
    r"tgid=(?P<tgid>\d+) user_data=(?P<user_data>\w+) parts=(?P<part>\d+) flags=(?P<flags>[\w|]*) "
    r"fd=-?\d+ type=(?P<type>\w+) .*? id=(?P<id>\d+) name=.* fd2=-?\d+ type2=(?P<type2>\w+) "
    r".*? id2=(?P<id2>\d+) name2=.* family=\d+ protocol=\d+ isn=(?P<isn>\d+) "
    r"peer_isn=(?P<peer_isn>\d+) stream=(?P<stream>[\d ]*) stack=0$")
PIPE, WRITTEN = 1 << 63, 1 << 62


def results(path):
    events = {}
    for event in read_events(path, EVENT, "io_(request|part):"):
        key = event["tgid"], int(event["user_data"], 0), int(event["part"])
        if key in events:
            bad("twice:", event)
        events[key] = event
    return events


def ranges_of(event):
    """Return: [from, end] of the socket, and {number of a pipe: (way, ranges)}"""
    numbers = [int(n) for n in event["stream"].split()]
    pairs = list(zip(numbers[::2], numbers[1::2]))
    socket, pipes = [], {}
    while pairs:
        head, count = pairs.pop(0)
        if not head & PIPE:
            if pipes:
                bad("a socket's range after a pipe's:", event)
            socket.append((head, count))
            continue
        way = "out" if head & WRITTEN else "in"
        pipes[head & (WRITTEN - 1)] = way, pairs[:count]
        pairs = pairs[count:]
    return socket, pipes


def range_of(line, word=""):
    first, end = int(line[f"{word}from"]), int(line[f"{word}end"])
    return [(first, end)] if first < end else []


def has_object(event, number, kind):
    return (event["id"], event["type"]) == (number, kind) or \
        (event["id2"], event["type2"]) == (number, kind)


def check_result(line, event, total):
    if event["op"] != line["op"] or event["result"] != line["result"]:
        bad(f"another result: {line}\n  {event}")
    flags = set(event["flags"].split("|")) - {""}
    if ("peeked" in flags) != (line["flags"] == "peeked"):
        bad(f"peeked: {line}\n  {event}")
    if flags - {"peeked", "isn_known"}:
        bad(f"flags: {event}")
    if event["event"] != ("io_part" if line["flags"] == "more" else "io_request"):
        bad(f"not the last part: {line}\n  {event}")
    if line["flags"] == "more" and event["bytes"] != line["result"]:
        bad(f"bytes of a part: {line}\n  {event}")
    if line["flags"] != "more" and int(event["bytes"]) != total:
        bad(f"{total} bytes in all: {line}\n  {event}")


def check_ranges(line, event, numbers):
    socket, pipes = ranges_of(event)
    if socket != range_of(line):
        bad(f"{socket} instead of {range_of(line)}: {line}\n  {event}")
    want = range_of(line, "pipe_")
    found = list(pipes.items())
    if len(found) != bool(want):
        bad(f"pipes: {found}: {line}")
    for number, (way, ranges) in found:
        if (way, ranges) != (line["pipe_way"], want):
            bad(f"{way} {ranges} instead of {want}: {line}")
        numbers[line["pipe"]].add(number)
        if not has_object(event, line["pipe"], "fifo"):
            bad(f"not this pipe: {line}\n  {event}")
    if socket and not has_object(event, line["stream"], "socket"):
        bad(f"not this socket: {line}\n  {event}")


def check_ends(lines, events):
    """Both ends of a connection know it by the same numbers, the other way round"""
    ends = collections.defaultdict(set)
    for line in lines:
        if not range_of(line):
            continue
        event = events[line["tgid"], int(line["user_data"]), int(line["part"])]
        if "isn_known" not in event["flags"]:
            bad(f"no initial numbers: {event}")
        ends[line["stream"]].add((event["isn"], event["peer_isn"]))
    known = collections.Counter()
    for socket, isn in ends.items():
        if len(isn) != 1:
            bad(f"socket {socket} has {isn}")
        known.update(tuple(sorted(pair)) for pair in isn)
    if any(n != 2 for n in known.values()):
        bad(f"ends: {known}")
    return len(ends)


def check_whole(lines):
    """Check the log itself, not the kernel: from 0 on, it has each byte once"""
    streams = collections.defaultdict(list)
    for line in lines:
        if line["flags"] == "peeked":
            continue
        if range_of(line):
            streams[line["stream"], line["way"]] += range_of(line)
    for key, ranges in streams.items():
        at = 0
        for first, stop in sorted(ranges):
            if first != at:
                sys.exit(f"{key}: the log has a gap at {at}")
            at = stop
    return sum(ranges[-1][1] for ranges in map(sorted, streams.values()))


def main():
    lines, events = read_log(sys.argv[1], FIELDS), results(sys.argv[2])
    numbers = collections.defaultdict(set)
    tgids = {line["tgid"] for line in lines}
    moved = check_whole(lines)
    totals = collections.Counter()
    for line in lines:
        totals[line["tgid"], line["user_data"]] += max(0, int(line["result"]))
    for line in lines:
        event = events.get((line["tgid"], int(line["user_data"]), int(line["part"])))
        if not event:
            sys.exit(f"no event: {line}")
        check_result(line, event, totals[line["tgid"], line["user_data"]])
        check_ranges(line, event, numbers)
    if len([e for e in events.values() if e["tgid"] in tgids]) != len(lines):
        bad("there are other events")
    sockets = check_ends(lines, events)
    if any(len(n) != 1 for n in numbers.values()):
        bad(f"numbers of pipes: {numbers}")
    ops = collections.Counter(line["op"] for line in lines)
    parts = sum(line["flags"] == "more" for line in lines)
    if parts < 50 or sockets < 8 or min(ops.values()) < 10:
        bad("too few events of some kind")
    end(f"{len(lines)} results ({', '.join(f'{op} {n}' for op, n in sorted(ops.items()))}), {parts} of them",
        f"not the last, of {moved} bytes on {sockets} sockets, and on {len(numbers)} pipes,")


main()
