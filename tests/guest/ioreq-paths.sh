#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# Requests that go on from one server to another one, each in a network namespace of its
# own, joined by veth: ioreq finds which of them were made for which other one, and what
# they waited for. The programs keep logs, with numbers that only they know.
. "$TRACERIG_TOP/tests/guest/functions"

ioreq=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/ioreq
for host in web app db; do
	ip netns add $host
	ip -n $host link set lo up
done
ip link add a1 netns web type veth peer name a2 netns app
ip link add b1 netns app type veth peer name b2 netns db
address() { # HOST INTERFACE ADDRESS
	ip -n "$1" addr add "$3/24" dev "$2"
	ip -n "$1" link set "$2" up
}
address web a1 10.1.0.1
address app a2 10.1.0.2
address app b1 10.2.0.2
address db b2 10.2.0.3

# One program, because Python takes its time to start: two servers, with a thread for each
# connection, and a client with two threads
cat >load.py <<'END'
import ctypes, os, socket, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)

def become(name):
    with open(f"/run/netns/{name}") as f:
        assert libc.setns(f.fileno(), 0) == 0, ctypes.get_errno()
    open("/proc/self/comm", "w").write(name)
    return open(name + ".log", "w", buffering=1)

def lines(s):
    rest = b""
    while (got := s.recv(4096)):
        *whole, rest = (rest + got).split(b"\n")
        for line in whole:
            yield [int(x) for x in line.split()]

def ask(s, *numbers):
    s.sendall(b"%d %d\n" % numbers)
    rest = b""
    while not rest.endswith(b"\n"):
        rest += s.recv(4096)

def serve(address, handler, ready):
    server = socket.create_server(address)
    os.write(ready, b"x")
    while True:
        s, _ = server.accept()
        threading.Thread(target=handler, args=(s,), daemon=True).start()

def db(s):
    for number, delay in lines(s):
        if delay:
            with open("journal", "ab", buffering=0) as f:
                f.write(b"x" * 100)
            time.sleep(delay / 1000)
        s.sendall(b"y" * 3000 + b"\n")

def app(s):
    back = socket.create_connection(("10.2.0.3", 8081))
    for number, queries in lines(s):
        for i in range(queries):
            begin = time.monotonic_ns()
            # The sixth one's queries are slow
            ask(back, number, 300 if number == 5 else 0)
            log.write(f"query {number} {begin} {time.monotonic_ns()}\n")
        s.sendall(b"z" * 2000 + b"\n")

def client(first):
    s = socket.create_connection(("10.1.0.2", 8080))
    for number in range(first, 20, 2):
        begin = time.monotonic_ns()
        ask(s, number, number % 4)
        log.write(f"request {number} {begin} {time.monotonic_ns()}\n")

begun, ready = os.pipe()
children = []
for name, address, handler in ("db", ("10.2.0.3", 8081), db), ("app", ("10.1.0.2", 8080), app):
    children.append(os.fork())
    if not children[-1]:
        log = become(name)
        serve(address, handler, ready)
    assert os.read(begun, 1) == b"x"
log = become("web")
threads = [threading.Thread(target=client, args=(i,)) for i in range(2)]
for t in threads: t.start()
for t in threads: t.join()
for child in children: os.kill(child, 9)
END

trace-cmd record -q -b 8192 -e iosys:io_syscall -f 'comm == "web" || comm == "app" || comm == "db"' \
	-o trace.dat python3 load.py >out 2>&1 || die "$(cat out)"
"$ioreq" --paths trace.dat || die "ioreq fails"
"$ioreq" --paths --format=json trace.dat >paths.json || die "ioreq fails"
python3 - <<'END' || die "the paths are not those that were taken" "$(cat paths.json web.log app.log)"
import json
result = json.load(open("paths.json"))
requests = {int(n): (int(begin), int(end)) for _, n, begin, end in (line.split() for line in open("web.log"))}
queries = [(int(n), int(begin), int(end)) for _, n, begin, end in (line.split() for line in open("app.log"))]
assert len(requests) == 20 and len(queries) == 30
links = result["links"]
assert links["clients"] == 20 and links["followed"] == 30 and not links["ambiguous"] and not links["outlived"], links
assert [(p["depth"], p["client"], p["server"], p["requests"]) for p in result["paths"]] == \
    [(0, "web", "app", 20), (1, "app", "db", 30)]
# Each of the requests, with the queries that were made for it and no others
for r in result["slowest"]:
    number, = [n for n, (begin, end) in requests.items() if begin <= r["begin"] and r["begin"] + r["wait"] <= end and
               (n % 4) == sum(p["depth"] == 1 and p["step"] == "between" for p in r["waited_for"])]
    requests.pop(number)
    slept = sum(p["time"] for p in r["waited_for"] if p["process"] == "db" and p["step"] == "rest")
    assert (slept >= 300_000_000) == (number == 5), (number, slept)
    journal = [p for p in r["waited_for"] if p["object"].endswith("/journal") and p["step"] == "files"]
    assert bool(journal) == (number == 5) and all(p["depth"] == 1 and p["process"] == "db" for p in journal)
assert not requests
END
