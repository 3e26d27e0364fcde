#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# tracecast sends metadata no faster than the network carries it: to a host that does not answer
# a window and then less and less, to one that begins to answer all of it at once, to one that
# has it nothing, and to one that always says that it has not, less and less.
. "$TRACERIG_TOP/tests/guest/functions"

target=/sys/kernel/config/tracecast/rig
instance=$tracing/instances/metadata

explain() {
	[ ! -e $target/ledger ] || cat $target/ledger
}

end() {
	[ ! -d $target ] || rmdir $target
	[ ! -d $instance ] || rmdir $instance
	echo >$tracing/kprobe_events
}
trap end EXIT

# Formats of some 50 KB: all elements of arrays are in them by name. The function is not called
args=
for i in {10..25}; do
	args="$args argument_with_a_long_name_no_$i=+0(\$stack):u8[64]"
done
for i in 1 2 3; do
	echo "p:long$i kernel_restart$args" >>$tracing/kprobe_events
done
mkdir $instance
echo 1 >$instance/events/kprobes/enable
mkdir $target
echo metadata >$target/instance
echo 127.0.0.1 >$target/remote_ip
python3 "$TRACERIG_TOP/tests/guest/tracecast_metadata.py" $target/enabled || die "see above"
echo 0 >$target/enabled
