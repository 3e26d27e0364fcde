#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Compare the clocks as ioreq aligns them with the true ones.

usage: ioreq_clocks.py NAME CHROME CLOCKS HOST:OFFSET:PPM[:AT:STEP]...

CHROME and CLOCKS are ioreq's output (--format=chrome, and --format=json --clocks) of HOSTs
whose clocks were changed by gen_skewed, except the first one's.  A host is right if

- at the time for which ioreq gives an offset, the offset's error is within ioreq's bound; and
  the bound is at most half of the smallest round trip that the clocks have seen, plus half of
  the possible drift while the server worked: the traces do not show that drift, so half of the
  round trip alone would be no valid bound;
- from the first message to the last one, the error of each call's time is within the largest
  bound that ioreq gives;
- no bytes are received before they are sent, in requests and in responses.

A round trip is the time of a request and its response, less the time from the server's first
received bytes to its last sent ones.  For a host that is reached through another one, it is
the time of a request, less that of the request to the other host that it was made for.
"""
import collections
import json
import sys

GETS = {"read", "readv", "recvfrom", "recvmsg"}
PUTS = {"write", "writev", "sendto", "sendmsg"}
# ioreq's default of --max-drift, ppm
DRIFT = 500
# Plus rounding: times are whole ns, in both messages and in all that is computed from them
ROUNDING = 40


class Clock:
    """A clock, from the guest's time"""

    def __init__(self, text):
        self.host, *numbers = text.split(":")
        self.offset, self.ppm, self.at, self.step = (*map(int, numbers), 0, 0)[:4]

    def skewed(self, t):
        return t + self.offset + t * self.ppm // 1000000 + max(t - self.at, 0) * self.step // 1000000

    def true(self, shown):
        """Return: the guest's time when the clock shows that, within 2 ns"""
        t = shown - self.offset
        for _ in range(4):
            t -= self.skewed(t) - shown
        return t

    def end(self, call):
        return self.skewed(self.true(call.shown) + call.end - call.begin)


class Call:
    """A call's time in ioreq's result, begin and end by the first host's clock; and its true time"""

    def __init__(self, event, origin):
        self.begin = round(event["ts"] * 1000) + origin
        self.end = self.begin + round(event["dur"] * 1000)
        self.shown = event["args"]["monotonic"]
        self.name, self.request = event["name"], event["args"].get("request")


