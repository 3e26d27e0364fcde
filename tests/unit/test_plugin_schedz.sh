#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# trace-cmd report shows blocks through the plugin, and survives damaged ones.
set -eu

plugin=plugin_schedz
# shellcheck source=tests/unit/plugin.bash
. "$(dirname "$0")/plugin.bash"

"$UNIT/gen_schedz" blocks.dat plain.dat 3000 1
report blocks.dat | sed -n 's/.*schedz_block: *//p' >blocks
# The number of events, and the first event's time
[ "$(sed -n 's/^block [0-9]*: \([0-9]*\) events .*/\1/p' blocks | paste -sd+ | bc)" -eq 6000 ]
first=$(report -t --cpu 0 plain.dat 2>/dev/null | sed -n 's/.* \([0-9.]*\): sched_.*/\1/p' | head -n 1)
grep -q "^block 0: [0-9]* events from $first on, [0-9]* bytes" blocks

survives blocks.dat 60
