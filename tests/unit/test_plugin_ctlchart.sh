#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# trace-cmd report shows alarms and limits through the plugin, and survives damaged
# ones.
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
sed -n 's/.*ctlchart_limit: *//p' out >limits
cat >expected <<'END'
block_bio_queue->block_rq_complete: limit 23.412 ms, centre 14.100 ms, 1000 values judged (chart #1)
lat.lat: limit 99, 3 values judged (chart #2)
named: no limit yet, 0 values judged (chart #3)
named: limit 1.000 us, centre 250 ns, 77 values judged (chart #4)
END
diff expected limits

# Without the plugin the event's own format is used: so the text is the plugin's.
trace-cmd report -N mixed.dat >out
grep -q 'chart=2 start=0 duration=7000 limit_nr=1 rules=limit kept=0 pid=5 comm=five keys=' out
grep -q 'chart=1 start=.* keys=8388608 1234 0$' out
grep -q 'chart=1 name=block_bio_queue->block_rq_complete center=14100000 limit=23412345 limit_nr=1 values=1000 event=1003 keys=dev:u32 sector:u64$' out

# Alarms without a limit event are shown by their numbers, as far as there is none.
"$UNIT/gen_tracedat" lost lost.dat
report lost.dat >out
sed -n 's/.*ctlchart_alarm: *//p' out >alarms
cat >expected <<'END'
chart #1: 5.000 ms (limit not recorded) started 1000.000000 by one-1 keys 0x8,0x18,0x0 rule: limit, kept
block_bio_queue->block_rq_complete: 6.000 ms (limit 4.000 ms) started 1000.000000 by two-2 dev=0:8 sector=24 rule: limit, kept
block_bio_queue->block_rq_complete: 7.000 ms (limit not recorded) started 1000.000000 by three-3 dev=0:8 sector=24 rule: limit, kept
chart #2: 8.000 ms (limit not recorded) started 1000.000000 by four-4 keys 0x6f666161,0x6f rule: limit, kept
named: 9.000 ms (limit 4.000 ms) started 1000.000000 by five-5 comm=aafoo rule: limit, kept
END
diff expected alarms

"$UNIT/gen_tracedat" alarm alarm.dat 100 200 >truth
survives alarm.dat 150
survives lost.dat 50
