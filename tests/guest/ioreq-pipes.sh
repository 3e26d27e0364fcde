#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# A pool of worker processes behind front ends, real ones: who hands what to whom through
# pipes that several use is told by the bytes, and so for which client a worker reads a file.
# The file that it reads tells, too.
. "$TRACERIG_TOP/tests/guest/functions"

cat >pool.py <<'END'
import ctypes, os, random, socket, struct, sys

REQUESTS, FRONTS, WORKERS = 60, 3, 2
libc = ctypes.CDLL(None)
random.seed(1)

def become(name, what, *args):
    pid = os.fork()
    if pid:
        return pid
    libc.prctl(15, name.encode(), 0, 0, 0)
    random.seed(name)
    try:
        what(*args)
        os._exit(0)
    except BaseException as e:
        print(name, repr(e), file=sys.stderr)
        os._exit(1)

def exactly(read, n):
    data = b""
    while len(data) < n:
        part = read(n - len(data))
        if not part:
            return data
        data += part
    return data

# A job is the front end's number, the length of the rest, and that
def work(jobs, answers):
    while head := exactly(lambda n: os.read(jobs, n), 8):
        front, length = struct.unpack("<II", head)
        job = exactly(lambda n: os.read(jobs, min(n, 300)), length)
        name = job.rstrip(b".").decode()
        fd = os.open(f"data.{name}", os.O_RDONLY)
        data = os.pread(fd, random.randint(1, 3000), 0)
        os.close(fd)
        os.write(answers[front], struct.pack("<I", len(data)) + data)

def front(number, listener, jobs, answer):
    for i in range(2):
        s = listener.accept()[0]
        with s:
            while ask := s.recv(100):
                # Less than PIPE_BUF: no other front end's job is within it
                job = ask + b"." * random.randint(1, 3000)
                os.write(random.choice(jobs), struct.pack("<II", number, len(job)) + job)
                length, = struct.unpack("<I", exactly(lambda n: os.read(answer, n), 4))
                data = exactly(lambda n: os.read(answer, min(n, 700)), length)
                s.sendall(struct.pack("<I", len(data)) + data)

def ask(name, addresses):
    for address in addresses:
        with socket.create_connection(address) as s:
            for i in range(REQUESTS):
                s.sendall(name.encode())
                length, = struct.unpack("<I", exactly(s.recv, 4))
                exactly(s.recv, length)

clients = ["red", "blue"]
for name in clients:
    with open(f"data.{name}", "wb") as f:
        f.write(b"d" * 3000)
listeners = [socket.create_server(("127.0.0.1", 0)) for i in range(FRONTS)]
jobs = [os.pipe() for i in range(WORKERS)]
answers = [os.pipe() for i in range(FRONTS)]
workers = [become("worker", work, r, [w for r, w in answers]) for r, w in jobs]
fronts = [become("front", front, i, listeners[i], [w for r, w in jobs], answers[i][0]) for i in range(FRONTS)]
addresses = [l.getsockname() for l in listeners]
asking = [become("red", ask, "red", addresses), become("blue", ask, "blue", addresses[::-1])]
for pid in asking + fronts:
    assert os.waitpid(pid, 0)[1] == 0
for pid in workers:
    os.kill(pid, 9)
END
trace-cmd record -q -b 16384 -e iosys:io_syscall -o trace.dat python3 pool.py >out 2>&1 || die "$(cat out)"
ioreq=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/ioreq
"$ioreq" --format=json --by=client,call,object trace.dat >calls.json || die "ioreq fails"
"$ioreq" --format=csv --requests trace.dat >requests.csv || die "ioreq fails"
python3 - <<'END' || die "what the workers did is not for whom it was" "$(cat requests.csv)"
import collections, csv, json
each = 60 * 3
asked = collections.Counter()
ports = set()
for r in csv.DictReader(open("requests.csv")):
    assert int(r["unclear"]) == 0, r
    asked[r["client"], r["server"]] += int(r["answered"])
    ports |= {r["server_address"]} if r["server"] == "front" else set()
assert asked == {("red", "front"): each, ("blue", "front"): each, ("front", "worker"): 2 * each}, asked
# Each front end listens at a port of its own, and so is a server of its own
assert len(ports) == 3, ports
files = collections.Counter()
for c in json.load(open("calls.json"))["calls"]:
    name = c["name"].rpartition("/")[2]
    if c["call"] == "pread64" and name.startswith("data."):
        files[name, c.get("client")] += c["count"]
assert files == {("data.red", "red"): each, ("data.blue", "blue"): each}, files
END
