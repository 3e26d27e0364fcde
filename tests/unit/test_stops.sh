#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# sanitizers: check-full
# timeout: 300
#
# Installed programs, stopped at random instructions: our frames equal those of elfutils.
# Stops are not judged where elfutils finds no outermost frame, in code without .eh_frame
# (_start of the dynamic linker, _init), or ends before our unwinder, sometimes in lazy
# binding; both are rare.
set -euo pipefail

stops=${STOPS:-1000}
here=$TRACERIG_TOP/tests/unit
# A debugger may be forbidden here, as in some containers
if ! "$UNIT/peer_stops" --stops=1 -- true >out 2>err; then
	grep -q 'PTRACE_SEIZE: Operation not permitted' err || { cat out err; exit 1; }
	echo "no ptrace()"
	exit 77
fi

# try COMMAND...
try() {
	local status=0
	"$UNIT/peer_stops" --stops="$stops" -- "$@" >out || status=$?
	tail -n 1 out
	if [ "$status" -ne 0 ]; then
		grep -E -A 60 '^(short|different) ' out | head -n 200
		return 1
	fi
	[[ $(tail -n 1 out) =~ ^stops\ ([0-9]+)\ equal\ ([0-9]+)\ unsure\ ([0-9]+)\ further\ ([0-9]+)\ short\ 0\ different\ 0\  ]]
	[ "${BASH_REMATCH[1]}" -eq "$stops" ]
	[ $((BASH_REMATCH[2] + BASH_REMATCH[3] + BASH_REMATCH[4])) -eq "$stops" ]
	[ "${BASH_REMATCH[2]}" -ge $((stops * 8 / 10)) ]
}

try bash "$here/stops_work.bash"
try /usr/bin/python3 "$here/stops_work.py"
try gzip -9 -c /bin/bash "$(command -v gdb || command -v git)"
try git diff --no-index --stat -C "$TRACERIG_TOP/tools" "$TRACERIG_TOP/tests"
