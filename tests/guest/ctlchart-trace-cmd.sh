#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
#
# Stock trace-cmd: it adds terms to the filter, and the chart goes on; in the report each alarm
# follows its event, and there are no other events; name= keeps the limit from one recording to
# the next.
. "$TRACERIG_TOP/tests/guest/functions"

need_ctlchart
null_disk fast irqmode=2 completion_nsec=10000
fast=$disk
null_disk slow irqmode=2 completion_nsec=200000000
slow=$disk
export fast slow

# record FILE CALL FUNCTION: FUNCTION runs while trace-cmd records
record() {
	declare -f "$3" >work.sh
	trace-cmd record -o "$1" -e block:block_rq_complete -f "$2" -e ctlchart \
		bash -c '. "$TRACERIG_TOP/tests/guest/functions"; . ./work.sh; "$0"' "$3" \
		>record.log 2>&1 || {
		cat record.log
		die "trace-cmd record failed"
	}
	same none "$(cat "$complete/filter")" "the filter after recording"
}

# check_report FILE ALARMS
check_report() {
	trace-cmd report -i "$1" >text 2>errors
	same "$2" "$(grep -c ' ctlchart_alarm: ' text)" "alarms in $1"
	same "$2" "$(grep -c ' block_rq_complete: ' text)" "events in $1"
	awk '
	/ ctlchart_limit: .* keys=dev:u32 sector:u64$/ { known = 1 }
	/ ctlchart_alarm: / && !known { exit 1 }' text ||
		die "$1: no limit event before the first alarm"
	awk '
	match($0, /\[[0-9]+\]/) { cpu = substr($0, RSTART, RLENGTH) }
	/ block_rq_complete: / { last[cpu] = $0 }
	/ ctlchart_alarm: / {
		sector = $0
		# Keys as words: dev, and two for the sector
		sub(/.* keys=[0-9]* /, "", sector)
		sub(/ 0$/, "", sector)
		if (last[cpu] !~ " " sector " \\+ 8 ") { print "not after its event: " $0; bad = 1 }
		last[cpu] = ""
	}
	END { exit bad }' text || {
		cat text
		die "$1: alarms do not follow their events"
	}
}

# 40 fast reads and 6 slow ones, with a limit between them. A fast read that was slow by its
# reader's clock (the machine is busy) may alarm as well.
mixed() {
	grep -q '(common_pid' "$complete/filter" || die "trace-cmd added no terms: $(cat "$complete/filter")"
	same 1 "$(grep -c '^chart: ' "$complete/ctlchart")" charts
	before=$(get starts)
	reads fast.log "$fast" 100 20
	reads slow.log "$slow" 100 3
	# The filter is written again with other terms, as trace-cmd did
	sed 's/$/ \&\& nr_sector < 1000/' "$complete/filter" >again
	cat again >"$complete/filter"
	same $((before + 23)) "$(get starts)" "starts after the filter was written again"
	reads fast.log "$fast" 200 20
	reads slow.log "$slow" 200 3
	same $((before + 46)) "$(get starts)" starts
	same $((before + 46)) "$(get judged)" judged
	check_accounts
	get alarms >alarms.n
	awk '$2 > 100000000' fast.log | wc -l >late
}
record mixed.dat "$(call ucl=100ms)" mixed
alarms=$(cat alarms.n)
late=$(cat late)
if [ "$alarms" -lt 6 ] || [ "$alarms" -gt $((6 + late)) ]; then
	die "$alarms alarms of 6 slow reads"
fi
check_report mixed.dat "$alarms"
same 6 "$(grep -c ' ctlchart_alarm: .* duration=2[0-9]\{8\} ' text)" "alarms of 200 ms"

# A limit that is learnt in one recording
learn() {
	same learning "$(sed -n 's/^state: \([a-z]*\).*/\1/p' "$complete/ctlchart")" "state at first"
	reads learn.log "$fast" 1000 120
	same judging "$(sed -n 's/^state: //p' "$complete/ctlchart")" "state after 120 values"
	get limit >limit.ns
}
named=$(call samples=100 learn=0 name=disk)
record first.dat "$named" learn

# is used in the next one, and judges its first values
use() {
	same judging "$(sed -n 's/^state: //p' "$complete/ctlchart")" "state in the second recording"
	same "$(cat limit.ns)" "$(get limit)" "the limit in the second recording"
	reads slow.log "$slow" 300 2
	same 0 "$(get learnt)" "values learnt in the second recording"
	same 2 "$(get alarms)" "alarms in the second recording"
}
[ "$(cat limit.ns)" -lt 200000000 ] || die "learnt limit: $(cat limit.ns) ns"
record second.dat "$named" use
check_report second.dat 2

# but not by a chart of another name
other() {
	same learning "$(sed -n 's/^state: \([a-z]*\).*/\1/p' "$complete/ctlchart")" "state of another name"
}
record third.dat "$(call samples=100 learn=0 name=other)" other
