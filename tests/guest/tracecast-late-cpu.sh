#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# vm: --cpus 4 --append maxcpus=1
# timeout: 240
#
# tracecast sends what a CPU records that comes up for the first time during the session.
. "$TRACERIG_TOP/tests/guest/functions"

schedz=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/schedz
target=/sys/kernel/config/tracecast/rig
instance=$tracing/instances/late
last=3

explain() {
	local file
	for file in $target/ledger collector.err; do
		[ ! -e "$file" ] || cat "$file"
	done
}

number() { # WORD
	sed -n "s/.*\b$1:\{0,1\} \([0-9]*\).*/\1/p" $target/ledger | head -n 1
}

is_delivered() { [ "$(number generated)" -ge "$1" ] && [ "$(number acknowledged)" = "$(number generated)" ]; }
listens() { grep -qi ':1A14 ' /proc/net/udp; }

[ "$(cat /sys/devices/system/cpu/cpu$last/online)" = 0 ] || die "CPU $last was online"
$schedz collect --output collected >ledger 2>collector.err &
collector=$!
trap 'kill $collector 2>/dev/null || true' EXIT
until_true 30 listens
mkdir $instance
mkdir $target
echo late >$target/instance
echo 127.0.0.1 >$target/remote_ip
echo 100 >$target/flush
echo 1 >$target/enabled
echo "mark 0" >$instance/trace_marker
until_true 60 is_delivered 1

echo 1 >/sys/devices/system/cpu/cpu$last/online
echo "mark 1" | taskset -c $last tee $instance/trace_marker >/dev/null
until_true 60 is_delivered 2
echo 0 >$target/enabled
until_true 30 grep -q 'is over' collector.err
kill $collector
wait $collector || die "the collector failed"
trace-cmd report collected/*.dat >late.txt 2>report.err || die "report: $(cat report.err)"
grep -q "\[0*$last\] .*: mark 1$" late.txt || die "the mark is not in the file: $(cat late.txt)"
rmdir $target
rmdir $instance
