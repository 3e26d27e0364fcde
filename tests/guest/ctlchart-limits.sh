#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# part: check-full
# timeout: 300
#
# ctlchart save and load on a running kernel, and ctlchart sim against the kernel's filter on
# exactly the same values, those of a field, which are injected.
. "$TRACERIG_TOP/tests/guest/functions"

ctlchart=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/ctlchart
wait=sched/sched_stat_iowait
need_ctlchart
[ -e $tracing/events/$wait/inject ] || die "this kernel cannot inject events"

inject() { # value...
	for value; do
		echo "delay=$value" >$tracing/events/$wait/inject
	done
}

# line WORD [DIRECTORY]: print the rest of a line in the event's file, which has one chart
line() {
	sed -n "s/^$1: //p" "${2-$tracing}/events/$wait/ctlchart"
}

# --- a limit that is learnt, saved, removed and loaded: the same chart
filter='ctlchart(delay, learn=0, samples=10, group=5)'
echo "$filter" >$tracing/events/$wait/filter
echo 1 >$tracing/events/$wait/enable
if "$ctlchart" save >out 2>err; then die "a chart without a limit was saved"; fi
grep -q 'sched_stat_iowait.delay of sched:sched_stat_iowait has no limit yet (learning 0 of 10 values)' err ||
	die "$(cat err)"
inject 700 701 702 703 704 710 711 712 713 714
center=$(line center) limit=$(line limit)
if [ "$limit" -le "$center" ] || [ "$center" -lt 700 ]; then die "learnt $center, $limit"; fi
"$ctlchart" save -o good.limits
cat good.limits
grep -qx "filter: $filter" good.limits || die "no filter"
echo 0 >$tracing/events/$wait/filter
"$ctlchart" load good.limits
same "$filter" "$(cat $tracing/events/$wait/filter)" filter
same judging "$(line state)" state
same "$center $limit" "$(line center) $(line limit)" "centre and limit"
"$ctlchart" save | grep -v -e '^from:' -e '^values:' >again
grep -v -e '^from:' -e '^values:' good.limits | diff - again
# The chart exists: only its limits are written, and its counts go on
inject 5 5
counts=$(line values)
sed -i 's/^limit: .*/limit: 100000/' good.limits
"$ctlchart" load good.limits
same "$counts" "$(line values)" "values after a load"
same 100000 "$(line limit)" "an edited limit"
echo 1 >$tracing/events/ctlchart/enable
echo >$tracing/trace
inject 100000 100001
same 1 "$(grep -c 'ctlchart_alarm: .* duration=100001 ' $tracing/trace)" alarms
same 1 "$(grep -c "ctlchart_limit: .* center=$center limit=100000 " $tracing/trace)" "limit events"
echo 0 >$tracing/events/ctlchart/enable

# --- a named chart: trace-cmd finds the limits that were loaded before
named='ctlchart(delay, learn=0, samples=10, group=5, name=waits)'
sed -i "s/^chart:.*/chart: waits/; s/^filter:.*/filter: $named/" good.limits
"$ctlchart" load good.limits
trace-cmd record -o rec.dat -e sched:sched_stat_iowait -f "$named" -e ctlchart \
	sh -c "grep -A 2 '^state' $tracing/events/$wait/ctlchart >state
		echo delay=99999 >$tracing/events/$wait/inject
		echo delay=100001 >$tracing/events/$wait/inject
		'$ctlchart' save >recording.limits" >log 2>&1 || die "$(cat log)"
printf '%s\n' "state: judging" "center: $center" "limit: 100000" | diff - state
# The terms that trace-cmd adds to a filter are not saved
grep -qx "filter: $named" recording.limits || die "saved while recording: $(cat recording.limits)"
same 1 "$("$ctlchart" --format=csv rec.dat | grep -c '^waits,')" "alarms under trace-cmd"
# The alarms of that trace give the same file again
same "limit: 100000" "$("$ctlchart" save rec.dat | grep '^limit:')" "limit of a trace's alarms"
echo 0 >$tracing/events/$wait/filter

# --- times, instances, fixed limits, and a dry run in a shell
mkdir $tracing/instances/disk
cat >pairs.limits <<'END'
event: block:block_rq_complete
instance: disk
filter: ctlchart(block_bio_queue, dev, sector)
chart: block_bio_queue->block_rq_complete
limit: 5 ms
center: 800 us

