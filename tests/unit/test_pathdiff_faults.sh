#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
# sanitizers: check-full
#
# pathdiff on made-up traces with a fault of each kind in a function drawn at random, and on
# healthy ones, idle and loaded: how often the first cause and its confidence are right, and how
# often a healthy one has none.  A few of each here; 1,000, and 400 healthy ones, with
# TRACERIG_FULL.
set -u

here=$(dirname "$(realpath "$0")")
kinds=12 failed=0

# trials FIRST STEP NUMBER [busy|packets]: the truth and the result of each seed
trials() {
	local seed option
	for ((seed = $1; seed < $1 + $2 * $3; seed += $2)); do
		"$UNIT/gen_faults" "$seed" good.dat bad.dat "${@:4}" >truth || return 1
		option=()
		! grep -q baseline=1 truth || option=(--baseline good.dat)
		"$TOOLS/pathdiff" --jobs=1 --format=json "${option[@]}" bad.dat >out.json 2>>notes || return 1
		sed "s/^/seed=$seed /" truth
		cat out.json
	done
}

score() { # WHAT FIRST STEP NUMBER [busy|packets]
	trials "${@:2}" >all || { echo "wrong: $1: $(tail -n 1 notes)"; failed=1; }
	python3 "$here/pathdiff_faults.py" -v <all >score || { echo "wrong: $1"; failed=1; }
	cat score
}

faults=60 healthy=50
if [ -n "${TRACERIG_FULL-}" ] && [ "${TOOLS%-san/bin}" = "$TOOLS" ]; then
	faults=1000 healthy=400
fi
score faults 2400 1 "$faults"
score healthy 0 "$kinds" "$healthy"
# Few and long delays among many short ones, in the function with most of the time: none
# was named when only the numbers of executions counted
score "long delays" 625 24 2 busy
score "long delays" 1477 72 2 busy
# Long softirqs of a kind that is rare, where another kind has 40 % of the normal time: none
# was named, since all interrupts counted as one place
score "timers among packets" 6 12 10 packets
score "healthy ones with packets" 0 12 10 packets
# tasklets NUMBER WANTED SEED [busy]: NUMBER executions have a long softirq that no other has
tasklets() {
	local got
	python3 "$here/softirqs_text.py" "$3" 0 "${@:4}" >good.txt
	python3 "$here/softirqs_text.py" "$((100 + $3))" "$1" "${@:4}" >bad.txt
	"$TOOLS/pathdiff" --format=json --baseline good.txt bad.txt >out.json 2>notes || failed=1
	got=$(python3 "$here/pathdiff_ask.py" out.json '[x["function"] for x in r["causes"] if x["named"]]')
	[ "$got" = "$2" ] || { echo "wrong: softirqs, $1 of 500${4:+ on a busy host}: $got"; failed=1; }
}
slow="['softirq TASKLET, most of it in slow_tasklet()']"
tasklets 0 "[]" 1
tasklets 15 "$slow" 1
# An interrupt that comes once in a recording, on average, is in two executions of one in four,
# and in none of one in three
for seed in 2 3 4; do
	tasklets 2 "[]" "$seed" busy
	tasklets 3 "$slow" "$seed" busy
done
tasklets 2 "[]" 1
"$TOOLS/pathdiff" --brief --baseline good.txt bad.txt >out || failed=1
grep -q '^Not decided: .* % of the delay, but 2 slow executions may be there by chance: record more\.$' out ||
	{ echo "wrong: two softirqs in the text: $(cat out)"; failed=1; }
exit "$failed"
