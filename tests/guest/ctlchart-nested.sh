#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# module: nested
# timeout: 60
#
# An interrupt ends an interval of a chart while an alarm of that chart is being written.
# Each of the two alarms, and each value event, has the right start, process and keys.
. "$TRACERIG_TOP/tests/guest/functions"

need_ctlchart
insmod "$TRACERIG_MODULES/nested/nested.ko"
nested=/sys/module/nested/parameters
events=$tracing/events/nested
echo 'ctlchart(nested_begin, key, ucl=1ns)' >"$events/nested_end/filter"
for event in ctlchart ctlchart_debug nested; do
	echo 1 >"$tracing/events/$event/enable"
done
echo >"$tracing/trace"

# shellcheck disable=SC2016 # the other shell's pid
other=$(sh -c 'echo 2 >"$1"; echo $$' sh $nested/begin)
echo 1 >$nested/begin
echo 2 >$nested/interrupt
echo 1 >$nested/end
same 1 "$(cat $nested/interrupts)" "interrupts while an alarm was written"

# begun KEY: print the time of its start, in us
begun() {
	sed -n "s/.* \\([0-9]*\\)\\.\\([0-9]*\\): nested_begin: key=$1\$/\\1\\2/p" "$tracing/trace"
}

# value_of EVENT KEY FIELD: print the field of the event with that key
value_of() {
	sed -n -E "s/.* $1: .*\\b$3=([0-9]*).* keys=(key=$2|\\{0x$2(,0x0)?\\})\$/\\1/p" "$tracing/trace"
}

check() { # KEY PID
	local event start
	for event in ctlchart_alarm ctlchart_value; do
		same "$2" "$(value_of $event "$1" pid)" "pid in $event of $1"
		start=$(value_of $event "$1" start)
		# The text of a trace is rounded to microseconds
		same $((10#$(begun "$1"))) $(((start + 500) / 1000)) "start in $event of $1, us"
	done
}

check 1 $$
check 2 "$other"
same 2 "$(grep -c ' ctlchart_alarm: ' "$tracing/trace")" alarms
same 2 "$(grep -c ' ctlchart_value: ' "$tracing/trace")" values
same 2 "$(sed -n 's/^ends: *\([0-9]*\).*/\1/p' "$events/nested_end/ctlchart")" ends

echo 0 >"$tracing/events/enable"
echo 0 >"$events/nested_end/filter"
rmmod nested
