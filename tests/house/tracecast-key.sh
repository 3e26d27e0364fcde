#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 150
# needs: vm, kernel, tools
# A target of the boot parameter with a key: the guest's users cannot read the key, and a
# collector that has it receives the trace, up to a panic.
. "$TRACERIG_TOP/tests/house/lib.sh"

mkdir out.d
(umask 077 && od -An -N16 -tx1 /dev/urandom | tr -d ' \n' >out.d/key)
key=$(cat out.d/key)
collect --key-file out.d/key
in_guest 125 --net host \
	--append "panic=5 tracecast=@10.0.2.15/eth0,$port@10.0.2.2/52:55:0a:00:02:02 tracecast_key=$key" <<'END'
set -e
. "$TRACERIG_TOP/tests/lib.bash"
target=/sys/kernel/config/tracecast/boot0
key=$(cat "$TRACERIG_OUTPUT/key")
explain() { cat $target/ledger; }
all() { ! grep -q ' acknowledged 0 ' $target/ledger && grep -q ' 0 unacknowledged$' $target/ledger; }
[ "$(cat $target/key)" = set ]
grep -o 'tracecast_key=x*' /proc/cmdline
for file in /proc/cmdline /proc/bootconfig /proc/1/environ /proc/1/cmdline $target/*; do
	if [ -e "$file" ] && grep -aqi "$key" "$file"; then
		die "the key is in $file"
	fi
done
# x86 logs its command line before any parameter is parsed
if dmesg | grep -v '\] Command line: ' | grep -i "$key"; then
	die "the key is in the log"
fi
for i in $(seq 0 99); do
	echo "mark $i"
done >/sys/kernel/tracing/trace_marker
until_true 40 all
# Wait for the end of the output, and the heartbeat after it
sleep 1
echo "mark 100" >/sys/kernel/tracing/trace_marker
echo c >/proc/sysrq-trigger
END
has err 'the guest panicked: .*sysrq triggered crash'
has out '^tracecast_key=x{32}$'
received
has notes 'a panic'
if grep -qi "$key" ledger notes collected/*; then
	die "the collector prints the key"
fi
python3 -B "$TRACERIG_TOP/tests/house/key_check.py" report.txt ledger || die "$(cat ledger notes)"
