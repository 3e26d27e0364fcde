#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# vm: --cpus 2
# timeout: 200
#
# tracerig explain names what ran instead and what woke the thread, of a real recording with
# its scheduling events in schedz's blocks alone, with and without the format of these. A watch
# cannot record them.
set -euo pipefail
# shellcheck source=tests/lib.bash
. "$TRACERIG_TOP/tests/lib.bash"
export PATH=$TRACERIG_TOP/build/tools/bin:$PATH

explain() {
	cp -r hog holder "$TRACERIG_OUTPUT" || :
	cat truth out err 2>/dev/null
}

# record OPTION...: trace.dat and truth
record() {
	trace-cmd record -q -C mono -b 4096 "$@" -o trace.dat \
		python3 "$TRACERIG_TOP/tests/guest/blocks_work.py" >truth 2>err || die "trace-cmd: $(cat err)"
	same 2 "$(wc -l <truth)" "slow operations"
	schedz stat trace.dat >out || die "there are no blocks"
	trace-cmd report -R trace.dat >out 2>/dev/null
	! grep -q ' sched_\(switch\|waking\): ' out || die "there are ordinary events as well"
}

# explains PROCESS CAUSE: of the slow operation of PROCESS
explains() {
	local what start end pid by
	read -r what start end pid by < <(grep "^$1 " truth)
	mkdir -p "$what"
	python3 "$TRACERIG_TOP/tests/unit/tracerig_case.py" "$start" "$end" 20000000 40000000 "$pid" >"$what/case.json"
	cp trace.dat "$what"
	tracerig explain "./$what" >out 2>err || die "explain $what"
	[ ! -s err ] || die "explain $what complains: $(cat err)"
	grep -q "^cause: ${2/PID/$by}, [0-9]* % of the delay, confidence [0-9]* %$" out || die "another cause of $what"
	! grep -q 'not seen: the recording has no event sched:' out || die "events are not seen"
	tracerig open -o page.html "./$what" || die "open $what"
	grep -q '"sched:sched_switch"' page.html || die "the page has no switches"
}

for how in "-e schedz:schedz_block" "-e sched -O schedz"; do
	# shellcheck disable=SC2086 # options
	record $how
	explains hog 'waiting for a CPU: hog-PID'
	explains holder 'blocked until holder-PID woke it'
done

! timeout 60 tracerig watch --dir=cases disk -e schedz:schedz_block >out 2>err || die "a watch with blocks"
grep -q 'schedz:schedz_block.*: Device or resource busy' err || die "not reported: $(cat err)"
