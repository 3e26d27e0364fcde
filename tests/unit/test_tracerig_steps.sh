#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# sanitizers: check-full
#
# tracerig explain on recordings that are described event by event (see gen_steps.c): what it
# names is what the events show, and it claims nothing that they do not show.
set -u

# shellcheck source=tests/unit/cli.bash
. "$TRACERIG_TOP/tests/unit/cli.bash"
program=$TOOLS/tracerig
mkdir case

# explains WHAT PATTERN...: the steps from stdin; each pattern is in a line of explain
explains() {
	local what=$1 pattern
	shift
	"$UNIT/gen_steps" case || wrong "$what: no case"
	"$program" explain ./case >out 2>err || wrong "$what: explain fails"
	for pattern; do
		grep -qE -- "$pattern" out || wrong "$what: no '$pattern': $(cat out)"
	done
}

# --- a slow host: what ctlchart writes within a switch comes long after the switch's event
explains 'events within a switch' '^cause: waiting for a CPU: hog-88, 100 % of the delay' <<END
op 1000 9000
switch 1 10 0 0 501
switch 1 20 501 1 0
switch 0 100 1000 1 88
wakes 0 1000 88 0
switch 1 3000 0 0 501
value 1 3150 0 50
switch 1 3200 501 1 0
value 1 3390 501 50
mark 0 8900 88
switch 0 9000 88 1 1000
value 0 9140 88 8000
END
! grep -q 'nothing was recorded' out || wrong "a gap in a switch: $(cat out)"
exit "$failed"
