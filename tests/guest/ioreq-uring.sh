#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# part: check-full
# timeout: 240
#
# A proxy that does all I/O by requests to io_uring, some with several results, between real
# clients and a server: ioreq finds all requests, as both sides saw them, and the parent of each
# request to the server is the one that the proxy logged.
. "$TRACERIG_TOP/tests/guest/functions"

clients=24	# clients at the same time
each=12

ioreq=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/ioreq
gcc -O1 -Wall -Wextra -o uringproxy "$TRACERIG_TOP/tests/guest/uringproxy.c" -luring
ip link set lo up

for mode in plain defer sqpoll; do
	trace-cmd record -q -b 16384 -e iosys:io_syscall -e iosys:io_request -e iosys:io_part -o trace.dat \
		python3 -B "$TRACERIG_TOP/tests/guest/ioreq_uring_rig.py" $mode $clients $each >out 2>&1 || die "$mode: $(cat out)"
	"$ioreq" --format=csv --requests trace.dat >requests.csv || die "ioreq fails"
	"$ioreq" --format=otlp trace.dat >links.otlp || die "ioreq fails"
	PYTHONPATH=$TRACERIG_TOP/tests/unit python3 -B "$TRACERIG_TOP/tests/guest/ioreq_uring_check.py" $mode $clients $each 0.95 || die "$mode: the requests are not the true ones" "$(cat requests.csv)"
done
