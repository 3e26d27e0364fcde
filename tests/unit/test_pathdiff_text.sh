#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# sanitizers: check-full
# timeout: 240
#
# pathdiff on text: what trace-cmd report makes of recordings whose truth is known, and
# the text of tracefs' function_graph tracer with each of its options, from a generator
# that knows what is slow; and text that is no trace.
set -u

program=$TOOLS/pathdiff
# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"
here=$(dirname "$(realpath "$0")")

# asks FILE EXPRESSION: of the result r and its first cause c
asks() {
	python3 "$here/pathdiff_ask.py" "$@"
}

# --- as trace-cmd report writes it
names() { # KIND WANTED SELF: cause, its executions, and their mean self time in ms
	local kind=$1 wanted=$2 got how
	"$UNIT/gen_paths" "$kind" "$kind.dat" 1000 >truth || exit 1
	for how in "${hows[@]}" ""; do
		# shellcheck disable=SC2086 # several options
		trace-cmd report -i "$kind.dat" $how >"$kind.txt" 2>/dev/null || exit 1
		"$program" --format=json "$kind.txt" >out.json 2>err || wrong "$kind $how: $(cat err)"
		got=$(asks out.json '"%s %s %s %d" % (c["kind"], c["function"], c.get("caller", "-"), round(c["self"] / 1e6))')
		[ "$got" = "$wanted $3" ] || wrong "$kind $how: $got instead of $wanted $3"
		[ "$(asks out.json 'r["trace"]["executions"], c["executions"]')" = \
			"($(sed -n 's/^executions=//p' truth), $(sed -n 's/^slow=//p' truth))" ] || wrong "$kind $how: executions"
		[[ $kind != wait ]] || [ "$(asks out.json '[w["name"] for w in c["wait"]["who"]]')" = "['irq disk0']" ] ||
			wrong "$kind $how: the waker"
	done
}
hows=(-l --ts-diff "-l --ts-diff" "-O fgraph:depth=1" "-O fgraph:tailprint=1 -O fgraph:depth=1")
names wait "wait schedule io_wait" 5
[ "$(asks out.json 'c["wait"]["kind"]')" = blocked ] || wrong "wait: kind"
names hard "interrupt hard interrupt, __sysvec_apic_timer_interrupt(), most of it in hrtimer_interrupt() -" 25
hows=()
names slow "slow f4 -" 5
names extra "extra f9 -" 5
names off "wait schedule io_wait" 5
[ "$(asks out.json 'r["trace"]["sleep_time"]')" = off ] || wrong "off: sleep-time"
names task "wait schedule io_wait" 5
[ "$(asks out.json '[(w["name"], w["stack"]) for w in c["wait"]["who"]]')" = "[('waker', ['wake_it', 'ksys_read'])]" ] ||
	wrong "task: the waker"
# Without flags, the events show the context of a wake-up
sed 's/irq_handler_entry: .*/softirq_entry: vec=3 [action=NET_RX]/; s/irq_handler_exit: .*/softirq_exit: vec=3 [action=NET_RX]/' \
	wait.txt >softirq.txt
