#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# sanitizers: check-full
#
# pathdiff against traces whose truth is known: the causes it names, the executions it skips,
# each format, and its messages for bad input.
set -u

pathdiff=$TOOLS/pathdiff
# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"

truth() {
	sed -n "s/^$1=//p" truth
}

# asks FILE EXPRESSION: a Python expression of the result r and its first cause c
asks() {
	python3 "$TRACERIG_TOP/tests/unit/pathdiff_ask.py" "$@"
}

# names KIND WANTED [OPTION...]: the first cause of a trace, and its executions
names() {
	local kind=$1 wanted=$2 got
	shift 2
	"$UNIT/gen_paths" "$kind" "$kind.dat" 1000 >truth || exit 1
	"$pathdiff" --format=json "$@" "$kind.dat" >out.json 2>err || wrong "$kind: $(cat err)"
	got=$(asks out.json '"%s %s %s" % (c["kind"], c["function"], c.get("caller", "-"))')
	[ "$got" = "$wanted" ] || wrong "$kind: $got instead of $wanted"
	[ "$(asks out.json 'r["trace"]["executions"]')" = "$(truth executions)" ] || wrong "$kind: executions"
	[ "$kind" = irq ] || [ "$(asks out.json 'c["executions"]')" = "$(truth slow)" ] || wrong "$kind: executions of the cause"
	# 5 ms each, exact to the rounding of floats
	[ "$kind" = irq ] || [ "$kind" = tail ] ||
		[ "$(asks out.json '4999000 < c["self"] < 5010000')" = True ] || wrong "$kind: self time"
}

names slow "slow f4 -"
[ "$(asks out.json '(r["patterns"]["normal"], r["patterns"]["slow"], r["patterns"]["slow_to_normal"][0])')" = "(1, 1, 1)" ] ||
	wrong "slow: patterns"
names big "slow f4 -"
names extra "extra f9 -"
[ "$(asks out.json '(c["normal_self"], c["factor"], c["worst"]["length"], c["worst"]["common"])')" = "(0, 1000000.0, 6, 5)" ] ||
	wrong "extra: path"
names wait "wait schedule io_wait"
[ "$(asks out.json '(c["wait"]["kind"], [w["name"] for w in c["wait"]["who"]], r["trace"]["sleep_time"])')" = \
	"('blocked', ['irq disk0'], 'on')" ] || wrong "wait: the waker"
names off "wait schedule io_wait"
[ "$(asks out.json 'r["trace"]["sleep_time"]')" = off ] || wrong "off: sleep-time"
# against the recording's own options: with such a limit, 50 us or 5 ms less do not matter
"$pathdiff" --sleep-time=on --format=json off.dat >on.json || wrong "off: --sleep-time"
[ "$(asks on.json 'r["limit"]["longest"] < 100000')" = True ] || wrong "--sleep-time=on"
names task "wait schedule io_wait"
[ "$(asks out.json '[(w["name"], w["stack"]) for w in c["wait"]["who"]]')" = "[('waker', ['wake_it', 'ksys_read'])]" ] ||
	wrong "task: the waker"
names lock "wait schedule lock_it"
[ "$(asks out.json '(c["wait"]["lock"], c["wait"]["who"][0]["name"], c["extra"])')" = "('big_lock', 'waker', True)" ] || wrong "lock: which"
# A long computation is preempted because it is long
names long "slow f4 -"
[ "$(asks out.json '(8e6 < c["preempted"] < 8.01e6, c["explained"] > .99)')" = "(True, True)" ] || wrong "long: the rest"
names preempt "wait schedule io_wait"
[ "$(asks out.json '(c["wait"]["kind"], c["wait"]["who"][0]["name"])')" = "('preempted', 'victim')" ] ||
	[ "$(asks out.json '(c["wait"]["kind"], c["wait"]["who"][0]["name"])')" = "('preempted', 'other')" ] || wrong "preempt: the waker"
