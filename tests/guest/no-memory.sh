#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 200
#
# Every allocation fails in turn: while a filter is written, in all other operations on a chart,
# and while an event of iosys is enabled.
. "$TRACERIG_TOP/tests/guest/functions"

need_ctlchart
[ -e /proc/self/fail-nth ] || { echo "this kernel injects no faults (the kernel of check-full's stage debug does)"; exit 77; }
python3 "$TRACERIG_TOP/tests/guest/no_memory.py"
