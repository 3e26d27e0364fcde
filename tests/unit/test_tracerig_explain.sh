#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
#
# tracerig explain on made-up cases with known faults and on healthy ones: how often the
# first cause is right, and how sure it is of wrong ones; 200 of each with TRACERIG_FULL.
# No seed from 500000 on was looked at when its limits were chosen.
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
# What is not recorded cannot be named, but nothing else may be instead
score faults any $((75 - few))
score healthy any $((98 - few))

# --- what people read
mkdir case
"$UNIT/gen_explain" faults complete 1 case >truth || wrong "gen_explain"
"$program" explain ./case >out || wrong "explain"
right=$(sed -n 's/.* right=//p' truth)
grep -q "^cause: $right.* % of the delay, confidence [0-9]* %$" out || wrong "no cause: $(cat truth out)"
grep -q '^compared with [0-9]* normal executions' out || wrong "no comparison: $(cat out)"

# --- damage, a little of it; tests/fuzz/tracerig does much
TRACERIG_BUILD=$PWD "$TRACERIG_TOP/tests/fuzz/tracerig" 40 1 || wrong "damaged files"

# --- mistakes
expect 2 'missing CASE operand' explain
expect 2 '--format=xml: must be text or json' explain --format=xml ./case
expect 1 '/nosuch/case.json: No such file' explain /nosuch
refused() { # PATTERN SED-SCRIPT
	mkdir -p other
	cp case/trace.dat other
	sed "$2" case/case.json >other/case.json
	expect 1 "$1" explain ./other
}
refused 'its value is no duration' 's/"unit":"ns"/"unit":""/'
refused 'its value is no duration' 's/"start":[0-9]*/"start":0/'
refused 'its value is no duration' 's/"start":[0-9]*,"value":[0-9]*/"start":9000000000000000000,"value":0/'
refused 'whose time it was is not known' 's/"keys":"[^"]*"/"keys":"irq=7"/'
rm other/trace.dat
cp case/case.json other
expect 1 'other/trace.dat: No such file' explain ./other
exit "$failed"