[ "$(asks out.json 'c["overhead"]')" = False ] || wrong "preempt: overhead"
names recorder "wait schedule io_wait"
[ "$(asks out.json '(c["wait"]["who"][0]["name"], c["overhead"])')" = "('trace-cmd', True)" ] || wrong "recorder: overhead"
"$pathdiff" --brief recorder.dat | grep -q '^   overhead of recording: ' || wrong "recorder: text"
names late "wait f3 f1"
[ "$(asks out.json '(c["wait"]["kind"], c["wait"]["who"][0]["name"])')" = "('preempted', 'other')" ] || wrong "late: the waker"
names lateirq "interrupt irq disk0, most of it in handle_disk() -"
[ "$(asks out.json 'len(r["causes"])')" = 1 ] || wrong "lateirq: a second cause"
names irq "interrupt irq disk0, most of it in handle_disk() -"
[ "$(asks out.json 'r["patterns"]["normal"]')" = 1 ] || wrong "irq: interrupts are in the paths"
# A hard interrupt, a softirq and an NMI are separate causes, even if they interrupt the same
# call
contexts() { # KIND CAUSE
	"$UNIT/gen_paths" "$1" "$1.dat" 1000 >truth || exit 1
	"$pathdiff" --format=json "$1.dat" >out.json 2>err || wrong "$1: $(cat err)"
	got=$(asks out.json '[(c["function"], c["executions"]) for c in r["causes"]]')
	[ "$got" = "[('$2', $(truth slow))]" ] || wrong "$1: $got"
}
contexts hard "hard interrupt, __sysvec_apic_timer_interrupt(), most of it in hrtimer_interrupt()"
contexts inner "hard interrupt, __sysvec_apic_timer_interrupt(), most of it in hrtimer_interrupt()"
contexts soft "softirq NET_RX, most of it in net_rx_action()"
contexts nmi "NMI, nmi_handle()"
names ticks "slow f4 -"
names tail "slow f4 -"
[ "$(asks out.json '9998000 < c["self"] < 10010000')" = True ] || wrong "tail: self time of both calls"
names equal "slow twin#2 -"
names ends "slow f4 -"
[ "$(asks out.json '(r["trace"]["began_before"], r["trace"]["not_ended"])')" = "(1, 1)" ] || wrong "ends: incomplete ones"
names lost "slow f4 -"
lost=$(truth lost)
[ "$(asks out.json 'r["trace"]["broken"]')" = "$(truth lost)" ] || wrong "lost: broken ones"
grep -q "^pathdiff: lost.dat: records were lost in $(truth lost) gaps$" err || wrong "lost: $(cat err)"

# Healthy ones, of several seeds, alone and beside another one
for seed in 1 2 3 4 5; do
	"$UNIT/gen_paths" healthy h$seed.dat 2000 $seed >truth
	for floor in 0 10; do
		"$pathdiff" --brief --floor=$floor h$seed.dat | grep -q '^Looks healthy:' || wrong "healthy $seed"
		"$pathdiff" --brief --floor=$floor --baseline h1.dat h$seed.dat | grep -q '^Looks healthy:' ||
			wrong "healthy $seed with a baseline"
	done
done
# Above the limit of a chart, but with too little delay to matter
"$pathdiff" --brief --floor=0 h1.dat >out
grep -qE '^Looks healthy: [0-9,]+ slow executions, no more than by chance\.$' out || wrong "--floor=0: $(cat out)"
"$pathdiff" --brief h1.dat >out
grep -q '^Looks healthy: no execution is above the limit\.$' out || wrong "--floor: $(cat out)"
grep -q '^limit .* (the floor, 10 % above the centre line ' out || wrong "--floor: $(cat out)"
# As on a busy host: nothing stands out
"$UNIT/gen_paths" busy busy.dat 2000 >truth
"$pathdiff" --brief busy.dat >out || wrong "busy"
grep -q '^Nothing stands out: the delay is spread over 100 functions, as on a busy host\.$' out || wrong "busy: $(cat out)"
grep -q '^1\. ' out && wrong "busy: a cause"
"$pathdiff" --format=json busy.dat >out.json || wrong "busy"
[ "$(asks out.json '(c, r["spread"], r["causes_found"], r["limit"]["healthy"])')" = "(None, True, 100, False)" ] || wrong "busy: json"
# Two outliers of 123 s in a baseline, and faults of 5 ms; then outliers that are the load
"$UNIT/gen_paths" outliers outliers.dat 1554 >truth
"$UNIT/gen_paths" slow faults.dat 1554 7 >truth
"$pathdiff" --format=json --baseline outliers.dat faults.dat >out.json 2>err || wrong "outliers"
[ "$(asks out.json '(c["function"], c["executions"], r["limit"]["set_aside"], r["limit"]["far"])')" = \
	"('f4', $(truth slow), 2, False)" ] || wrong "outliers: $(asks out.json '(c, r["limit"])')"
