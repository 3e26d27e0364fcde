#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# vm: --cpus 8
# timeout: 600
#
# tracecast with several senders, over a network that loses, reorders and duplicates datagrams:
# what each of 8 CPUs wrote is in one file, in order, and both ledgers have as many records as
# were written, without and with a key; also when the collector is killed meanwhile and another
# one goes on, when the ring is cleared, when an event gets the type of another one, and when
# rate= limits all of them.
. "$TRACERIG_TOP/tests/guest/functions"
. "$TRACERIG_TOP/tests/guest/tracecast_functions"

schedz=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/schedz
target=/sys/kernel/config/tracecast/rig
instance=$tracing/instances/senders
cpus=8
senders=4

listens() { grep -qi ':1A14 ' /proc/net/udp; }

collect() { # [OPTION...]
	mkdir -p collected
	$schedz collect --output collected "$@" >collected/ledger 2>>collector.err &
	collector=$!
	until_true 30 listens
}
trap 'kill $collector 2>/dev/null || true; network' EXIT

# prepare SENDERS [ATTRIBUTE=VALUE...]
prepare() {
	local attribute
	mkdir $instance $target
	echo senders >$target/instance
	echo 127.0.0.1 >$target/remote_ip
	echo "$1" >$target/senders
	echo 100 >$target/flush
	shift
	for attribute; do
		echo "${attribute#*=}" >"$target/${attribute%%=*}"
	done
}

start() { # as prepare
	prepare "$@"
	echo 1 >$target/enabled
}

end() {
	rmdir $target $instance
	rm -rf collected collector.err
}

# number WORD FILE: print the number after a word, in the first line that has it
number() {
	sed -n "s/.*\\b$1:\\{0,1\\} \\([0-9]*\\).*/\\1/p" "$2" | head -n 1
}

# marks FIRST COUNT [EVERY]: on each CPU, numbered marks; all CPUs at once; one in EVERY is larger
# than a datagram
marks() {
	python3 "$TRACERIG_TOP/tests/guest/tracecast_cpu_marks.py" "$1" "$2" $cpus $instance/trace_marker "${@:3}" ||
		die "marks could not be written"
}

# Both ends have as many records as were made; all that the ring has not lost has arrived
check_ledgers() { # MADE [CLEARED]
	local file
	for file in $target/ledger collected/ledger; do
		[ "$(number generated "$file")" -eq "$1" ] || die "$file: not $1 records"
	done
	[ "$(number acknowledged $target/ledger)" -eq $(($1 - ${2:-0})) ] || die "not all was acknowledged"
	[ "$(number delivered collected/ledger)" -eq $(($1 - ${2:-0})) ] || die "not all was delivered"
	[ "$(number 'lost in the ring' collected/ledger)" -eq "${2:-0}" ] || die "other records were lost in the ring"
	[ "$(number 'lost on the wire' collected/ledger)" -eq 0 ] || die "records were lost on the wire"
	grep -q ' 0 damaged$' collected/ledger || die "datagrams were damaged"
}

