#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# part: check-full
# timeout: 300
#
# tracecast and hostile hosts: datagrams from other hosts than the collector do not reach the
# rig's socket, only root can read the session's number, and a collector that requests
# everything repeatedly gets little more than once. With a key, a host that has the collector's
# address but not the key acknowledges nothing; datagrams that were recorded on the path and are
# sent again, unchanged or changed, are refused at both ends and counted; a key that only one
# end has is reported; and the key cannot be read anywhere.
. "$TRACERIG_TOP/tests/guest/schedz-both-ways"

target=/sys/kernel/config/tracecast/rig
instance=$tracing/instances/strangers

explain() {
	[ ! -e $target/ledger ] || cat $target/ledger
	[ ! -e collector.err ] || cat collector.err
}

# number WORD: print the number after a word of the ledger
number() { # WORD
	sed -En "s/.*\b$1:? ([0-9]+).*/\1/p" $target/ledger | head -n 1
}

# counted WORD: print the number before a word
counted() { # WORD
	sed -En "s/.*[^0-9]([0-9]+) $1.*/\1/p" $target/ledger | head -n 1
}

next=0
marks() { # COUNT
	local end=$((next + $1))
	for (( ; next < end; next++)); do
		echo "mark $next"
	done >$instance/trace_marker
}

host() { # NAME OURS THEIRS
	ip netns add "$1"
	ip link add "$1" type veth peer name eth0 netns "$1"
	ip -n "$1" address add "$3/24" dev eth0
	ip -n "$1" link set eth0 up
	ip address add "$2/24" dev "$1"
	ip link set "$1" up
}

start() { # [KEY]
	mkdir $target
	echo "${1-}" >$target/key
	echo strangers >$target/instance
	echo 10.8.1.2 >$target/remote_ip
	echo 100 >$target/flush
	echo 1 >$target/enabled
}

is_delivered() { [ "$(number generated)" -gt 0 ] && [ "$(number acknowledged)" = "$(number generated)" ]; }
listens() { ip netns exec far ss -Hlun 'sport = 6676' | grep -q .; }

# Bytes that wait in the rig's socket, and the number of datagrams that it dropped
waiting() { awk '$2 ~ /:1A13$/ { sub(".*:", "", $5); print $5, $NF }' /proc/net/udp; }

host far 10.8.1.1 10.8.1.2
host evil 10.8.2.1 10.8.2.3
trap 'kill $(jobs -p) 2>/dev/null || true; ip netns delete far; ip netns delete evil' EXIT
mkdir $instance

# ---- a flood from another host ----

ip netns exec far "$schedz" collect --listen 10.8.1.2 --allow 10.8.1.1 --output collected \
	>ledger 2>collector.err &
collector=$!
until_true 30 listens
start
[ "$(stat -c %a $target/ledger)" = 400 ] || die "others can read the ledger"
! setpriv --reuid 65534 --regid 65534 --clear-groups cat $target/ledger 2>/dev/null ||
	die "the user nobody reads the ledger"
marks 10
until_true 30 is_delivered

ip netns exec evil python3 "$TRACERIG_TOP/tests/guest/strangers_flood.py" 10.8.2.1 5 >sent &
flood=$!
for _ in {1..20}; do
	marks 50
	sleep 0.2
	[[ "$(waiting)" == *\ 0 ]] || die "the flood fills the socket: $(waiting)"
done
wait $flood
[ "$(cat sent)" -gt 1000 ] || die "there was no flood: $(cat sent)"
until_true 30 is_delivered
[ "$(number lost)$(number abandoned)" = 00 ] || die "records were lost"
[ "$(counted strange)" = 0 ] || die "the thread has read $(counted strange) datagrams of the flood"
echo 0 >$target/enabled
rmdir $target
kill $collector
wait $collector || die "the collector failed"

# ---- a collector that requests everything again ----

# It acknowledges nothing, and asks for the whole window 2,000 times
ip netns exec far python3 "$TRACERIG_TOP/tests/guest/strangers_greedy.py" 2>collector.err &
greedy=$!
until_true 30 listens
echo 256 >$instance/buffer_size_kb
start
marks 5000
wait $greedy || die "the greedy collector failed"
echo "sent $(counted datagrams), again $(counted again), heard $(counted acknowledgements)"
[ "$(counted acknowledgements)" -ge 500 ] || die "it has asked too seldom"
[ "$(counted again)" -gt 0 ] || die "nothing was sent again"
# A retransmission waits 10, 20, 40... ms: at most ten in ten seconds
[ "$(counted again)" -le $((10 * scale * $(counted datagrams))) ] ||
	die "it gets everything again each time"
echo 0 >$target/enabled
rmdir $target

# ---- a key ----

(umask 077 && od -An -N16 -tx1 /dev/urandom | tr -d ' \n' >key)

