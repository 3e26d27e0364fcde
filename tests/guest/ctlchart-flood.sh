#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# vm: --cpus 4
# module: storm
# timeout: 240
#
# A million keys in flight, from all CPUs at once, with tables that are far too small, or
# exactly large enough: each start and end is accounted for, and memory does not grow.
. "$TRACERIG_TOP/tests/guest/functions"

need_ctlchart
insmod "$TRACERIG_MODULES/storm/storm.ko"
fire=/sys/module/storm/parameters/fire
complete=$tracing/events/storm/storm_end
keys=1048576

# The maximum bytes of a chart's table and buckets, and the bytes that it reports
table() {
	sed -n 's/^table: .* entries, \([0-9]*\) bytes$/\1/p' "$complete/ctlchart"
}

free() {
	awk '/^(MemFree|Slab|VmallocUsed|Percpu):/ { print $1 $2 }' /proc/meminfo | tr '\n' ' '
}

memory() {
	awk '/^(Slab|VmallocUsed|Percpu):/ { n += $2 } END { print n }' /proc/meminfo
}

flood() { # entries in the table, option...
	local size=$1 before after
	shift
	echo "ctlchart(storm_begin, key, ucl=1h, size=$size${*:+, $*})" >"$complete/filter"
	echo 1 >"$complete/enable"
	before=$(memory)
	echo "begin 0 $keys" >$fire
	after=$(memory)
	# Other parts of the kernel allocate as well, for example for the test's shell
	[ $((after - before)) -lt 4096 ] || die "memory grew by $((after - before)) KiB: $(free)"
	[ "$(table)" -le $((96 * size + 4096)) ] || die "a table of $(table) bytes"
}

for size in 1 4096 "$keys"; do
	flood "$size"
	same $keys "$(get starts)" starts
	same "$size" "$(get flight)" "starts in flight"
	same $((keys - size)) "$(get refused)" "refused starts"
	echo "end 0 $keys" >$fire
	same $keys "$(get ends)" ends
	same "$size" "$(get paired)" "paired starts"
	same $((keys - size)) "$(get unmatched)" "unmatched ends"
	check_accounts
	echo 0 >"$complete/filter"
done

# The same key, a million times: first as one start, then as a queue
for dup in last fifo; do
	echo "ctlchart(storm_begin, low, ucl=1h, dup=$dup, size=4096)" >"$complete/filter"
	echo "begin 0 $keys" >$fire
	same $keys "$(get starts)" starts
	if [ $dup = last ]; then
		same 8 "$(get flight)" "starts in flight"
		same $((keys - 8)) "$(get replaced)" "replaced starts"
	else
		same 4096 "$(get flight)" "starts in flight"
		same $((keys - 4096)) "$(get refused)" "refused starts"
	fi
	echo "end 0 $keys" >$fire
	check_accounts
done

# Stale starts make room for new ones, with few exceptions: if two CPUs start something within
# a nanosecond, neither start is stale for the other
flood 4096 stale=1ns
same $keys "$(get starts)" starts
same $((keys - 4096)) $(($(get evicted) + $(get refused))) "evicted and refused starts"
[ "$(get refused)" -lt $((keys / 100)) ] || die "$(get refused) starts were refused"
echo 0 >"$complete/enable"
check_accounts
echo 0 >"$complete/filter"

# An alarm that comes late, since its CPU was interrupted, does not begin another second of
# rate=, so that no second has more alarm events than that
echo 'ctlchart(key, ucl=1, rate=1)' >"$complete/filter"
echo 1 >"$complete/enable"
before=$(cut -d. -f1 /proc/uptime)
for ((i = 0; i < 4; i++)); do
	echo "end 2 $keys" >$fire
done
after=$(cut -d. -f1 /proc/uptime)
echo 0 >"$complete/enable"
same $((4 * keys)) "$(get alarms)" alarms
written=$((4 * keys - $(get written)))	# "not written N"
[ $written -le $((after - before + 2)) ] || die "$written alarm events in $((after - before)) seconds with rate=1"
echo 0 >"$complete/filter"
rmmod storm
