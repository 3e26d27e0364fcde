#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# part: check-full
# timeout: 300
#
# From the kernel's own values (ctlchart_value), the desk computes exactly the kernel's limits,
# counts and alarms, one by one, for each setting.  Reads of four processes that a timer
# interrupt completes on any CPU; some of a slow disk.  With rate=, which alarms are written
# depends on the order in which CPUs raise them, which a busy host changes: the same number of
# alarms is written, each of which is also written without rate=.
. "$TRACERIG_TOP/tests/guest/functions"

ctlchart=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/ctlchart
need_ctlchart
settings=("learn=1s" "learn=0,limit=median,scale=linear" "learn=0,limit=quantile" "learn=0,rules=all"
	"learn=0,relearn=300,rules=2" "learn=300ms,relearn=500ms,scale=linear"
	"learn=0,by=cpu,charts=1,rules=1,5" "ucl=4ms,rate=5")

null_disk slow irqmode=2 completion_nsec=60000000
slow=$disk
null_disk values irqmode=2 completion_nsec=300000 submit_queues=2
for i in "${!settings[@]}"; do
	dir=$tracing/instances/v$i
	mkdir "$dir"
	echo 6000 >"$dir/buffer_size_kb"
	call "${settings[i]}" >"$dir/events/block/block_rq_complete/filter"
	echo 1 >"$dir/events/ctlchart/enable"
	echo 1 >"$dir/events/ctlchart_debug/enable"
	echo 1 >"$dir/events/block/block_rq_complete/enable"
done
python3 "$TRACERIG_TOP/tests/guest/chart_reads.py" "$disk" "$slow"
for i in "${!settings[@]}"; do
	dir=$tracing/instances/v$i/events/block/block_rq_complete
	echo 0 >"$dir/enable"
	cat "$dir/ctlchart" >"v$i.state"
done

# alarms ARGUMENT...: print them, without the times at which they were written
alarms() {
	"$ctlchart" --format=csv "$@" | cut -d , -f 1,2,4- | sort
}

# This removes the instances, too
trace-cmd extract -a -o v.dat >log 2>&1 || die "$(cat log)"
alarms=0
for i in "${!settings[@]}"; do
	filter=$(call "${settings[i]}")
	of=(-e block:block_rq_complete -f "$filter" --instance "v$i" v.dat)
	alarms --instance "v$i" v.dat >kernel
	alarms "${of[@]}" >desk 2>err
	[ ! -s err ] || die "$(cat err)"
	if [[ ${settings[i]} = *,rate=* ]]; then
		of[3]=$(call "${settings[i]%,rate=*}")
		alarms "${of[@]}" >all
		[ -z "$(comm -23 kernel all)" ] || die "${settings[i]}: alarms that there are not: $(comm -23 kernel all)"
		of[3]=$filter
		more=$(($(wc -l <kernel) - $(wc -l <desk)))
		[ "${more#-}" -le 5 ] || die "${settings[i]}: $more alarms more than at the desk"
		[ "$(wc -l <kernel)" -lt "$(wc -l <all)" ] || die "${settings[i]}: no alarm was suppressed"
	else
		diff kernel desk || die "${settings[i]}: not the same alarms"
	fi
	alarms=$((alarms + $(wc -l <kernel) - 1))
	"$ctlchart" --format=json "${of[@]}" >desk.json
	python3 "$TRACERIG_TOP/tests/guest/chart_same.py" "v$i.state" desk.json "${settings[i]}" "$(wc -l <kernel)"
done
[ "$alarms" -ge 100 ] || die "$alarms alarms are too few to compare"

# Other settings on the same values; the kernel's setting is one of them
"$ctlchart" sim -e block:block_rq_complete -f "$(call ucl=4ms)" --grid ucl=4ms,40ms --instance v7 v.dat >compared
cat compared
grep -q 'values of this chart in the kernel' compared || die "sim did not use them"
