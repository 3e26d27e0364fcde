#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Compare ioreq's results for single calls and requests with the bytes that they moved.

usage: ioreq_check.py TRUTH CHROME CLOCKS RESULT HOST:OFFSET:PPM...

TRUTH is the text of iotruth:iotruth_call: the first bytes of each call, names of files,
and the time at which it ended by the guest's clock.  CHROME and CLOCKS are ioreq's output
(--format=chrome, and --format=json --clocks) for the same time, from HOSTs whose clocks were
changed by gen_skewed.  Prints "ok" and "not ok" lines and a table; RESULT becomes JSON with
precision, recall and the numbers for each service.

Each request has an id, R and digits and Z, in all bytes that are sent for it: the bytes show
for which requests a call was made.

- A worker of uwsgi, or a process of postgresql, handles one request after the other: all its
  calls, from the one that receives bytes with an id to the end of the one that sends the
  response, are for that id.
- Of haproxy, nginx and its pool of threads, the queue, redis and memcached, those calls are
  judged that have ids in their bytes, or that move the response on a connection on which the
  last request had an id.
- All other calls have no client, or an unknown one: calls of processes of postgresql without
  a client must not be attributed to one.
"""
import bisect
import collections
import json
import re
import sys

NAMES = {0: "read", 1: "write", 2: "open", 17: "pread64", 18: "pwrite64", 19: "readv", 20: "writev",
         40: "sendfile64", 42: "connect", 43: "accept", 44: "sendto", 45: "recvfrom", 46: "sendmsg",
         47: "recvmsg", 74: "fsync", 75: "fdatasync", 77: "ftruncate", 85: "creat", 257: "openat",
         275: "splice", 277: "sync_file_range", 285: "fallocate", 288: "accept4", 295: "preadv",
         296: "pwritev", 327: "preadv2", 328: "pwritev2", 437: "openat2"}
GETS = {"read", "readv", "pread64", "recvfrom", "recvmsg", "preadv", "preadv2"}
PUTS = {"write", "writev", "sendto", "sendmsg"}
ALONE = ("uwsgi", "postgres")
LOOPS = ("haproxy", "nginx", "redis-server", "memcached")
POOLS = ("nginx pool", "queue")
ID = re.compile(rb"R\d+Z")


class Call:
    """The bytes that one call moved"""

    def __init__(self, pid, end, op, result, ino, ids, data, name):
        self.pid, self.end, self.op, self.result = pid, end, op, result
        self.ino, self.ids, self.data, self.name = ino, ids, data, name


def read_truth(path):
    """Return: calls by thread in order, and the threads' names"""
    line_of = re.compile(r"^\s*(.+)-(\d+) +\[\d+\].* iotruth_call: end=(\d+) nr=(\d+) result=(-?\d+) "
                         r"fd=-?\d+ ino=(\d+) data=([0-9a-f]*) name=(.*)$")
    calls, comm = collections.defaultdict(list), {}
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            if line.startswith("#"):
                continue
            m = line_of.match(line)
            assert m, line
            name, pid, end, nr, result, ino, data, file = m.groups()
            data = bytes.fromhex(data)
            ids = set(ID.findall(data)) | set(ID.findall(file.encode()))
            calls[int(pid)].append(Call(int(pid), int(end), NAMES[int(nr)], int(result), int(ino), ids, data, file))
            comm[int(pid)] = name
    for of in calls.values():
        of.sort(key=lambda c: c.end)
    return calls, comm


class Said:
    """One call in ioreq's result"""

    def __init__(self, event):
        args = event["args"]
        self.op, self.start, self.request = event["name"], args["monotonic"], args.get("request")
        self.truth, self.ids = None, None


class Told:
    """One request in ioreq's result: the thread on each side, and its parent"""

    def __init__(self):
        self.client = self.server = self.parent = None
        self.ids = set()


