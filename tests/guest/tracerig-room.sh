#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
#
# tracerig watch without room for the events of a window, which are more than it keeps in
# memory: the window's beginning is kept, and its alarm, which comes last, is reported as
# one without a case: to --on-alarm, in the log and in the metrics.
. "$TRACERIG_TOP/tests/guest/functions"

need_ctlchart
export PATH=$TRACERIG_TOP/build/tools/bin:$PATH

explain() {
	cat log err alarms metrics.prom 2>/dev/null
}

# Long enough for some MB of events of each CPU, more than the watch keeps in memory
null_disk slow irqmode=2 completion_nsec=3000000000
mkdir narrow
mount -t tmpfs -o size=4m none narrow
trap 'umount narrow 2>/dev/null || :; remove_disks' EXIT
tracerig watch --dir="$PWD/narrow" --buffer=16M --metrics="$PWD/metrics.prom" \
	-e block:block_rq_complete \
	-f 'ctlchart(block_bio_queue, dev, sector, ucl=2s, dup=last, stale=9s, pre=1ms, post=1ms, from=start, name=disk)' \
	-e raw_syscalls:sys_enter -e raw_syscalls:sys_exit \
	--on-alarm="{ env | grep ^TRACERIG_ | sort; echo; } >>'$PWD/alarms'" >log 2>err &
pid=$!
until_true 60 grep -q '^disk: learning$' log
dd if=/dev/zero of=narrow/full bs=64k 2>/dev/null && die "there is room"
busy=()
for cpu in 0 1; do
	taskset -c $cpu dd if=/dev/zero of=/dev/null bs=1 2>/dev/null &
	busy+=($!)
done
reads slow.log "$disk" 1004 1
kill "${busy[@]}"
wait "${busy[@]}" 2>/dev/null || :
until_true 60 grep -q ' not kept: disk took ' log
until_true 60 grep -qx '' alarms
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
same 3 "$status" "status of the watch"

why="no room for its events in $PWD/narrow"
same "tracerig watch: alarms without a case: 1: $why: free space, or use another --dir" \
	"$(grep 'alarms without' err)" "what is said of the alarm"
grep -q ' not kept: disk took [0-9.]* s, limit 2.000 s, dev=[0-9:]* sector=8032, process' log ||
	die "the alarm is not in the log"
same 1 "$(grep -c ' disk took ' log)" "alarms in the log"
for field in CASE=0 DIR= CHART=disk UNIT=ns ALARMS=1 "ERROR=$why"; do
	grep -qx "TRACERIG_$field" alarms || die "not in the environment: $field"
done
same 1 "$(grep -c ^TRACERIG_ALARMS= alarms)" "starts of the command"
grep -q '^TRACERIG_KEYS=.* sector=8032$' alarms || die "another operation"
took=$(cut -d' ' -f2 slow.log)
value=$(sed -n 's/^TRACERIG_VALUE=//p' alarms)
if [ "$value" -lt 3000000000 ] || [ "$value" -gt "$took" ]; then
	die "the read took $took ns, not $value"
fi
same 'tracerig_cases_total{result="failed"} 1' "$(grep result=.failed metrics.prom)" "metrics"
grep -q '^1 case: 0 kept, 0 removed, 0 alike, 1 not written$' log || die "the cases are not counted"
same "" "$(find narrow -name '[0-9]*')" "cases"
# It is one window, however long it takes to read
same "" "$(grep 'too late' log)" "pages of no window"
