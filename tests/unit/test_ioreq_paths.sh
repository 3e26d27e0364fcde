#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# sanitizers: check-full
# timeout: 240
#
# ioreq on several hosts: their clocks, the parent of each request, and what clients waited
# for, against the truth and against an independent computation.
set -u

ioreq=$TOOLS/ioreq
program=$ioreq
# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"

hosts=(web=web.dat app=app.dat db=db.dat alone=alone.dat)

# --- clocks
for seed in 1 2 3 4 5 6; do
	"$UNIT/gen_chain" web.dat app.dat db.dat alone.dat 3000 $seed >truth || exit 1
	"$ioreq" --clocks --format=json "${hosts[@]}" >clocks.json 2>err || wrong "--clocks fails"
	"$ioreq" --clocks --format=csv "${hosts[@]}" >clocks.csv 2>>err || wrong "--clocks fails"
	"$ioreq" --requests --format=json "${hosts[@]}" >requests.json 2>>err || wrong "--requests fails"
	[ ! -s err ] || wrong "messages about good files"
	python3 -B "$TRACERIG_TOP/tests/unit/ioreq_paths_clocks.py" || wrong "the clocks of seed $seed are not right"
done
"$ioreq" --clocks "${hosts[@]}" >out 2>err || wrong "--clocks in text fails"
grep -qE '^db +[0-9,]+ -?[0-9.]+ .?s ahead of web, \+- [0-9.]+ us, at worst [0-9.]+ us; drift ' out || wrong "text has no row for the clock of db"
grep -q '^alone  *0 not aligned: no messages with another host$' out || wrong "text does not report that alone is not aligned"
# In 6 seconds, a drift of 200 ppm exceeds the latency of any message
"$UNIT/gen_chain" web.dat app.dat db.dat alone.dat 30000 6 >truth || exit 1
"$ioreq" --clocks --max-drift=1 "${hosts[@]}" >out 2>err || wrong "--max-drift=1 fails"
grep -q 'contradict a drift of 1 ppm' out || wrong "text does not report the contradiction"

# --- a clock that runs too fast: no time in the network is negative, and the requests that show it
# are counted
"$UNIT/gen_chain" web.dat app.dat db.dat alone.dat 3000 3 rates >truth || exit 1
for format in text csv json; do
	"$ioreq" --requests --format=$format "${hosts[@]}" >rates.$format 2>err || wrong "--requests in $format fails"
	"$ioreq" --paths --format=$format "${hosts[@]}" >rates-paths.$format 2>err || wrong "--paths in $format fails"
done
python3 -B "$TRACERIG_TOP/tests/unit/ioreq_paths_rates.py" || wrong "clocks of different rates are not told: $(grep 'than by the client' rates.text)"

# --- parents of requests
for lossy in "" lossy; do
	for seed in 7 9; do
		# shellcheck disable=SC2086 # or none
		"$UNIT/gen_chain" web.dat app.dat db.dat alone.dat 3000 $seed $lossy >truth || exit 1
		"$ioreq" --paths --format=json "${hosts[@]}" >paths$lossy.json 2>err || wrong "--paths fails"
		"$ioreq" --format=otlp "${hosts[@]}" >links$lossy.otlp 2>>err || wrong "otlp fails"
		[ -n "$lossy" ] || [ ! -s err ] || wrong "messages about good files"
		LOSSY=$lossy python3 -B "$TRACERIG_TOP/tests/unit/ioreq_paths_links.py" || wrong "the links${lossy:+ of a lossy trace} of seed $seed are not right"
	done
done

# --- a downstream request that outlives its parent is attributed to the parent's client
for mode in early lossy; do
	"$UNIT/gen_chain" web.dat app.dat db.dat alone.dat 3000 5 $mode >truth || exit 1
	"$ioreq" --by=client,host,call --format=json "${hosts[@]}" >clients.json 2>/dev/null || wrong "--by=client fails"
	"$ioreq" --paths --format=json "${hosts[@]}" >paths.json 2>/dev/null || wrong "--paths fails"
	MODE=$mode python3 -B "$TRACERIG_TOP/tests/unit/ioreq_paths_outlived.py" || wrong "clients of requests that outlive their parent are not right ($mode)"
done