event: sched:sched_stat_iowait
filter: ctlchart(delay)
chart: sched_stat_iowait.delay
limit: 77
END
disk=$tracing/instances/disk/events/block/block_rq_complete/ctlchart
for way in direct shell; do
	if [ $way = direct ]; then
		"$ctlchart" load pairs.limits
	else
		"$ctlchart" load --dry-run pairs.limits | sh -e
	fi
	grep -qx 'limit: 5000000 ns' "$disk" || die "$(cat "$disk")"
	grep -qx 'center: 800000 ns' "$disk" || die "$(cat "$disk")"
	same 'fixed limit' "$(line state)" "state with a fixed limit"
	same 77 "$(line limit)" "the fixed limit"
	[ $way = shell ] || "$ctlchart" save --instance disk | grep -qx 'instance: disk' || die "no instance"
	echo 0 >"${disk%/*}/filter"
	echo 0 >$tracing/events/$wait/filter
done

# --- by= and rules=: each part gets its lines back, and judges by them
of() { # pid, value...
	local pid=$1
	shift
	for value; do
		echo "pid=$pid delay=$value" >$tracing/events/$wait/inject
	done
}
each='ctlchart(delay, learn=0, samples=10, group=5, by=pid, charts=3, rules=1,2)'
echo "$each" >$tracing/events/$wait/filter
of 1 700 701 702 703 704 710 711 712 713 714
of 2 7000 7001 7002 7003 7004 7010 7011 7012 7013 7099
of 3 7
"$ctlchart" save -o parts.limits 2>err
cat parts.limits
grep -q '1 chart of by= of sched:sched_stat_iowait without a limit yet' err || die "$(cat err)"
parts() {
	sed -n '/^part:/,$p' $tracing/events/$wait/ctlchart | grep -E '^(part|state|center|limit|zones):'
}
parts | sed '/pid=3/,$d' >learnt
same 2 "$(grep -c ^zones: learnt)" "parts with zones"
echo 0 >$tracing/events/$wait/filter
"$ctlchart" load parts.limits
parts | diff learnt - || die "not the same parts"
of 1 7000
of 2 7000
same 1 "$(line alarms | sed 's/,.*//')" "alarms of the loaded parts"
# Without zones, groups cannot be judged
sed /^zones/d parts.limits >no-zones.limits
if "$ctlchart" load no-zones.limits >out 2>err; then die "loaded rules= without zones:"; fi
grep -q 'has rules=, which need zones: here' err || die "$(cat err)"
echo 0 >$tracing/events/$wait/filter
sed 's/charts=3/charts=1/' parts.limits >few.limits
if "$ctlchart" load few.limits >out 2>err; then die "loaded two parts into one"; fi
grep -q 'no chart is left for sched_stat_iowait.delay\[pid=2\]: charts=' err || die "$(cat err)"
echo 0 >$tracing/events/$wait/filter

# --- names of parts from a plain trace are spelt as the kernel spells them
echo 1 >$tracing/tracing_on
: >$tracing/trace
for comm in 'B\303\274cher' 'a]b' 'a\\b' 'a b'; do
	for value in 90 95 100 105 110 110 105 100 95 90; do
		printf 'pid=1 comm="%b" delay=%s' "$comm" "$value" >$tracing/events/$wait/inject
	done
done
trace-cmd extract -o odd.dat >log 2>&1 || die "$(cat log)"
odd='ctlchart(delay, learn=0, samples=10, group=5, by=comm)'
"$ctlchart" save -e sched:sched_stat_iowait -f "$odd" -o odd.limits odd.dat
"$ctlchart" load odd.limits
printf 'part: sched_stat_iowait.delay[comm=%s]\n' 'B\xc3\xbccher' 'a\x5db' 'a\x5cb' 'a b' >wanted
parts | grep ^part: | diff wanted - || die "not the parts of the trace: $(cat odd.limits)"
# The same processes have these charts
printf 'pid=1 comm="B\303\274cher" delay=5' >$tracing/events/$wait/inject
parts | grep ^part: | diff wanted -
echo 0 >$tracing/events/$wait/filter

# --- errors of the kernel
refused() { # pattern line...
	local pattern=$1
	shift
	printf '%s\n' "$@" >bad.limits
	if "$ctlchart" load bad.limits >out 2>err; then die "loaded: $*"; fi
	grep -qE "$pattern" err || die "no '$pattern': $(cat err)"
}
refused '^ctlchart: line 1: the kernel refuses the filter of sched:sched_stat_iowait:$' \
	'event: sched:sched_stat_iowait' 'filter: ctlchart(nosuch)' 'chart: x' 'limit: 5'
