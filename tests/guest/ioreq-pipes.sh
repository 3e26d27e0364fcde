#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# A pool of worker processes and front ends, with pipes that several of them use: the byte ranges
# show which front end gave each job to which worker, and thus the client that a worker reads
# a file for. The name of the file is the truth.
. "$TRACERIG_TOP/tests/guest/functions"

trace-cmd record -q -b 16384 -e iosys:io_syscall -o trace.dat python3 -B "$TRACERIG_TOP/tests/guest/ioreq_pipes_pool.py" >out 2>&1 || die "$(cat out)"
ioreq=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/ioreq
"$ioreq" --format=json --by=client,call,object trace.dat >calls.json || die "ioreq fails"
"$ioreq" --format=csv --requests trace.dat >requests.csv || die "ioreq fails"
python3 "$TRACERIG_TOP/tests/guest/ioreq_pipes_check.py" || die "calls of the workers are attributed to another client" "$(cat requests.csv)"
