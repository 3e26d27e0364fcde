#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 150
# needs: vm, kernel, tools
# A target of the boot parameter sends before the interface has an address, when it
# has lost it, and when it has it again; a collector on this host receives it.
. "$TRACERIG_TOP/tests/house/lib.sh"

# shellcheck disable=SC2119 # without options
collect
mkdir out.d
cat >out.d/guest <<'END'
set -e
# What is no target was said, and the next one is used
dmesg | grep 'tracecast: .*boot parameter.*cannot be used' >&2
target=/sys/kernel/config/tracecast/boot2
number() { # WORD: the number before it
	sed -n "s/.*[^0-9]\([0-9]*\) $1.*/\1/p" $target/ledger
}
await() { # COMMAND...
	for i in $(seq $((400 * ${TRACERIG_TIMEOUT_SCALE:-1}))); do
		! "$@" || return 0
		sleep 0.1
	done
	echo "not within 40 seconds (times TRACERIG_TIMEOUT_SCALE): $*" >&2
	cat $target/ledger >&2
	exit 1
}
[ "$(cat $target/remote_ip) $(cat $target/dev_name)" = "10.0.2.2 eth0" ]
polled=0
more() { [ "$(number 'times with netpoll')" -gt $((polled + 2)) ]; }
all() { ! grep -q ' acknowledged 0 ' $target/ledger && [ "$(number unacknowledged)" = 0 ]; }
# Nobody but the kernel has touched the interface
await more
ip address add 10.0.2.15/24 dev eth0
ip route add default via 10.0.2.2
await all
ip address flush dev eth0
for i in $(seq 0 99); do
	echo "mark $i"
done >/sys/kernel/tracing/trace_marker
# Out of the ring, and then some heartbeats
out() { [ "$(number 'in the ring') $(number 'at hand')" = "0 0" ]; }
await out
polled=$(number "times with netpoll")
await more
grep 'generated:' $target/ledger
ip address add 10.0.2.15/24 dev eth0
ip route add default via 10.0.2.2
echo "mark 100" >/sys/kernel/tracing/trace_marker
await all
echo 0 >/sys/kernel/tracing/events/enable
await all
echo 0 >$target/enabled
! rmdir $target 2>/dev/null || { echo 'rmdir removes a target of the command line'; exit 1; }
cat $target/ledger
END
expect 0 "$vm" --net host,bare --timeout $((120 * scale)) --output "$PWD/out.d" \
	--append "tracecast=nonsense;@10.9.9.9/,@10.9.9.8/,there;@10.0.2.15/eth0,$port@10.0.2.2/52:55:0a:00:02:02 trace_event=sched:sched_process_exec" \
	-- bash -c '. "$TRACERIG_OUTPUT/guest"'
has out '^session: .*, over'
same 2 "$(grep -c 'cannot be used' err)" "targets that are none"
until_true 30 grep -q 'is over' notes || die "the session did not end: $(cat notes)"
kill -USR1 $collector
until_true 10 grep -q generated: ledger || die "no ledger"
trace-cmd report collected/*.0.dat >report.txt 2>/dev/null
python3 -B "$TRACERIG_TOP/tests/house/boot_check.py" report.txt ledger || die "$(cat ledger notes out)"
kill $collector
wait $collector || die "the collector failed"
