#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# needs: vm, kernel, tools
# A guest panics while it receives a packet, in the poll of the interface that tracecast sends
# through: the records that were not sent by then arrive all the same.
. "$TRACERIG_TOP/tests/house/lib.sh"
marks=700

"$TRACERIG_TOP/scripts/kernel" module "$TRACERIG_TOP/tests/house/pollpanic" "$PWD/pollpanic" >log 2>&1 || die "$(cat log)"
mkdir out.d
cp pollpanic/pollpanic.ko out.d
# shellcheck disable=SC2119 # without options
collect
in_guest 125 --net host --append panic=5 <<END
set -e
cd /sys/kernel/config/tracecast
mkdir rig
echo 10.0.2.2 >rig/remote_ip
echo $port >rig/remote_port
echo 1 >rig/enabled
echo 1 >/sys/kernel/tracing/events/schedz/schedz_block/enable
exec python3 "\$TRACERIG_TOP/tests/house/panic_marks.py" $marks "\$TRACERIG_OUTPUT/pollpanic.ko"
END
has err 'the guest panicked: .*in the poll of eth0, softirq 1'
pid=$(head -n 1 out)
[ "$pid" -gt 1 ] || die "the guest did not come to its panic: $(cat out err)"
received
has notes 'a panic'
dat=$(echo collected/*.0.dat)
"$schedz" decode --format=json -o events.json "$dat"
python3 -B "$TRACERIG_TOP/tests/house/panic_check.py" report.txt events.json ledger "$marks" "$pid" || die "$(cat ledger notes)"
