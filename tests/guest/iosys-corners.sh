#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# Rare states: data with the SYN, an O_PATH descriptor of a Unix socket's file, a descriptor that
# becomes another socket's while connect() waits, and a multishot recvmsg, whose results are more
# than what was received.
. "$TRACERIG_TOP/tests/guest/functions"

corners=$TRACERIG_TOP/tests/guest/iosys_corners.py
gcc -O1 -Wall -Wextra -o uringmsg "$TRACERIG_TOP/tests/guest/uringmsg.c" -luring
ip link set lo up
# Data with the SYN, without a cookie, of clients and servers
echo $((0x207)) >/proc/sys/net/ipv4/tcp_fastopen

trace-cmd record -q -b 8192 -e iosys:io_syscall -o calls.dat python3 "$corners" work "$PWD" >work.out 2>work.err ||
	die "$(cat work.err)"
trace-cmd report calls.dat >calls.txt 2>/dev/null
python3 "$corners" check work.out calls.txt || die "records differ from what was done" "$(cat work.out)"

trace-cmd record -q -b 8192 -e iosys:io_request -e iosys:io_part -o parts.dat ./uringmsg >msg.out 2>msg.err ||
	die "$(cat msg.err)"
trace-cmd report parts.dat | grep uring:recvmsg >parts.txt
[ "$(awk '$1 > $2' msg.out | wc -l)" -eq 3 ] || die "the results are not multishot's" "$(cat msg.out)"
while read -r result _; do
	grep -q "io_part:.*uring:recvmsg=$result bytes=0 .*bytes_unknown" parts.txt ||
		die "no result $result of which the bytes are unknown" "$(cat parts.txt)"
done <msg.out
grep -q "io_request:.*bytes=0 .*bytes_unknown" parts.txt || die "the sum is not unknown" "$(cat parts.txt)"
