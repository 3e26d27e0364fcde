#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""tracecast and schedz collect with a bad network between them.

usage: tracecast_faults.py SCHEDZ

For each case: a collector, a relay that mistreats the datagrams of both directions, and an
instance whose only records are marks with serial numbers.  The marks in the file must be
exactly those of the ledgers of both ends.
"""
import errno
import glob
import json
import os
import random
import re
import select
import signal
import socket
import struct
import subprocess
import sys

from processes import until

INSTANCE = "/sys/kernel/tracing/instances/faults"
TARGET = "/sys/kernel/config/tracecast/rig"
COUNT = 1000
RELAY, COLLECTOR = 7676, 6676
DATA, PART, END, BEAT, QUICK = 1, 2, 3, 5, 7

schedz = sys.argv[1]


class Relay:
    """Loses, reorders and duplicates percentages of the datagrams of both directions.

    Data with numbers in the hole never get through, however often they are sent.  The last
    heartbeats always do: a side that does not learn that a session is over must wait before it
    goes on.
    """
    OVERTAKE = 8        # maximum number of datagrams that overtake one
    PATIENCE = .05      # seconds without a datagram after which it is sent

    def __init__(self, faults, seed):
        self.percent = {name: faults.get(name, 0) for name in ("loss", "reorder", "double")}
        self.hole = faults.get("hole", range(0))
        self.random = random.Random(seed)
        self.did = dict.fromkeys(["passed", "hole", *self.percent], 0)
        self.near = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.near.bind(("127.0.0.1", RELAY))
        self.far = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.far.connect(("127.0.0.1", COLLECTOR))
        self.sender = None
        self.late = {self.near: [], self.far: []}       # [others to go first, datagram]

    def send(self, to, datagram):
        try:
            if to is self.near:
                to.sendto(datagram, self.sender)
            else:
                to.send(datagram)
        except ConnectionRefusedError:
            pass        # no collector listens yet, or any more

    def happens(self, what):
        if self.random.random() * 100 >= self.percent[what]:
            return False
        self.did[what] += 1
        return True

    def one(self, to, datagram):
        kind = datagram[3]
        if kind == BEAT and struct.unpack_from("<H", datagram, 18)[0]:
            self.send(to, datagram)
            return
        if kind in (DATA, PART, END, QUICK) and struct.unpack_from("<Q", datagram, 16)[0] in self.hole:
            self.did["hole"] += 1
            return
        if self.happens("loss"):
            return
        if self.happens("double"):
            self.send(to, datagram)
        if self.happens("reorder"):
            self.late[to].append([self.random.randint(1, self.OVERTAKE), datagram])
            return
        self.send(to, datagram)
        self.did["passed"] += 1
        for entry in self.late[to]:
            entry[0] -= 1
        self.release(to, 0)

    def release(self, to, at_most):
        due = [datagram for left, datagram in self.late[to] if left <= at_most]
        self.late[to] = [entry for entry in self.late[to] if entry[0] > at_most]
        for datagram in due:
            self.send(to, datagram)

    def run(self, end):
        """Work until the other end of a pipe is closed; then report the counts."""
        while True:
            ready = select.select([self.near, self.far, end], [], [], self.PATIENCE)[0]
            if not ready:
                for to in self.late:
                    self.release(to, self.OVERTAKE)
            if end in ready:
                return self.did
            for sock in ready:
                try:
                    datagram, source = sock.recvfrom(65536)
                except ConnectionRefusedError:
                    continue
                if sock is self.near:
                    self.sender = source
                self.one(self.far if sock is self.near else self.near, datagram)


class Process:
    """A relay in a process of its own; its socket is there when this returns."""

    def __init__(self, faults, seed):
        relay = Relay(faults, seed)
        out, self.end = os.pipe()
        self.did, told = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(out)
            os.close(told)
            relay.near.close()
            relay.far.close()
            return
        status = 1
        try:
            os.close(self.end)
            os.write(told, json.dumps(relay.run(out)).encode())
            status = 0
        finally:
            os._exit(status)

    def stop(self):
        os.close(self.end)
        did = os.read(self.did, 4096).decode()
        os.close(self.did)
        assert os.waitpid(self.pid, 0)[1] == 0, "the relay failed"
        return json.loads(did)


def put(path, value):
    fd = os.open(path, os.O_WRONLY)
    os.write(fd, str(value).encode())
    os.close(fd)


def get(path):
    with open(path) as f:
        return f.read()


def mark(i):
    """Of many sizes, and bytes that no coder makes small."""
    rng = random.Random(i)
    return "mark %d %x." % (i, rng.getrandbits(rng.randrange(8, 4000)))


def make_marks():
    fd = os.open(INSTANCE + "/trace_marker", os.O_WRONLY)
    for i in range(COUNT):
        try:
            os.write(fd, mark(i).encode())
        except OSError as e:
            if e.errno != errno.EBADF:      # a full ring that does not overwrite
                raise
    os.close(fd)


def read_marks(path):
    """How many are in the file; each once, in their order, with all their bytes."""
    report = subprocess.run(["trace-cmd", "report", path], check=True, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    last, got = -1, 0
    for line in report.splitlines():
        if not re.search(r"\[\d{3}\]", line) or "EVENTS DROPPED" in line:
            continue
        m = re.search(r": (mark (\d+) [0-9a-f]+\.)$", line)
        assert m, "not a mark: " + line
        i = int(m[2])
        assert i > last, f"{i} after {last}"
        assert m[1] == mark(i), f"{i} has other bytes"
        last, got = i, got + 1
    return got


def equation(text):
    """The numbers of "generated:", and whether they add up."""
    words = re.search(r"generated: .*", text)[0]
    total, *parts = map(int, re.findall(r"\d+", words))
    assert total == sum(parts), "the ledger does not add up: " + words
    return total, *parts


def run(faults, overwrite=1, **attributes):
    """Returns how many are in the file, how many were lost and why."""
    name = " ".join(f"{k}={v}".replace(" ", "") for k, v in {**faults, **attributes, "overwrite": overwrite}.items())
    ring_kb = attributes.pop("ring_kb", None)
    print(name, end=": ", flush=True)
    with open("ledger", "w") as out, open("notes", "w") as err:
        collector = subprocess.Popen([schedz, "collect", "--output", "collected"], stdout=out, stderr=err)
    try:
        until(lambda: f":{COLLECTOR:04X} " in get("/proc/net/udp"), "a socket listens")
        relay = Process(faults, COUNT)
        os.mkdir(INSTANCE)
        if ring_kb:
            put(INSTANCE + "/buffer_size_kb", ring_kb)
        put(INSTANCE + "/options/overwrite", overwrite)
        os.mkdir(TARGET)
        for key, value in {"instance": "faults", "remote_ip": "127.0.0.1", "remote_port": RELAY,
                           "flush": 100, **attributes}.items():
            put(f"{TARGET}/{key}", value)
        put(TARGET + "/enabled", 1)
        make_marks()
        put(TARGET + "/enabled", 0)
        until(lambda: "is over" in get("notes"), "the session is over: " + get("notes"))
        near = get(TARGET + "/ledger")
    finally:
        collector.send_signal(signal.SIGTERM)
        assert collector.wait() == 0, get("notes")
    did = relay.stop()
    far = get("ledger")
    path = re.search(r", in (.*)", far)[1]
    got = read_marks(path)
    try:
        made, lost, held, acked, abandoned = equation(near)
        heard_of, delivered, ring, wire, awaited = equation(far)
        unsent = int(re.search(r"not sent yet: (\d+)", far)[1])
        assert made == COUNT, "the sender counts wrong"
        assert heard_of + unsent == COUNT, "the collector counts wrong"
        assert delivered == got, f"{got} are in the file"
        assert COUNT - got == ring + wire + unsent, f"{COUNT - got} are missing"
        assert awaited == 0, "the session is over, nothing can be awaited"
        assert ring == lost, "the ring lost others"
        # What the window had and never sent was abandoned
        assert held <= unsent <= held + abandoned, "not sent are others"
        assert acked <= delivered
        for fault in faults:
            assert did[fault] > 0, f"no {fault} happened"
    except AssertionError as e:
        sys.exit(f"{e}\n{did}\n{near}\n{far}")
    print(did, f"{got} of {COUNT} arrived, {ring} lost in the ring, {wire} on the wire, {unsent} not sent", flush=True)
    os.rmdir(TARGET)
    os.rmdir(INSTANCE)
    for old in glob.glob("collected/*"):
        os.unlink(old)
    return got, ring, wire, unsent


ALL = {"loss": 10, "reorder": 10, "double": 10}
# All that can be sent again arrives
for case in {"loss": 1}, {"loss": 5}, {"loss": 10}, {"reorder": 10}, {"double": 10}, ALL:
    assert run(case)[0] == COUNT, "something was lost"

# However long it takes, as long as the collector answers
assert run({"loss": 5}, rate=30000)[0] == COUNT, "something was lost"

# What never gets through is lost on the wire, and nothing else is, although nothing behind
# it is acknowledged for longer than the sender waits
got, ring, wire, unsent = run({"loss": 5, "hole": range(20, 25)}, window=4096, rate=30000)
assert wire > 0 and ring == unsent == 0
# and records that the window has no room for stay in the ring
got, ring, wire, unsent = run({"loss": 5, "hole": range(20, 25)}, window=64)
assert wire > 0 and unsent > 0 and ring == 0

# A ring that is full loses the oldest ones, or the newest
for overwrite in 1, 0:
    got, ring, wire, unsent = run(ALL, overwrite=overwrite, rate=50000, window=16, ring_kb=32)
    assert got > 0 and ring > 0 and wire == unsent == 0
