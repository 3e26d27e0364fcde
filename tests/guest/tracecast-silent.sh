#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# Heartbeats of tracecast that nothing answers come later and later, although records wait, and
# as before once something answers. The first answer may be to any of them, so it is not taken for
# a short round trip.
. "$TRACERIG_TOP/tests/guest/schedz-both-ways"

target=/sys/kernel/config/tracecast/rig
instance=$tracing/instances/silent

explain() {
	[ ! -e $target/ledger ] || cat $target/ledger
	[ ! -e collector.err ] || cat collector.err
}

ip netns add far
ip link add rig0 type veth peer name far0 netns far
ip -n far address add 10.9.1.2/24 dev far0
ip -n far link set far0 up
ip address add 10.9.1.1/24 dev rig0
ip link set rig0 up
trap 'kill $(jobs -p) 2>/dev/null || true; ip netns delete far' EXIT
mkdir $instance $target
echo silent >$target/instance
echo 10.9.1.2 >$target/remote_ip
echo 100 >$target/flush

listens() { ip netns exec far ss -Hlun 'sport = 6676' | grep -q .; }
ip netns exec far python3 "$TRACERIG_TOP/tests/guest/silent_collector.py" 10.9.1.2 >beats 2>collector.err &
collector=$!
until_true 30 listens
for _ in {1..20}; do
	echo "a mark"
done >$instance/trace_marker
echo 1 >$target/enabled
wait $collector || die "the collector failed"
trip=$(sed -n 's/^congestion window: .* in \([0-9]*\) ms.*/\1/p' $target/ledger)
python3 "$TRACERIG_TOP/tests/guest/silent_check.py" beats "$trip" >&2 || die "$(cat beats)"

# A collector that comes after a silence gets all
ip netns exec far "$schedz" collect --listen 10.9.1.2 --allow 10.9.1.1 --output collected \
	>ledger 2>collector.err &
collector=$!
delivered() { grep -q '^generated: 20 = .*acknowledged 20 ' $target/ledger; }
until_true 30 delivered
echo 0 >$target/enabled
rmdir $target $instance
