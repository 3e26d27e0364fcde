#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# A pool of worker processes behind front ends, real ones: who hands what to whom through
# pipes that several use is told by the bytes, and so for which client a worker reads a file.
# The file that it reads tells, too.
. "$TRACERIG_TOP/tests/guest/functions"

trace-cmd record -q -b 16384 -e iosys:io_syscall -o trace.dat python3 -B "$TRACERIG_TOP/tests/guest/ioreq_pipes_pool.py" >out 2>&1 || die "$(cat out)"
ioreq=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/ioreq
"$ioreq" --format=json --by=client,call,object trace.dat >calls.json || die "ioreq fails"
"$ioreq" --format=csv --requests trace.dat >requests.csv || die "ioreq fails"
python3 "$TRACERIG_TOP/tests/guest/ioreq_pipes_check.py" || die "what the workers did is not for whom it was" "$(cat requests.csv)"
