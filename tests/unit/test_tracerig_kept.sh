#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Which windows are kept when several charts have alarms in them: the leading alarm's group
# decides, and so do the first and the worst alarm of each other chart.
set -u

# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"

# windows ALSO FROM VALUE...: windows whose leading alarm is of the chart disk
windows() {
	local also=$1 from=$2
	shift 2
	ALSO=$also FROM=$from "$UNIT/gen_cases" cases "${room:-1000000000}" "$@" >made 2>replaced || wrong "gen_cases: $(cat made)"
}
kept() { # WANTED WHAT
	local got
	got=$(cd cases && echo [0-9]*)
	[ "$got" = "$1" ] || wrong "$2: kept $got instead of $1"
}

windows "" 0 reader=700 reader=10
kept 1 "the first window, and one alike"
windows wakeup 5 reader=10
kept "1 2" "the first alarm of a chart"
windows wakeup 5 reader=10
kept "1 2" "as bad as one that is kept"
windows wakeup 6 reader=11
kept "1 2 3" "the worst alarm of a chart"
windows request.80,wakeup 4 reader=800
kept "1 2 3 4" "the worst case, with the first alarm of another chart"
windows "" 0 reader=900
kept "1 2 3 4 5" "the worst case does not replace the only one of another chart"
windows request.80 5 reader=1000
kept "1 2 3 4 6" "a worse one replaces a case that is kept for nothing else"
grep -qx 'case 6 replaces case 5' replaced || wrong "what was replaced: $(cat replaced)"
# --keep: cases 2 and 4 are kept for nothing any more
room=$(($(du -sb cases/[1346] | awk '{ n += $1 } END { print n }') + $(stat -c %s cases/1/trace.dat) / 2))
room=$room windows "" 0 writer=1
kept "1 3 6 7" "those that are the worst of a chart stay longer"

# Children are waited for, whatever the program that starts tracerig does with its own
env --ignore-signal=CHLD "$TOOLS/tracerig" pack --dir cases 1 -o one.tar 2>err || wrong "pack without SIGCHLD: $(cat err)"
tar -tf one.tar >/dev/null || wrong "no archive without SIGCHLD"
exit "$failed"
