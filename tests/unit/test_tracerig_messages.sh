#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
#
# What goes wrong for a user of tracerig is said in one line, with what to do about it.
set -u

# shellcheck source=tests/unit/cli.bash
. "$TRACERIG_TOP/tests/unit/cli.bash"
program=$TOOLS/tracerig

"$UNIT/gen_cases" cases 1000000000 reader=300 writer=800 reader=900 >made || wrong "gen_cases: $(cat made)"
mkdir -p real/1
"$UNIT/gen_explain" faults complete 1 real/1 >truth || wrong "gen_explain: $(cat truth)"

# --- standard output that cannot be written: one line, and failure
full() { # PROGRAM ARGUMENTS...
	"$@" >/dev/full 2>err
	status=$?
	if [ $status -ne 1 ] || [ "$(wc -l <err)" -ne 1 ] ||
		! grep -qE '^[a-z]+( [a-z]+)?: standard output: cannot write the result: .*No space left on device$' err; then
		wrong "${*##*/} >/dev/full: status $status"
	fi
}
for args in "list --dir cases" "list --dir cases --format=json" "list --dir real" "list --dir real --causes" "explain --dir real 1" "explain --dir real 1 --format=json" "open --dir real 1" "open --dir real 1 -o -" "verify --dir cases 1" \
	"pack --dir cases 1 -o -" "doctor" "doctor --format=json" "watch disk --print" --help --version "explain --help"; do
	# shellcheck disable=SC2086 # its words
	full "$program" $args
done
for tool in ctlchart ioreq lbrtime pathdiff schedz; do
	full "$TOOLS/$tool" --help
	full "$TOOLS/$tool" --version
done
full "$TOOLS/ctlchart" sim --help
exit $failed
