#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# A fast disk, and one that needs 200 ms for every read: each slow read alarms, and no read
# alarms that was within the limit by its reader's own clock, which measures more than the
# chart's.  Once with a fixed limit, once with one that is learnt.
. "$TRACERIG_TOP/tests/guest/functions"

need_ctlchart
delay=200000000
null_disk fast irqmode=2 completion_nsec=10000
fast=$disk
null_disk slow irqmode=2 completion_nsec=$delay
slow=$disk

# The value of dev in the events, major << 20 | minor
dev() {
	local IFS=:
	# shellcheck disable=SC2046 # two numbers
	set -- $(cat "/sys/block/${1#/dev/}/dev")
	echo $(($1 << 20 | $2))
}

# Read both disks, and check the alarms against the limit
check() { # limit's name
	local n limit
	: >fast.log
	: >slow.log
	: >"$tracing/trace"
	for n in 1 2 3; do
		reads fast.log "$fast" $((n * 1000)) 100
		reads slow.log "$slow" $((n * 5000)) 5
	done
	limit=$(get limit)
	if [ "$limit" -eq 0 ] || [ "$limit" -ge $delay ]; then
		die "$1 limit: $limit ns"
	fi
	# dev, sector and duration of each alarm; keys as words: dev, and two for the sector
	perl -pe 's/0x([0-9a-f]+)/hex $1/ge if / ctlchart_alarm: /' "$tracing/trace" >trace
	sed -n 's/.* ctlchart_alarm: .* duration=\([0-9]*\) .* keys={\([0-9]*\),\([0-9]*\),0}$/\2 \3 \1/p' \
		trace >alarms
	same "$(grep -c ' ctlchart_alarm: ' trace)" "$(wc -l <alarms)" "alarms that could be read"
	same 15 "$(grep -c . slow.log)" "slow reads"
	same 300 "$(grep -c . fast.log)" "fast reads"
	awk -v slow="$(dev "$slow")" -v fast="$(dev "$fast")" -v limit="$limit" -v delay=$delay '
	FILENAME == "alarms" {
		seen[$1, $2]++
		duration[$1, $2] = $3
		n++
		next
	}
	{ dev = FILENAME == "slow.log" ? slow : fast }
	FILENAME == "slow.log" && !seen[dev, $1] { print "slow, without an alarm: " $0; bad = 1 }
	FILENAME == "slow.log" && duration[dev, $1] < delay { print "the alarm is short: " duration[dev, $1]; bad = 1 }
	FILENAME == "fast.log" && $2 <= limit && seen[dev, $1] { print "an alarm of a fast read: " $0; bad = 1 }
	seen[dev, $1] { found += seen[dev, $1] }
	seen[dev, $1] > 1 { print "two alarms: " $0; bad = 1 }
	seen[dev, $1] && duration[dev, $1] > $2 { print "longer than the reader waited: " $0; bad = 1 }
	END {
		if (found != n) { print n - found " alarms of no read"; bad = 1 }
		exit bad
	}' alarms slow.log fast.log || die "$1 limit of $limit ns: wrong alarms"
	echo "$1 limit of $limit ns: $(wc -l <alarms) alarms"
	# Each alarm follows its event, and there are no other events
	awk '
	/ block_rq_complete: / { n++; last = $0; next }
	/ ctlchart_alarm: / {
		sector = $0
		sub(/.* keys=\{[0-9]*,/, "", sector)
		sub(/,0\}$/, "", sector)
		if (last !~ " " sector " \\+ 8 ") { print "not after its event: " $0; bad = 1 }
		last = ""
		n--
	}
	END { exit bad || n != 0 }' trace || die "$1 limit: events and alarms do not alternate"
}

echo 1 >"$tracing/events/ctlchart/enable"
call ucl=100ms >"$complete/filter"
echo 1 >"$complete/enable"
check fixed
same 315 "$(get judged)" "values judged by the fixed limit"
check_accounts

call samples=100 learn=0 >"$complete/filter"
reads learn.log "$fast" 0 100
same 100 "$(get learnt)" "values learnt"
same judging "$(sed -n 's/^state: //p' "$complete/ctlchart")" "state after 100 values"
check learnt
same 315 "$(get judged)" "values judged by the learnt limit"
check_accounts
