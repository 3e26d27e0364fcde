#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# vm: --cpus 4
# timeout: 1800
#
# Many pairs of real events on four processors: each pair is accounted for, none is left in
# flight, and nothing is written to the ring buffer. fio and the disk have their own counts.
. "$TRACERIG_TOP/tests/guest/functions"

need_ctlchart
jobs=8
per_job=40000
[ -z "${TRACERIG_FULL-}" ] || per_job=1250000
total=$((jobs * per_job))
null_disk pairs submit_queues=4
before=$(disk_reads "$disk")

call ucl=600s >"$complete/filter"
echo 1 >"$tracing/events/ctlchart/enable"
echo 1 >"$complete/enable"
fio --name=r --filename="$disk" --rw=randread --direct=1 --bs=4k --ioengine=psync \
	--numjobs=$jobs --number_ios=$per_job --norandommap --size=1g --io_size=100g \
	--group_reporting --output-format=json --output=fio.json
echo 0 >"$complete/enable"

same $total "$(sed -n 's/.*"total_ios" : \([0-9]*\).*/\1/p' fio.json | head -n 1)" "fio's reads"
same $total $(($(disk_reads "$disk") - before)) "the disk's reads"
same $total "$(get starts)" starts
same $total "$(get ends)" ends
same $total "$(get paired)" "paired starts"
same $total "$(get judged)" "values judged"
same 0 "$(get alarms)" alarms
same 0 "$(get flight)" "starts in flight"
check_accounts
same 0 "$(cat "$tracing"/per_cpu/cpu*/stats | awk '/^entries:|^overrun:|^dropped events:/ { n += $NF } END { print n }')" \
	"events in the ring"
same 0 "$(grep -vc '^#' "$tracing/trace")" "lines of trace"
echo "$total pairs"
