#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# module: pathfault
# vm: --disk 1G,iops=500
# timeout: 300
# part: check-full
#
# Real faults in disks, system calls, functions of the kernel, interrupts, scheduling and the
# network: every delayed operation alarms, and no fast operation does.
. "$TRACERIG_TOP/tests/guest/functions"

need_ctlchart
python3 "$TRACERIG_TOP/tests/guest/faults.py" "$@"
