#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# vm: --cpus 4
# module: storm
# timeout: 180
#
# Alarms in the ring buffer: the bytes of each, by the ring buffer's own pages.  Whatever limit
# events are lost (the ring buffer was overwritten, the file begins in the middle), an alarm
# names the right chart and limit, or says that it cannot; also in an instance, and with other
# instances in the same file.
. "$TRACERIG_TOP/tests/guest/functions"

need_ctlchart
insmod "$TRACERIG_MODULES/storm/storm.ko"
fire=/sys/module/storm/parameters/fire
complete=$tracing/events/storm/storm_end
tools=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools
other=$tracing/instances/other

# pairs FIRST COUNT: make a start and an end for each key, on all CPUs
pairs() {
	echo "begin $1 $2" >$fire
	echo "end $1 $2" >$fire
}

# check FILE CHARTS [all|some [OPTION...]]: CHARTS has "name number" lines; all alarms, or some,
# must name theirs; OPTIONs are for ctlchart
check() {
	trace-cmd report -N "$1" >numbers 2>/dev/null
	TRACEEVENT_PLUGIN_DIR=$tools/plugins trace-cmd report "$1" >names 2>/dev/null
	"$tools/bin/ctlchart" --format=csv "${@:4}" "$1" >csv 2>notes || die "ctlchart failed: $(cat notes)"
	python3 "$TRACERIG_TOP/tests/guest/ring_alarms.py" "$2" numbers names csv "${3:-some}" ||
		die "$1: alarms name other charts or limits"
}

numbers_of() { # event's directory
	sed -n 's/^chart: \(.*\)/\1/p; s/^number: //p' "$1/ctlchart" | paste -d ' ' - -
}

# --- bytes, with keys of 4 and 8 bytes, as dev and sector are

echo 4096 >$tracing/buffer_size_kb
echo 'ctlchart(storm_begin, low, key, ucl=1ns)' >"$complete/filter"
echo 1 >"$tracing/events/ctlchart/enable"
echo 1 >"$complete/enable"
pairs 0 8192
echo 0 >$tracing/tracing_on
[ "$(get alarms)" -gt 8000 ] || die "$(get alarms) alarms of 8192 pairs"
python3 "$TRACERIG_TOP/tests/guest/ring_bytes.py" "$tracing" "$(get alarms)" 72
echo 0 >"$complete/filter"

# --- an instance and two charts of one event, in ring buffers that are overwritten; the limit
# changes all the time, and a pair's key contains the limit in force

# begin KIB: begin both again. trace-cmd extract -B removes the instance
begin() {
	echo "$1" >$tracing/buffer_size_kb
	echo 'ctlchart(storm_begin, low, key, ucl=1ns, name=one) && ctlchart(storm_begin, key, ucl=1ns, name=two)' \
		>"$complete/filter"
	echo 1 >"$tracing/events/ctlchart/enable"
	echo 1 >"$complete/enable"
	numbers_of "$complete" >main.charts
	mkdir "$other"
	echo "$1" >"$other/buffer_size_kb"
	echo 'ctlchart(storm_begin, key, ucl=1ns, name=three)' >"$other/events/storm/storm_end/filter"
	echo 1 >"$other/events/ctlchart/enable"
	echo 1 >"$other/events/storm/storm_end/enable"
	numbers_of "$other/events/storm/storm_end" >other.charts
	echo 1 >$tracing/tracing_on
}

# rounds FIRST LAST COUNT
rounds() {
	for ((round = $1; round <= $2; round++)); do
		echo "ucl=${round}ns one" >"$complete/ctlchart"
		echo "ucl=$((round + 1))ns two" >"$complete/ctlchart"
		echo "ucl=$((round + 2))ns three" >"$other/events/storm/storm_end/ctlchart"
		pairs $((round << 32)) "$3"
	done
}
# A buffer holds one round, with two alarms and an event of 176 bytes for each pair: on a slow
# host one CPU may have all pairs of the last round, and its limits are not overwritten
begin 128
rounds 1 40 500
echo 0 >$tracing/tracing_on
echo 0 >"$other/tracing_on"
grep -q -v '^overrun: 0$' <(grep -h '^overrun:' $tracing/per_cpu/cpu*/stats) || die "nothing was overwritten"
trace-cmd extract -o main.dat >/dev/null 2>&1 || die "trace-cmd extract failed"
trace-cmd extract -B other -o other.dat >/dev/null 2>&1 || die "trace-cmd extract -B failed"
check main.dat main.charts
check other.dat other.charts some --instance=other

# --- limit events are lost, and repeated after two seconds of the clock: from then on all
# alarms are named, in both ring buffers

begin 1408
rounds 50 50 20
for where in "$tracing" "$other"; do
	echo >"$where/trace"
done
sleep 2.1
pairs $((50 << 32 | 1 << 16)) 20
pairs $((50 << 32 | 1 << 17)) 20
rounds 51 60 20
for where in "$tracing" "$other"; do
	echo 0 >"$where/tracing_on"
done
trace-cmd extract -o main.dat >/dev/null 2>&1 || die "trace-cmd extract failed"
trace-cmd extract -B other -o other.dat >/dev/null 2>&1 || die "trace-cmd extract -B failed"
check main.dat main.charts all
check other.dat other.charts all --instance=other
echo 0 >"$complete/filter"
[ ! -d "$other" ] || rmdir "$other"

# --- both in one file

echo 1408 >$tracing/buffer_size_kb
echo 1 >$tracing/tracing_on
multi() {
	pairs $((1 << 32)) 100
	numbers_of "$complete" >main.charts
	numbers_of "$other/events/storm/storm_end" >other.charts
}
export fire complete tracing other
declare -f multi pairs numbers_of >work.sh
trace-cmd record -o multi.dat -e storm:storm_end -f 'ctlchart(storm_begin, low, key, ucl=1ns, name=one)' -e ctlchart \
	-B other -e storm:storm_end -f 'ctlchart(storm_begin, key, ucl=3ns, name=three)' -e ctlchart \
	bash -c '. ./work.sh; multi' >record.log 2>&1 || die "trace-cmd record failed: $(cat record.log)"
cat main.charts other.charts >all.charts
trace-cmd report -N multi.dat >numbers 2>/dev/null
TRACEEVENT_PLUGIN_DIR=$tools/plugins trace-cmd report multi.dat >names 2>/dev/null
"$tools/bin/ctlchart" --format=csv multi.dat >csv
"$tools/bin/ctlchart" --format=csv --instance=other multi.dat | tail -n +2 >>csv
python3 "$TRACERIG_TOP/tests/guest/ring_alarms.py" all.charts numbers names csv all ||
	die "two instances in one file: alarms name other charts or limits"
[ ! -d "$other" ] || rmdir "$other"
rmmod storm
