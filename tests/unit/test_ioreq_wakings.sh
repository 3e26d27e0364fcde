#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# Wake-ups between threads that share a lock hand no work over: each call is attributed to
# the request that it was made for, or to none.
set -u

ioreq=$TOOLS/ioreq
program=$ioreq
# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"

for seed in 1 2 3; do
	for mode in "threads 0.95" "help 0.6"; do
		# shellcheck disable=SC2086 # two words
		set -- $mode
		"$UNIT/gen_gil" gil.dat 1000 $seed "$1" || exit 1
		"$ioreq" --format=chrome gil.dat >calls.json 2>err || wrong "chrome fails"
		[ ! -s err ] || wrong "messages about a good file"
		python3 "$TRACERIG_TOP/tests/unit/ioreq_wakings.py" "$1" "$2" || wrong "calls of $1, seed $seed"
	done
done
exit $failed
