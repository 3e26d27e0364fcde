#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Compare the parents that ioreq finds for requests of servers with the ids in their bytes.

usage: servers_check.py NAME RESULT TRUTH RECORDING...

TRUTH is the text of iotruth:iotruth_call, of all servers and clients from their start;
RECORDING.span is the time of a recording's requests; ioreq's results are RECORDING.chrome,
RECORDING.json for all requests (--requests), and RECORDING.paths for their paths.
The truth has who connected, and what was then sent: a request is what the connecting side
sends before it receives anything, and its parent is the client's request with the same id.
Prints "ok" and "not ok" lines; RESULT becomes JSON.
"""
import bisect
import collections
import json
import sys

sys.dont_write_bytecode = True
from ioreq_check import GETS, PUTS, check, read_chrome, read_truth, share  # pylint: disable=wrong-import-position

LOAD = "load"
# Clients that have several requests in progress on a connection: ioreq must report it as multiplexed
MULTIPLEXED = {"mosquitto": "mosquitto", "http2": LOAD}
# A server whose requests wait for one of its connections, which no call shows: ioreq must
# report that, too
QUEUED = ("pool",)


class Turn:
    """A request and its response, as seen by the side that connected"""

    def __init__(self, first):
        self.first, self.ids, self.end, self.answered = first, set(first.ids), None, False

    def add(self, c):
        self.ids |= c.ids
        if c.op in GETS:
            self.end, self.answered = c.end, True


def read_turns(truth):
    """Return: the turns of all connections, and the calls on each socket"""
    by_socket, turns = collections.defaultdict(list), []
    for calls in truth.values():
        for c in calls:
            # Files have separate inode numbers
            if c.name in ("TCP", "UNIX-STREAM"):
                by_socket[c.ino].append(c)
    for calls in by_socket.values():
        calls.sort(key=lambda c: c.end)
        if not any(c.op == "connect" for c in calls):
            continue
        turn = None
        for c in calls:
            if c.op == "connect":
                turn = None
            elif c.op in PUTS and c.result > 0 and (turn is None or turn.answered):
                turn = Turn(c)
                turns.append(turn)
            elif turn and c.result > 0 and c.op in GETS | PUTS:
                turn.add(c)
    return turns, by_socket


def pair(truth, calls):
    """Give each of ioreq's calls the bytes that it moved"""
    for (_, tid), said in calls.items():
        starts = [c.start for c in said]
        for t in truth.get(tid, ()):
            at = bisect.bisect_right(starts, t.end) - 1
            if at >= 0 and said[at].op == t.op and not said[at].truth:
                said[at].truth, t.said = t, said[at]


def last_ids(calls, at):
    """Return: the ids that these calls moved last"""
    for c in reversed(calls[:bisect.bisect_right([c.end for c in calls], at)]):
        if c.ids:
            return c.ids
    return set()


def is_for(turn, c, of_thread, of_socket):
    """Whether a call that begins after a turn is still for it: it moves its id, as logs do, or
    bytes of a connection that moved it last; or its thread has moved no other id since"""
    ids = c.truth and (c.truth.ids or last_ids(of_socket.get(c.truth.ino, ()), c.start))
    return (ids or last_ids(of_thread, c.start)) & turn.ids


class Recording:
    """ioreq's results for a recording, and the truth about it"""

    def __init__(self, base, truth, turns):
        with open(base + ".span", encoding="ascii") as f:
            self.begin, self.end = map(int, f.read().split())
        self.turns = [t for t in turns if self.begin <= t.first.end <= self.end]
        self.calls, self.requests, self.process = read_chrome(base + ".chrome")
        with open(base + ".json", encoding="utf-8") as f:
            self.multiplexed = {r["client"] for r in json.load(f)["requests"] if r["multiplexed"]}
        with open(base + ".paths", encoding="utf-8") as f:
            self.queued = json.load(f)["links"]["queued"]
        pair(truth, self.calls)
        self.find_turns()

    def find_turns(self):
        """ioreq's requests by the truth's turn, and the reverse"""
        turn_of = {t.first: t for t in self.turns}
        by_start = {(number, c.start): c for (number, _), said in self.calls.items() for c in said}
        self.told = {}
        for r in self.requests.values():
            c = by_start.get(r.client)
            r.turn = c and c.truth and turn_of.get(c.truth)
            if r.turn:
                self.told[r.turn] = r