"$program" --format=json softirq.txt >out.json 2>err || wrong "softirq: $(cat err)"
[ "$(asks out.json '[w["name"] for w in c["wait"]["who"]]')" = "['softirq NET_RX']" ] || wrong "softirq: the waker: $(cat out.json)"
# What trace-cmd report writes with other options cannot be read
refuses() { # OPTIONS MESSAGE
	# shellcheck disable=SC2086 # several options
	trace-cmd report -i wait.dat $1 >refused.txt 2>/dev/null || exit 1
	expect 1 "^pathdiff: refused\.txt: line 2: $2 of trace-cmd report" refused.txt
}
refuses -R "calls as fields cannot be read: leave out -R and -r"
refuses "-l -r funcgraph_entry" "calls as fields cannot be read: leave out -R and -r"
refuses -N "calls without braces cannot be read: leave out -N and -n"
refuses --raw-ts "times without a unit cannot be read: leave out --raw-ts"
refuses "-l --raw-ts" "times without a unit cannot be read: leave out --raw-ts"
# Two recordings are not one
cat off.txt off.txt >twice.txt
expect 1 '^pathdiff: twice\.txt: line [0-9]*: the clock of CPU [01] goes back: ' twice.txt
names lock "wait schedule lock_it" 5
names late "wait f3 f1" 5
names preempt "wait schedule io_wait" 5
[ "$(asks out.json 'c["wait"]["kind"]')" = preempted ] || wrong "preempt: kind"
names soft "interrupt softirq NET_RX, most of it in net_rx_action() -" 25
names nmi "interrupt NMI, nmi_handle() -" 25
names tail "slow f4 -" 10
"$UNIT/gen_paths" healthy healthy.dat 2000 >truth
trace-cmd report -i healthy.dat >healthy.txt 2>/dev/null
"$program" --brief healthy.txt | grep -q '^Looks healthy:' || wrong "healthy"
"$program" --brief --baseline healthy.txt slow.txt | grep -q '^1\. f4()' || wrong "a baseline of text"
"$program" --brief --baseline healthy.dat slow.txt | grep -q '^1\. f4()' || wrong "a baseline of records"

# --- as tracefs and perf ftrace write it
graph() { # OPTIONS EXECUTIONS CAUSE [TASK]
	local got
	# shellcheck disable=SC2086 # several options
	python3 "$here/graph_text.py" $1 >graph.txt 2>truth || exit 1
	"$program" --format=json graph.txt >out.json 2>err || wrong "$1: $(cat err)"
	got=$(asks out.json '(r["trace"]["executions"], c["kind"] + " " + c["function"], c["executions"], round(c["self"] / 1e6))')
	[ "$got" = "($2, '$3', $(sed -n 's/^slow=//p' truth), 5)" ] || wrong "$1: $got"
	got=$(asks out.json '"%s-%s" % (c["worst"]["comm"], c["worst"].get("pid", "?"))')
	[ "$got" = "${4:-unknown task-?}" ] || wrong "$1: task $got"
}
graph "" 1000 "slow f4 [ext4]"
graph abs 1000 "slow f4 [ext4]"
graph proc 1000 "slow f4 [ext4]" sshd-5
graph "abs proc flags" 1000 "slow f4 [ext4]" sshd-5
graph "abs nodur" 1000 "slow f4 [ext4]"
graph "abs nodur proc flags" 1000 "slow f4 [ext4]" sshd-5
graph tail 1000 "slow f4 [ext4]"
graph args 1000 "slow f4 [ext4]"
graph retval 1000 "slow f4 [ext4]"
graph retaddr 1000 "slow f4 [ext4]"
graph event 1000 "slow f4 [ext4]" sshd-5
graph switch 1000 "slow f4 [ext4]" sshd-5
graph quote 1000 "slow f4 [ext4]"
graph "quote cut proc" 998 "slow f4 [ext4]" sshd-5
graph "sleep switch" 1000 "wait schedule" sshd-5
graph "sleep event abs" 1000 "wait schedule" sshd-5
graph "abs irq flags" 1000 "slow f4 [ext4]"
for options in "tail irq" "tail irq proc flags" "abs irq nodur" "abs irq nodur proc" "abs irq nodur proc flags"; do
	task=
	[[ $options != *proc* ]] || task=sshd-5
	graph "$options" 1000 "slow f4 [ext4]" $task
	[ "$(asks out.json '[c["function"] for c in r["causes"] if c["kind"] == "interrupt"]')" = \
		"['hard interrupt, __sysvec_apic_timer_interrupt(), most of it in hrtimer_interrupt()']" ] ||
		wrong "$options: which: $(asks out.json '[c["function"] for c in r["causes"]]')"
done
graph lost 1000 "slow f4 [ext4]"
[ "$(asks out.json '(r["trace"]["broken"], r["trace"]["lost"])')" = "(1, 50)" ] || wrong "lost: $(head -c 400 out.json)"

