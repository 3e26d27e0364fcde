#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# sanitizers: check-full
#
# lbrtime on LBR samples that lbr_cut.py cuts out of an Intel PT trace of a real program, in which
# the time of every branch is known: what it says is reliable has the right function, what it
# attributes by cycles has it nearly always, and no interval is whole by chance.
set -u

lbrtime=$TOOLS/lbrtime
here=$(realpath "$(dirname "$0")")
program=$lbrtime
# shellcheck source=tests/unit/cli.bash
. "$here/cli.bash"

xz -dc "$here/../data/pt/dlopen.txt.xz" >pt.txt || exit 1

# cell MODE FILTER CYCLES DEPTH PERIOD
cell() {
	local method

	python3 "$here/lbr_cut.py" cut pt.txt cut.txt truth.tsv "$4" "$5" "$1" "$2" "$3" || exit 1
	for method in cycles fit; do
		: >visits.csv
		if ! "$lbrtime" --format=csv --visits --method=$method cut.txt >visits.csv 2>err; then
			grep -qE "^lbrtime: cut.txt: --method=$method: " err || wrong "$*: $(cat err)"
		fi
		printf '%s\t%s\t%s\n' "$*" $method "$(python3 "$here/lbr_cut.py" judge truth.tsv visits.csv)" >>cells
	done
}
for mode in time user hidden kernel; do
	for depth in 16 32; do
		for period in 300 1000; do
			cell $mode calls 1 $depth $period
		done
	done
	cell $mode calls 1 32 500
	cell $mode calls 0 32 300
	cell $mode any 1 32 300
	cell $mode any 0 16 5000
done
# The duration of system calls varies much, and few intervals follow each other
for period in 1000 2000; do
	cell kernel any 0 32 $period
	cell kernel any 1 32 $period
done
cat cells
python3 "$here/lbr_cut_bounds.py" || wrong "not as the truth"

# Time before a visit of unknown length is unknown: visits there have no duration, an error of the
# whole interval, and are not reliable. (Of one or two cycles, a duration rounds to 0.)
python3 "$here/lbr_cut.py" cut pt.txt cut.txt truth.tsv 16 300 hidden calls 1 || exit 1
"$lbrtime" --format=csv --visits --method=cycles cut.txt >visits.csv 2>err || wrong "visits: $(cat err)"
python3 "$here/lbr_cut_unknown.py" || wrong "visits without attributed time have bounds"

# The clock is that of the cut, and is printed with its maximum error
python3 "$here/lbr_cut.py" cut pt.txt cut.txt truth.tsv 32 300 user calls 1 || exit 1
"$lbrtime" --format=json cut.txt >cut.json 2>err || wrong "json"
python3 "$here/lbr_cut_clock.py" || wrong "the clock is not that of the cut"
"$lbrtime" cut.txt 2>err | grep -qE '^1 cycle = 0\.[0-9]+ ns \(± [0-9.]+ %; shorter if the samples. interrupts took much time\)$' ||
	wrong "the clock is not printed"
# An impossible clock rate is refused
python3 "$here/lbr_cut.py" cut pt.txt slow.txt truth.tsv 32 300 user calls 1 0.03 || exit 1
"$lbrtime" slow.txt >out 2>err || wrong "a slow clock"
grep -q '^Cycles are not used: by the intervals, a cycle is shorter than 0.1 ns or longer than 10 ns$' out || wrong "a slow clock: $(head -7 out)"
expect 1 '^lbrtime: slow.txt: --method=cycles: by the intervals' --method=cycles slow.txt
expect 2 'must be a number from 0.1 to 10' --ghz=20 slow.txt

# A program of few long functions that repeat. The printed range of the clock contains the true
# value, for any duration of the samples' interrupts and wherever the cycle count begins, and no
# time is attributed to another function. Intervals with overlaps that cannot be by chance are whole.
# spin NS INTERRUPT RESTART WHOLE OPTION...: at least WHOLE of the intervals
spin() {
	local ns=$1 interrupt=$2 restart=$3 whole=$4
	shift 4
	python3 "$here/lbr_spin.py" 1700 "$ns" "$interrupt" "$restart" >spin.txt || exit 1
	"$lbrtime" --format=json "$@" spin.txt >spin.json 2>err || wrong "spin $ns $interrupt $restart $*"
	python3 "$here/lbr_spin_check.py" "$ns" "$whole" "$restart" "$#" || wrong "spin $ns $interrupt $restart $*: $(head -n 36 spin.json)"
}
for ns in 0.5 1 2; do
	spin $ns 8000 1 0.89
	spin $ns 0 1 0.89
	spin $ns 8000 0 0
	spin $ns 2000 0 0
	spin $ns 0 0 0
done
spin 0.5 8000 1 0.89 --ghz=2
spin 0.5 8000 0 0 --ghz=2
python3 "$here/lbr_spin.py" 1700 1 8000 1 >spin.txt || exit 1
"$lbrtime" spin.txt >out 2>err || wrong "spin"
grep -qE '^1 cycle <= 1\.[12][0-9]* ns$' out || wrong "spin: $(head -n 8 out)"
# An impossible clock, by which cycles exceed the time, is not used
"$lbrtime" --ghz=0.5 spin.txt >out 2>err || wrong "spin, --ghz=0.5"
grep -q '^Cycles are not used: --ghz contradicts the samples' out || wrong "spin, --ghz=0.5: $(head -n 8 out)"

