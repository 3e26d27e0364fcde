#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# trace-cmd report shows blocks through the plugin, and survives damaged ones.
set -eu

export TRACEEVENT_PLUGIN_DIR=$TOOLS/../plugins
plugin=$TRACEEVENT_PLUGIN_DIR/plugin_schedz.so
preload=
if ldd "$plugin" | grep -q libasan; then
	preload=$(gcc -print-file-name=libasan.so)
	export ASAN_OPTIONS=detect_leaks=0
fi

report() {
	LD_PRELOAD=$preload trace-cmd report "$@"
}

"$UNIT/gen_schedz" blocks.dat plain.dat 3000 1
report blocks.dat | sed -n 's/.*schedz_block: *//p' >blocks
# As many events as there are, and the first time as the first event's
[ "$(sed -n 's/^block [0-9]*: \([0-9]*\) events .*/\1/p' blocks | paste -sd+ | bc)" -eq 6000 ]
first=$(report -t --cpu 0 plain.dat 2>/dev/null | sed -n 's/.* \([0-9.]*\): sched_.*/\1/p' | head -n 1)
grep -q "^block 0: [0-9]* events from $first on, [0-9]* bytes" blocks

for seed in $(seq 60); do
	"$UNIT/gen_damage" blocks.dat damaged.dat "$seed"
	report damaged.dat >out 2>messages || true
	if grep -A 3 'ERROR: AddressSanitizer' messages out | grep plugin_schedz; then
		cat messages
		exit 1
	fi
done
