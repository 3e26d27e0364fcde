#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
#
# A proxy that does everything by requests to io_uring, several results of one among them,
# between real clients and a server: all of what they ask is found, as both sides saw it, and
# which request to the server is for which one of a client's is what the proxy says.
. "$TRACERIG_TOP/tests/guest/functions"

clients=24	# that ask at the same time
each=12

ioreq=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/ioreq
gcc -O1 -Wall -Wextra -o uringproxy "$TRACERIG_TOP/tests/guest/uringproxy.c" -luring
ip link set lo up

for mode in plain defer sqpoll; do
	trace-cmd record -q -b 16384 -e iosys:io_syscall -e iosys:io_request -e iosys:io_part -o trace.dat \
		python3 -B "$TRACERIG_TOP/tests/guest/ioreq_uring_rig.py" $mode $clients $each >out 2>&1 || die "$mode: $(cat out)"
	"$ioreq" --format=csv --requests trace.dat >requests.csv || die "ioreq fails"
	"$ioreq" --format=otlp trace.dat >links.otlp || die "ioreq fails"
	PYTHONPATH=$TRACERIG_TOP/tests/unit python3 -B "$TRACERIG_TOP/tests/guest/ioreq_uring_check.py" $mode $clients $each 0.95 || die "$mode: requests are not what they were" "$(cat requests.csv)"
done
