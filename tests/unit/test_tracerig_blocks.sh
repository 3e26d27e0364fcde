#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# sanitizers: check-full
# timeout: 300
#
# tracerig explain and open, pathdiff and ioreq read the events in schedz's blocks as if they had
# been recorded themselves: of one made-up history, written both ways, they show the same. Where
# blocks are missing or damaged, explain shows no other cause than without them.
set -u

# shellcheck source=tests/unit/cli.bash
. "$TRACERIG_TOP/tests/unit/cli.bash"
program=$TOOLS/tracerig

# both CASE [FATE N]: its trace.dat in blocks/ and plain/, and the number of blocks of CPU 0
both() {
	mkdir -p blocks plain
	"$UNIT/gen_blocks" "$1/trace.dat" blocks/trace.dat plain/trace.dat "${@:2}" >nr || wrong "gen_blocks $*"
	cp "$1/case.json" blocks
	cp "$1/case.json" plain
}
# shown WHERE COMMAND...: what it shows of WHERE/, in WHERE.out
shown() {
	(cd "$1" && "$program" "${@:2}" ./) >"$1.out" 2>"$1.err" || wrong "$*: $(cat "$1.err")"
}
# same WHAT: all that is shown of blocks/ and plain/
same() {
	for command in "explain" "explain --format=json" "open -o -"; do
		for where in blocks plain; do
			# shellcheck disable=SC2086 # a command with options
			shown $where $command
			[ ! -s $where.err ] || wrong "$1, $where: $(cat $where.err)"
		done
		cmp plain.out blocks.out || wrong "$1: $command differs: $(diff plain.out blocks.out | cut -c 1-300)"
	done
}

# --- complete
mkdir case
for seed in $(seq 500000 500005); do
	what=faults
	[ $((seed % 3)) -gt 0 ] || what=healthy
	"$UNIT/gen_explain" $what complete "$seed" case >truth || wrong "gen_explain"
	both case
	same "seed $seed"
	grep -qa 'schedz_block' blocks/trace.dat || wrong "no blocks"
done
# A call with some blocks
"$UNIT/gen_explain" faults complete 1 case >truth || wrong "gen_explain"
both case
same "seed 1"
right=$(sed -n 's/.* right=//p' truth)
grep -q "\"cause\":\"$right" blocks.out || "$program" explain ./blocks | grep -q "^cause: $right" || wrong "no cause: $(cat truth)"
[ "$(cat nr)" -ge 4 ] || wrong "only $(cat nr) blocks"
"$TOOLS/schedz" stat blocks/trace.dat >out || wrong "they are no blocks"
! "$TOOLS/schedz" stat plain/trace.dat >out 2>&1 || wrong "there are blocks in the other one"

# --- what the analyzers find
for what in spin sleep lies pread; do
	mkdir -p found
	"$UNIT/gen_findings" $what found/trace.dat >truth || wrong "gen_findings $what"
	read -r start end _ <truth
	python3 "$TRACERIG_TOP/tests/unit/tracerig_case.py" "$start" "$end" 30000 60000 1000 >found/case.json
	both found
	same "$what"
done
grep -q 'waits for\|ioreq' plain.out || wrong "ioreq was not asked"

# --- a compressed file, whose blocks are copied
both case
trace-cmd convert --file-version 7 --compression any -i blocks/trace.dat -o z.dat >out 2>&1 || wrong "convert: $(cat out)"
mv z.dat blocks/trace.dat
same "compressed"

# --- a block is lost: so are its events, and what is next to them is unknown
for n in $(seq "$(cat nr)"); do
	both case lost "$n"
	same "block $n lost"
	total=$(python3 -c 'import json, sys; d = json.load(sys.stdin); print(sum(p["ns"] for p in d["parts"]) + d["unseen"] == d["duration"])' \
		< <("$program" explain --format=json ./blocks))
	[ "$total" = True ] || wrong "block $n lost: the parts and what is unseen are not the operation"
done
both case lost 4
"$program" explain ./blocks | grep -q '^doubt: events are lost at [0-9]* places* ' || wrong "no doubt about lost events"

# --- a block is damaged: a line says where, and the rest is read
# complains WHAT REASON: of one block
complains() {
	shown blocks open -o -
	[ "$(wc -l <blocks.err)" -eq 1 ] || wrong "$1: open: not one line: $(cat blocks.err)"
	shown blocks explain
	[ "$(wc -l <blocks.err)" -eq 1 ] || wrong "$1: not one line: $(cat blocks.err)"
	grep -qE "^tracerig explain: \./trace\.dat:[0-9]+: damaged: $2; of [0-9]+ blocks, 1 cannot be read$" blocks.err ||
		wrong "$1: $(cat blocks.err)"
	at=$(sed -E 's/.*trace\.dat:([0-9]+):.*/\1/' blocks.err)
	[ "$(tail -c "+$((at + 21))" blocks/trace.dat | head -c 2)" = SZ ] || wrong "$1: no block is at $at"
	! grep -q '^cause' blocks.out || grep -q "^cause: $right" blocks.out || wrong "$1: another cause: $(cat blocks.out truth)"
}
doubts=0
for n in $(seq "$(cat nr)"); do
	both case damaged "$n"
	complains "block $n damaged" 'a block has a wrong checksum'
	! grep -q '^doubt: \(events are lost at\|nothing was recorded at\)' blocks.out || doubts=$((doubts + 1))
done
# The other ones were before the operation
[ $doubts -ge 3 ] || wrong "only $doubts damaged blocks are a doubt"
both case twice 4
complains "block 4 twice" 'the events of blocks are not in order of time'
exit "$failed"