# --- what an excerpt, a gap or the load hides is not made up
cases() { # CASE [OPTION...]: into out.json and out
	python3 "$here/graph_cases.py" "$1" >case.txt
	"$program" --format=json "${@:2}" case.txt >out.json 2>err || wrong "$1: $(cat err)"
	"$program" --brief "${@:2}" case.txt >out 2>err || wrong "$1: $(cat err)"
}
cases irq
[ "$(asks out.json '(c["kind"], c["function"], c["executions"])')" = \
	"('interrupt', 'hard interrupt, __common_interrupt(), most of it in slow_handler()', 15)" ] || wrong "irq: $(cat out)"
for case in gap snip wrapped; do
	cases $case
	[ "$(asks out.json '(r["trace"]["executions"], r["trace"]["broken"], r["limit"]["healthy"])')" = "(385, 15, True)" ] ||
		wrong "$case: $(cat out)"
done
cases names
[ "$(asks out.json '(c["function"], c["worst"]["comm"])')" = "('f3', 'ls')" ] || wrong "names: $(cat out)"
cases most
grep -q '^Not decided: one place has 100 % of the delay, but 9[01] % of the normal time, too: ' out || wrong "most: $(cat out)"
grep -q '^   The largest part: f3() takes longer$' out || wrong "most: $(cat out)"
[ "$(asks out.json '(r["undecided"], r["spread"], c, r["causes"][0]["function"])')" = "(True, False, None, 'f3')" ] ||
	wrong "most: JSON"
[ "$(asks out.json 'r["verdict"]')" = "$(grep '^Not decided' out)" ] || wrong "most: $(asks out.json 'r["verdict"]')"
cases second
[ "$(asks out.json '(c["function"], c["executions"], round(c["self"] / 1e7))')" = "('f3', 15, 200)" ] ||
	wrong "second: $(cat out)"
cases softirq
[ "$(asks out.json 'c["function"]')" = "softirq NET_RX, most of it in slow_poll()" ] || wrong "softirq: $(cat out)"
cases one
grep -q '^Not decided: one place has 100 % of the delay, but nearly all in one execution: ' out || wrong "one: $(cat out)"
grep -qE '^   one execution has (9[89]|100) % of this delay: [23]..\.. ms$' out || wrong "one: $(cat out)"
# What recording costs: by the files of Linux that define these functions, and by the recording task
overhead() { # WANTED FUNCTION...: of causes in the function
	local function
	for function in "${@:2}"; do
		sed "s/f4 \[ext4\]/$function/" graph.txt >named.txt
		"$program" --format=json named.txt >out.json 2>err || wrong "$function: $(cat err)"
		[ "$(asks out.json '(c["function"], c["overhead"])')" = "('$function', $1)" ] ||
			wrong "$function: $(asks out.json '(c["function"], c["overhead"])'), not $1"
	done
}
python3 "$here/graph_text.py" >graph.txt 2>truth
# kernel/trace/ring_buffer.c, kernel/stacktrace.c, arch/x86/kernel/stacktrace.c and unwind_orc.c
overhead True rb_reserve_next_event __rb_reserve_next rb_insert_pages ring_buffer_lock_reserve stack_trace_save \
	stack_trace_consume_entry arch_stack_walk unwind_next_frame __unwind_start
# lib/rbtree.c, and functions whose names only resemble those
overhead False rb_insert_color __rb_insert_augmented rb_erase rb_first rb_next rb_prev rb_replace_node \
	walk_stack_node stack_depot_save
"$UNIT/gen_paths" recorder recorder.dat 1000 >truth || exit 1
for task in perf:True perfd:False trace-cmd:True; do
	trace-cmd report -i recorder.dat 2>/dev/null | sed "s/trace-cmd/${task%:*}/g" >recorder.txt
	"$program" --format=json recorder.txt >out.json 2>err || wrong "$task: $(cat err)"
	[ "$(asks out.json '"%s:%s" % (c["wait"]["who"][0]["name"], c["overhead"])')" = "$task" ] || wrong "$task: overhead"