# --- what clients waited for
"$UNIT/gen_tiers" web.dat app.dat db.dat 400 3 >tiers || exit 1
hosts=(front=web.dat app=app.dat db=db.dat)
"$ioreq" --paths --format=json "${hosts[@]}" >paths.json 2>err || wrong "--paths fails"
"$ioreq" --clocks --format=json "${hosts[@]}" >tiers-clocks.json 2>>err || wrong "--clocks fails"
"$ioreq" --paths --format=csv "${hosts[@]}" >paths.csv 2>>err || wrong "--paths in csv fails"
"$ioreq" --paths "${hosts[@]}" >paths.txt 2>>err || wrong "--paths in text fails"
[ ! -s err ] || wrong "messages about good files"
python3 "$TRACERIG_TOP/tests/unit/ioreq_paths_time.py" || wrong "what clients waited for is not right"
# The messages of db restrict its clock to the maximum drift, on both sides
grep -q "; drift 0.000 +- " paths.txt || wrong "text prints a drift of -0"
grep -q '^front:curl -> app:app server ' paths.txt || wrong "text has no row for the path"
grep -q '^  -> db:<b>db</b> ' paths.txt || wrong "text has no row for the second step of the path"
grep -q '^ambiguous: app:app server -> db:<b>db</b> ' paths.txt || wrong "text has no row for ambiguous requests"
grep -qE ' ambiguous, with [0-9.]+ .?s in rows of their own: ' paths.txt || wrong "text does not say where ambiguous requests are: $(head -4 paths.txt)"
[ "$("$ioreq" --paths --top=2 --format=csv "${hosts[@]}" | grep -vc ',ambiguous,')" -eq 3 ] || wrong "--top=2 is not 2"

# --- the line of code from which most of a step was called
mkdir -p root/usr/bin
for i in 1 2 3 4 5; do
	printf '__attribute__((noinline)) void f%d(void)\n{\n\tvoid out(void);\n\tout();\n\tn++;\n}\n' $i
done | { printf 'int n;\n__attribute__((noinline)) void out(void)\n{\n\tn--;\n}\n' && cat &&
	printf 'int main(void)\n{\n\tf1();\n\tf2();\n\tf3();\n\tf4();\n\tf5();\n\treturn n;\n}\n'; } >prog.c
gcc -O0 -g -no-pie -o root/usr/bin/prog prog.c || exit 1
# The address after each call of out(), as in a stack, and the function that contains it
objdump -d --no-show-raw-insn root/usr/bin/prog | awk -F'[:<>]' '/^[0-9a-f]+ <f[1-5]>:/ { in_f = $2 }
	called { print called, $1; called = 0 }
	/call.*<out>/ { called = in_f }' | tr -d ' \t' | sed 's/^f./& /' >returns
[ "$(wc -l <returns)" -eq 5 ] || wrong "the program's calls cannot be found"
readelf -lW root/usr/bin/prog | awk '$1 == "LOAD" { print $2, $3, $5 }' >loads
python3 "$TRACERIG_TOP/tests/unit/ioreq_paths_offsets.py" >offsets || wrong "the program's calls cannot be found"
# shellcheck disable=SC2046 # several numbers
"$UNIT/gen_tiers" web.dat app.dat db.dat 400 5 /usr/bin/prog $(cut -d' ' -f2 offsets) >tiers || exit 1
"$ioreq" --paths --symfs="$PWD/root" --format=json "${hosts[@]}" >paths.json 2>err || wrong "--paths with stacks fails"
"$ioreq" --paths --symfs="$PWD/root" --format=csv "${hosts[@]}" >paths.csv 2>>err || wrong "--paths with stacks in csv fails"
"$ioreq" --paths --symfs="$PWD/root" "${hosts[@]}" >paths.txt 2>>err || wrong "--paths with stacks in text fails"
[ ! -s err ] || wrong "messages about good files with stacks" "$(cat err)"
python3 "$TRACERIG_TOP/tests/unit/ioreq_paths_lines.py" || wrong "what clients waited for has another line of code"

# --- wrong use
expect 2 '--paths requires --format=text, json or csv' --paths --format=chrome web.dat
expect 2 '--max-drift=0: must be a positive integer' --max-drift=0 web.dat
expect 2 '--max-drift=100001: must be at most 100000' --max-drift=100001 web.dat
exit $failed