def read_chrome(path):
    """Return: calls by thread in order, requests by number, names of processes"""
    with open(path, encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    calls, requests, process = collections.defaultdict(list), collections.defaultdict(Told), {}
    for e in events:
        if e.get("name") == "process_name":
            process[e["pid"]] = e["args"]["name"]
        elif e.get("cat") == "call":
            calls[e["pid"], e["tid"]].append(Said(e))
        elif e.get("cat") == "request":
            r = requests[e["args"]["request"]]
            side = (e["pid"], e["args"]["monotonic"])
            if e["name"].startswith("to "):
                r.client = side
            else:
                r.server = side
            r.parent = e["args"].get("asked for", r.parent)
    for of in calls.values():
        of.sort(key=lambda c: c.start)
    return calls, requests, process


def skewed(t, offset, ppm):
    return t + offset + t * ppm // 1000000


def pair(truth, calls, process, hosts):
    """Give ioreq's calls the bytes that they moved.  Return: the calls that ioreq does not have"""
    lost = []
    for (number, tid), said in calls.items():
        host = process[number].split(": ")[0]
        starts = [c.start for c in said]
        for t in truth.get(tid, ()):
            at = bisect.bisect_right(starts, skewed(t.end, *hosts[host])) - 1
            if at < 0 or said[at].op != t.op or said[at].truth:
                lost.append(t)
                continue
            said[at].truth = t
            t.said = said[at]
    return lost


def spans_of_uwsgi(calls):
    """Return: (first call, last call, id) of each request"""
    spans, first, last, ino = [], None, None, None
    for c in calls:
        if c.op == "accept4" and c.result >= 0:
            if first and last:
                spans.append((first, last))
            first, last, ino = None, None, c.ino
        elif c.ino == ino and c.op in GETS and c.ids and not first:
            first = c
        elif c.ino == ino and c.op in PUTS and first:
            last = c
    if first and last:
        spans.append((first, last))
    return spans


def spans_of_postgres(calls):
    spans, first = [], None
    for c in calls:
        if c.op in GETS and c.data[:1] in b"QP" and c.ids:
            first = c
        elif c.op in PUTS and first and c.ino == first.ino and c.data[-6:-1] == b"Z\0\0\0\5":
            spans.append((first, c))
            first = None
    return spans


def judge_alone(said, spans):
    """Set the request that calls belong to, of a thread that handles one request at a time"""
    at = 0
    for first, last in spans:
        if not hasattr(first, "said") or not hasattr(last, "said"):
            continue
        while at < len(said) and said[at].start < first.said.start:
            at += 1
        while at < len(said) and said[at].start <= last.said.start:
            said[at].ids = first.ids
            at += 1


def judge_loop(truth):
    """Calls of an event loop that transfer a request with an id, or the response to one"""
    asked = {}
    for c in truth:
        if not hasattr(c, "said"):
            continue
        ids = c.ids
        if c.op in GETS and c.ids:
            asked[c.ino] = c.ids
        elif c.op in PUTS and not c.ids and c.result > 0 and c.ino in asked:
            ids = asked.pop(c.ino)
        if ids:
            c.said.ids = ids


def find_ids(calls, requests):
    """The id of each request is in the bytes of its first call"""
    by_process = collections.defaultdict(dict)
    for (number, _), said in calls.items():
        for c in said:
            by_process[number][c.start] = c
    for r in requests.values():
        for number, begin in filter(None, (r.client,)):
            c = by_process[number].get(begin)
            if c and c.truth:
                r.ids = c.truth.ids


def root_of(requests, number):
    """Return: the client's request at the root, or None if that is unknown"""
    r = requests.get(number)
    while r and r.parent is not None:
        r = requests.get(r.parent)
    return r


def share(n, of):
    return round(n / of, 5) if of else None


def count_calls(truth, calls, requests, process, answered):
    """Return: for each service, the requests that its calls are attributed to"""
    counts = collections.defaultdict(collections.Counter)
    for (number, tid), said in calls.items():
        name, tgid = process[number].split(": ")[1].rsplit("-", 1)
        if name == "nginx" and tid != int(tgid):
            name = "nginx pool"
        if name not in ALONE + LOOPS + POOLS:
            continue
        own = truth.get(tid, [])
        if name == "uwsgi":
            judge_alone(said, spans_of_uwsgi(own))
        elif name == "postgres":
            judge_alone(said, spans_of_postgres(own))
        else:
            judge_loop(own)
        housekeeping = name == "postgres" and not any(c.ids for c in said)
        for c in said:
            count_call(counts[name], c, requests, process, answered, housekeeping)
    return counts


def count_call(count, c, requests, process, answered, housekeeping):
    count["all"] += 1
    told = requests.get(c.request)
    if not c.ids:
        # The client is unknown, except that some processes have none
        count["said"] += housekeeping and told is not None
        count["wrong"] += housekeeping and told is not None
        return
    if not c.ids & answered:
        return
    count["judged"] += 1
    if told is None:
        return
    count["said"] += 1
    count["right"] += bool(told.ids & c.ids)
    count["wrong"] += not told.ids & c.ids
    if not told.ids & c.ids:
        print("#", c.truth.pid, c.op, c.start, c.ids, "is attributed to", told.ids)
    root = root_of(requests, c.request)
    if root and root.client and process[root.client[0]].startswith("web: wrk-"):
        count["client right"] += bool(root.ids & c.ids)
        count["client wrong"] += not root.ids & c.ids


def count_links(requests, process, answered):
    """Return: for each service, the parents that are found for its downstream requests"""
    counts = collections.defaultdict(collections.Counter)
    for r in requests.values():
        name = r.client and process[r.client[0]].split(": ")[1].rsplit("-", 1)[0]
        if name not in ALONE + LOOPS + POOLS or not r.ids & answered:
            continue
        count = counts[name]
        count["all"] += 1
        count["judged"] += 1
        parent = requests.get(r.parent)
        if parent is None:
            continue
        count["said"] += 1
        count["right"] += bool(parent.ids & r.ids)
        count["wrong"] += not parent.ids & r.ids
        if not parent.ids & r.ids:
            print("#", name, r.client, r.ids, "has as its parent", parent.ids)
    return counts


def check(good, what):
    print(f"{'ok' if good else 'not ok'} {what}")


def table(title, counts):
    """Print the numbers.  Return: them, for JSON"""
    rows = {}
    print(f"# {title:<14}{'all':>8}{'judged':>8}{'said':>8}{'wrong':>8}{'recall':>9}{'to client':>11}")
    for name, c in sorted(counts.items()):
        rows[name] = row = {k: c[k] for k in ("all", "judged", "said", "wrong")}
        row["recall"] = share(c["right"], c["judged"])
        to_client = share(c["client right"], c["judged"])
        print(f"# {name:<14}{c['all']:>8}{c['judged']:>8}{c['said']:>8}{c['wrong']:>8}{row['recall']!s:>9}"
              f"{to_client if 'client right' in c else '-'!s:>11}")
    return rows


def check_clocks(path, hosts):
    with open(path, encoding="utf-8") as f:
        clocks = {h["name"]: h["clock"] for h in json.load(f)["hosts"]}
    for host, (offset, ppm) in list(hosts.items())[1:]:
        clock = clocks[host]
        # The guest's time when the host's clock shows the time of the offset
        at = (clock["at"] - offset) * 1000000 // (1000000 + ppm)
        error = clock["offset"] - (clock["at"] - at)
        check(clock["state"] == "aligned" and abs(error) <= clock["bound"],
              f"the clock of {host} is wrong by {error} ns, within its bound of {clock['bound']} ns")


def main():
    truth, comm = read_truth(sys.argv[1])
    calls, requests, process = read_chrome(sys.argv[2])
    hosts = {h: (int(o), int(p)) for h, o, p in (a.split(":") for a in sys.argv[5:])}
    lost = pair(truth, calls, process, hosts)
    paired = sum(c.truth is not None for said in calls.values() for c in said)
    for t in lost:
        print("#", comm[t.pid], t.pid, t.op, t.end, t.data[:40], "is missing in ioreq's result")
    check(paired > 1000 and not lost, f"ioreq has {paired} calls ({len(lost)} are missing)")
    answered = set()
    for pid, name in comm.items():
        if name == "wrk":
            answered.update(*[c.ids for c in truth[pid] if c.op in GETS])
    check(len(answered) > 50, f"{len(answered)} requests of clients were answered")
    find_ids(calls, requests)
    own = count_calls(truth, calls, requests, process, answered)
    links = count_links(requests, process, answered)
    result = {"calls_of": table("calls of", own), "links_of": table("links of", links)}
    for name in ALONE:
        for what, c in ("calls", own[name]), ("links", links[name]):
            if not c["judged"]:
                continue
            check(c["wrong"] <= c["judged"] / 1000, f"{name}: {c['wrong']} of {c['judged']} {what} are wrong (0.1 %)")
            check(c["right"] >= c["judged"] * 0.999, f"{name}: {c['right']} of {c['judged']} {what} are found (99.9 %)")
    for name in LOOPS:
        for what, c in ("calls", own[name]), ("links", links[name]):
            if not c["judged"]:
                continue
            check(c["wrong"] <= c["said"] / 50, f"{name}: {c['wrong']} of {c['said']} {what} are wrong (2 %)")
            check(c["right"] >= c["judged"] * 0.95, f"{name}: {c['right']} of {c['judged']} {what} are found (95 %)")
    for name in POOLS:
        check(own[name]["judged"] > 0, f"{name}: there are calls for requests")
        for what, c in ("calls", own[name]), ("links", links[name]):
            if c["judged"]:
                print(f"# {name}: {c['right']} of {c['judged']} {what} are found, {c['wrong']} of {c['said']} are wrong")
    check_clocks(sys.argv[3], hosts)
    both = [*own.values(), *links.values()]
    total = {k: sum(c[k] for c in both) for k in ("judged", "said", "right")}
    with open(sys.argv[4], "w", encoding="utf-8") as f:
        json.dump({"precision": share(total["right"], total["said"]), "recall": share(total["right"], total["judged"]),
                   "truth": result}, f)


if __name__ == "__main__":
    main()