# Without the key, from the collector's address: it acknowledges all possible numbers
ip netns exec far python3 "$TRACERIG_TOP/tests/guest/strangers_impostor.py" >told 2>collector.err &
impostor=$!
until_true 30 listens
start "$(cat key)"
marks 50
wait $impostor || die "the impostor failed"
read -r sent kinds <told
[ "$kinds" = 5 ] || die "more than heartbeats was sent to a host without the key: $kinds"
forged_are() { [ "$(counted forged)" = "$1" ]; }
until_true 30 forged_are "$sent"
[ "$(number acknowledged)" = 0 ] || die "the impostor has acknowledged records"
grep -q '^key: no answer' $target/ledger || die "the ledger does not report the missing answer"

# The path records all datagrams; on a signal it sends each again three times: unchanged, with
# one bit of the tag changed, and without its seal
collect() { # LEDGER [OPTION...]
	local ledger=$1
	shift
	ip netns exec far "$schedz" collect --listen 127.0.0.1:6677 --output keyed "$@" \
		>"$ledger" 2>collector.err &
	collector=$!
	until_true 30 hears
}
hears() { ip netns exec far ss -Hlun 'sport = 6677' | grep -q .; }
ledger_has() { # LEDGER LINE
	kill -USR1 $collector
	tail -n 20 "$1" | grep -qx "$2"
}
is_repeated() { [ -s repeated ]; }

ip -n far link set lo up
: >repeated
collect ledger --key-file key
ip netns exec far python3 "$TRACERIG_TOP/tests/guest/strangers_path.py" >>repeated 2>path.err &
path=$!
until_true 30 is_delivered
marks 50
until_true 30 is_delivered
if grep '^key:' $target/ledger; then
	die "an answer was missed"
fi
all=$(number generated)
forged=$(counted forged)
kill -USR1 $path
until_true 30 is_repeated
read -r old early back <repeated
echo "repeated: $old datagrams, $early of them early; $back acknowledgements"
if [ "$early" = 0 ] || [ "$old" -le $((2 * early)) ] || [ "$back" -lt 10 ]; then
	die "too few to repeat"
fi
# The responses to the early ones are late at the rig
until_true 30 forged_are $((forged + 3 * back + early))
until_true 30 ledger_has ledger "refused: $((old - early)) datagrams that had arrived before"
until_true 30 ledger_has ledger "refused: $old datagrams with another key"
until_true 30 ledger_has ledger "refused: $old datagrams without a key"
until_true 30 ledger_has ledger "refused: $((2 * early)) datagrams of senders without an acknowledgement yet"
if [ "$(number generated)" != "$all" ] || ! is_delivered; then
	die "a repeated datagram was accepted"
fi
kill $collector
wait $collector || die "the collector failed"
grep -q "delivered $all + lost in the ring 0 + lost on the wire 0 + in flight 0" ledger ||
	die "the collector's ledger: $(cat ledger)"
cat $target/ledger >rig.ledger
echo 0 >$target/enabled

# For another collector it belongs to no session
collect again --key-file key
: >repeated
kill -USR1 $path
until_true 30 is_repeated
read -r old _ <repeated
until_true 30 ledger_has again "refused: $old datagrams of senders without an acknowledgement yet"
kill $collector
wait $collector || die "the second collector failed"
if grep -q session again; then
	die "another collector accepts the recorded datagrams: $(cat again)"
fi
[ "$(find keyed -name "*.dat" | wc -l)" = 1 ] || die "files: $(ls keyed)"

# ---- a key at one end only ----

told() { # LINE: and no other one
	[ "$(grep -c . collector.err)" = 1 ] && grep -qxE "$1" collector.err
}
collect none
echo 1 >$target/enabled
until_true 30 told 'schedz: session [0-9a-f]{16}: refused: the sender has a key; give it with --key-file'
[ "$(number acknowledged)" = 0 ] || die "a collector without the key acknowledges"
grep -q '^key: no answer' $target/ledger || die "the ledger does not report the missing answer"
echo 0 >$target/enabled
kill $collector
wait $collector || die "the collector without a key failed"

echo >$target/key
collect alone --key-file key
echo 1 >$target/enabled
until_true 30 told "schedz: session [0-9a-f]{16}: refused: the sender has no key; write it to its target's file key"
[ "$(number acknowledged)" = 0 ] || die "a collector with a key acknowledges datagrams without a seal"
echo 0 >$target/enabled
kill $collector
wait $collector || die "the collector with a key failed"
kill $path

# ---- reading the key ----

cat key >$target/key
[ "$(cat $target/key)" = set ] || die "the file key: $(cat $target/key)"
for action in 'cat' 'tee </dev/null'; do
	if setpriv --reuid 65534 --regid 65534 --clear-groups sh -c "$action $target/key" 2>/dev/null; then
		die "the user nobody can: $action key"
	fi
done
dmesg >dmesg.txt
cat $instance/trace $tracing/trace >trace.txt
for file in told ledger again none alone rig.ledger dmesg.txt trace.txt collector.err path.err "$target"/*; do
	if grep -aqiF -f key "$file"; then
		die "the key is in $file"
	fi
done
rmdir $target
rmdir $instance
