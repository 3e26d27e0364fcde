#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# vm: --disk 1G,iops=500
# timeout: 180
#
# The filter in the kernel and tools/ctlchart see the same moments: in one boot, a plain trace in
# the main buffer, charted on the desk, and the filter in an instance.  Each buffer records its
# own time stamps: they differ by microseconds, or by more when the host stops the guest in
# between.
set -eu
# shellcheck source=tests/lib.bash
. "$TRACERIG_TOP/tests/lib.bash"

ctlchart=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/ctlchart
# ns: durations this close to the limit may be judged either way, and starts of the same read
# differ by at most this
margin=1000000
apart=500000000

# record FILTER SECONDS: record into rec.dat, with 4 readers and, after SECONDS, 100 more, each of
# which makes 10 reads, however slow the host is. The buffers have room for all events, in case
# trace-cmd is not able to read them in time.
record() {
	trace-cmd record -o rec.dat -b 16384 -e block:block_bio_queue -e block:block_rq_complete \
		-B kernel -b 4096 -e block:block_rq_complete -f "$1" -e ctlchart \
		fio --filename=/dev/vda --direct=1 --rw=randread --bs=4k --ioengine=sync \
		--thread --name=calm --time_based --runtime=$(($2 + 2)) --numjobs=4 \
		--name=storm --startdelay="$2" --number_ios=10 --numjobs=100 >log 2>&1 || die "$(cat log)"
	"$ctlchart" --format=csv --instance=kernel rec.dat >kernel.csv
	"$ctlchart" --format=csv -e block:block_rq_complete -f "$1" rec.dat >desk.csv
}

# missing A B LIMIT: alarms of A, clearly above LIMIT, that are not in B.  Fields:
# 4 start, 5 duration, the last one keys.
missing() {
	awk -F , -v limit="$3" -v margin=$margin -v apart=$apart '
		FNR == 1 { next }
		NR == FNR { start[$NF] = start[$NF] " " $4; next }
		$5 < limit + margin { next }
		{
			n = split(start[$NF], times, " ")
			for (i = 1; i <= n; i++)
				if (times[i] - $4 < apart && $4 - times[i] < apart)
					next
			print
		}' "$2" "$1"
}

# A fixed limit: the same alarms, one by one, except where the host stops the guest
record 'ctlchart(block_bio_queue, dev, sector, ucl=20ms)' 3
alarms=$(($(wc -l <kernel.csv) - 1))
: >dropped
echo "$alarms alarms of the kernel, $(($(wc -l <desk.csv) - 1)) on the desk"
[ "$alarms" -ge 100 ] || die "too few to compare"
for pair in "kernel.csv desk.csv" "desk.csv kernel.csv"; do
	# shellcheck disable=SC2086 # two files
	missing $pair 20000000 >lacking
	echo "$pair: $(wc -l <lacking) of the first are not in the second"
	if [ "$(wc -l <lacking)" -gt $((alarms / 100)) ]; then
		head lacking
		die "more than 1 %"
	fi
done
trace-cmd report rec.dat >events 2>errors || { cat errors; die "trace-cmd report failed"; }
[ "$(grep -c 'EVENTS DROPPED' events)" -eq 0 ] || { cat log; die "events were overwritten"; }
# Each alarm says that its event was kept, and the event is in the buffer. The exception:
# trace-cmd adds terms to the filter that drop events of interrupts during its own processes,
# and the plain trace has these.
awk -v apart=$apart '
	NR == FNR {
		if ($1 ~ /^trace-cmd-/ && $4 == "block_rq_complete:")
			times[$8] = times[$8] " " $3 * 1e9
		next
	}
	FNR == 1 || $9 == 1 { next }
	{
		n = split(times[substr($NF, index($NF, "sector=") + 7)], own, " ")
		for (i = 1; i <= n; i++)
			if (own[i] - $3 < apart && $3 - own[i] < apart) {
				print >"dropped"
				next
			}
		print
	}' events FS=, kernel.csv >unkept
[ ! -s unkept ] || { head unkept; die "the events of $(wc -l <unkept) alarms were not kept"; }
kept=$(grep -c '^kernel:.*block_rq_complete: ' events)
dropped=$(wc -l <dropped)
echo "$dropped of them came while trace-cmd's recorders ran"
[ $((kept + dropped)) -eq "$alarms" ] || die "$kept events were kept"

# A learnt limit: the samples may differ by a value or two. A busy host makes few reads in 2 s.
record 'ctlchart(block_bio_queue, dev, sector, learn=2s)' 12
"$ctlchart" --instance=kernel rec.dat
limit() {
	awk -F , 'NR == 2 { print $7 }' "$1"
}
echo "learnt limits: kernel $(limit kernel.csv), desk $(limit desk.csv)"
awk -v a="$(limit kernel.csv)" -v b="$(limit desk.csv)" \
	'BEGIN { exit !(a > 0 && b > 0 && a / b < 1.25 && b / a < 1.25) }' || die "they differ"
