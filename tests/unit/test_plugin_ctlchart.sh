#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# trace-cmd report shows alarms through the plugin, and survives damaged ones.
set -eu

plugin=plugin_ctlchart
# shellcheck source=tests/unit/plugin.bash
. "$(dirname "$0")/plugin.bash"

"$UNIT/gen_tracedat" mixed mixed.dat >truth
report mixed.dat >out
sed -n 's/.*ctlchart_alarm: *//p' out >alarms
cat >expected <<'END'
block_bio_queue->block_rq_complete: 7.012 s (limit 23.412 ms, centre 14.100 ms) started 1000.000000 by reader-1234 dev=8:0 sector=1234 rule: limit, kept
lat.lat: 7000 (limit 99) by five-5 rule: limit
named: 999 ns (no limit yet) started 1000.001234 by a-name-of-15-by-6 k=-1 rule: overdue
named: 1.500 us (limit 1.000 us, centre 250 ns) started 1000.000000 by seven-7 k=2 rule: limit, 2, overdue, kept
END
diff expected alarms

# Without the plugin the event's own format is used: it is the plugin that spoke.
trace-cmd report -N mixed.dat | grep -q 'chart=lat.lat start=0 duration=7000'

"$UNIT/gen_tracedat" alarm alarm.dat 100 200 >truth
survives alarm.dat 150
