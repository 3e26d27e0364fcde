#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# Given the kernel's own values (ctlchart_value), the desk comes to exactly what the
# kernel came to: limits, counts and alarms, one by one, for each setting.  Reads of
# four processes that a timer interrupt completes on any CPU; some of a slow disk.
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
python3 - "$disk" "$slow" <<'END'
import mmap, os, random, sys

for process in range(4):
	if os.fork() == 0:
		random.seed(process)
		buffer = mmap.mmap(-1, 4096)
		usual, slow = (os.open(path, os.O_RDONLY | os.O_DIRECT) for path in sys.argv[1:])
		for i in range(1000):
			late = i > 850 and random.random() < 0.1
			os.preadv(slow if late else usual, [buffer], random.randrange(100000) * 4096)
		os._exit(0)
for process in range(4):
	assert os.wait()[1] == 0
END
for i in "${!settings[@]}"; do
	dir=$tracing/instances/v$i/events/block/block_rq_complete
	echo 0 >"$dir/enable"
	cat "$dir/ctlchart" >"v$i.state"
done

# alarms ARGUMENT...: but for when they were written
alarms() {
	"$ctlchart" --format=csv "$@" | cut -d , -f 1,2,4- | sort
}

# which removes the instances, too
trace-cmd extract -a -o v.dat >log 2>&1 || die "$(cat log)"
alarms=0
for i in "${!settings[@]}"; do
	filter=$(call "${settings[i]}")
	of=(-e block:block_rq_complete -f "$filter" --instance "v$i" v.dat)
	alarms --instance "v$i" v.dat >kernel
	alarms "${of[@]}" >desk 2>err
	[ ! -s err ] || die "$(cat err)"
	diff kernel desk || die "${settings[i]}: not the same alarms"
	alarms=$((alarms + $(wc -l <kernel) - 1))
	"$ctlchart" --format=json "${of[@]}" >desk.json
	python3 - "v$i.state" desk.json "${settings[i]}" "$(wc -l <kernel)" <<'END'
import json, re, sys

# Each chart or part of one: its lines, and where its values went
kernel, name = {}, None
for line in open(sys.argv[1]):
	word, _, rest = line.rstrip().partition(": ")
	number = [int(n) for n in re.findall(r"\b\d+\b", rest)]
	if word in ("chart", "part"):
		name = rest
		kernel[name] = {"center": None, "limit": None}
	elif word in ("center", "limit"):
		kernel[name][word] = number[0]
	elif word == "values" and "learnt" in rest or word == "part values":
		kernel[name]["learnt"], kernel[name]["values"] = number[:2]
		if word == "part values":
			kernel[name]["alarms"] = number[2]
	elif word == "alarms":
		kernel[name]["alarms"] = number[0]
	elif word.startswith("by "):
		# what the call's own chart has is of all its parts; this is its own
		kernel[next(iter(kernel))].update(learnt=number[-2], values=number[-1])
desk = {c["name"]: {k: c.get(k) for k in ("center", "limit", "learnt", "values", "alarms")}
	for c in json.load(open(sys.argv[2]))["charts"]}
if len(desk) > 1:
	first = next(iter(kernel))
	kernel[first]["alarms"] -= sum(c["alarms"] for n, c in kernel.items() if n != first)
if kernel != desk:
	sys.exit(f"{sys.argv[3]}: not the same\nkernel {kernel}\ndesk   {desk}")
print(f"{sys.argv[3]}: {sum(c['learnt'] + c['values'] for c in desk.values())} values, "
	f"{sys.argv[4]} lines of alarms, {', '.join(str(c['limit']) for c in desk.values())}")
END
done
[ "$alarms" -ge 100 ] || die "$alarms alarms are too few to compare"

# Other settings on the same values: the one that the kernel had is among them
"$ctlchart" sim -e block:block_rq_complete -f "$(call ucl=4ms)" --grid ucl=4ms,40ms --instance v7 v.dat >compared
cat compared
grep -q 'values of this chart in the kernel' compared || die "sim did not take them"
