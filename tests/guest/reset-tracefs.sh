#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
# The reset before each test restores tracefs after any test.
set -eu
work=$PWD
cd /sys/kernel/tracing

# All files that a test may write and read back must be the same afterwards.
state() {
	grep -H '' current_tracer trace_clock buffer_size_kb tracing_on tracing_cpumask \
		tracing_thresh max_graph_depth set_event set_event_pid set_ftrace_filter \
		set_graph_function dynamic_events synthetic_events kprobe_events error_log options/*
	grep -v '^#' events/*/*/trigger || true
	grep -Lx none events/*/*/filter | xargs head -n 1 | grep -v 'global filter' || true
	ls instances
}
before=$(state)

mkdir instances/left
echo 'prev_pid == 1' >instances/left/events/sched/sched_switch/filter
echo 1 >instances/left/events/sched/enable
echo 'p:mine vfs_read' >kprobe_events
echo 'lat u64 lat; pid_t pid' >synthetic_events
echo 'e:myeprobe sched.sched_switch pid=$next_pid' >>dynamic_events
echo 'hist:keys=pid:ts0=common_timestamp.usecs' >events/sched/sched_waking/trigger
echo 'hist:keys=next_pid:w=common_timestamp.usecs-$ts0:onmatch(sched.sched_waking).lat($w,next_pid)' \
	>events/sched/sched_switch/trigger
echo 'traceoff:1 if prev_pid == 77777' >events/sched/sched_switch/trigger
echo 'hist:keys=pid' >events/synthetic/lat/trigger
echo 1 >events/kprobes/mine/enable
echo 1 >events/eprobes/myeprobe/enable
echo 'nr_sector > 8' >events/block/filter
echo 1 >events/block/enable
echo 1 >set_event_pid
echo vfs_read >set_ftrace_filter
echo vfs_write >set_graph_function
echo function >current_tracer
echo mono >trace_clock
echo 555 >buffer_size_kb
echo 1 >options/stacktrace
echo 0 >options/overwrite
echo 1 >tracing_cpumask
echo 'no such field ==' 2>/dev/null >events/sched/sched_switch/filter && exit 1
echo 0 >tracing_on
[ "$(state)" != "$before" ] || { echo "this test changed nothing"; exit 1; }

"$TRACERIG_TOP/tests/guest/reset"
after=$(state)
[ "$before" = "$after" ] || {
	echo "$before" >"$work/before"
	echo "$after" >"$work/after"
	diff "$work/before" "$work/after"
	exit 1
}
