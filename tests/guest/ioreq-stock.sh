#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
#
# The recipe in ioreq's man page for kernels without iosys: what ioreq makes of a trace
# that it takes agrees with what iosys says of the same calls at the same time.
. "$TRACERIG_TOP/tests/guest/functions"

ioreq=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/ioreq
ip link set lo up
cat >load.py <<'END'
import os, select, socket, threading, time
open("/proc/self/comm", "w").write("load")

def serve(listener):
    connection, _ = listener.accept()
    while True:
        data = connection.recv(5000)
        if not data:
            break
        connection.send(data * 2)
    connection.close()

listener = socket.create_server(("127.0.0.1", 8081))
thread = threading.Thread(target=serve, args=(listener,))
thread.start()
client = socket.create_connection(("127.0.0.1", 8081))
for i in range(100):
    client.send(b"x" * (100 + i))
    rest = 2 * (100 + i)
    while rest:
        rest -= len(client.recv(rest))
client.close()
thread.join()
fd = os.open("a file", os.O_RDWR | os.O_CREAT, 0o644)
for i in range(50):
    os.pwrite(fd, b"y" * 1000, 1000 * i)
os.fsync(fd)
copy = os.open("its copy", os.O_WRONLY | os.O_CREAT, 0o644)
os.lseek(fd, 0, 0)
os.sendfile(copy, fd, 0, 30000)
again = os.dup(fd)
os.dup2(fd, 100)
os.close(fd)
for i in range(20):
    os.pread(again, 500, 100)
    os.pread(100, 300, 100)
os.close(again)
try:
    os.pread(again, 1, 0)
except OSError:
    pass
a, b = os.pipe()
os.write(b, b"z" * 700)
os.read(a, 1000)
if not os.fork():
    os.read(100, 123)
    os._exit(0)
os.wait()
try:
    os.open("nowhere/to be found", os.O_RDONLY)
except OSError:
    pass
for i in range(3):
    select.select([a], [], [], 0.2)
# From here on it waits for its end
open("ready", "w").close()
os.read(a, 1)
END
# cat hangs for longer than the recording goes on; descriptor 9 is older than it
cat >work <<'END'
export PATH=/usr/bin:/bin
python3 load.py &
load=$!
until [ -e ready ]; do sleep 0.1; done
mkfifo hang
cat hang &
head -c 77 <&9 >copied
sleep 2
kill $load
wait $load || true
END
exec 9<"$TRACERIG_TOP/README.md"

# iosys in an instance of its own, and the recipe as the man page has it
mkdir "$tracing/instances/iosys"
echo mono >"$tracing/instances/iosys/trace_clock"
echo 8192 >"$tracing/instances/iosys/buffer_size_kb"
sed -n '/^\.\\" recipe$/,/^\.\\" end$/p' "$TRACERIG_TOP/tools/ioreq/ioreq.1" |
	sed -e '/^\./d' -e 's/\\-/-/g' -e 's/\\(aq/'"'"'/g' -e 's/\\e/\\/g' >recipe
sed -i 's/ sleep 10$/ bash work/; s/^trace-cmd record/& -q -b 8192/' recipe
grep -q '^trace-cmd record -q .* bash work$' recipe || die "the man page has another recipe" "$(cat recipe)"
echo 1 >"$tracing/instances/iosys/events/iosys/io_syscall/enable"
bash -eu recipe >out 2>&1 || die "the recipe fails" "$(cat out)"
echo 0 >"$tracing/instances/iosys/events/iosys/io_syscall/enable"
pkill -x cat
cat "$tracing/instances/iosys/trace" >iosys.txt
rmdir "$tracing/instances/iosys"
[ ! -e "$tracing/events/ioreq" ] || die "the recipe leaves its probes"
! trace-cmd report trace.dat 2>/dev/null | grep -q iosys || die "there are iosys events in the recipe's trace"

"$ioreq" --format=chrome trace.dat >stock.json || die "ioreq fails"
"$ioreq" --format=json trace.dat >sums.json || die "ioreq fails"
"$ioreq" --by=comm,call --top=8 trace.dat >out || die "ioreq fails"
grep -q '^  kernel without iosys: byte ranges of streams are unknown, so no requests$' out || die "text does not say that it is a stock kernel's"
python3 - <<'END' || die "it is not what iosys says"
import collections, json, re

# What iosys says, as the kernel itself prints it
iosys = collections.defaultdict(list)
for line in open("iosys.txt", errors="replace"):
    m = re.search(r"-(\d+) +\[\d+\].* io_syscall: (\w+)=(-?\d+) bytes=(\d+) start=(\d+) duration=(\d+) tgid=(\d+) .*? type=(\w+) .*?name=(.*?) fd2=", line)
    if m:
        pid, op, result, size, start, took, tgid, kind, name = m.groups()
        iosys[int(pid)].append((op, int(result), int(size), int(start), int(took), int(tgid), kind, name))
