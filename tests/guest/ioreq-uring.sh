#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
#
# A proxy that does everything by requests to io_uring, several results of one among them,
# between real clients and a server: all of what they ask is found, as both sides saw it, and
# which request to the server is for which one of a client's is what the proxy says.
. "$TRACERIG_TOP/tests/guest/functions"

clients=24	# that ask at the same time
each=12

ioreq=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/ioreq
gcc -O1 -Wall -Wextra -o uringproxy "$TRACERIG_TOP/tests/guest/uringproxy.c" -luring
ip link set lo up

cat >rig.py <<'END'
import ctypes, os, random, socket, struct, subprocess, sys, threading, time

mode, clients, each = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])

def exactly(s, n):
    data = b""
    while len(data) < n:
        part = s.recv(n - len(data))
        if not part:
            return b""
        data += part
    return data

def serve(s, rng):
    while head := exactly(s, 4):
        rest = exactly(s, struct.unpack("<I", head)[0])
        time.sleep(rng.random() / 50)
        s.sendall(struct.pack("<I", len(rest)) + rest[::-1])

def server(listener):
    for i in range(clients):
        threading.Thread(target=serve, args=(listener.accept()[0], random.Random(i))).start()

def ask(port, rng):
    with socket.create_connection(("127.0.0.1", port)) as s:
        for i in range(each):
            rest = rng.randbytes(rng.randint(1, 3000))
            s.sendall(struct.pack("<I", len(rest)) + rest)
            length, = struct.unpack("<I", exactly(s, 4))
            # What was handed on twice is asked for in the same way again
            assert exactly(s, length) == rest[::-1], "another answer"

def become(name, what, *args):
    pid = os.fork()
    if pid:
        return pid
    ctypes.CDLL(None).prctl(15, name.encode(), 0, 0, 0)
    try:
        what(*args)
        for thread in threading.enumerate():
            if thread is not threading.current_thread():
                thread.join()
        os._exit(0)
    except BaseException as e:
        print(name, repr(e), file=sys.stderr)
        os._exit(1)

def ask_all(port):
    for i in range(clients):
        threading.Thread(target=ask, args=(port, random.Random(100 + i))).start()

listener = socket.create_server(("127.0.0.1", 0), backlog=64)
pids = [become("server", server, listener)]
with open("truth", "w") as truth:
    proxy = subprocess.Popen(["./uringproxy", mode, str(listener.getsockname()[1]), str(clients)],
                             stdout=truth, stderr=subprocess.PIPE)
pids.append(become("client", ask_all, int(proxy.stderr.readline())))
listener.close()
status = [os.waitpid(pids[1], 0)[1], proxy.wait(), os.waitpid(pids[0], 0)[1]]
assert status == [0, 0, 0], (status, proxy.stderr.read())
END

cat >check.py <<'END'
import collections, csv, json, sys

mode, n = sys.argv[1], int(sys.argv[2]) * int(sys.argv[3])
truth, numbers = {}, collections.defaultdict(dict)
for line in open("truth"):
    up, i, down, j = map(int, line.split())
    truth[up, i] = down, j
asked = {(r["client"], r["server"]): r for r in csv.DictReader(open("requests.csv"))}
for pair, count in {("client", "uringproxy"): n, ("uringproxy", "server"): len(truth)}.items():
    r = asked[pair]
    assert (int(r["answered"]), int(r["unclear"]), int(r["unanswered"])) == (count, 0, 0), (pair, count, r)

# A span of the server's has its client's as parent
spans = {}
for resource in json.load(open("links.otlp"))["resourceSpans"]:
    who = [a["value"]["stringValue"] for a in resource["resource"]["attributes"] if a["key"] == "service.name"]
    for scope in resource["scopeSpans"]:
        for s in scope["spans"]:
            a = {x["key"]: list(x["value"].values())[0] for x in s["attributes"]}
            spans[s["spanId"]] = who[0], s["kind"], int(a["client.port"]), int(a["ioreq.monotonic"]), s.get("parentSpanId")
for who, kind in ("uringproxy", 3), ("uringproxy", 2):
    ports = collections.defaultdict(list)
    for id, s in spans.items():
        if s[:2] == (who, kind):
            ports[s[2]].append((s[3], id))
    for port, all in ports.items():
        for i, (time, id) in enumerate(sorted(all)):
            numbers[kind][id] = port, i
found = {numbers[3][id]: numbers[2].get(s[4]) for id, s in spans.items() if s[:2] == ("uringproxy", 3)}
assert found.keys() == truth.keys()
told = {k: v for k, v in found.items() if v}
wrong = sum(truth[k] != v for k, v in told.items())
print(f"# {mode}: {len(truth)} requests of the proxy for {n} of clients; {len(told)} told whom they are for, {wrong} wrong")
assert wrong <= 0.02 * len(told) and len(told) - wrong >= float(sys.argv[4]) * len(truth)
END

for mode in plain defer sqpoll; do
	trace-cmd record -q -b 16384 -e iosys:io_syscall -e iosys:io_request -e iosys:io_part -o trace.dat \
		python3 rig.py $mode $clients $each >out 2>&1 || die "$mode: $(cat out)"
	"$ioreq" --format=csv --requests trace.dat >requests.csv || die "ioreq fails"
	"$ioreq" --format=otlp trace.dat >links.otlp || die "ioreq fails"
	python3 check.py $mode $clients $each 0.95 || die "$mode: requests are not what they were" "$(cat requests.csv)"
done