def count_links(recording, comm, roots):
    """Return: for each server, how many links from its requests to their parents are right"""
    links = collections.defaultdict(collections.Counter)
    for t in recording.turns:
        server = comm[t.first.pid]
        if server == LOAD or not t.ids & roots:
            continue
        count = links[server]
        count["all"] += 1
        r = recording.told.get(t)
        parent = r and recording.requests.get(r.parent)
        if not parent:
            count["no parent" if r else "no request"] += 1
        elif not parent.turn:
            count["unknown parent"] += 1
        elif parent.turn.ids & t.ids:
            count["right"] += 1
        else:
            count["wrong"] += 1
            print("#", server, t.first.end, t.ids, "has as its parent", parent.turn.ids)
    return links


def count_calls(recording, truth, by_socket, roots):
    """Return: how many calls are attributed to requests, and are wrong"""
    count = collections.Counter()
    for (number, tid), of in recording.calls.items():
        for c in of:
            r = recording.requests.get(c.request)
            if not r or not r.turn or not r.turn.ids or not recording.begin <= c.start <= recording.end:
                continue
            count["attributed"] += 1
            if r.turn.answered and c.start > r.turn.end and not is_for(r.turn, c, truth.get(tid, ()), by_socket):
                count["over"] += 1
                print("#", recording.process[number], tid, c.op, c.start, "is attributed to", r.turn.ids,
                      "which was over at", r.turn.end)
            if c.truth and c.truth.ids & roots:
                count["with id"] += 1
                count["wrong"] += not c.truth.ids & r.turn.ids
    return count


def main():
    name, result_path, truth_path, *bases = sys.argv[1:]
    truth, comm = read_truth(truth_path)
    turns, by_socket = read_turns(truth)
    links, calls = collections.Counter(), collections.Counter()
    for base in bases:
        recording = Recording(base, truth, turns)
        what = f"{name}, {base.rsplit('/', 1)[1]}"
        roots = {i for t in recording.turns if comm[t.first.pid] == LOAD and t.answered for i in t.ids}
        check(len(roots) == 160, f"{what}: {len(roots)} of 160 requests were answered")
        for server, count in sorted(count_links(recording, comm, roots).items()):
            print(f"# {what}: {server}: {dict(count)}")
            links += count
        expected = {MULTIPLEXED[name]} if name in MULTIPLEXED else set()
        check(recording.multiplexed == expected, f"{what}: {recording.multiplexed or 'none'} have multiplexed connections")
        check(bool(recording.queued) == (name in QUEUED), f"{what}: {recording.queued} are of threads whose requests wait")
        count = count_calls(recording, truth, by_socket, roots)
        print(f"# {what}: calls: {dict(count)}")
        calls += count
    said = links["right"] + links["wrong"] + links["unknown parent"]
    if name not in MULTIPLEXED and name not in QUEUED:
        check(links["all"] >= 160 * len(bases), f"{name}: {links['all']} requests of servers to others have an id")
        check(links["right"] >= links["all"] * 0.95, f"{name}: {links['right']} of {links['all']} parents are found (95 %)")
    check(links["right"] >= said * 0.98, f"{name}: {links['right']} of {said} parents are right (98 %)")
    check(calls["attributed"] > 320 and not calls["over"],
          f"{name}: {calls['over']} of {calls['attributed']} calls are attributed to requests that were over")
    with open(result_path, "w", encoding="utf-8") as f:
        json.dump({name: {"links": links["all"], "said": said, "right": links["right"], "calls": calls["attributed"],
                          "calls_over": calls["over"], "calls_with_id": calls["with id"], "calls_wrong": calls["wrong"],
                          "precision": share(links["right"], said), "recall": share(links["right"], links["all"])}}, f)


main()
