# SPDX-License-Identifier: GPL-2.0
"""ioreq-stock.sh: stock.json and sums.json against the events of iosys in iosys.txt."""
import collections, json, re

# The events of iosys, as the kernel prints them
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

# Each thread that both recorded from its begin to its end: the same calls, one by one
load = {pid for pid, calls in stock.items() if calls[0][5].startswith("load-")}
assert len(load) == 3, (load, process)
others = [pid for pid in stock if re.match("(bash|head|cat|sleep|mkfifo)-", stock[pid][0][5])]
pairs = []
for pid in [*load, *others]:
    a, b = stock[pid], iosys[pid]
    # The shell that becomes trace-cmd's command ran before, and cat is killed later
    skip = len(b) - len(a) if pid in load else next(
        (k for k in range(len(b)) if [x[:2] for x in b[k:k + len(a)]] == [x[:2] for x in a]), None)
    assert skip is not None and (pid not in load or skip == 0), (pid, a[:3], b[:3], len(a), len(b))
    pairs += zip([pid] * len(a), a, b[skip:])
assert len(pairs) > 1000, len(pairs)
for pid, x, y in pairs:
    assert x[:3] == y[:3], (x, y)
    assert pid not in load or x[5] == f"load-{y[5]}", (x, y)

# Their times: an interrupt may come between the two events that begin, or end, a call
close = sum(abs(x[4] - y[4]) <= 100_000 + y[4] / 4 for _, x, y in pairs)
assert close > 0.9 * len(pairs), (close, len(pairs))
base = sorted(y[3] - x[3] for _, x, y in pairs)[len(pairs) // 2]
close = sum(abs(y[3] - x[3] - base) <= 1_000_000 for _, x, y in pairs)
assert close > 0.9 * len(pairs), (close, len(pairs))
waits = [x[4] for pid, x, _ in pairs if pid in load and x[0] == "pselect6"]
assert len(waits) == 3 and all(t >= 200_000_000 for t in waits), waits

# Their objects: the name by which it was opened; addresses; or that it is unknown
own = [(x, y) for pid, x, y in pairs if pid in load]
tcp = [(x, y) for x, y in own if x[0] in ("sendto", "recvfrom")]
assert len(tcp) > 400 and all(x[6] == y[7] and "->127.0.0.1:" in x[6] for x, y in tcp), tcp[:3]
files = [(x, y) for x, y in own if re.search("/(a file|its copy)$", y[7]) or x[6] in ("a file", "its copy")]
assert len(files) > 90 and all(y[7].endswith("/" + x[6]) for x, y in files), files
def count(op, name):
    return sum(x[0] == op and x[6] == name for x, _ in own)
assert count("pwrite64", "a file") == 50 and count("pread64", "a file") == 40 and count("fsync", "a file") == 1
# Copied by fork(), dup2() and dup(); and a closed one
assert count("read", "a file") == 1 and count("sendfile", "a file") == 1
closed, = [x for x, y in own if x[0] == "pread64" and x[1] == -9]
assert closed[6] == "unknown", closed
assert any(x[0] == "openat" and x[1] == -2 and x[6] == "nowhere/to be found" for x, _ in own)
assert [x[6] for x, y in own if x[2] == 700] == ["a pipe of pipe2"] * 2
older = [x for pid, x, y in pairs if y[7].endswith("/README.md") and x[2] == 77]
assert older and all(x[6] == "unknown" for x in older), older

# The sums are those of iosys, and the pending call is listed
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
