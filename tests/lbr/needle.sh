#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# usage (in a guest under --lbr --icount): tests/lbr/needle.sh PROGRAM REQUESTS EVERY [OFF]
#
# Requests of 300 us, one in EVERY slow by 13 us (tests/lbr/needle.c), under ctlchart, with
# plain samples of perf, and with those of lbrprof. $TRACERIG_OUTPUT gets the program's output
# (off, chart, plain, lbrprof: the requests with the needle, and the duration of all), the
# alarms (plain.alarms, lbrprof.alarms), samples.txt of perf, and trace.dat. OFF: the number of
# requests without samples.
set -euo pipefail

program=$1 requests=$2 every=$3 without=${4:-$2}
out=$TRACERIG_OUTPUT seed=20261122
# Instructions between samples: both ways then cost less than 1 %
plain_period=${PLAIN_PERIOD:-240000} lbr_period=${LBR_PERIOD:-240000}
learn=1500

cd /sys/kernel/tracing
echo mono >trace_clock
echo 200000 >buffer_size_kb
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
echo "plain_period $plain_period" >"$out/periods"
echo "lbr_period $lbr_period" >>"$out/periods"

probe() {
	local address offset virtual
	address=$((16#$(nm "$program" | awk -v f="$1" '$3 == f { print $1 }')))
	read -r offset virtual < <(readelf -lW "$program" | awk '$1 == "LOAD" && / R E / { print $2, $3 }')
	printf 'p:needle/%s %s:%#x number=%%di:u64\n' "$1" "$program" $((address - virtual + offset)) >>dynamic_events
}

# chart COMMAND...: learn from requests without needles, with COMMAND as in the measured run
chart() {
	echo 0 >events/needle/reply/filter
	echo 'ctlchart(request, number, learn=1s)' >events/needle/reply/filter
	echo 1 >events/needle/reply/enable
	"$@" "$program" $learn 1000000000 $seed >/dev/null
	grep -q '^state: judging' events/needle/reply/ctlchart
	echo >trace
}

perf_plain() {
	perf record -q -B -N -m 32M -k CLOCK_MONOTONIC -e cycles:u -c "$plain_period" -o /tmp/data "$@"
}

alarms() {
	# The key has two words
	perl -ne 'print "$1 $2 $3 ", hex $4, "\n" if
		/ ctlchart_alarm: .* start=(\d+) duration=(\d+) .* pid=(\d+) .* keys=\{(0x[0-9a-f]+),0x0\}$/' trace >"$out/$1.alarms"
}

"$program" $learn 1000000000 $seed >/dev/null
"$program" "$without" "$every" $seed >"$out/off"
probe request
probe reply
echo 1 >events/ctlchart/ctlchart_alarm/enable
chart env
"$program" "$without" "$every" $seed >"$out/chart"

# PLAIN=no omits the plain samples
if [ "${PLAIN-}" != no ]; then
	chart perf_plain
	perf_plain "$program" "$requests" "$every" $seed >"$out/plain"
	alarms plain
	perf script --ns -i /tmp/data -F pid,time,ip,sym >"$out/samples.txt"
fi

# Calls and returns, as this CPU counts them
echo 0x2c4 >lbrprof/calls_event
echo 0x8c4 >lbrprof/returns_event
echo "$lbr_period" >lbrprof/period
echo 1 >events/lbrprof/enable
chart env
"$program" "$requests" "$every" $seed >"$out/lbrprof"
echo 0 >events/lbrprof/enable
alarms lbrprof
cat events/needle/reply/ctlchart lbrprof/status >"$out/status"
for cpu in per_cpu/cpu*; do
	grep -qx 'overrun: 0' "$cpu/stats"
done
# Probes keep the program's file open
echo 0 >events/needle/enable
echo 0 >events/needle/reply/filter
cd /tmp
trace-cmd extract -o "$out/trace.dat" >/dev/null
echo >/sys/kernel/tracing/dynamic_events
