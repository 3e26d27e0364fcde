#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 360
#
# tracecast to a collector on the same machine, over a network that loses, reorders and
# duplicates datagrams: everything arrives, and both ledgers agree. So it does when an event gets
# the type of another one that was removed, when more records than a header can count would fit
# into a datagram, and when pages of the ring are larger than those of memory. A task whose only
# record is larger than a datagram has its name.
. "$TRACERIG_TOP/tests/guest/schedz-both-ways"
. "$TRACERIG_TOP/tests/guest/tracecast_functions"

targets=/sys/kernel/config/tracecast
target=$targets/rig

collect() { # ADDRESS
	rm -rf collected
	mkdir collected
	$schedz collect --listen "$1" --output collected >collected/ledger 2>collector.err &
	collector=$!
	trap 'kill $collector 2>/dev/null || true; network' EXIT
}

# start INSTANCE ADDRESS [ATTRIBUTE=VALUE...]
start() {
	local attribute
	mkdir $target
	echo "$1" >$target/instance
	echo "$2" >$target/remote_ip
	shift 2
	for attribute; do
		echo "${attribute#*=}" >"$target/${attribute%%=*}"
	done
	echo 1 >$target/enabled
}

# number WORD FILE: print the number after a word, in the first line that has it
number() {
	sed -n "s/.*\\b$1:\\{0,1\\} \\([0-9]*\\).*/\\1/p" "$2" | head -n 1
}

has_errors() {
	[ "$(number errors $target/ledger)" -gt 0 ]
}

holds_nothing() {
	[ "$(number held $target/ledger)" -eq 0 ]
}

# All records of the sender arrived; all parts of both ledgers add up
check_ledgers() {
	local made
	made=$(number generated $target/ledger)
	[ "$made" -gt "$1" ] || die "only $made records were made"
	[ "$made" -eq "$(number acknowledged $target/ledger)" ] || die "not all was acknowledged"
	[ "$(number lost $target/ledger)" -eq 0 ] || die "the ring lost records"
	[ "$made" -eq "$(number generated collected/ledger)" ] || die "the ledgers differ"
	[ "$made" -eq "$(number delivered collected/ledger)" ] || die "not all was delivered"
	grep -q ' 0 damaged$' collected/ledger || die "datagrams were damaged"
}

busy() { # FILE
	! cat "$1" >/dev/null 2>err || die "$1 can be read beside the target"
	grep -q 'busy' err || die "$1: $(cat err)"
}

