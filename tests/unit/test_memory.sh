#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
#
# Without memory, each tool says so: it is run in 50 sizes of address space, from the
# smallest in which its --version works up to the smallest in which it does its work.
# In each it either writes its usual result, or ends with status 1 and one line,
# "TOOL: out of memory: what was being done", TOOL perhaps with its command.
set -u

sizes=50
failed=0

case $TOOLS in
*-san/*) echo "AddressSanitizer reserves terabytes of address space"; exit 77 ;;
esac

# limited KIB COMMAND...: run it with that much address space
limited() (
	ulimit -v "$1" || exit 99
	shift
	rm -f out
	"$@" </dev/null >out 2>err
)

# ctlchart save writes what the limits are from, with the time
is_right() {
	cmp -s out right || cmp -s <(grep -v '^from: ' out) <(grep -v '^from: ' right)
}

works() {
	limited "$@" 2>/dev/null && is_right
}

# smallest COMMAND...: the KiB, to 64, in which it writes what is in "right"
smallest() {
	local low=0 high=64 middle
	until works "$high" "$@"; do
		low=$high
		high=$((high * 2))
		[ "$high" -lt $((8 << 20)) ] || return 1
	done
	while [ $((high - low)) -gt 64 ]; do
		middle=$(((low + high) / 2))
		if works "$middle" "$@"; then high=$middle; else low=$middle; fi
	done
	echo "$high"
}

# try TOOL ARGUMENTS...
try() {
	local tool=$TOOLS/$1 name=$1 begin enough size i code short=0 doing
	shift
	"$tool" --version >right || exit 1
	begin=$(smallest "$tool" --version) || { echo "wrong: $name --version: fails"; failed=1; return; }
	"$tool" "$@" >right 2>err || { echo "wrong: $name $*: $(cat err)"; failed=1; return; }
	enough=$(smallest "$tool" "$@") || { echo "wrong: $name $*: fails with 8 GiB"; failed=1; return; }
	: >doing
	for ((i = 0; i < sizes; i++)); do
		size=$((begin + (enough - begin) * i / sizes))
		limited "$size" "$tool" "$@" 2>/dev/null
		code=$?
		[ "$code" -ne 0 ] || ! is_right || continue
		short=$((short + 1))
		if [ "$code" -ne 1 ] || [ "$(wc -l <err)" -ne 1 ] ||
			! grep -qE "^$name( [a-z]+)?: out of memory: [a-z]" err; then
			echo "wrong: $name $* in $size KiB: status $code: $(head -c 500 err)"
			failed=1
		fi
		sed 's/.*out of memory: //' err >>doing
	done
	doing=$(sort doing | uniq -c | sed 's/^ *\([0-9]*\) /\1 x /' | paste -sd,)
	echo "$name $*: from $begin to $enough KiB: $doing"
	[ "$short" -gt 10 ] || { echo "wrong: $name $*: only $short of $sizes sizes were too small"; failed=1; }
}

"$UNIT/gen_large" large.dat 60000 >/dev/null || exit 1
"$UNIT/gen_paths" slow slow.dat 2000 >/dev/null || exit 1
"$UNIT/gen_tiers" front.dat app.dat db.dat 1000 1 >/dev/null || exit 1
"$UNIT/gen_lbr" lbr.dat 32 4000 3 alarms >/dev/null || exit 1
"$UNIT/gen_schedz" blocks.dat plain.dat 40000 1 >/dev/null || exit 1
"$UNIT/gen_cases" cases 1000000000 reader=300 reader=500 writer=800 || exit 1
python3 "$TRACERIG_TOP/tests/unit/memory_case.py" cases/1/case.json || exit 1

for format in text svg html; do
	try ctlchart -e block:block_rq_complete --format=$format \
		-f 'ctlchart(block_bio_queue, dev, sector, ucl=10ms)' large.dat
done
for format in text html; do
	try pathdiff --format=$format slow.dat
	try ioreq --format=$format front=front.dat app=app.dat db=db.dat
	try lbrtime --format=$format lbr.dat
done
for command in decode stat; do
	try schedz $command blocks.dat
done
try schedz expand -o /dev/stdout blocks.dat

# Commands that learn, save and load limits
reads=(-e block:block_rq_complete -f 'ctlchart(block_bio_queue, dev, sector, name=reads, learn=1ms)')
try ctlchart sim "${reads[@]}" large.dat
try ctlchart save "${reads[@]}" large.dat
for ((i = 0; i < 3000; i++)); do
	printf '%s: %s\n' event block:block_rq_complete instance "i$i" filter "ctlchart(block_bio_queue, dev, sector)" \
		chart "reads$i" limit 5ms
done >limits
try ctlchart load --dry-run limits

# Commands that read cases; tar has the same address space
try tracerig list --dir cases
try tracerig list --format=json --dir cases
try tracerig verify --dir cases 1
try tracerig pack --dir cases 1 -o -
mkdir case || exit 1
"$UNIT/gen_open" 1000 case >/dev/null || exit 1
try tracerig open ./case -o -
mkdir slow && "$UNIT/gen_explain" faults complete 1 slow >/dev/null || exit 1
python3 "$TRACERIG_TOP/tests/unit/memory_case.py" slow/case.json || exit 1
for format in text json; do
	try tracerig explain --format=$format ./slow
done

# The collector goes on: it has room for 0 to 2 senders' metadata
mkdir collected || exit 1
"$TOOLS/schedz" --version >right && begin=$(smallest "$TOOLS/schedz" --version) || exit 1
python3 "$TRACERIG_TOP/tests/unit/memory_collect.py" "$TOOLS/schedz" "$begin" "$sizes" || failed=1
exit "$failed"
