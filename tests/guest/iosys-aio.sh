#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
#
# io_request reports every request of aio as the program knows it; and fio's reads and writes
# are counted as fio counts them.
. "$TRACERIG_TOP/tests/guest/functions"
. "$TRACERIG_TOP/tests/guest/requests_functions"

check=$TRACERIG_TOP/tests/guest/uring_check.py

grep -q aio:pread "$tracing/events/iosys/io_request/format" || die "this kernel has no requests of aio"
gcc -O1 -Wall -Wextra -o aiowork "$TRACERIG_TOP/tests/guest/aiowork.c"
null_disk aio memory_backed=1 size=64 irqmode=2 completion_nsec=100000

before=$(get completed)
trace-cmd record -q -b 8192 -e iosys:io_request -e iosys:io_pending -o all.dat ./aiowork "$disk" "$PWD/data" >all.log 2>all.err ||
	die "$(cat all.err)"
trace-cmd report all.dat >all.txt 2>/dev/null
"$check" all.log all.txt --aio || die "requests and events differ"
accounts
[ "$(get completed)" -ge $((before + $(wc -l <all.log))) ] || die "requests are missing in the accounts"
# Some are completed in an interrupt, hard or soft, of any task
trace-cmd report -l all.dat 2>/dev/null | grep ' io_request: .*aio:pread=' >latency.txt
grep -qE '^ *[^ ]+-[0-9]+ +[0-9]+[^ ]{2}[hHs]' latency.txt || die "no request was completed in an interrupt" "$(head -n 3 latency.txt)"

fio_counts "$disk" libaio aio:p
accounts
