#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: fault_check.py LOG REPORT

Compare the log of faultwork with the io_fault events in a trace-cmd report: each touch of a
page that was not in memory has one event, and no other touch has.
"""
import collections
import re
import sys

from compare import bad, end, read_events, rows

PAGE = 4096
TOUCH = "tid phase offset address start end resident majors sleeps how".split()
EVENT = re.compile(
    r"^\s*.*-(?P<tid>\d+)\s+\[\d+\].*?io_fault:\s+fault=(?P<result>-?\d+) start=(?P<start>\d+) "
    r"duration=(?P<duration>\d+) tgid=(?P<tgid>\d+) flags=(?P<flags>[\w|]*) type=(?P<type>\w+) "
    r"dev=(?P<dev>\d+:\d+) id=(?P<id>\d+) name=(?P<name>.*) offset=(?P<offset>\d+) "
    r"address=(?P<address>\w+) ip=(?P<ip>\w+) stack=0$")
# The flags for each kind of touch, other than "read" and "again"
FLAGS = {"load": set(), "store": {"write"}, "exec": {"exec"}, "write": {"kernel"},
         "populate": {"kernel"}, "readv": {"kernel", "remote"}}


def number(text):
    return int(text, 0)


def read_log(path):
    with open(path) as lines:
        name, tgid, dev, inode, text = next(lines).rstrip("\n").split("\t")
        touches = rows(lines, TOUCH)
    for touch in touches:
        for field in TOUCH[2:9]:
            touch[field] = int(touch[field])
        touch["events"] = []
    return {"name": name, "tgid": tgid, "dev": dev, "id": inode, "text": int(text)}, touches


def events_of(path, program):
    events = []
    for event in read_events(path, EVENT, "io_fault:"):
        if event["tgid"] == program["tgid"] and event["name"] == program["name"]:
            for field in ("start", "duration", "offset", "address", "ip"):
                event[field] = number(event[field])
            event["flags"] = set(event["flags"].split("|")) - {""}
            events.append(event)
    return events


def assign(event, touches):
    """Return: the touch of that page by that thread at the event's time, which must exist."""
    mine = [t for t in touches if t["tid"] == event["tid"] and t["offset"] == event["offset"] and
            t["start"] <= event["start"] <= event["start"] + event["duration"] <= t["end"]]
    if len(mine) != 1:
        bad(f"{len(mine)} touches are this event: {event}")
    for touch in mine:
        touch["events"].append(event)


def compare(touch, event, program):
    for field in "dev", "id":
        if event[field] != program[field]:
            bad(f"{field}: {event[field]} instead of {program[field]}")
    if event["type"] != "file" or event["result"] != "0":
        bad("type or result:", event)
    want = FLAGS[touch["how"]]
    if event["flags"] - {"read", "again"} != want:
        bad(f"flags: {event['flags']} and not {want}: {touch}")
    if event["address"] // PAGE != touch["address"] // PAGE:
        bad(f"address: {event['address']:#x}: {touch}")
    if touch["how"] == "exec":
        if event["ip"] != touch["address"]:
            bad(f"ip: {event['ip']:#x}: {touch}")
    elif touch["how"] in ("load", "store"):
        if not program["text"] <= event["ip"] < program["text"] + 128:
            bad(f"ip: {event['ip']:#x} is not in {program['text']:#x}: {touch}")
    elif not event["ip"]:
        bad(f"no ip: {event}")


def check_touch(touch):
    """Return: whether the page was being read when the program looked, and was read by then."""
    reads = ["read" in e["flags"] for e in touch["events"]]
    phase = touch["phase"]
    if phase == "frozen":
        if reads != [False] or touch["events"][0]["duration"] < 190_000_000:
            bad(f"frozen: {touch}")
    elif touch["resident"]:
        if reads:
            bad(f"an event of a page in memory: {touch}")
    elif phase == "waits":
        if reads != [False] * (touch["sleeps"] > 0) or touch["majors"]:
            bad(f"waited for a read by another thread: {touch}")
    elif phase == "shared":
        # The file system may make it wait again before a write
        if sum(reads) != 1 or not reads[0] or len(reads) > 2:
            bad(f"shared: {touch}")
    elif phase in ("sequential", "normal"):
        if len(reads) > 1 or (not reads and (touch["sleeps"] or touch["majors"])):
            bad(f"{len(reads)} events: {touch}")
        return not reads
    elif reads != [True] or not touch["majors"]:
        bad(f"{reads}: {touch}")
    return False


def main():
    program, touches = read_log(sys.argv[1])
    events = events_of(sys.argv[2], program)
    for event in events:
        assign(event, touches)
    late = collections.Counter()
    for touch in touches:
        late[touch["phase"]] += check_touch(touch)
        for event in touch["events"]:
            compare(touch, event, program)
    count = collections.Counter()
    for touch in touches:
        kind = "none" if not touch["events"] else \
            "read" if "read" in touch["events"][0]["flags"] else "waited"
        count[touch["phase"], kind] += 1
    # Check that each phase did what it is for
    for phase, kind, least in (("random", "read", 60), ("there", "none", 60), ("same", "read", 20),
                               ("waits", "waited", 20), ("frozen", "waited", 1),
                               ("private", "read", 10), ("copy", "none", 5), ("shared", "read", 10),
                               ("kernel", "read", 18), ("sequential", "read", 1),
                               ("sequential", "none", 30), ("normal", "read", 1),
                               ("normal", "none", 30)):
        if count[phase, kind] < least:
            bad(f"only {count[phase, kind]} of {phase} {kind}")
    for phase, n in late.items():
        if n > 5:
            bad(f"{phase}: {n} pages were read between two looks")
    waits = [t for t in touches if t["events"] and "read" not in t["events"][0]["flags"]]
    print("#", ", ".join(f"{p} {k} {n}" for (p, k), n in sorted(count.items())))
    end(f"{len(touches)} touches, {len(events)} events, {len(waits)} that only waited, of which",
        f"{sum(not t['majors'] for t in waits)} are minor faults to the kernel,")


main()
