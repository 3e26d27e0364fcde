#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# Requests of a real program to a real server, over HTTP on connections that are kept:
# ioreq finds each of them, and which of them the server answers slowly.
. "$TRACERIG_TOP/tests/guest/functions"

ip link set lo up
cat >load <<'END'
. "$TRACERIG_TOP/tests/lib.bash"
python3 "$TRACERIG_TOP/tests/guest/ioreq_server.py" &
server=$!
while_alive $server test -e ready || die "the server has ended"
python3 "$TRACERIG_TOP/tests/guest/ioreq_client.py" 30 && python3 "$TRACERIG_TOP/tests/guest/ioreq_client.py" 20
status=$?
kill $server
exit $status
END
trace-cmd record -q -b 8192 -e iosys:io_syscall -o trace.dat bash load >out 2>&1 || die "$(cat out)"
ioreq=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/ioreq
"$ioreq" --requests --format=csv trace.dat >requests.csv || die "ioreq fails"
"$ioreq" --requests trace.dat
python3 "$TRACERIG_TOP/tests/guest/ioreq_check.py" || die "the requests are not the true ones" "$(cat requests.csv)"
