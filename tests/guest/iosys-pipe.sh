#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# Pipes: each call's bytes, by the program's own counts or by the bytes that were read, on pipes
# that are older than the recording, with several writers and readers, whole packets, FIFOs that
# are made again, splice, tee, vmsplice and sendfile.
. "$TRACERIG_TOP/tests/guest/functions"

python3 "$TRACERIG_TOP/tests/guest/pipe_work.py" >work.out 2>&1 &
while_alive $! test -e begun || die "the program failed" "$(cat work.out)"
worker=$!
cat >during <<'END'
. "$TRACERIG_TOP/tests/lib.bash"
touch go
while_alive "$1" test -e over
END
trace-cmd record -q -b 16384 -e iosys:io_syscall -f 'type == 1 || type2 == 1' -o trace.dat \
	bash during "$worker" >out 2>&1 || die "$(cat out)"
wait
[ -e over ] || die "the program failed" "$(cat work.out)"
cat work.out
trace-cmd report -F 'iosys/io_syscall: type == 1 || type2 == 1' trace.dat >report.txt 2>/dev/null
python3 "$TRACERIG_TOP/tests/guest/pipe_check.py" || die "the bytes of calls are not the bytes that the program moved"