grep -q '^ *^$' err || die "no caret: $(cat err)"
refused '^ctlchart: bad.limits:1: the kernel refuses "ucl=5 pairs" \(times have a unit' \
	'event: block:block_rq_complete' 'filter: ctlchart(block_bio_queue, dev, name=pairs)' 'chart: pairs' 'limit: 5'
echo 0 >$complete/filter
refused 'bad.limits:1: sched:sched_stat_iowait has no chart x$' \
	'event: sched:sched_stat_iowait' 'filter: ctlchart(delay)' 'chart: x' 'limit: 5'
echo 0 >$tracing/events/$wait/filter
refused 'bad.limits:1: sched:sched_stat_iowait has no chart x, and no filter' \
	'event: sched:sched_stat_iowait' 'chart: x' 'limit: 5'
refused 'this kernel has no event no:such$' 'event: no:such' 'filter: x' 'chart: x' 'limit: 5'
refused "no trace instance none: mkdir $tracing/instances/none" \
	'event: sched:sched_stat_iowait' 'instance: none' 'filter: x' 'chart: x' 'limit: 5'
refused 'bad.limits:1: no value of the field here is written as in sched_stat_iowait.delay\[pid=\+7\]$' \
	'event: sched:sched_stat_iowait' 'filter: ctlchart(delay, by=pid)' \
	'chart: sched_stat_iowait.delay[pid=+7]' 'limit: 5'
echo 0 >$tracing/events/$wait/filter
# That of a CPU that only the other machine has is loaded
printf '%s\n' 'event: sched:sched_stat_iowait' 'filter: ctlchart(delay, by=cpu)' \
	'chart: sched_stat_iowait.delay[cpu=4095]' 'center: 3' 'limit: 5' >cpu.limits
"$ctlchart" load cpu.limits
echo 0 >$tracing/events/$wait/filter
cp pairs.limits /tmp/pairs.limits
chmod 644 /tmp/pairs.limits
if setpriv --reuid=65534 --regid=65534 --clear-groups "$ctlchart" load /tmp/pairs.limits >out 2>err; then
	die "loaded without root"
fi
grep -q 'Permission denied: run this as root$' err || die "$(cat err)"
rmdir $tracing/instances/disk

# --- sim: the same values, so exactly the same limits and alarms, for each setting
settings=("limit=individuals scale=log" "limit=median scale=log"
	"limit=individuals scale=linear" "limit=median scale=linear")
call() { # setting
	echo "ctlchart(delay, learn=0, samples=50, ${1// /, })"
}
for i in "${!settings[@]}"; do
	mkdir "$tracing/instances/s$i"
	call "${settings[i]}" >"$tracing/instances/s$i/events/$wait/filter"
done
# An event that is injected into one instance is recorded in that one only: each value goes to all.
echo 1 >$tracing/tracing_on
: >$tracing/trace
echo 1 >$tracing/events/$wait/enable
for i in "${!settings[@]}"; do
	echo 1 >"$tracing/instances/s$i/events/$wait/enable"
done
python3 "$TRACERIG_TOP/tests/guest/chart_inject.py" "$wait" $tracing $tracing/instances/s?
trace-cmd extract -o plain.dat >log 2>&1 || die "$(cat log)"
"$ctlchart" sim -e sched:sched_stat_iowait -f 'ctlchart(delay, learn=0, samples=50)' \
	--grid limit=individuals,median --grid scale=log,linear plain.dat
for i in "${!settings[@]}"; do
	"$ctlchart" sim -e sched:sched_stat_iowait -f "$(call "${settings[i]}")" --format=csv plain.dat |
		python3 "$TRACERIG_TOP/tests/guest/chart_simulated.py" >by-sim
	dir=$tracing/instances/s$i
	echo "$(line center "$dir") $(line limit "$dir") $(line values "$dir" | sed 's/,//g; s/ not charted.*//') $(line alarms "$dir" | sed 's/^/alarms /; s/,.*//')" >kernel
	echo "${settings[i]}: $(cat kernel)"
	diff kernel by-sim || die "${settings[i]}: the kernel and sim differ"
	rmdir "$dir"
done
awk '{ exit !($NF > 0) }' kernel || die "no alarms to compare"
