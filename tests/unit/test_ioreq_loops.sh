#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 360
# sanitizers: check-full
#
# The parents that ioreq finds for downstream requests of an event loop with more than 64
# requests at a time, and of a thread pool, against the truth.
set -u

ioreq=$TOOLS/ioreq
program=$ioreq
# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"

hosts=(web=web.dat app=app.dat db=db.dat)

# A second seed with sanitizers is for make check-full
seeds=(1 2)
[ "${TOOLS%-san/bin}" = "$TOOLS" ] || [ -n "${TRACERIG_FULL-}" ] || seeds=(1)
for seed in "${seeds[@]}"; do
	for mode in "loop 0.95" "batch 0.95" "proxy 0.95" "answers 0.95" "shuffle 0" "pool 0.95" "offload 0.95" "queue 0.4" "relay 1" "few 0.2" "router 0.95" \
		"uring 0.95" "mix 0.75" "parts 0.95"; do
		# shellcheck disable=SC2086 # two words
		set -- $mode
		"$UNIT/gen_loops" web.dat app.dat db.dat 3000 "$seed" "$1" >truth || exit 1
		"$ioreq" --format=otlp "${hosts[@]}" >links.otlp 2>err || wrong "otlp fails"
		"$ioreq" --format=otlp --by=client "${hosts[@]}" >client.otlp 2>>err || wrong "otlp with clients fails"
		"$ioreq" --format=json --by=client,host,call "${hosts[@]}" >files.json 2>>err || wrong "--by=client fails"
		[ ! -s err ] || wrong "messages about good files"
		python3 -B "$TRACERIG_TOP/tests/unit/ioreq_loops_links.py" "$1" "$2" || wrong "links of $1, seed $seed"
	done
done

# Work of the loop for other requests is not a step of the request that waits
"$UNIT/gen_loops" web.dat app.dat db.dat 3000 3 loop >truth || exit 1
"$ioreq" --paths --format=json "${hosts[@]}" >paths.json || wrong "--paths fails"
python3 "$TRACERIG_TOP/tests/unit/ioreq_loops_steps.py" || wrong "what clients waited for is not right"
# A thread outside of calls does not compute for each of its requests at the same time
for mode in loop batch queue few; do
	"$UNIT/gen_loops" web.dat app.dat db.dat 1000 3 $mode >truth || exit 1
	"$ioreq" --paths --format=json "${hosts[@]}" >paths.json || wrong "--paths of $mode fails"
	python3 "$TRACERIG_TOP/tests/unit/ioreq_loops_outside.py" $mode || wrong "a loop computes for longer than it is outside of calls ($mode)"
done
# --- requests that wait for a connection of a pool: it says so, and only then
"$UNIT/gen_loops" web.dat app.dat db.dat 500 1 few >truth || exit 1
"$ioreq" --paths "${hosts[@]}" >few.txt || wrong "--paths of a pool fails"
grep -q '^  [0-9,]* of the ambiguous ones are of threads whose requests seem to wait for one another' few.txt || wrong "text does not say that requests wait: $(head -n 8 few.txt)"
"$UNIT/gen_loops" web.dat app.dat db.dat 500 1 loop >truth || exit 1
"$ioreq" --paths "${hosts[@]}" >loop.txt || wrong "--paths of a loop fails"
! grep -q 'wait for one another' loop.txt || wrong "text says that requests wait: $(head -n 8 loop.txt)"
exit $failed
