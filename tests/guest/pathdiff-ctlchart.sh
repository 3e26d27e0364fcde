#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# module: pathfault
# timeout: 120
#
# Only the paths of slow calls are recorded, as pathdiff's man page shows: ctlchart() with
# from=start on the system call's exit, and function_graph in the same buffer.
. "$TRACERIG_TOP/tests/guest/functions"

need_ctlchart
pathdiff=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/pathdiff
hits=/sys/module/pathfault/parameters/hits
gcc -O1 -o pathload "$TRACERIG_TOP/tests/guest/pathload.c"

trace-cmd record -q --compression none -b 20000 -o good.dat -p function_graph -g ksys_read \
	./pathload pipe 500 >log 2>&1 || die "$(cat log)"
insmod "$TRACERIG_MODULES/pathfault/pathfault.ko" function=pipe_read mode=spin usec=20000 permille=20 comm=pathload
trace-cmd record -q --compression none -b 20000 -o slow.dat -p function_graph -g ksys_read \
	-e syscalls:sys_exit_read -f 'ctlchart(sys_enter_read, common_pid, ucl=10ms, from=start)' -e ctlchart \
	./pathload pipe 1500 >log 2>&1 || die "$(cat log)"
faults=$(cat $hits)
rmmod pathfault

"$pathdiff" --format=json --baseline good.dat --limit=10ms slow.dat >result.json
read -r executions named count others < <(python3 "$TRACERIG_TOP/tests/guest/pathdiff_named.py")
echo "$faults faults, $executions executions recorded, $named in $count${others:+, $others}"
same slow:pipe_read "$named" "the cause"
# A host that stops the guest in pipe_read makes it slow as well: trace-cmd counts such calls
slow=$(trace-cmd report -O fgraph:tailprint=1 slow.dat 2>log |
	awk '/} \/\* pipe_read \*\// && match($0, /[0-9.]+ us/) && substr($0, RSTART) + 0 >= 5000' | wc -l)
echo "$slow slow calls of pipe_read, by trace-cmd"
# A busy host also stops the guest elsewhere, or its interrupts take longer than the fault
[ $((10 * count)) -ge $((9 * faults)) ] || die "less than 90 % of the faults have the cause"
[ "$count" -le "$slow" ] || die "more executions of the cause than slow calls"
# Few of the other 1500 executions are recorded
[ "$executions" -lt $((2 * faults + 20)) ] || die "$executions executions were recorded"
