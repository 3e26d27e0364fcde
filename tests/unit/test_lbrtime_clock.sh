#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 200
# sanitizers: check-full
#
# The clock of cycles against that of a simulated CPU (lbr_clock.py, lbr_spin.py): one that changes
# is not used, or its error includes the change; one that is given and cannot be is refused.
set -u

lbrtime=$TOOLS/lbrtime
here=$(realpath "$(dirname "$0")")
program=$lbrtime
# shellcheck source=tests/unit/cli.bash
. "$here/cli.bash"

samples=400

declare -A reasons=(
	[changed]='the duration of a cycle changed during the recording, or differs between CPUs, by more than 5 %'
	[disagree]='the intervals do not agree on the duration of a cycle')

# clock USED CLOCK MODE INTERRUPT RESTART SEED: USED is used, either, or one of the reasons
clock() {
	local used=$1
	shift
	python3 "$here/lbr_clock.py" $samples "$@" >clock.txt || exit 1
	"$lbrtime" --format=json clock.txt >clock.json 2>err || wrong "$*: $(cat err)"
	if [ -n "${reasons[$used]-}" ]; then
		"$lbrtime" clock.txt >out 2>err || wrong "$*: text: $(cat err)"
		grep -qxF "Cycles are not used: ${reasons[$used]}" out || wrong "$*: another reason than $used: $(head -n 9 out)"
		used=refused
	fi
	python3 "$here/lbr_clock_check.py" "$1" "$used" || wrong "$*: the clock is not that of the CPU"
}

# ghz ACCEPTED N: with --ghz=N, clock.txt is accepted (1), or N is refused (0)
ghz() {
	"$lbrtime" --ghz="$2" clock.txt >out 2>err || wrong "--ghz=$2"
	if [ "$1" = 1 ]; then
		grep -q '^1 cycle = ' out || wrong "--ghz=$2 is refused: $(grep Cycles out)"
	else
		grep -q '^Cycles are not used: --ghz contradicts the samples' out || wrong "--ghz=$2 is accepted"
		expect 1 '--method=cycles: --ghz contradicts the samples' --ghz="$2" --method=cycles clock.txt
	fi
}

for seed in 1 2; do
	clock used 2 lbrprof 0 0 $seed
	clock used 2 lbrprof 0 1 $seed
	for mode in perf lbrprof; do
		for change in 1.2,3.6 2.4-2.7 2,2,2,2.5; do
			clock changed $change $mode 0 1 $seed
		done
		# Whole intervals of both clocks are seen if the count goes on
		clock disagree 1.2,3.6 $mode 0 0 $seed
		clock disagree 2,2,2,2.5 $mode 0 0 $seed
		clock changed 2.4-2.7 $mode 0 0 $seed
	done
done
clock either 2,2.06 lbrprof 0 0 1
clock either 2,2.1 lbrprof 0 1 1
# CPUs of one clock, and of several: its error includes them, also if they have few samples
for seed in 1 2; do
	clock used 2+2+2 lbrprof 0 0 $seed
	clock used 2+2+2 perf 0 0 $seed
	for restart in 0 1; do
		refused=disagree
		[ $restart = 0 ] || refused=changed
		for mode in perf lbrprof; do
			clock either 2+2.04 $mode 0 $restart $seed
			clock either 2+2+2+2.08 $mode 0 $restart $seed
			clock $refused 2+2.3 $mode 0 $restart $seed
			# they cancel out in sums over CPUs
			clock $refused 2,2.4+2.4,2 $mode 0 $restart $seed
			samples=60
			clock either 2+2.06 $mode 0 $restart $seed
			samples=400
		done
	done
done
"$lbrtime" clock.txt >out 2>err || wrong "text"
grep -q '^1 cycle = [0-9.]* ns (± [0-9.]* %)$' out || wrong "no error: $(head -n 9 out)"
# The recording has no whole interval of the fast half, but its branches exceed the time
clock changed 1.2,4.8 lbrprof 0 0 1
"$lbrtime" --ghz=4.8 clock.txt | grep -q '^1 cycle = ' && wrong "--ghz of one half is accepted"

# Cycles of perf's samples leave out interrupts, but fill half of an interval
for restart in 0 1; do
	clock either 2 perf 0 $restart 1
	ghz 1 2
	for n in 1 5 10; do
		ghz 0 $n
	done
	clock either 2 perf 20000 $restart 1
	ghz 1 2
	ghz 0 5
	python3 "$here/lbr_spin.py" 1700 0.5 0 $restart >clock.txt || exit 1
	ghz 1 2
	ghz 0 8
	ghz 0 10
done
exit $failed
