#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# trace-cmd report shows alarms through the plugin, and survives damaged ones.
set -eu

export TRACEEVENT_PLUGIN_DIR=$TOOLS/../plugins
plugin=$TRACEEVENT_PLUGIN_DIR/plugin_ctlchart.so
preload=
if ldd "$plugin" | grep -q libasan; then
	preload=$(gcc -print-file-name=libasan.so)
	export ASAN_OPTIONS=detect_leaks=0
fi

report() {
	LD_PRELOAD=$preload trace-cmd report "$@"
}

"$UNIT/gen_tracedat" mixed mixed.dat >truth
report mixed.dat >out
sed -n 's/.*ctlchart_alarm: *//p' out >alarms
cat >expected <<'END'
block_bio_queue->block_rq_complete: 7.012 s (limit 23.412 ms, centre 14.100 ms) started 1000.000000 by reader-1234 dev=8388608 sector=1234 rule: limit, kept
lat.lat: 7000 (limit 99) by five-5 rule: limit
named: 999 ns (no limit yet) started 1000.001234 by a-name-of-15-by-6 k=-1 rule: overdue
named: 1.500 us (limit 1.000 us, centre 250 ns) started 1000.000000 by seven-7 k=2 rule: limit, 2, overdue, kept
END
diff expected alarms

# Without the plugin the event's own format is used: it is the plugin that spoke.
trace-cmd report -N mixed.dat | grep -q 'chart=lat.lat start=0 duration=7000'

# Damage: no read beyond the record that a sanitizer would find in the plugin.
"$UNIT/gen_tracedat" alarm alarm.dat 100 200 >truth
for seed in $(seq 150); do
	"$UNIT/gen_damage" alarm.dat damaged.dat "$seed"
	report damaged.dat >out 2>messages || true
	if grep -A 3 'ERROR: AddressSanitizer' messages out | grep plugin_ctlchart; then
		cat messages
		exit 1
	fi
done