report() {
	local dat
	for dat in collected/*.dat; do
		trace-cmd report "$dat" 2>>report.err
	done
}

check_marks() { # COUNT once|again [EVERY]
	report >marks.txt
	python3 "$TRACERIG_TOP/tests/guest/tracecast_cpu_marks_check.py" marks.txt $cpus "$@" ||
		die "marks are missing"
}

# Every sender has sent, and the collector has answered each
check_senders() {
	[ "$(pgrep -c '^tracecast/rig')" -eq "$1" ] || die "not $1 threads: $(pgrep -l tracecast)"
}

all_answered() {
	[ "$(grep -c '^sender [0-9]*: CPUs .* heard [1-9][0-9]*$' $target/ledger)" -eq $senders ]
}

# --- all CPUs at once
faults() { # LOSS [KEY]
	local n=400 options=() loss=$1
	shift
	if [ $# -gt 0 ]; then
		(umask 077; echo "$1" >key)
		options=(--key-file key)
	fi
	network loss "$loss" reorder 20% duplicate 5% delay 1ms
	# First: a port without a listener would be an error
	collect "${options[@]}"
	start $senders ${1+"key=$1"}
	check_senders $senders
	marks 0 $n 100
	until_true 60 all_answered
	stop
	check_ledgers $((cpus * n))
	[ "$(number errors $target/ledger)" -eq 0 ] || die "datagrams could not be sent"
	[ "$(find collected -name "*.dat" | wc -l)" -eq 1 ] || die "more than one file"
	grep -Eq "\"senders\": ?$senders," collected/*.ledger || die "the collector knows of other senders"
	check_marks $n once 100
	end
}

# --- another collector goes on, whichever parts of records, one in three of which is in several
# datagrams, the ones that are killed had; the window has room for one such record of each sender
holds_nothing() { [ "$(number held $target/ledger)" -eq 0 ]; }

has_more() { [ "$(number acknowledged $target/ledger)" -gt "$before" ]; }

killed() { # [KEY]
	local n=60 kills=8 i before total options=()
	if [ $# -gt 0 ]; then
		(umask 077; echo "$1" >key)
		options=(--key-file key)
	fi
	total=$(((kills + 1) * cpus * n))
	network loss 5% reorder 20% duplicate 5% delay 1ms
	start $senders mtu=600 window=25 ${1+"key=$1"}
	collect "${options[@]}"
	for ((i = 0; i < kills; i++)); do
		before=$(number acknowledged $target/ledger)
		marks $((i * n)) $n 3
		until_true 60 has_more
		kill -KILL $collector
		wait $collector || true
		collect "${options[@]}"
	done
	marks $((kills * n)) $n 3
	until_true 120 holds_nothing
	stop
	[ "$(number generated $target/ledger)" -eq $total ] || die "not all was counted"
	[ "$(number acknowledged $target/ledger)" -eq $total ] || die "not all was acknowledged"
	[ "$(number generated collected/ledger)" -eq $total ] || die "the collector has not counted all"
	[ $(($(number 'before this collector' collected/ledger) + $(number delivered collected/ledger))) \
		-eq $total ] || die "records are missing"
	grep -q ' 0 damaged$' collected/ledger || die "datagrams were damaged"
	check_marks $(((kills + 1) * n)) again 3
	end
}

# --- the ring is cleared while all send
cleared() {
	local n=600 i lost
	network loss 1% reorder 20% duplicate 5% delay 1ms
	collect
	start $senders
	marks 0 $n &
	for ((i = 0; i < 10; i++)); do
		echo >$instance/trace
		echo >$instance/per_cpu/cpu$((i % cpus))/trace
	done
	wait $!
	stop
	lost=$(sed -n 's/^lost: .*, \([0-9]*\) cleared$/\1/p' $target/ledger)
	check_ledgers $((cpus * n)) "$lost"
	end
}

# --- the type of an event that is gone: all senders wait for the new format
calls() { # EVENT
	local cpu
	echo 1 >$instance/events/kprobes/"$1"/enable
	for ((cpu = 0; cpu < cpus; cpu++)); do
		taskset -c $cpu bash -c '(true); (true); (true)'
	done
	echo 0 >$instance/events/kprobes/"$1"/enable
	until_true 30 none_in_ring
}
none_in_ring() { grep -q '^held: 0 in the ring, 0 at hand' $target/ledger; }

types() {
	local type name
	# Records of the first event are still on their way when the second one comes
	network loss 5% delay 200ms
	printf '%s\n' 'p:first kernel_clone one=\1:u32' >$tracing/kprobe_events
	type=$(cat $tracing/events/kprobes/first/id)
	collect
	start $senders flush=10
	calls first
	echo >$tracing/kprobe_events
	printf '%s\n' 'p:second kernel_clone more=\7:u64 two=\2:u32' >$tracing/kprobe_events
	[ "$(cat $tracing/events/kprobes/second/id)" = "$type" ] || die "the second event has another type"
	calls second
	stop
	check_ledgers "$(number generated $target/ledger)"
	report >types.txt
	for name in 'first: .* one=1' 'second: .* more=7 two=2'; do
		[ "$(grep -cE " $name\$" types.txt)" -ge $((2 * cpus)) ] || die "$name: $(cat types.txt)"
	done
	[ "$(grep -cE ' (first: .* one=1|second: .* more=7 two=2)$' types.txt)" -eq "$(number generated $target/ledger)" ] ||
		die "records have the other format: $(cat types.txt)"
	end
	echo >$tracing/kprobe_events
}

# --- what sending does is not recorded, of no sender
recorded_none() { [ "$(number recorded $target/ledger)" -gt 0 ]; }

own() {
	local pid
	network
	collect
	start $senders
	echo 1 >$instance/events/net/enable
	marks 0 100
	until_true 30 recorded_none
	pgrep '^tracecast/rig' >pids
	echo 0 >$instance/events/net/enable
	stop
	report >own.txt
	grep -q ' net_dev_xmit: ' own.txt || die "the trace has no datagrams at all"
	while read -r pid; do
		! grep -- "-$pid .* net_" own.txt >&2 || die "a sender's datagrams are in the trace"
	done <pids
	end
}

# --- at most rate= bytes a second of all senders together, also before there is metadata
# check_rate RATE BEGIN: sets bytes, with the headers of datagrams with records
check_rate() {
	local end sent again
	cat $target/ledger >rated
	end=$EPOCHREALTIME
	read -r sent again bytes < <(sed -n \
		's/^sent: \([0-9]*\) datagrams, \([0-9]*\) again, \([0-9]*\) bytes in all.*/\1 \2 \3/p' rated)
	bytes=$((bytes + 42 * (sent + again)))
	# A tenth of a second's worth may go at once, and a datagram more of each sender
	[ "$bytes" -le $(($1 * (${end/./} - ${2/./}) / 1000000 + $1 / 10 + senders * 1514)) ] ||
		die "$bytes bytes from $2 to $end, although rate is $1"
}

rated() {
	local rate=5000 n=60 begin bytes
	network
	prepare $senders rate=$rate
	marks 0 $n 100
	begin=$EPOCHREALTIME
	echo 1 >$target/enabled
	sleep 2
	check_rate $rate "$begin"
	[ "$bytes" -gt 0 ] || die "nothing was sent without a collector"
	collect
	until_true 60 holds_nothing
	check_rate $rate "$begin"
	[ "$bytes" -ge $((5 * rate)) ] || die "$bytes bytes are too few for this test"
	stop
	check_ledgers $((cpus * n))
	end
}

# --- one sender, and as many as CPUs
numbers() {
	network
	start 1
	check_senders 1
	! grep -q '^sender' $target/ledger || die "one sender is several"
	echo 0 >$target/enabled
	echo 32 >$target/senders
	echo 1 >$target/enabled
	check_senders $cpus
	# They wait for the collector at the same time
	SECONDS=0
	echo mark >$instance/trace_marker
	echo 0 >$target/enabled
	[ $SECONDS -lt $((20 * scale)) ] || die "it took $SECONDS s to disable it"
	echo 0 >$target/senders
	echo 1 >$target/enabled
	check_senders 1
	end
}

faults 10%
faults 1%
faults 5% 00112233445566778899aabbccddeeff
killed
killed 00112233445566778899aabbccddeeff
cleared
types
own
rated
numbers
