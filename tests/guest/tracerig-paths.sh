#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# vm: --cpus 1
# module: pathfault
# timeout: 400
# part: check-full
#
# tracerig watch --paths: a function of the kernel is delayed once, by a module, and explain
# names it, though the window has no normal execution to compare with. set_graph_function,
# which is global, is not shared, and restored whatever ends the watch.
. "$TRACERIG_TOP/tests/guest/functions"

need_ctlchart
export PATH=$TRACERIG_TOP/build/tools/bin:$PATH
parameters=/sys/module/pathfault/parameters
functions=$tracing/set_graph_function
none="#### all functions enabled ####"
root=__x64_sys_futex
usec=500000

explain() {
	cp -r cases "$TRACERIG_OUTPUT" || :
	cat log err out json "$functions" 2>/dev/null
}

# watch OPTION...: in the background; waits until it has begun
watch() {
	tracerig watch --dir="$PWD/cases" "$@" >log 2>err &
	pid=$!
	while_alive "$pid" grep -q ': \(learning\|judging\)$' log || die "the watch has not begun"
}

# fails TEXT COMMAND...: with this one line
fails() {
	local text=$1
	shift
	"$@" >out 2>err && die "$* does not fail"
	same "tracerig watch: $text" "$(cat err)" "what $* reports"
}

# --- another program has set functions to follow, or uses the tracer
global="the functions that it follows are global, and --paths would change what another user records: end that, or echo"
echo vfs_write >"$functions"
fails "set_graph_function has vfs_write: $global >$functions" tracerig watch --dir="$PWD/none" function:do_futex --paths
same vfs_write "$(cat "$functions")" "functions of another user"
echo >"$functions"
mkdir "$tracing/instances/other"
# The guest takes long to turn on the tracing of all functions
echo do_nanosleep >"$tracing/instances/other/set_ftrace_filter"
echo function_graph >"$tracing/instances/other/current_tracer"
fails "the tracer function_graph is in use: $global nop >$tracing/instances/other/current_tracer" \
	tracerig watch --dir="$PWD/none" syscall:futex --paths
rmdir "$tracing/instances/other"
tracerig watch --dir="$PWD/none" function:no_such_function --paths 2>err && die "no_such_function is followed"
grep -q 'no_such_function cannot be probed' err || die "no_such_function is not reported"
same "$none" "$(cat "$functions")" "functions after what cannot work"

# --- a watch that is killed, then one without --paths; what other programs have added stays
watch function:do_futex --paths
same do_futex "$(cat "$functions")" "functions while it watches"
same function_graph "$(cat "$tracing/instances/tracerig-1/current_tracer")" "the tracer of the watch"
same nop "$(cat "$tracing/current_tracer")" "the main tracer"
kill -KILL "$pid"
wait "$pid" 2>/dev/null || :
same do_futex "$(cat "$functions")" "functions after SIGKILL"
echo vfs_write >>"$functions"
echo 'p:other/vfs_write_paths vfs_write' >>"$tracing/kprobe_events"
watch wakeup
same vfs_write "$(cat "$functions")" "functions after the next start"
kill -TERM "$pid"
wait "$pid" || :
echo >"$functions"
echo '-:other/vfs_write_paths' >>"$tracing/kprobe_events"

# --- another program has removed the probe that is for the watch after a killed one
watch function:do_futex --paths
echo '-:tracerig_1/do_futex_paths' >>"$tracing/kprobe_events"
kill -TERM "$pid"
wait "$pid" || :
same "$none" "$(cat "$functions")" "functions after a watch without its probe"

# --- another program reads the instance, which stays: without functions it would record all of them
watch function:do_futex --paths
exec 9<"$tracing/instances/tracerig-1/trace_pipe"
kill -TERM "$pid"
wait "$pid" || :
grep -qx 'tracerig watch: the trace instance tracerig-1 is in use by another program, and stays: .*' err || die "another message"
same do_futex "$(cat "$functions")" "functions of an instance that stays"
same 0 "$(cat "$tracing/instances/tracerig-1/tracing_on")" "whether it records"
watch wakeup
same "tracerig-1 tracerig-2" "$(cd "$tracing/instances" && echo *)" "instances of the next watch"
same do_futex "$(cat "$functions")" "functions while the instance stays"
kill -TERM "$pid"
wait "$pid" || :
exec 9<&-

# --- the child that records normal executions is killed; another program empties the functions, after
# which the tracer follows all of them
watch -e syscalls:sys_exit_futex -f 'ctlchart(sys_enter_futex, common_pid, ucl=400ms, name=futex)' --paths
same "$root" "$(cat "$functions")" "functions after the program has ended"
normal=$tracing/instances/tracerig-1-normal
until_true 60 test -d "$normal"
pkill -KILL -P "$pid" || die "no child records normal executions"
gone() {
	[ ! -d "$normal" ]
}
until_true 60 gone
grep -q 'normal executions are not recorded: Interrupted system call$' err || die "the child was not killed"
echo >"$functions"
ended() {
	! kill -0 "$pid" 2>/dev/null
}
until_true 60 ended
wait "$pid" && die "the watch does not fail without its functions"
grep -qx "tracerig watch: $root was removed from set_graph_function by another program, .*" err || die "the lost function is not reported"
same "" "$(ls "$tracing/instances")" "instances after the functions were lost"
same "" "$(cat "$tracing/dynamic_events")" "probes after the functions were lost"

# --- a function is delayed once; the window begins with the operation
gcc -O1 -o pathload "$TRACERIG_TOP/tests/guest/pathload.c"
insmod "$TRACERIG_MODULES/pathfault/pathfault.ko" function=futex_wake mode=spin usec=$usec permille=1000 shots=0 comm=pathload
./pathload futex 1000000000 &
load=$!
watch -e syscalls:sys_exit_futex \
	-f 'ctlchart(sys_enter_futex, common_pid, ucl=400ms, pre=1us, post=1us, from=start, name=futex)' --paths
same "$root" "$(cat "$functions")" "functions while it watches"
until_true 150 test -e cases/.baseline
now() {
	cut -d ' ' -f 1 /proc/uptime
}
delayed() {
	[ "$(cat $parameters/hits)" -eq "$shot" ]
}
kept() {
	case=$(python3 "$TRACERIG_TOP/tests/guest/paths_case.py" find cases "$load" "${usec}000" "$before" "$after")
}
# A delay by the host may be in the same window, or may have been worse: then it is not kept
before=$(now)
for ((shot = 1; shot <= 10; shot++)); do
	echo 1 >$parameters/shots
	until_true 30 delayed
	after=$(now)
	! within 10 kept || break
done
[ "$shot" -le 10 ] || die "none of the delays is kept as a case"
kill "$load"
kill -TERM "$pid"
wait "$pid" || die "the watch failed"
same "$none" "$(cat "$functions")" "functions after the watch"
same "" "$(ls "$tracing/instances")" "instances after the watch"
same "" "$(cat "$tracing/dynamic_events")" "probes after the watch"
[ ! -e cases/.baseline ] || die "the record of normal executions is left"

tracerig verify --dir=cases "$case" >/dev/null || die "the case is not whole"
tracerig explain --dir=cases "$case" --timeout=10m --format=json >json || die "it cannot be explained"
python3 "$TRACERIG_TOP/tests/guest/paths_case.py" named futex_wake "${usec}000" <json || die "another function is named"
rmmod pathfault
