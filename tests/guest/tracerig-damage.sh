#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 200
# part: check-full
#
# What other programs do to the trace instance of a watch: it is switched off, events of it
# are disabled, its filter is removed. The watch says which in one line, ends with status 1
# and leaves nothing. And what options promise: the file of --save-limits is checked at the
# start, limits of --limits are not said to be learnt, --stop-after ends in time.
. "$TRACERIG_TOP/tests/guest/functions"

need_ctlchart
export PATH=$TRACERIG_TOP/build/tools/bin:$PATH

explain() {
	cat log err 2>/dev/null
	ls -A cases 2>/dev/null
}

instance=$tracing/instances/tracerig-1
start() {
	tracerig watch --dir="$PWD/cases" "$@" >log 2>err &
	pid=$!
	until_true 60 grep -qE '^wakeup: (learning|judging)$' log
}

# ends_with LINE COMMAND...: the watch, after the command, says LINE only and ends with 1
ends_with() {
	local want=$1 status=0
	shift
	start wakeup
	"$@"
	wait "$pid" || status=$?
	same 1 "$status" "status after: $*"
	same "tracerig watch: $want: end that program, and start the watch again" \
		"$(cat err)" "message after: $*"
	same "" "$(ls "$tracing/instances")" "instances after: $*"
}

write() { # FILE WORD
	echo "$2" >"$instance/$1"
}

ends_with "the trace instance tracerig-1 was switched off by another program or a trigger" \
	write tracing_on 0
ends_with "the event sched:sched_switch of the trace instance tracerig-1 was disabled by another program" \
	write events/sched/sched_switch/enable 0
ends_with "the event irq:irq_handler_entry of the trace instance tracerig-1 was disabled by another program" \
	write events/irq/irq_handler_entry/enable 0
ends_with "the filter of sched_switch was removed or replaced by another program" \
	write events/sched/sched_switch/filter 0
ends_with "the filter of sched_switch was removed or replaced by another program" \
	write events/sched/sched_switch/filter 'ctlchart(sched_waking, pid:next_pid, name=other)'

# --- it can open no more files for a while: nothing was removed, and it watches on
start --paths wakeup function:__x64_sys_futex
prlimit --pid="$pid" --nofile=4:4096
# It looks once per second
sleep 5
prlimit --pid="$pid" --nofile=4096:4096
same "" "$(cat err)" "messages of the watch without files"
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
# No more than what it has not learnt
[ "$status" -ne 1 ] || die "the watch without files has ended: $(cat err)"
! grep -q 'by another program' err || die "another program is said to have done it: $(cat err)"

# --- options
status=0
tracerig watch --dir="$PWD/cases" --save-limits=/nosuch/limits wakeup >log 2>err || status=$?
same "1 tracerig watch: /nosuch/limits: No such file or directory: --save-limits needs a file that can be written" \
	"$status $(cat err)" "an unwritable file of limits"
same "" "$(cat log)" "what was watched for it"

start --save-limits="$PWD/limits" wakeup
until_true 60 grep -q '^wakeup: learnt: ' log
kill "$pid"
wait "$pid" || die "the watch failed"
learnt=$(sed -n 's/^wakeup: learnt[^:]*: //p' log | tail -n 1)
start --limits="$PWD/limits" wakeup
until_true 60 grep -q '^wakeup: loaded: ' log
kill "$pid"
wait "$pid" || die "the watch with limits failed"
same "$learnt" "$(sed -n 's/^wakeup: loaded: //p' log)" "limits that were loaded"
! grep -q learnt log || die "loaded limits are said to be learnt"
same "" "$(cat err)" "messages of the watch with limits"

# --- in the background of a shell that ends: nohup
(
	trap '' HUP
	exec tracerig watch --dir="$PWD/cases" wakeup
) >log 2>err &
pid=$!
until_true 60 grep -q '^wakeup: learning$' log
kill -HUP "$pid"
until_true 60 grep -q '^wakeup: learnt: ' log
kill -TERM "$pid"
wait "$pid" || die "the watch under nohup failed"

# --- alarms all the time, from the first moment: one case, and none is unread
(while sleep 0.02; do :; done) &
sleeps=$!
tracerig watch --dir="$PWD/one" --stop-after=1 -e sched:sched_switch \
	-f 'next_comm == "sleep" && ctlchart(sched_waking, pid:next_pid, ucl=1us, name=all)' >log 2>err &
pid=$!
wait "$pid" || die "--stop-after=1 failed"
kill "$sleeps"
same 1 "$(grep -c ' case ' log)" "cases of --stop-after=1"
same 1 "$(find one -maxdepth 1 -name '[0-9]*' | wc -l)" "directories of --stop-after=1"
grep -q '^1 case: 1 kept, 0 removed, 0 alike, 0 not written$' log || die "another count"
same "" "$(cat err)" "messages of --stop-after=1"