[ ! -s err ] || wrong "outliers: a warning"
"$pathdiff" --brief --baseline outliers.dat outliers.dat | grep -q '^Looks healthy:' || wrong "outliers: healthy"
"$pathdiff" --brief --baseline outliers.dat faults.dat | grep -q 'of outliers.dat, without 2 outliers)' || wrong "outliers: text"
"$UNIT/gen_paths" often often.dat 1554 >truth
"$pathdiff" --format=json --baseline often.dat faults.dat >out.json 2>err || wrong "often"
[ "$(asks out.json '(r["limit"]["set_aside"], r["limit"]["far"])')" = "(0, True)" ] || wrong "often: $(asks out.json 'r["limit"]')"
grep -q '^pathdiff: faults.dat: the limit is [0-9,]* times the centre line, ' err || wrong "often: $(cat err)"
"$pathdiff" --brief --baseline often.dat faults.dat | grep -q '^warning: the limit is [0-9,]* times the centre line, ' || wrong "often: text"
# What a report says
"$pathdiff" extra.dat >out || wrong "words"
grep -q ' time of 50 slow executions, 100 % of all delay; explains 100 % of the delay of these executions$' out || wrong "words: $(cat out)"
grep -qE 'confidence|left out|1 (patterns|executions|times)|more causes' out && wrong "words: $(cat out)"
grep -qE '^ +all slow +50 ' out || wrong "words: $(cat out)"
"$pathdiff" --brief lost.dat | grep -q "^  $lost executions skipped; records lost in $lost gaps " ||
	wrong "lost: $("$pathdiff" --brief lost.dat)"
"$UNIT/gen_paths" counted counted.dat 1000 >truth
"$pathdiff" --brief counted.dat | grep -qF "  $lost executions skipped; $(LC_ALL=C awk -v n=$((lost * 475085)) \
	'BEGIN { printf "%d,%03d,%03d", n / 1000000, n % 1000000 / 1000, n % 1000 }') records lost in $lost gaps " ||
	wrong "counted: $("$pathdiff" --brief counted.dat)"
trace-cmd convert --file-version 7 --compression any -i counted.dat -o counted7.dat >/dev/null 2>&1 || wrong "convert"
"$pathdiff" --format=json counted7.dat >out.json 2>err || wrong "counted7"
[ "$(asks out.json 'r["trace"]["lost"]')" = $((lost * 475085)) ] || wrong "counted7: $(asks out.json 'r["trace"]')"
"$pathdiff" --brief ends.dat | grep -q '^  1 execution skipped that ended after the recording$' || wrong "ends: text"
# A baseline of the same functions, and the entry by name
"$pathdiff" --format=json --entry=f3 --baseline h1.dat slow.dat >out.json || wrong "--baseline"
[ "$(asks out.json '(c["function"], r["entry"], r["baseline"]["executions"])')" = "('f4', 'f3', 2000)" ] || wrong "--baseline, --entry"
# The same through libtracecmd
trace-cmd convert --file-version 7 --compression any -i slow.dat -o slow7.dat >/dev/null 2>&1 || wrong "convert"
for file in slow slow7; do
	"$pathdiff" --format=json $file.dat | sed 's/"file":.*//' >$file.json || wrong "$file"
done
cmp -s slow.json slow7.json || wrong "a compressed file differs"
"$pathdiff" --jobs=1 wait.dat | sed 1d >one
"$pathdiff" --jobs=4 wait.dat | sed 1d >four
cmp -s one four || wrong "--jobs"

# --- formats
"$pathdiff" --format=csv extra.dat >out.csv || wrong "csv"
python3 "$TRACERIG_TOP/tests/unit/pathdiff_csv.py" || wrong "csv"
"$pathdiff" --format=folded extra.dat >out.folded || wrong "folded"
grep -qE '^ksys_read;f1;f3;f9 0\.000 [0-9.]+$' out.folded || wrong "folded: $(head -n 3 out.folded)"
grep -qvE '^[^ ]+ [0-9.]+ [0-9.]+$' out.folded && wrong "folded: a line of another form"
"$pathdiff" --format=chrome wait.dat >out.json || wrong "chrome"
python3 "$TRACERIG_TOP/tests/unit/pathdiff_chrome.py" || wrong "chrome"