def read_chrome(path):
    """Return: calls by host; the hosts of each request between hosts, and the calls on its
    connection by end; and the parent of each request"""
    with open(path, encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    host, calls, sides, names, sockets = {}, collections.defaultdict(list), {}, {}, collections.defaultdict(list)
    parents = {}
    for e in events:
        if e.get("name") == "process_name":
            host[e["pid"]] = e["args"]["name"].split(": ")[0]
    reference = next(h for h in host.values() if h == sys.argv[4].split(":")[0])
    origin = next(e["args"]["monotonic"] - round(e["ts"] * 1000) for e in events
                  if e.get("cat") == "call" and host[e["pid"]] == reference)
    for e in events:
        if e.get("cat") == "call" and e["ph"] == "X":
            call = Call(e, origin)
            calls[host[e["pid"]]].append(call)
            if e["args"]["bytes"] > 0:
                sockets[call.request, e["pid"], e["args"]["object"]].append(call)
        elif e.get("cat") == "request":
            number = e["args"]["request"]
            sides.setdefault(number, {})["client" if e["name"].startswith("to ") else "server"] = e["pid"]
            names[number] = e["args"]["addresses"]
            parents[number] = e["args"].get("asked for")
    requests = {}
    for number, of in sides.items():
        own, _, other = names[number].partition("->")
        if len(of) == 2 and other and host[of["client"]] != host[of["server"]]:
            ends = {name: sockets[number, of["client"], name] or sockets[number, of["server"], name]
                    for name in (f"{own}->{other}", f"{other}->{own}")}
            sent = {name: [c for c in of_name if c.name in PUTS] for name, of_name in ends.items()}
            got = {name: [c for c in of_name if c.name in GETS] for name, of_name in ends.items()}
            requests[number] = host[of["client"]], host[of["server"]], sent, got
    return calls, requests, parents


def check(good, what):
    print(f"{'ok' if good else 'not ok'} {what}")


def round_trips(requests, clocks):
    """Return: for requests by number, both hosts, the round trip by their clocks and in truth, and
    the server's time, ns; the number of requests and responses that stand before they were sent; by
    host, the calls that sent or received them"""
    trips, early, calls = {}, 0, collections.defaultdict(list)
    for number, (client, server, sent, got) in requests.items():
        # The client's end sends first
        asks, answers = sorted(sent, key=lambda n: min((c.shown for c in sent[n]), default=0) -
                               min((c.shown for c in got[n]), default=0))
        if not all((sent[asks], got[asks], sent[answers], got[answers])):
            continue
        calls[client] += sent[asks] + got[asks]
        calls[server] += sent[answers] + got[answers]
        early += min(c.begin for c in sent[asks]) > min(c.end for c in got[answers])
        early += max(c.begin for c in sent[answers]) > max(c.end for c in got[asks])
        there, here = clocks[client], clocks[server]
        waits = max(there.end(c) for c in got[asks]) - min(c.shown for c in sent[asks])
        service = max(c.shown for c in sent[answers]) - min(here.end(c) for c in got[answers])
        true = (max(there.true(there.end(c)) for c in got[asks]) - min(there.true(c.shown) for c in sent[asks]) -
                max(here.true(c.shown) for c in sent[answers]) + min(here.true(here.end(c)) for c in got[answers]))
        trips[number] = client, server, waits - service, true, service
    return trips, early, calls


def smallest_trip(trips, parents, reference, host):
    """Return: the smallest round trip between both, plus the maximum drift during it; and the true
    smallest one"""
    least = least_true = 1 << 62
    for number, (client, server, trip, true, service) in trips.items():
        if server != host:
            continue
        while client != reference:
            number = parents.get(number)
            if number not in parents:
                break
            if number in trips and trips[number][1] == client:
                client, _, more, more_true, service = trips[number]
                trip += more
                true += more_true
        else:
            least = min(least, trip + service * DRIFT // 1000000)
            least_true = min(least_true, true)
    return least, least_true


def main():
    name = sys.argv[1]
    clocks = {c.host: c for c in map(Clock, sys.argv[4:])}
    with open(sys.argv[3], encoding="utf-8") as f:
        said = {h["name"]: h["clock"] for h in json.load(f)["hosts"]}
    calls, requests, parents = read_chrome(sys.argv[2])
    trips, early, messages = round_trips(requests, clocks)
    nr = 2 * len(trips)
    check(nr > 100 and not early, f"{name}: of {nr} requests and responses between hosts {early} stand before they were sent")
    for host in list(clocks)[1:]:
        clock, told = clocks[host], said[host]
        if told["state"] != "aligned":
            check(False, f"{name}: the clock of {host} is {told['state']}")
            continue
        error = told["offset"] - (told["at"] - clock.true(told["at"]))
        check(abs(error) <= told["bound"], f"{name}: {host}'s offset is wrong by {error} ns, within {told['bound']} ns")
        least, true = smallest_trip(trips, parents, next(iter(clocks)), host)
        check(told["bound"] <= (least + ROUNDING) / 2,
              f"{name}: {host}'s bound is {told['bound']} ns, half of a round trip and its drift {least // 2} ns")
        print(f"# {name}: half of the smallest round trip between {host} and {next(iter(clocks))} was {true // 2} ns")
        first, last = min(c.shown for c in messages[host]), max(c.shown for c in messages[host])
        worst = max(abs(c.begin - clock.true(c.shown)) for c in calls[host] if first <= c.shown <= last)
        check(worst <= told["worst"], f"{name}: {host}'s calls are wrong by {worst} ns, within {told['worst']} ns")


main()