events = json.load(open("stock.json"))["traceEvents"]
process = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
stock = collections.defaultdict(list)
for e in events:
    if e.get("cat") == "call":
        stock[e["tid"]].append((e["name"], e["args"]["result"], e["args"]["bytes"], round(e["ts"] * 1000),
                                round(e["dur"] * 1000), process[e["pid"]], e["args"]["object"]))

# Each thread that both saw from its begin to its end: the same calls, one by one
load = {pid for pid, calls in stock.items() if calls[0][5].startswith("load-")}
assert len(load) == 3, (load, process)
others = [pid for pid in stock if re.match("(bash|head|cat|sleep|mkfifo)-", stock[pid][0][5])]
pairs = []
for pid in [*load, *others]:
    a, b = stock[pid], iosys[pid]
    # The shell that becomes trace-cmd's command was there before, and cat is killed later
    skip = len(b) - len(a) if pid in load else next(
        (k for k in range(len(b)) if [x[:2] for x in b[k:k + len(a)]] == [x[:2] for x in a]), None)
    assert skip is not None and (pid not in load or skip == 0), (pid, a[:3], b[:3], len(a), len(b))
    pairs += zip([pid] * len(a), a, b[skip:])
assert len(pairs) > 1000, len(pairs)
for pid, x, y in pairs:
    assert x[:3] == y[:3], (x, y)
    assert pid not in load or x[5] == f"load-{y[5]}", (x, y)

# Their times: what begins and ends a call may be interrupted between both events, now and then
close = sum(abs(x[4] - y[4]) <= 100_000 + y[4] / 4 for _, x, y in pairs)
assert close > 0.9 * len(pairs), (close, len(pairs))
base = sorted(y[3] - x[3] for _, x, y in pairs)[len(pairs) // 2]
close = sum(abs(y[3] - x[3] - base) <= 1_000_000 for _, x, y in pairs)
assert close > 0.9 * len(pairs), (close, len(pairs))
waits = [x[4] for pid, x, _ in pairs if pid in load and x[0] == "pselect6"]
assert len(waits) == 3 and all(t >= 200_000_000 for t in waits), waits

# What they are about: the name by which it was opened; addresses; or what is unknown
own = [(x, y) for pid, x, y in pairs if pid in load]
tcp = [(x, y) for x, y in own if x[0] in ("sendto", "recvfrom")]
assert len(tcp) > 400 and all(x[6] == y[7] and "->127.0.0.1:" in x[6] for x, y in tcp), tcp[:3]
files = [(x, y) for x, y in own if re.search("/(a file|its copy)$", y[7]) or x[6] in ("a file", "its copy")]
assert len(files) > 90 and all(y[7].endswith("/" + x[6]) for x, y in files), files
def count(op, name):
    return sum(x[0] == op and x[6] == name for x, _ in own)
assert count("pwrite64", "a file") == 50 and count("pread64", "a file") == 40 and count("fsync", "a file") == 1
# copied by fork(), dup2() and dup(); and none that is closed
assert count("read", "a file") == 1 and count("sendfile", "a file") == 1
closed, = [x for x, y in own if x[0] == "pread64" and x[1] == -9]
assert closed[6] == "unknown", closed
assert any(x[0] == "openat" and x[1] == -2 and x[6] == "nowhere/to be found" for x, _ in own)
assert [x[6] for x, y in own if x[2] == 700] == ["a pipe of pipe2"] * 2
older = [x for pid, x, y in pairs if y[7].endswith("/README.md") and x[2] == 77]
assert older and all(x[6] == "unknown" for x in older), older

# The sums are those of iosys, and what hangs is there
result = json.load(open("sums.json"))
assert result["hosts"][0]["stock"] and not result["requests"]
sums = collections.Counter()
for c in result["calls"]:
    if c["comm"] == "load":
        sums[c["call"], "count"] += c["count"]
        sums[c["call"], "bytes"] += c["bytes"]
want = collections.Counter()
for pid in load:
    for y in iosys[pid]:
        want[y[0], "count"] += 1
        want[y[0], "bytes"] += y[2]
assert {k: v for k, v in sums.items() if v} == {k: v for k, v in want.items() if v}
hung = [p for p in result["pending"] if p["comm"] == "cat"]
assert [(p["call"], p["name"]) for p in hung] == [("openat", "hang")] and hung[0]["time"] >= 1_500_000_000, result["pending"]
END