done
# Most lines wrapped, or without indentation, are refused; what web pages and the kernel log add is not
sed 's/^\(.............\)/\1\n/' graph.txt >wrapped.txt
expect 1 '^pathdiff: wrapped\.txt: [0-9]* lines* cut off, first line [0-9]*: ' wrapped.txt
tr -s ' ' <graph.txt >flat.txt
expect 1 '^pathdiff: flat\.txt: [0-9]* lines* cut off, first line [0-9]*: ' flat.txt
"$program" --format=json graph.txt | sed 's/"file":"[^"]*"//' >plain.json
for change in 's/ /\xc2\xa0/g' 's/^/[  100.000001] /' 's/^/> /'; do
	sed "$change" graph.txt >changed.txt
	"$program" --format=json changed.txt 2>err | sed 's/"file":"[^"]*"//' | cmp -s plain.json || wrong "$change: $(cat err)"
done
# From a pipe or standard input, the result is the file's
"$program" --baseline healthy.txt graph.txt | sed 's/^graph\.txt: /standard input: /' >plain
# shellcheck disable=SC2002 # a pipe is meant
cat graph.txt | "$program" --baseline healthy.txt - 2>err | cmp -s plain || wrong "a pipe: $(cat err)"
"$program" --baseline healthy.txt - <graph.txt 2>err | cmp -s plain || wrong "standard input: $(cat err)"
"$program" --baseline <(cat healthy.txt) graph.txt 2>err | sed 's/^graph\.txt: /standard input: /; s,/dev/fd/[0-9]*,healthy.txt,' |
	cmp -s plain || wrong "a pipe as baseline: $(cat err)"
for how in "$program -" "$program --instance=x -" "$program /dev/stdin"; do
	$how < <(cat wait.dat) >out 2>err && wrong "$how: a trace.dat is read from a pipe"
	[ "$(sed 's/^pathdiff: [^:]*: //' err)" = "has no text; a trace.dat must be a regular file, given by name" ] ||
		wrong "$how: a trace.dat in a pipe"
done
expect 1 '^pathdiff: -: has no text; ' --baseline=- - <graph.txt
expect 1 '^pathdiff: /: is a directory$' /
# A limit by hand does not make a cause of what may be chance
python3 "$here/graph_cases.py" healthy >healthy.txt
"$program" --brief --limit=9050ns healthy.txt >out || wrong "--limit"
grep -q '^1\. ' out && wrong "a limit makes causes: $(cat out)"

# All formats, also without tasks
python3 "$here/graph_text.py" lost >graph.txt 2>truth
for format in text csv folded chrome html; do
	"$program" --format=$format graph.txt >out 2>err || wrong "--format=$format: $(cat err)"
	[ -s out ] || wrong "--format=$format is empty"
done
grep -q 1073741824 out && wrong "a task that is not known has an ID"
"$program" --entry=f3 graph.txt >out 2>err || wrong "--entry: $(cat err)"
grep -q 'executions of f3\|f3()' out || wrong "--entry: $(cat out)"
"$program" graph.txt -o graph.txt 2>err && wrong "the trace is overwritten"

# A task switch without a state
python3 "$here/graph_text.py" event 2>truth | sed 's/ prev_state=[^ ]*//' >state.txt
"$program" state.txt >out 2>err || wrong "no prev_state: $(cat err)"

# --- what is no trace
python3 "$here/graph_text.py" nodur proc >untimed.txt 2>truth
expect 1 '^pathdiff: untimed\.txt: has neither times nor durations: record with the option' untimed.txt
printf '# tracer: nop\n#\n' >nop.txt
expect 1 '^pathdiff: nop\.txt: neither a trace\.dat file nor the text of a function_graph trace; record' nop.txt
printf ' 9999)   0.541 us    |  f();\n' >cpus.txt
expect 1 '^pathdiff: cpus\.txt: line 1: Linux has at most 8192 CPUs, this is number 9999' cpus.txt
printf ' 0)   0.541 us    |  }\n' >ends.txt
expect 1 '^pathdiff: ends\.txt: has only returns of functions' ends.txt
expect 1 '^pathdiff: graph\.txt: has no complete execution of nosuch' --entry=nosuch graph.txt
exit $failed
