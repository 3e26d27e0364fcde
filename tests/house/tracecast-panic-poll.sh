#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# needs: vm, kernel, tools
# A guest panics while it receives a packet, in the poll of the interface that tracecast sends
# through: the records that were not sent by then arrive all the same. If it panics while the
# interface sends, the kernel log says that nothing is sent.
. "$TRACERIG_TOP/tests/house/lib.sh"

"$TRACERIG_TOP/scripts/kernel" module "$TRACERIG_TOP/tests/house/pollpanic" "$PWD/pollpanic" >log 2>&1 || die "$(cat log)"
mkdir out.d
cp pollpanic/pollpanic.ko out.d
panics 'in the poll of eth0, softirq 1' 700 pollpanic.ko

for sending in 1 2; do
	in_guest 125 --net host --append panic=5 <<END
set -e
. "\$TRACERIG_TOP/tests/lib.bash"
cd /sys/kernel/config/tracecast
mkdir rig
echo 10.0.2.2 >rig/remote_ip
echo 1 >rig/enabled
ready() { grep -q '^panic: through eth0' rig/ledger; }
until_true 30 ready
insmod "\$TRACERIG_OUTPUT/pollpanic.ko" sending=$sending
END
	has err "the guest panicked: .*with sending=$sending"
	has out.d/console.log 'target rig sends nothing in this panic: the panic stopped the interface while it was sending'
done