# --- the paper's numbers
"$UNIT/gen_paths" paper paper.dat 200 >truth || exit 1
"$pathdiff" --limit=10ms --format=json paper.dat >out.json || wrong "paper"
[ "$(asks out.json '(c["function"], c["executions"], c["patterns"], r["patterns"]["normal"], r["patterns"]["slow"], len(r["causes"]))')" = \
	"('schedule', 2266, 100, 67, 100, 1)" ] || [ "$(asks out.json '(c["function"], c["executions"], r["patterns"]["normal"], r["patterns"]["slow"])')" = \
	"('schedule', 2266, 67, 100)" ] || wrong "paper: $(asks out.json '(c["function"], c["executions"], c["patterns"], r["patterns"]["normal"], r["patterns"]["slow"])')"
[ "$(asks out.json '85 < c["factor"] < 95 and c["share"] > 0.9')" = True ] || wrong "paper: factor"
rm -f paper.dat

# --- bad input: one line, and status 1
says() { # TEXT FILE [OPTION...]
	local text=$1 file=$2
	shift 2
	"$pathdiff" "$@" "$file" >out 2>err
	[ $? -eq 1 ] || wrong "$file $*: status"
	if [ "$(wc -l <err)" -ne 1 ] || ! grep -qF -- "$text" err; then
		wrong "$file $*: $(cat err)"
	fi
	[ ! -s out ] || wrong "$file $*: a result"
}
: >empty.dat
head -c 300000 slow.dat >cut.dat
"$UNIT/gen_paths" exits exits.dat >truth
"$UNIT/gen_paths" back back.dat >truth
"$UNIT/gen_paths" none none.dat >truth
"$UNIT/gen_paths" slow few.dat 8 >truth
"$UNIT/gen_tracedat" block block.dat 100 200 >truth
says 'pathdiff: empty.dat: empty file' empty.dat
printf 'perf.data or so\0' >binary
says 'pathdiff: binary: not a trace.dat file' binary
says 'pathdiff: cut.dat:' cut.dat
says 'truncated' cut.dat
says 'pathdiff: block.dat: has no function_graph events; record with' block.dat
says 'pathdiff: none.dat: has no function_graph events; record with' none.dat
says 'has only returns of functions' exits.dat
says 'its clock is not monotonic' back.dat
says 'has no complete execution of nosuch (0 began before the recording, 0 ended after it, 0 lack records): record it (trace-cmd record -g), or give --entry a function' slow.dat --entry=nosuch
says '8 executions are too few for a limit: give --limit' few.dat
says 'No such file or directory' missing.dat
says 'pathdiff: missing.dat: No such file or directory' slow.dat --baseline missing.dat
"$pathdiff" --brief --limit=1ms few.dat >out 2>err || wrong "--limit with few"
"$UNIT/gen_paths" nosyms nosyms.dat >truth
"$pathdiff" nosyms.dat >out 2>err || wrong "nosyms"
[ "$(cat err)" = "pathdiff: nosyms.dat: has no symbols: functions are shown by address" ] || wrong "nosyms: $(cat err)"
# --- usage: status 2
for option in --format=xml --limit=fast --floor=-1 --common=101 --sleep-time=maybe --jobs=0 --nothing; do
	"$pathdiff" "$option" slow.dat >out 2>err
	[ $? -eq 2 ] || wrong "$option: status"
done
"$pathdiff" >out 2>err
[ $? -eq 2 ] || wrong "no file: status"
"$pathdiff" --help | grep -q -- '--baseline=GOOD' || wrong "--help"
# -o replaces the file only on success
echo old >result
"$pathdiff" -o result empty.dat 2>err
[ "$(cat result)" = old ] || wrong "-o after a failure"
"$pathdiff" -o result slow.dat || wrong "-o"
grep -q 'f4() takes longer' result || wrong "-o: the result"

# A thread has the name of its time: after an exec, after a rename, as sched_switch says
for how in exec rename switch; do
	"$UNIT/gen_names" names.dat $how || exit 1
	"$pathdiff" names.dat >out 2>err || wrong "names after $how"
	if ! grep -q 'by wl-130' out || grep -q 'g4\.sh' out; then wrong "names after $how: $(cat out)"; fi
	grep -q 'while the CPU ran hog' out || wrong "names after $how: $(cat out)"
done

exit "$failed"
