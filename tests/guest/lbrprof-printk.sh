#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# vm: --append tp_printk
# timeout: 120
#
# With tp_printk, events of NMIs are in the ring buffer and are not printed: the lock that
# printing takes may be held by what the NMI interrupted. Other events are printed.
set -euo pipefail

printed=$PWD/printed
cd /sys/kernel/tracing
echo 1 >events/nmi/nmi_handler/enable
echo 1 >events/sched/sched_process_exec/enable
/bin/true
echo l >/proc/sysrq-trigger
echo 0 >events/nmi/nmi_handler/enable
echo 0 >events/sched/sched_process_exec/enable

grep -q 'nmi_handler: ' trace || { echo "no NMI came" >&2; exit 1; }
dmesg >"$printed"
grep -q 'sched_process_exec: ' "$printed" || { echo "tp_printk prints nothing" >&2; exit 1; }
! grep 'nmi_handler: ' "$printed" >&2
