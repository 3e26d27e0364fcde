#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# sanitizers: check-full
# timeout: 180
#
# tracerig explain on made-up cases with known faults and on healthy ones: how often the
# first cause is right, and how sure it is of wrong ones; 200 of each with TRACERIG_FULL.
# When its limits were chosen, no seed from 500000 on had been used.
set -u

# shellcheck source=tests/unit/cli.bash
. "$TRACERIG_TOP/tests/unit/cli.bash"
program=$TOOLS/tracerig
export ARGP_HELP_FMT=rmargin=200

number=30 few=10 # percent that fewer than 200 may be off
[ -z "${TRACERIG_FULL-}" ] || number=200 few=0
score() { # WHAT RECORDING LEAST
	python3 "$TRACERIG_TOP/tests/unit/tracerig_explain.py" "$1" "$2" 500000 $number "$3" >scores 2>&1 ||
		wrong "$*: $(cat scores)"
	cat scores
}
score faults complete $((90 - few))
score healthy complete $((98 - few))
score mixed complete $((90 - few))
# A cause that is not recorded cannot be named, but no other cause may be instead
score faults any $((75 - few))
score healthy any $((98 - few))

# --- the text report
mkdir case
"$UNIT/gen_explain" faults complete 1 case >truth || wrong "gen_explain"
"$program" explain ./case >out || wrong "explain"
right=$(sed -n 's/.* right=//p' truth)
grep -q "^cause: $right.* % of the delay, confidence [0-9]* %$" out || wrong "no cause: $(cat truth out)"
grep -qE '^compared with [0-9]+ normal executions in the recording; expected by chance among [0-9]+ values: [0-9.e-]+ as large as this one$' out || wrong "no comparison: $(cat out)"

# More alarms in the window than the one that is explained
cp -r case several
python3 -c 'import json; o = json.load(open("case/case.json")); o.update(alarms=[dict(o["alarm"], chart=c) for c in "xcy"], nr_alarms=3); json.dump(o, open("several/case.json", "w"))' ||
	wrong "no case of several alarms"
"$program" explain ./several >out || wrong "explain several alarms"
grep -q '^./several: the operation took .*, usually [^(]* (3 alarms; also of charts x, y)$' out || wrong "several alarms: $(head -n 1 out)"
[ "$("$program" explain --format=json ./several | python3 -c 'import json, sys; o = json.load(sys.stdin); print(o["nr_alarms"], *o["charts"])')" = "3 c x y" ] ||
	wrong "several alarms in JSON"

# A gap between two windows is not a loss
mkdir gap
for seed in $(seq 500000 500060); do
	"$UNIT/gen_explain" faults any "$seed" gap | grep -q lost || continue
	"$program" explain ./gap >out || wrong "explain with losses"
	grep -q '^doubt: events are lost at [0-9]* place' out || continue
	! grep -q 'nothing was recorded at' out || continue
	BETWEEN_WINDOWS=1 "$UNIT/gen_explain" faults any "$seed" gap >truth
	"$program" explain ./gap >between || wrong "explain between windows"
	! grep -q '^doubt: events are lost' between || wrong "seed $seed: lost between windows: $(cat between)"
	grep -q '^doubt: nothing was recorded at [0-9]* places* .* between two windows; no events are lost there$' between && break
done
grep -q 'between two windows' between || wrong "no recording has a gap between windows"

# One request is one
mkdir one
"$UNIT/gen_explain" faults complete 500007 one >truth || wrong "gen_explain"
"$program" explain ./one >out || wrong "explain one"
grep -q ': 1 other request was issued meanwhile, by task' out || wrong "not one request: $(cat out)"

# A request that waits although the device has none
for seed in 500007 12 33 34 50 51; do
	mkdir -p "queued/$seed"
	"$UNIT/gen_explain" faults complete "$seed" "queued/$seed" >truth || wrong "gen_explain"
	grep -q 'right=queue of device' truth || continue
	"$program" explain --format=json "./queued/$seed" >json || wrong "explain, seed $seed"
	trace-cmd report -R -t "queued/$seed/trace.dat" 2>/dev/null |
		python3 "$TRACERIG_TOP/tests/unit/tracerig_idle.py" "queued/$seed/case.json" json >>idle || wrong "idle time, seed $seed"
done
[ -s idle ] || wrong "no device was idle"

# --- a list by cause: of some seeds whose cause explain finds, and one without
mkdir cases
truth() { # NUMBER WHAT SEED: cases/NUMBER
	mkdir -p "cases/$1"
	"$UNIT/gen_explain" "$2" complete "$3" "cases/$1" | sed 's/.* right=//' >"truth.$1"
	sed -i "s/\"case\":1,/\"case\":$1,/" "cases/$1/case.json"
}
for i in 1 2 3 4 5 7 8; do
	truth $i faults $i
done
truth 9 healthy 1
python3 "$TRACERIG_TOP/tests/unit/tracerig_causes.py" cases 1 2 3 4 5 7 8 9 || wrong "list --causes"
"$program" list --dir=cases --causes >out || wrong "list --causes fails"
for i in 1 2 3 4 5 7 8; do
	awk -v n="$i" 'NF && !/^ / { cause = $0 } $1 == n { print cause }' out >cause
	grep -q "^$(sed 's/[-0-9]*$//' "truth.$i")" cause || wrong "case $i: $(cat cause), not $(cat "truth.$i")"
done
grep -A 3 '^no cause: 1 case$' out | grep -q '^ *9 ' || wrong "case 9 has no cause: $(cat out)"
# A damaged case is reported, and the others are listed
truncate -s 1000 cases/3/trace.dat
"$program" list --dir=cases --causes >out 2>err && wrong "list --causes of a damaged case: status 0"
grep -q '^tracerig list: cases/3/trace.dat:' err || wrong "a damaged case is not reported: $(cat err)"
[ "$(wc -l <err)" -eq 1 ] || wrong "not one line: $(cat err)"
python3 "$TRACERIG_TOP/tests/unit/tracerig_causes.py" cases 1 2 4 5 7 8 9 || wrong "list --causes without case 3"
mkdir none
"$program" list --dir=none --causes >out || wrong "no cases"
[ "$(cat out)" = "none: no cases" ] || wrong "no cases: $(cat out)"

# --- damage, a little of it; tests/fuzz/tracerig does much
TRACERIG_BUILD=$PWD "$TRACERIG_TOP/tests/fuzz/tracerig" 40 1 || wrong "damaged files"

# --- mistakes
expect 2 'missing CASE operand' explain
expect 2 '--format=xml: must be text or json' explain --format=xml ./case
expect 1 '/nosuch/case.json: No such file' explain /nosuch
expect 1 'case/trace.dat/case.json: Not a directory: a case is a directory; tar -x unpacks' explain case/trace.dat
refused() { # PATTERN SED-SCRIPT
	mkdir -p other
	cp case/trace.dat other
	sed "$2" case/case.json >other/case.json
	expect 1 "$1" explain ./other
}
refused 'its value is not a duration' 's/"unit":"ns"/"unit":""/'
refused 'its value is not a duration' 's/"start":[0-9]*/"start":0/'
refused 'its value is not a duration' 's/"start":[0-9]*,"value":[0-9]*/"start":9000000000000000000,"value":0/'
refused 'thread or request is unknown' 's/"keys":"[^"]*"/"keys":"irq=7"/'
rm other/trace.dat
cp case/case.json other
expect 1 'other/trace.dat: No such file' explain ./other
exit "$failed"
