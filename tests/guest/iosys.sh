#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
#
# io_syscall reports every call of a program as the program itself knows it: files, pipes,
# sockets, TCP streams, times, results; and io_pending reports a call that hangs. Recorded and
# printed with the stock trace-cmd.
. "$TRACERIG_TOP/tests/guest/functions"

check=$TRACERIG_TOP/tests/guest/iosys_check.py

# get WORD: print the number after a word in the file iosys
get() {
	sed -n "s/.*\b$1:* \([0-9]*\).*/\1/p" "$tracing/iosys" | head -n 1
}

accounts() {
	if [ "$(get calls)" -ne $(($(get ended) + $(get abandoned) + $(get open))) ] ||
		[ "$(get dropped)" -ne 0 ]; then
		die "the accounts do not add up" "$(cat "$tracing/iosys")"
	fi
}

[ -e "$tracing/events/iosys" ] || die "this kernel has no iosys"
gcc -O1 -Wall -Wextra -pthread -o iosyswork "$TRACERIG_TOP/tests/guest/iosyswork.c"
ip link set lo up
tables=native
! zgrep -q '^CONFIG_IA32_EMULATION=y' /proc/config.gz || tables=compat

# All events
mkdir all
trace-cmd record -q -b 8192 -e iosys -o all.dat ./iosyswork all $tables >all.log 2>all.err || die "$(cat all.err)"
trace-cmd report all.dat >all.txt 2>/dev/null
"$check" all.log all.txt --pending || die "events and calls differ"
accounts
[ "$(get slots)" -eq 0 ] || die "probes stay when the events are disabled"

# io_syscall alone, in an instance whose ring buffer keeps a tenth of them: the rest is
# complete
mkdir "$tracing/instances/part" part
echo 8 >"$tracing/instances/part/buffer_size_kb"
echo 1 >"$tracing/instances/part/events/iosys/io_syscall/enable"
./iosyswork part $tables >part.log
echo 0 >"$tracing/instances/part/events/iosys/io_syscall/enable"
cat "$tracing/instances/part/trace" >part.txt
cat "$tracing"/instances/part/per_cpu/cpu*/stats >part.stats
"$check" part.log part.txt --some || die "the events that were not overwritten and the calls differ"
[ "$(awk '/^overrun:/ { n += $2 } END { print n }' part.stats)" -gt 100 ] || die "nothing was overwritten"

# With a filter on names, and in two instances at the same time
: >"$tracing/instances/part/trace"
echo 1408 >"$tracing/instances/part/buffer_size_kb"
mkdir filtered
echo 'name ~ "*/filtered/*"' >"$tracing/instances/part/events/iosys/io_syscall/filter"
echo 1 >"$tracing/instances/part/events/iosys/io_syscall/enable"
trace-cmd record -q -b 8192 -e iosys:io_syscall -o both.dat ./iosyswork filtered $tables >filtered.log
echo 0 >"$tracing/instances/part/events/iosys/io_syscall/enable"
cat "$tracing/instances/part/trace" >filtered.txt
rmdir "$tracing/instances/part"
trace-cmd report both.dat >both.txt 2>/dev/null
"$check" filtered.log both.txt || die "events and calls differ, with two instances"
"$check" filtered.log filtered.txt --some || die "events that passed the filter and calls differ"
named() {
	awk -F '\t' '$10 ~ "/filtered/" && length($10) < 250' "$1" | wc -l
}
passed=$(grep ' io_syscall: ' filtered.txt | grep -vc 'flags=[a-z_|]*name_cut')
[ "$passed" -eq "$(named filtered.log)" ] || die "$passed events instead of $(named filtered.log) passed the filter"
accounts