# Of user space only, time that may be the kernel's is unknown by cycles, and a line says how much:
# that and no other unknown time
# hidden HELD DENSE: see lbr_hidden.py
hidden() {
	python3 "$here/lbr_hidden.py" 1500 "$1" "$2" >hidden.txt 2>hidden.truth || exit 1
	"$lbrtime" hidden.txt >hidden.out 2>err || wrong "hidden $1 $2"
	"$lbrtime" --format=json hidden.txt >hidden.json 2>err || wrong "hidden $1 $2: json"
	python3 "$here/lbr_hidden_check.py" || wrong "hidden $1 $2: $(cat hidden.truth), but $(grep ' may have been in the kernel' hidden.out)"
}
hidden 0.3 0
hidden 0.3 0.5
hidden 0 0.3
hidden 1 0.2
hidden 0.1 0.9
! grep -q '"unknown_held":[1-9]' cut.json || wrong "time is the kernel's though its branches are there"

# Loops that begin soon before a sample, which has two rounds of them or more: no interval is whole
for depth in 16 32; do
	for body in 1 2 3 5; do
		for cycles in 0 1; do
			python3 "$here/lbr_begins.py" 1 $depth $body 300 5 $cycles >begins.txt
			"$lbrtime" --format=json begins.txt >loops.json 2>err || wrong "loops begin: $depth $body $cycles"
			python3 "$here/lbr_loops_check.py" ||
				wrong "loops begin: $depth $body $cycles: intervals are whole: $(grep -A2 '"whole"' loops.json)"
		done
	done
done

# A program of nested loops, with a sample every 500,000 branches: no interval is whole
python3 "$here/lbr_loops.py" >loops.txt
"$lbrtime" --format=json loops.txt >loops.json 2>err || wrong "loops"
python3 "$here/lbr_loops_check.py" ||
	wrong "loops: intervals are whole: $(grep -A2 '"whole"' loops.json)"

# No result is NaN; one was when no sample had a share of the rest
xz -dc "$here/../data/lbr/nan.txt.xz" >nan.text || exit 1
for ghz in "" --ghz=0.1 --ghz=0.2 --ghz=1; do
	for method in sample equal share ratio cycles fit; do
		for format in json csv chrome speedscope folded text; do
			# shellcheck disable=SC2086 # none or one
			"$lbrtime" $ghz --method=$method --format=$format - <nan.text >out 2>err || continue
			if grep -aiE '(^|[^a-z_])-?(nan|inf)([^a-z]|$)' out; then
				wrong "$format by $method $ghz: NaN"
			fi
			[ $format != json ] || python3 -m json.tool out >/dev/null || wrong "no JSON by $method"
		done
	done
done
# One item is in the singular, and for a recording without a whole interval the remedy is printed
"$lbrtime" nan.text >out 2>err || wrong "nan.text"
grep -q '^  1 interval had more branches than were recorded, or may have had$' out || wrong "a single interval: $(head -n 5 out)"
! grep -q 'sample more often' out || wrong "intervals are whole, and text says that none is"
"$lbrtime" loops.txt >out 2>err || wrong "loops"
grep -q '^  no interval is whole, so only the samples say where time went: sample more often, or record only calls and returns (-j any_call,any_ret)$' out ||
	wrong "no whole interval: $(head -n 6 out)"

# A heavy tail of interrupts gives no clock: the true one is refused
xz -dc "$here/../data/lbr/ptwall.txt.xz" >wall.txt || exit 1
expect 1 '^lbrtime: wall.txt: --method=cycles: by the intervals, a cycle is shorter than 0.1 ns or longer' --method=cycles wall.txt

# Call stacks (--call-graph lbr) are not branches
{
	for i in 1 2 3 4 5 6 7 8 9; do
		echo "p 9/9 [000] 1.00000$i: 401000 d  c+0x$i/d+0x0/P/-/-/0/CALL/- b+0x9/c+0x0/P/-/-/0/CALL/- a+0x7/b+0x0/P/-/-/0/CALL/- main+0x5/a+0x0/P/-/-/0/CALL/-"
	done
} >stacks.txt
expect 1 '^lbrtime: stacks.txt: its branches are call stacks \(perf record --call-graph lbr\)' stacks.txt
# A tail call or a signal leaves a pair that does not match: d is not called by x
sed '3s|b+0x9/c+0x0|x+0x9/c+0x0|' stacks.txt >tail.txt
expect 1 '^lbrtime: tail.txt: its branches are call stacks \(perf record --call-graph lbr\)' tail.txt
# Calls alone (-j any_call) are what ran: here, every third call is made by the caller again
sed 's|b+0x9/c+0x0|a+0x9/c+0x0|' stacks.txt >calls.txt
"$lbrtime" calls.txt >out 2>err || wrong "calls alone: $(cat err)"
# and so are calls with returns, though each pair matches
sed 's|c+0x\([0-9]\)/d+0x0/P/-/-/0/CALL|c+0x\1/d+0x0/P/-/-/0/RET|' stacks.txt >returns.txt
"$lbrtime" returns.txt >out 2>err || wrong "calls and returns: $(cat err)"
exit $failed
