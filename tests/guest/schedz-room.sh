#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# vm: --cpus 1
# timeout: 300
#
# Blocks that share the ring buffer with a few other records leave little of its pages
# unused.  If schedz did not check the room in the page, each block would need a separate page,
# and the record before it another.
set -euo pipefail

cd /sys/kernel/tracing
echo 20000 >buffer_size_kb
echo >trace
echo 1 >events/schedz/schedz_block/enable
python3 "$TRACERIG_TOP/tests/guest/room_switches.py"
echo 0 >tracing_on
echo 0 >events/schedz/schedz_block/enable
python3 "$TRACERIG_TOP/tests/guest/room_pages.py"
