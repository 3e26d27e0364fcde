#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 150
# needs: vm, kernel, tools
# A target of the boot parameter sends before the interface has an address, when it
# has lost it, and when it has it again; a collector on this host receives it.
. "$TRACERIG_TOP/tests/house/lib.sh"

# shellcheck disable=SC2119 # without options
collect
in_guest 0 --net host,bare \
	--append "tracecast=nonsense;@10.9.9.9/,@10.9.9.8/,there;@10.0.2.15/eth0,$port@10.0.2.2/52:55:0a:00:02:02,,2 trace_event=sched:sched_process_exec" <<'END'
set -e
. "$TRACERIG_TOP/tests/lib.bash"
# The wrong target was reported, and the next one is used
dmesg | grep 'tracecast: .*boot parameter.*cannot be used' >&2
target=/sys/kernel/config/tracecast/boot2
number() { # WORD: the number before it
	sed -n "s/.*[^0-9]\([0-9]*\) $1.*/\1/p" $target/ledger
}
explain() { cat $target/ledger; }
[ "$(cat $target/remote_ip) $(cat $target/dev_name) $(cat $target/senders)" = "10.0.2.2 eth0 2" ]
grep -q '^sender 1: ' $target/ledger
polled=0
more() { [ "$(number 'times with netpoll')" -gt $((polled + 2)) ]; }
all() { ! grep -q ' acknowledged 0 ' $target/ledger && [ "$(number unacknowledged)" = 0 ]; }
# Only the kernel has touched the interface
until_true 40 more
ip address add 10.0.2.15/24 dev eth0
ip route add default via 10.0.2.2
until_true 40 all
ip address flush dev eth0
for i in $(seq 0 99); do
	echo "mark $i"
done >/sys/kernel/tracing/trace_marker
# Wait until the ring buffer is read, and for some heartbeats
out() { [ "$(number 'in the ring') $(number 'at hand')" = "0 0" ]; }
until_true 40 out
polled=$(number "times with netpoll")
until_true 40 more
grep 'generated:' $target/ledger
ip address add 10.0.2.15/24 dev eth0
ip route add default via 10.0.2.2
echo "mark 100" >/sys/kernel/tracing/trace_marker
until_true 40 all
echo 0 >/sys/kernel/tracing/events/enable
until_true 40 all
echo 0 >$target/enabled
! rmdir $target 2>/dev/null || die 'rmdir removes a target of the command line'
cat $target/ledger
END
has out '^session: .*, over'
same 2 "$(grep -c 'cannot be used' err)" "targets that are none"
received
python3 -B "$TRACERIG_TOP/tests/house/boot_check.py" report.txt ledger || die "$(cat ledger notes out)"
