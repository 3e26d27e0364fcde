#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
#
# tracecast continues within a second after the interface, or the collector, is back; an
# interface can be removed while a target uses it; and rate= limits the bytes per second.
. "$TRACERIG_TOP/tests/guest/schedz-both-ways"

target=/sys/kernel/config/tracecast/rig
instance=$tracing/instances/away

explain() {
	[ ! -e $target/ledger ] || cat $target/ledger
	[ ! -e collector.err ] || cat collector.err
}

# Sets n, the number after a word of the ledger, without starting a program, which would need
# as much time as is measured
number() { # WORD
	local line
	n=0
	while read -r line; do
		if [[ $line =~ (^|[^a-z])$1:?\ ([0-9]+) ]]; then
			n=${BASH_REMATCH[2]}
			return
		fi
	done <$target/ledger
}

delivered() {
	local made
	number generated
	made=$n
	number acknowledged
	[ "$n" -eq "$made" ]
}

holds() {
	number held
	[ "$n" -gt 0 ]
}

has_errors() {
	number errors
	[ "$n" -gt "$1" ]
}

ms() {
	local up
	read -r up _ </proc/uptime
	echo "${up/./}0"
}

next=0
marks() { # COUNT
	local end=$((next + $1))
	for (( ; next < end; next++)); do
		echo "mark $next"
	done >$instance/trace_marker
}

connect() {
	ip link add rig0 type veth peer name far0 netns far
	ip -n far address add 10.9.0.2/24 dev far0
	ip -n far link set far0 up
	ip address add 10.9.0.1/24 dev rig0
	ip link set rig0 up
}

collect() {
	ip netns exec far "$schedz" collect --listen 10.9.0.2 --allow 10.9.0.1 --output collected \
		>>ledger 2>>collector.err &
	collector=$!
}

# At least one of three times was not affected by a slow host
gone_and_back() { # WHAT GO COME
	local begin took best=99999 i
	for i in 1 2 3; do
		$2
		marks 10
		until_true 30 holds
		$3
		begin=$(ms)
		until_true 30 delivered
		took=$(($(ms) - begin))
		[ $took -ge $best ] || best=$took
	done
	echo "$1: goes on after $best ms"
	# A second, and one more for a busy host
	[ $best -le $((2000 * scale)) ] || die "$1: it took $best ms to go on"
}

interface_goes() {
	local errors
	number errors
	errors=$n
	ip link delete rig0
	marks 1
	until_true 30 has_errors "$errors"
}

interface_comes() {
	connect
}

collector_goes() {
	kill $collector
	wait $collector || die "the collector failed"
}

listens() { ip netns exec far ss -Hlun 'sport = 6676' | grep -q .; }
collector_comes() {
	collect
	until_true 30 listens
}

ip netns add far
trap 'kill $collector 2>/dev/null || true; ip netns delete far' EXIT
mkdir $instance
connect
collect
until_true 30 listens
mkdir $target
echo away >$target/instance
echo 10.9.0.2 >$target/remote_ip
echo rig0 >$target/dev_name
echo 100 >$target/flush
echo 1 >$target/enabled
marks 10
until_true 30 delivered
gone_and_back interface interface_goes interface_comes
gone_and_back collector collector_goes collector_comes
echo 0 >$target/enabled

# Each mark is in one of the files: each collector wrote one of its own
for dat in collected/*.dat; do
	trace-cmd report "$dat" 2>/dev/null
done | sed -n 's/.*: mark \([0-9]*\)$/\1/p' | sort -n | uniq >got
seq 0 $((next - 1)) | diff - got >&2 || die "marks are missing"

# At most $rate bytes a second, with all headers; nothing is lost because of it
rate=40000
echo $rate >$target/rate
echo 1 >$target/enabled
begin=$(ms)
head -c 110000 /dev/urandom | base64 -w 700 >$instance/trace_marker
until_true 30 delivered
took=$(($(ms) - begin))
sent=$(sed -n 's/^sent: \([0-9]*\) datagrams.* \([0-9]*\) bytes in all.*/\2 \1/p' $target/ledger)
bytes=$((${sent% *} + 42 * ${sent#* }))
[ $bytes -gt 110000 ] || die "only $bytes bytes were sent"
# A tenth of a second's worth may go at once, and a datagram more
[ $bytes -le $((rate * took / 1000 + rate / 10 + 2000)) ] ||
	die "$bytes bytes in $took ms, although rate is $rate"
delivered || die "something was lost"
echo 0 >$target/enabled
echo 0 >$target/rate

# Events of sending are not recorded, except those of the scheduler
rm collected/*
echo 1 >$instance/events/net/enable
echo 1 >$instance/events/sched/sched_switch/enable
echo 1 >$target/enabled
pid=$(pgrep -x tracecast/rig)
not_recorded() {
	number recorded
	[ "$n" -gt 0 ]
}
marks 10
until_true 30 not_recorded
echo 0 >$instance/events/enable
until_true 30 delivered
echo 0 >$target/enabled
collector_goes
trace-cmd report -R collected/*.0.dat >own.txt 2>report.err || die "report: $(cat report.err)"
grep -q " net_dev_xmit: " own.txt || die "the trace has no datagrams at all"
! grep -- "-$pid .* net_" own.txt >&2 || die "the sender's datagrams are in the trace"
grep -q " sched_switch: .*next_pid=$pid\b" own.txt || die "the sender's switches are not in the trace"

# netpoll has the interface; when it goes, it is let go, and found again
dummy() {
	ip link add dummy7 type dummy
	ip address add 10.8.0.1/24 dev dummy7
	ip address add fd08::1/64 dev dummy7 nodad
	ip link set dummy7 up
}
through() { grep -q "^panic: through dummy7, from $1, to " $target/ledger; }
not_through() { grep -q '^panic: nothing would be sent' $target/ledger; }
dummy
echo dummy7 >$target/dev_name
echo 10.8.0.2 >$target/remote_ip
echo 1 >$target/enabled
until_true 30 through 10.8.0.1
timeout $((30 * scale)) ip link delete dummy7 || die "the interface cannot go"
until_true 30 not_through
dummy
until_true 30 through 10.8.0.1

# Part of a bridge it cannot be used, but afterwards
part() { grep -q '^panic: nothing would be sent: the interface is part of another one' $target/ledger; }
ip link add bridge7 type bridge
ip link set dummy7 master bridge7
until_true 30 part
sleep 2
part || die "the ledger does not say that it is part of a bridge"
ip link set dummy7 nomaster
until_true 30 through 10.8.0.1
ip link delete bridge7
echo 0 >$target/enabled
echo fd08::2 >$target/remote_ip
echo 1 >$target/enabled
until_true 30 through fd08::1
echo 0 >$target/enabled
ip link delete dummy7
rmdir $target
rmdir $instance
