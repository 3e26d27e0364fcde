#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
#
# io_request reports every request to io_uring as the program knows it; ioreq names the servers
# to which a connection failed; and fio's reads and writes are counted as fio counts them.
. "$TRACERIG_TOP/tests/guest/functions"
. "$TRACERIG_TOP/tests/guest/requests_functions"

check=$TRACERIG_TOP/tests/guest/uring_check.py
ioreq=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/ioreq

[ -e "$tracing/events/iosys/io_request" ] || die "this kernel has no io_request"
[ -e /proc/sys/kernel/io_uring_disabled ] || die "this kernel has no io_uring"
gcc -O1 -Wall -Wextra -o uringwork "$TRACERIG_TOP/tests/guest/uringwork.c" -luring
ip link set lo up

trace-cmd record -q -b 8192 -e iosys:io_request -e iosys:io_pending -o all.dat ./uringwork "$PWD/data" >all.log 2>all.err ||
	die "$(cat all.err)"
trace-cmd report all.dat >all.txt 2>/dev/null
"$check" all.log all.txt || die "requests and events differ"
"$ioreq" --requests --format=csv all.dat >requests.csv || die "ioreq fails"
python3 -B "$TRACERIG_TOP/tests/guest/uring_failed.py" all.log requests.csv || die "ioreq does not name the servers" "$(cat requests.csv)"
accounts
[ "$(get room)" -eq 0 ] || die "the table stays when the events are disabled"

# A stock workload, on a disk
null_disk uring memory_backed=1 size=64 irqmode=2 completion_nsec=100000
fio_counts "$disk" io_uring uring: registerfiles=1
accounts
