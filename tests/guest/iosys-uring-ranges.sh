#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
#
# The byte ranges of requests to io_uring and aio on sockets and pipes are those that the program
# finds: partial transfers that are continued, several results of one request, peeks, splices;
# completed by the program, by workers and by a thread that submits.
. "$TRACERIG_TOP/tests/guest/functions"
. "$TRACERIG_TOP/tests/guest/requests_functions"

[ -e "$tracing/events/iosys/io_part" ] || die "this kernel has no io_part"
gcc -O1 -Wall -Wextra -o uringstream "$TRACERIG_TOP/tests/guest/uringstream.c" -luring
ip link set lo up

# Without io_syscall, bytes are moved by threads whose calls are not recorded
for events in "io_request io_part" "io_request io_part io_syscall io_pending"; do
	args=()
	for event in $events; do
		args+=(-e "iosys:$event")
	done
	trace-cmd record -q -b 8192 "${args[@]}" -o all.dat ./uringstream >all.log 2>all.err ||
		die "$(cat all.err)"
	trace-cmd report all.dat >all.txt 2>/dev/null
	"$TRACERIG_TOP/tests/guest/uring_ranges.py" all.log all.txt || die "ranges and bytes differ with $events"
	accounts
done
