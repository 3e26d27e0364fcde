#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 150
# needs: vm, kernel, tools
# A guest panics while a collector on this host receives its trace: what it had not
# sent by then arrives, or is in the ledger as missing.
. "$TRACERIG_TOP/tests/house/lib.sh"
marks=700

# shellcheck disable=SC2119 # without options
collect
mkdir out.d
cat >out.d/crash.py <<'END'
import os, sys, time
tracing, count = "/sys/kernel/tracing", int(sys.argv[1])
marker = os.open(tracing + "/trace_marker", os.O_WRONLY)
ledger = "/sys/kernel/config/tracecast/rig/ledger"
def mark(first, last):
    for i in range(first, last):
        os.write(marker, b"mark %d" % i)
mark(0, 100)
# Until the collector answers, and the kernel knows its way there
while True:
    text = open(ledger).read()
    if "acknowledged 0 " not in text and "panic: through eth0" in text:
        break
    time.sleep(0.1)
print(os.getpid(), flush=True)
# For the output, and for the heartbeat after that
time.sleep(1)
mark(100, count)
# A switch that nothing but the panic can bring off this machine
time.sleep(0.001)
with open("/proc/sysrq-trigger", "w") as f:
    f.write("c")
END
expect 125 "$vm" --net host --append panic=5 --timeout $((120 * scale)) --output "$PWD/out.d" -- bash -ec '
	cd /sys/kernel/config/tracecast
	mkdir rig
	echo 10.0.2.2 >rig/remote_ip
	echo '"$port"' >rig/remote_port
	echo 1 >rig/enabled
	echo 1 >/sys/kernel/tracing/events/schedz/schedz_block/enable
	exec python3 "$TRACERIG_OUTPUT/crash.py" '"$marks"
has err 'the guest panicked: .*sysrq triggered crash'
pid=$(head -n 1 out)
[ "$pid" -gt 1 ] || die "the guest did not come to its panic: $(cat out err)"
until_true 30 grep -q 'is over' notes || die "the session did not end: $(cat notes)"
has notes 'a panic'
kill -USR1 $collector
until_true 10 grep -q generated: ledger || die "no ledger"
dat=$(echo collected/*.0.dat)
trace-cmd report "$dat" >report.txt 2>/dev/null
"$schedz" decode --format=json -o events.json "$dat"
python3 - report.txt events.json ledger "$marks" "$pid" <<'END' || die "$(cat ledger notes)"
import json, re, sys
report, events, ledger, count, pid = *sys.argv[1:4], int(sys.argv[4]), int(sys.argv[5])
text = open(ledger).read()
number = lambda word: int(re.search(word + r":? (\d+)", text)[1])
assert ", panic" in text, "the ledger does not tell of the panic"
made, delivered = number("generated"), number("delivered")
lost = number("lost in the ring") + number("lost on the wire")
assert made == delivered + lost + number("awaited")
assert number("lost on the wire") == 0, "there is no network to lose anything"
missing = lost + number("not sent yet")
got = [int(m[1]) for m in re.finditer(r"mark (\d+)", open(report).read())]
assert len(got) == len(set(got)) and got == sorted(got)
assert count - len(got) <= missing, (count, len(got), text)
# All of it got through, but for what the guest had no time for, or stopped in
if missing or "unknown" in text:
    sys.exit(0)
assert got == list(range(count)), (len(got), count)
events = [json.loads(line) for line in open(events)]
last = max(e["time"] for e in events)
end = [e["time"] for e in events if e["event"] == "sched_switch" and e["next_pid"] == pid]
mark = re.findall(r"([0-9.]+): .*mark %d\b" % (count - 1), open(report).read())
assert end and end[-1] / 1e9 > float(mark[0]), "the last switch is not there"
END
kill $collector
wait $collector || die "the collector failed"
"$schedz" stat "$dat" >out
has out 'ledger of records, state panic'
