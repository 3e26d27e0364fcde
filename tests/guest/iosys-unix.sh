#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# Unix stream sockets: each call's bytes, by the program's own counts, on connections that
# are older than the recording, and on which bytes are on the way when it begins; and
# requests through such sockets are those that were made.
. "$TRACERIG_TOP/tests/guest/functions"

cat >work.py <<'END'
import os, random, socket, struct, sys, threading, time

SO_COOKIE = 57
log, lock = open("calls.log", "w"), threading.Lock()
random.seed(1)

class Counted:
    """A socket; it counts what goes through, and from a time on tells of it"""
    tell = False

    def __init__(self, s):
        self.s, self.sent, self.got = s, 0, 0
        self.cookie, = struct.unpack("Q", s.getsockopt(socket.SOL_SOCKET, SO_COOKIE, 8))

    def note(self, way, begin, end):
        if Counted.tell:
            with lock:
                print(self.cookie, way, begin, end, file=log)

    def send(self, n):
        while n:
            part = random.randint(1, n)
            done = self.s.sendmsg([b"x" * part]) if part % 2 else self.s.send(b"x" * part)
            self.note("sent", self.sent, self.sent + done)
            self.sent += done
            n -= done

    def receive(self, n):
        while n:
            part = random.randint(1, n)
            if part % 5 == 0:
                peeked = len(self.s.recv(part, socket.MSG_PEEK))
                self.note("peeked", self.got, self.got + peeked)
            done = len(self.s.recv(part) if part % 2 else os.read(self.s.fileno(), part))
            assert done
            self.note("got", self.got, self.got + done)
            self.got += done
            n -= done

def serve(c, requests):
    for i in range(requests):
        head = c.s.recv(8, socket.MSG_WAITALL)
        c.note("got", c.got, c.got + 8)
        c.got += 8
        asks, answers = struct.unpack("II", head)
        c.receive(asks)
        c.send(answers)

def ask(c):
    asks, answers = random.randint(1, 5000), random.randint(1, 150000)
    c.s.send(struct.pack("II", asks, answers))
    c.note("sent", c.sent, c.sent + 8)
    c.sent += 8
    c.send(asks)
    c.receive(answers)

listener = socket.socket(socket.AF_UNIX)
listener.bind("asked.socket")
listener.listen()
clients, servers = [], []
for i in range(3):
    s = socket.socket(socket.AF_UNIX)
    s.connect("asked.socket")
    clients.append(Counted(s))
    servers.append(Counted(listener.accept()[0]))
pair = [Counted(s) for s in socket.socketpair()]

def both(requests):
    threads = [threading.Thread(target=serve, args=(s, requests)) for s in servers[:2]]
    for t in threads:
        t.start()
    for i in range(requests):
        for c in clients[:2]:
            ask(c)
    for t in threads:
        t.join()

# No call is open when the recording begins
both(5)
# These are read later
clients[2].send(3000)
pair[0].send(1000)
pair[1].send(2000)
open("begun", "w").close()
while not os.path.exists("go"):
    time.sleep(0.05)
Counted.tell = True
servers[2].receive(2500)
clients[2].send(100)
servers[2].receive(600)
pair[1].receive(1000)
pair[0].receive(1999)
pair[1].send(50)
pair[0].receive(51)
both(12)
log.close()
open("over", "w").close()
END
python3 work.py >work.out 2>&1 &
until [ -e begun ]; do
	kill -0 $! 2>/dev/null || die "the program failed" "$(cat work.out)"
	sleep 0.1
done
cat >during <<'END'
touch go
until [ -e over ]; do sleep 0.1; done
END
trace-cmd record -q -b 8192 -e iosys:io_syscall -o trace.dat sh during >out 2>&1 || die "$(cat out)"
wait
[ -e over ] || die "the program failed" "$(cat work.out)"
trace-cmd report trace.dat >report.txt 2>/dev/null
python3 - <<'END' || die "the bytes of calls are not those that the program counted"
import collections, re
want, got, ends = collections.Counter(), collections.Counter(), collections.defaultdict(set)
for line in open("calls.log"):
    cookie, way, begin, end = line.split()
    want[int(cookie), way, int(begin), int(end)] += 1
for line in open("report.txt"):
    m = re.search(r" io_syscall: +(\w+)=.* flags=(\S*) fd=.* type=socket .*? id=(\d+) .* family=1 .*isn=(\d+) peer_isn=(\d+) stream=(.*) stack=\d+$", line)
    if not m or not m.group(6):
        continue
    op, flags, cookie, isn, peer, stream = m.groups()
    numbers = [int(n, 0) for n in re.findall(r"0x[0-9a-f]+|[0-9]+", stream)]
    # A large message is several buffers, one behind the other
    assert len(numbers) == 2, line
    way = "peeked" if "peeked" in flags else "sent" if op in ("sendto", "sendmsg") else "got"
    assert "isn_known" in flags and int(isn) == int(cookie) & 0xffffffff, line
    ends[int(cookie)].add(int(peer))
    got[int(cookie), way, numbers[0], numbers[1]] += 1
mine = {key[0] for key in want}
got = collections.Counter({k: n for k, n in got.items() if k[0] in mine})
print(f"# {sum(want.values())} calls on {len(mine)} sockets, {sum(k[1] == 'peeked' for k in want)} peeked")
assert got == want, [list(d.items())[:5] for d in (got - want, want - got)]
assert sum(want.values()) > 200 and len(mine) == 8
for cookie in mine:
    peer, = ends[cookie]
    assert ends[peer] == {cookie}
END
ioreq=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/ioreq
"$ioreq" --requests --format=csv trace.dat >requests.csv || die "ioreq fails"
"$ioreq" --format=otlp trace.dat >requests.otlp || die "ioreq fails"
python3 - <<'END' || die "the requests are not those that were made" "$(cat requests.csv)"
import csv, json
rows = list(csv.DictReader(open("requests.csv")))
row, = [r for r in rows if r["server_address"].endswith("asked.socket")]
# The others are the socketpair, which has no path, and answers nothing
assert all(r is row or not r["server_address"] and int(r["answered"]) == 0 for r in rows), rows
assert row["client"] == row["server"] == "python3", row
assert int(row["answered"]) >= 24 and int(row["unclear"]) <= int(row["answered"]) - 24, row
spans = [s for r in json.load(open("requests.otlp"))["resourceSpans"] for x in r["scopeSpans"] for s in x["spans"]]
named = 0
for s in spans:
    a = {x["key"]: x["value"] for x in s["attributes"]}
    assert a["network.transport"]["stringValue"] == "unix", s
    named += s["kind"] == 2 and a.get("server.address", {}).get("stringValue", "").endswith("asked.socket")
assert named >= 24, named
END