# --- numbered records of the ring buffer, packed, over IPv6, with all faults
marks() {
	local n=2000 dat
	mkdir $tracing/instances/marks
	echo 1 >$tracing/instances/marks/events/irq/enable
	collect '[::1]:6676'
	network loss 10% reorder 20% duplicate 5% delay 1ms
	start marks ::1 flush=100
	busy $tracing/instances/marks/trace_pipe
	busy $tracing/instances/marks/per_cpu/cpu0/trace_pipe_raw
	! rmdir $tracing/instances/marks 2>/dev/null || die "the instance was removed"
	! echo global >$tracing/instances/marks/trace_clock 2>/dev/null || die "the clock changed"
	python3 "$TRACERIG_TOP/tests/guest/tracecast_marks.py" $n $tracing/instances/marks/trace_marker
	echo 0 >$tracing/instances/marks/events/irq/enable
	# Nothing is sent while the link is down, and sending continues when it is up again
	ip link set lo down
	echo "mark $n " >$tracing/instances/marks/trace_marker
	within 10 has_errors || die "datagrams can be sent while the link is down"
	[ "$(number held $target/ledger)" -gt 0 ] || die "nothing is held"
	ip link set lo up
	within 30 holds_nothing || die "it did not continue"
	stop
	check_ledgers $n
	dat=$(echo collected/*.dat)
	trace-cmd report "$dat" >marks.txt 2>report.err || die "report: $(cat report.err)"
	# In order of time, each once, with all its bytes
	python3 "$TRACERIG_TOP/tests/guest/tracecast_marks_check.py" marks.txt $n "$(number generated $target/ledger)" || die "marks are missing"
	rmdir $target
	rmdir $tracing/instances/marks
}

# --- blocks of schedz: the expanded events are the scheduler's
blocks() {
	local name i
	echo 0 >$tracing/tracing_on
	for name in before after; do
		mkdir $tracing/instances/$name
		echo 20000 >$tracing/instances/$name/buffer_size_kb
	done
	collect 127.0.0.1
	network loss 5% reorder 10% delay 1ms
	start "" 127.0.0.1 window=512
	enable $tracing/instances/before 1
	echo 1 >$tracing/events/schedz/schedz_block/enable
	enable $tracing/instances/after 1
	# The raw recordings contain all events of the blocks: blocks begin last, and end first
	echo 1 >$tracing/tracing_on
	# Enough for some blocks, however slow the host is
	for ((i = 0; i < 10 * scale; i++)); do
		work 1
		[ "$(number written $tracing/schedz)" -lt 30000 ] || break
	done
	echo 0 >$tracing/tracing_on
	echo 0 >$tracing/events/schedz/schedz_block/enable
	for name in before after; do
		echo 0 >$tracing/instances/$name/tracing_on
	done
	stop
	check_ledgers 5
	[ "$(number events $tracing/schedz)" -eq "$(number written $tracing/schedz)" ] ||
		die "the ring refused blocks: $(cat $tracing/schedz)"
	for name in before after; do
		enable $tracing/instances/$name 0
		trace-cmd extract -B $name -o $name.dat >/dev/null 2>&1 || die "extract failed"
		trace-cmd report -t -R -l $name.dat >$name.txt 2>/dev/null
		[ ! -d $tracing/instances/$name ] || rmdir $tracing/instances/$name
	done
	$schedz expand collected/*.dat -o expanded.dat 2>err || die "expand failed: $(cat err)"
	trace-cmd report -t -R -l expanded.dat >expanded.txt 2>/dev/null
	"$TRACERIG_TOP/tests/guest/schedz-compare.py" before.txt expanded.txt after.txt 1000 ||
		die "the expanded events are not the raw ones"
	rmdir $target
}

# --- the type of a removed event: records of both events keep their own formats
none_in_ring() {
	grep -q '^held: 0 in the ring, 0 at hand' $target/ledger
}

calls() { # EVENT
	local i
	echo 1 >$tracing/instances/types/events/kprobes/"$1"/enable
	for i in 1 2 3; do
		(true)
	done
	echo 0 >$tracing/instances/types/events/kprobes/"$1"/enable
	within 30 none_in_ring || die "the ring is not read"
}

types() {
	local type
	mkdir $tracing/instances/types
	collect 127.0.0.1
	# Records of the first event are still on their way when the second one comes
	network delay 200ms
	printf '%s\n' 'p:first kernel_clone one=\1:u32' >$tracing/kprobe_events
	type=$(cat $tracing/events/kprobes/first/id)
	start types 127.0.0.1 flush=10
	calls first
	echo >$tracing/kprobe_events
	printf '%s\n' 'p:second kernel_clone more=\7:u64 two=\2:u32' >$tracing/kprobe_events
	[ "$(cat $tracing/events/kprobes/second/id)" = "$type" ] || die "the second event has another type"
	calls second
	stop
	check_ledgers 5
	for dat in collected/*.dat; do
		trace-cmd report "$dat" 2>>report.err
	done >types.txt
	[ "$(grep -cE ' first: .* one=1$' types.txt)" -ge 3 ] || die "the first event: $(cat types.txt)"
	[ "$(grep -cE ' second: .* more=7 two=2$' types.txt)" -ge 3 ] || die "the second event: $(cat types.txt)"
	[ "$(grep -cE ' (first|second): ' types.txt)" = "$(number generated $target/ledger)" ] || die "records are missing"
	rmdir $target
	echo >$tracing/kprobe_events
	rmdir $tracing/instances/types
}

# --- 70,000 equal records, each of which needs some hundredths of a bit
equal() {
	mkdir $tracing/instances/equal
	echo counter >$tracing/instances/equal/trace_clock
	echo 8192 >$tracing/instances/equal/buffer_size_kb
	collect 127.0.0.1
	start equal 127.0.0.1 flush=60000
	taskset -c 0 python3 "$TRACERIG_TOP/tests/guest/tracecast_equal.py" 70000 \
		$tracing/instances/equal/trace_marker
	stop
	check_ledgers 69999
	rmdir $target
	rmdir $tracing/instances/equal
}

# --- pages of 8 KiB: a record that a page of memory has no room for
large() {
	local text
	mkdir $tracing/instances/large
	echo 8 >$tracing/instances/large/buffer_subbuf_size_kb
	# Names are noted at task switches while an event is on, here one that never comes
	echo 'sig == 99' >$tracing/instances/large/events/signal/signal_generate/filter
	echo 1 >$tracing/instances/large/events/signal/signal_generate/enable
	text=$(printf '%4068s' '' | tr ' ' x)
	collect 127.0.0.1
	start large 127.0.0.1 flush=60000
	python3 -c 'import os, sys, time; os.write(os.open(sys.argv[1], os.O_WRONLY), sys.argv[2].encode()); time.sleep(.1)' \
		$tracing/instances/large/trace_marker "$text"
	[ "$(number generated $target/ledger)" = 1 ] || die "it is not one record"
	stop
	check_ledgers 0
	trace-cmd report collected/*.dat >large.txt 2>report.err || die "report: $(cat report.err)"
	# trace-cmd prints no more than 4096 bytes of it
	grep -q "print: .* ${text:0:4000}" large.txt || die "the record is not in the file"
	# Its task made no other, but has a name
	grep -q '^ *python3-[0-9]* ' large.txt || die "the task has no name: $(cut -c -100 large.txt)"
	rmdir $target
	rmdir $tracing/instances/large
}

marks
blocks
types
equal
large
