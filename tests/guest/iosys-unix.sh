#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# Unix stream sockets: each call's bytes, by the program's own counts, on connections that are
# older than the recording, and have bytes in flight when it begins; and ioreq finds exactly the
# requests that were made through such sockets.
. "$TRACERIG_TOP/tests/guest/functions"

python3 "$TRACERIG_TOP/tests/guest/unix_work.py" >work.out 2>&1 &
while_alive $! test -e begun || die "the program failed" "$(cat work.out)"
worker=$!
cat >during <<'END'
. "$TRACERIG_TOP/tests/lib.bash"
touch go
while_alive "$1" test -e over
END
trace-cmd record -q -b 8192 -e iosys:io_syscall -o trace.dat bash during "$worker" >out 2>&1 || die "$(cat out)"
wait
[ -e over ] || die "the program failed" "$(cat work.out)"
trace-cmd report trace.dat >report.txt 2>/dev/null
python3 "$TRACERIG_TOP/tests/guest/unix_bytes.py" || die "the bytes of calls are not the bytes that the program counted"
ioreq=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/ioreq
"$ioreq" --requests --format=csv trace.dat >requests.csv || die "ioreq fails"
"$ioreq" --format=otlp trace.dat >requests.otlp || die "ioreq fails"
PYTHONPATH=$TRACERIG_TOP/tests/unit python3 -B "$TRACERIG_TOP/tests/guest/unix_requests.py" || die "the requests are not the ones that were made" "$(cat requests.csv)"
