#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# Requests to a server that sends requests to another server, each in a network namespace,
# joined by veth: ioreq finds the parents, and the critical paths. The programs write logs, with
# numbers that are not in the trace.
. "$TRACERIG_TOP/tests/guest/functions"

ioreq=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/ioreq
for host in web app db; do
	ip netns add $host
	ip -n $host link set lo up
done
ip link add a1 netns web type veth peer name a2 netns app
ip link add b1 netns app type veth peer name b2 netns db
address() { # HOST INTERFACE ADDRESS
	ip -n "$1" addr add "$3/24" dev "$2"
	ip -n "$1" link set "$2" up
}
address web a1 10.1.0.1
address app a2 10.1.0.2
address app b1 10.2.0.2
address db b2 10.2.0.3

# One program, because Python starts slowly: two servers, with a thread for each connection,
# and a client with two threads

trace-cmd record -q -b 8192 -e iosys:io_syscall -f 'comm == "web" || comm == "app" || comm == "db"' \
	-o trace.dat python3 "$TRACERIG_TOP/tests/guest/ioreq_paths_load.py" >out 2>&1 || die "$(cat out)"
"$ioreq" --paths trace.dat || die "ioreq fails"
"$ioreq" --paths --format=json trace.dat >paths.json || die "ioreq fails"
python3 "$TRACERIG_TOP/tests/guest/ioreq_paths_check.py" || die "the paths are not the true ones" "$(cat paths.json web.log app.log)"
