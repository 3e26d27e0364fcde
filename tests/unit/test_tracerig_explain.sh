#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# tracerig explain on made-up cases with a fault of each kind, and on healthy ones: how
# often the first cause is right. A few of each here, 200 of each with TRACERIG_FULL.
set -u

# shellcheck source=tests/unit/cli.bash
. "$TRACERIG_TOP/tests/unit/cli.bash"
program=$TOOLS/tracerig
export ARGP_HELP_FMT=rmargin=200
kinds=11

trials() { # SEED...: the truth and the result of each
	local seed
	for seed; do
		rm -rf case && mkdir case || return 1
		"$UNIT/gen_explain" "$seed" case >truth || return 1
		sed "s/^/seed=$seed /" truth
		"$program" explain --format=json ./case || return 1
	done
}

score() { # WHAT SEED...
	trials "${@:2}" >all || wrong "$1: explain failed"
	python3 "$TRACERIG_TOP/tests/unit/tracerig_explain.py" "$1" <all || wrong "$1"
}

number=22
[ -z "${TRACERIG_FULL-}" ] || number=200
faults=() healthy=()
for ((i = 0; ${#faults[@]} < number; i++)); do
	((i % kinds == 0)) || faults+=("$i")
done
for ((i = 0; i < number; i++)); do
	healthy+=($((i * kinds)))
done
score faults "${faults[@]}"
score healthy "${healthy[@]}"

# --- what people read
"$UNIT/gen_explain" 1 case >truth || wrong "gen_explain"
"$program" explain ./case >out || wrong "explain"
grep -q '^cause: waiting for a CPU: hog-88 explains' out || wrong "no cause: $(cat out)"
grep -q '^not seen: .*block:block_rq_issue' out || wrong "what was not seen: $(cat out)"

# --- mistakes
expect 2 'missing CASE operand' explain
expect 2 '--format=xml: must be text or json' explain --format=xml ./case
expect 1 '/nosuch/case.json: No such file' explain /nosuch
head -c 100 case/trace.dat >short.dat && mv short.dat case/trace.dat
expect 1 'trace.dat' explain ./case
sed -i 's/"unit":"ns"/"unit":""/' case/case.json
expect 1 'its value is not a duration' explain ./case
exit "$failed"
