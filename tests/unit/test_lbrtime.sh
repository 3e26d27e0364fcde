#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 400
# sanitizers: check-full
#
# The program lbrtime against a made-up program's truth: the order of functions, call
# chains, where branches led, states and the covered share exactly; the times by each
# method as an independent account has them, and how far from the truth they are.
set -u

lbrtime=$TOOLS/lbrtime
program=$lbrtime
# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"

# case NAME DEPTH SAMPLES OPTION...
case_() {
	local name=$1 depth=$2 samples=$3
	shift 3
	"$UNIT/gen_lbr" "$name.dat" "$depth" "$samples" 1 "$@" >"$name.truth" || exit 1
	"$lbrtime" --format=json "$name.dat" >"$name.json" 2>err || wrong "$name: json"
	"$lbrtime" --format=csv "$name.dat" >"$name.functions" 2>>err || wrong "$name: csv"
	for method in sample equal share ratio; do
		"$lbrtime" --format=csv --visits --method=$method "$name.dat" >"$name.$method" 2>>err ||
			wrong "$name: visits by $method"
	done
	for method in cycles fit; do
		"$lbrtime" --format=csv --visits --method=$method "$name.dat" >"$name.$method" 2>none || : >"$name.$method"
	done
	[ ! -s err ] || wrong "$name: messages"
}

case_ deep8 8 4000 jitter
case_ deep16 16 4000
case_ deep32 32 4000 jitter switch
case_ quiet 16 4000 quiet to
case_ counted 16 2000 dense count jitter
case_ few 32 2000 dense count
case_ lost 8 1000 dense
case_ cycles 32 6000 cycles to switch
case_ restart 32 2000 cycles restart
case_ longcycles 16 3000 cycles long to
case_ others 8 4000 count switch others
case_ manycycles 16 1000 cycles dense jitter
case_ plain 16 1000 plain
case_ period 32 4000 period count
"$lbrtime" --ghz=3 --format=csv --visits --method=cycles longcycles.dat >longcycles.cycles-3GHz 2>err || wrong "--ghz=3"

python3 "$TRACERIG_TOP/tests/unit/lbrtime_judge.py" deep8 deep16 deep32 quiet counted few lost cycles restart longcycles others manycycles plain period >judged || wrong "not as the truth"

# --- the fit, computed independently, and the visits that samples cut
"$UNIT/gen_lbr" small.dat 32 400 5 period >small.truth || exit 1
"$lbrtime" --format=csv --visits --method=fit small.dat >small.fit 2>err || wrong "small fit"
python3 "$TRACERIG_TOP/tests/unit/lbrtime_fit.py" || wrong "the fit differs from an independent one"

# --- a function that lasts longer for one caller than for another: 0.34 would be misplaced if
# callers were not distinguished
python3 "$TRACERIG_TOP/tests/unit/lbrtime_lines.py"
"$lbrtime" --format=csv --visits --method=fit callers.txt >callers.fit 2>err || wrong "callers"
python3 "$TRACERIG_TOP/tests/unit/lbrtime_callers.py" || wrong "callers are not distinguished"

# --- the same by way of perf script: registers that are not emptied, and are full or not
python3 "$TRACERIG_TOP/tests/unit/lbrtime_perf_text.py" || exit 1
"$lbrtime" --format=csv --visits --method=equal perf.txt >perf.equal 2>err || wrong "perf script's text"
"$lbrtime" --format=csv --visits --method=equal - <perf.txt >stdin.equal 2>>err || wrong "standard input"
[ ! -s err ] || wrong "perf script's text: messages"
cmp perf.equal stdin.equal || wrong "standard input differs"

# perf prints a perf.data: here a perf that knows only this file
mkdir -p fake
cat >fake/perf <<'END'
#!/bin/sh
[ "$1" = script ] || exit 3
asked=0
while [ $# -gt 2 ]; do
	case $1 in
	--ns | --show-mmap-events | --show-task-events | --show-switch-events) asked=$((asked + 1)) ;;
	--show-lost-events | --hide-call-graph) asked=$((asked + 1)) ;;
	-F) fields=$2 ;;
	esac
	shift
done
[ "$asked $fields $1 $2" = "6 comm,pid,tid,cpu,time,ip,sym,brstack -i perf.data" ] || exit 3
case $(cat perf.data) in
PERFILE2) cat perf.txt ;;
PERFILE2nothing) ;;
PERFILE2maps)
	grep PERF_RECORD perf.txt
	echo "0x75f0 [0]: failed to process type: 0 [Invalid argument]" >&2
	exit 234
	;;
PERFILE2cpus)
	case $* in
	*,cpu,*)
		echo "Samples for 'cycles:u' event do not have CPU attribute set. Cannot print 'cpu' field." >&2
		exit 234
		;;
	*) cat nocpu.txt ;;
	esac
	;;
PERFILE2nobranches)
	echo "Samples for 'cycles:u' event do not have BRANCH_STACK attribute set. Cannot print 'brstack' field." >&2
	exit 234
	;;
PERFILE2odd)
	printf 'What is this?\nAnd this?\n' >&2
	exit 1
	;;
PERFILE2mute) exit 1 ;;
PERFILE2cut)
	head -n 40 perf.txt
	exit 1
	;;
esac
END
chmod +x fake/perf
# perfdata REST [REASON]: run it with this perf; REASON: it must fail with that message
perfdata() {
	printf 'PERFILE2%s' "$1" >perf.data
	(PATH=$PWD/fake:$PATH && exec "$lbrtime" --format=csv --visits --method=equal perf.data) >data.equal 2>err
	[ $? -eq $(($# - 1)) ] || wrong "perf.data$1: status"
	[ "$(cat err)" = "${2+lbrtime: perf.data: }${2-}" ] || wrong "perf.data$1: $(cat err)"
	[ $# -eq 1 ] || [ ! -s data.equal ] || wrong "perf.data$1: a part is shown"
}
perfdata ""
cmp perf.equal data.equal || wrong "a perf.data differs from its text"
perfdata nothing "has no samples"
perfdata nobranches "its samples have no branches (perf record -b, or -j any_call,any_ret)"
# Of a plain perf record -b, perf prints no CPUs: each thread has its own registers
sed -E 's/^( *[^ ]+ +[0-9]+\/[0-9]+ +)\[[0-9]+\] +/\1/; s/PERF_RECORD_SWITCH.*/PERF_RECORD_COMM/' perf.txt >nocpu.txt
perfdata cpus
[ "$(wc -l <data.equal)" -gt 1000 ] || wrong "without CPUs: no samples"
"$lbrtime" --format=csv --visits --method=equal nocpu.txt >nocpu.equal 2>err || wrong "text without CPUs"
cmp nocpu.equal data.equal || wrong "without CPUs: perf.data differs from text"
"$lbrtime" nocpu.txt 2>err | grep -qE ' samples of [0-9]+ threads, [0-9,]+ branches$' || wrong "without CPUs: text"
# no number stands for a CPU: empty in csv, null in json, no lanes of CPUs in a page
[ "$(cut -d, -f2 data.equal | sort -u | tr '\n' ' ')" = " cpu " ] || wrong "without CPUs: csv: $(cut -d, -f2 data.equal | sort -u | head)"
"$lbrtime" --format=json --visits nocpu.txt >nocpu.json 2>err || wrong "without CPUs: json"
[ "$(grep -oE '^ +"cpu":.*' nocpu.json | sort -u | tr -d ' ')" = '"cpu":null,' ] || wrong "without CPUs: json: $(grep -m1 '"cpu":' nocpu.json)"
"$lbrtime" --format=json --visits perf.txt >cpu.json 2>err || wrong "with CPUs: json"
grep -q '^ *"cpu":[0-9]' cpu.json || wrong "with CPUs: json: $(grep -m1 '"cpu":' cpu.json)"
"$lbrtime" --format=brstack nocpu.txt >again.txt 2>err || wrong "without CPUs: brstack"
"$lbrtime" again.txt 2>err | grep -qE ' samples of [0-9]+ threads, [0-9,]+ branches$' || wrong "without CPUs: brstack has CPUs"
time=$(awk -F, 'NR == 100 { printf "%.9f", $1 / 1e9 }' nocpu.equal)
"$lbrtime" --around="$time,1ms" nocpu.txt >around.txt 2>err || wrong "without CPUs: --around"
grep -q ' to the sample at ' around.txt || wrong "without CPUs: no sample around $time"
grep -q ' on CPU ' around.txt && wrong "without CPUs: a sample has a CPU"
perfdata odd "perf script failed: What is this?"
perfdata mute "perf script failed"
perfdata maps "perf script failed: 0x75f0 [0]: failed to process type: 0 [Invalid argument]"
perfdata cut "perf script failed before its end"
env PATH=/nowhere "$lbrtime" perf.data >out 2>err && wrong "a perf.data without perf"
grep -q '^lbrtime: perf.data: cannot run perf script to read it: No such file' err || wrong "without perf: $(cat err)"
python3 "$TRACERIG_TOP/tests/unit/lbrtime_perf_script.py" || wrong "perf script's text is not read right"
# The same, as other versions of perf print it, and with more fields
# variant WHAT SED
variant() {
	sed -E "$2" perf.txt >variant.txt
	cmp -s perf.txt variant.txt && wrong "$1: no variant"
	"$lbrtime" --format=csv --visits --method=equal variant.txt >variant.equal 2>err || wrong "$1"
	[ ! -s err ] || wrong "$1: messages"
	cmp perf.equal variant.equal || wrong "$1: differs"
}
variant "Windows' line ends" 's/$/\r/'
variant "a branch that was not taken" 's#/P/-/-/#/PN/-/-/#g'
variant "a transaction" 's#/P/-/-/#/M/X/A/#g'
variant "speculation" 's#(/P/-/-/0)#\1//SPEC_CORRECT_PATH#g'
variant "files" 's#(0x[0-9a-f]+)/(0x[0-9a-f]+)/P#\1(/usr/my lib (1)/x)/\2(/lib/y)/P#g
	s#(lt_f[0-9]+) #\1+0x2d (/usr/my lib/x) #'
variant "periods and events" 's#([0-9]: +)([0-9a-f]+ lt_f)#\1 50000 cpu/event=0xc4/ppu:  \2#'
variant "wrong paths" 's#(0x[0-9a-f]+/0x[0-9a-f]+/P/-/-/0)#\1 0x1/0x2/P/-/-/0/CALL/SPEC_WRONG_PATH#g'
# A call chain has lines of its own
printf 'p 1/1 [000] 1.0: \n\t 401000 f\n\t 402000 g\n 0x1/0x2/P/-/-/0\n' >chain.txt
echo "7/7 1.000000001: 1 branches:uH: jcc 7fca993cdd3a f+0x1a (/lib/c) => 7fca993cdd17 f+0x7 (/lib/c)" >pt.txt
echo "7/7 1.000000001: 1 psb: psb offs: 0 0 7fca993cdd22 f+0x2 (/lib/c)" >psb.txt
for file in pt psb; do
	expect 1 "$file.txt: line 1: a record of Intel PT or BTS, not a sample with branches \\(perf record -b\\)\$" $file.txt
done
expect 1 'chain.txt: line 1: a sample without ip, or with a call chain \(perf script -G ' chain.txt
expect 1 '^lbrtime: -: a trace.dat or perf.data must be a regular file that is given by name$' - <cycles.dat

"$lbrtime" --format=brstack cycles.dat >again.txt 2>err || wrong "brstack"
python3 "$TRACERIG_TOP/tests/unit/lbrtime_brstack.py" || wrong "brstack is not what was recorded"

# It reads back as the samples it was made of: targets that are not recorded are found only once
for name in cycles quiet deep32 lost others plain restart; do
	"$lbrtime" --format=brstack $name.dat >again.txt 2>err || wrong "$name: brstack"
	"$lbrtime" --format=brstack again.txt >twice.txt 2>>err || wrong "$name: brstack of brstack"
	cmp again.txt twice.txt || wrong "$name: brstack of brstack differs"
	for method in equal cycles fit; do
		"$lbrtime" --format=csv --visits --method=$method again.txt 2>>err | cut -d , -f -13,15,17- >again
		cut -d , -f -13,15,17- $name.$method | cmp - again || wrong "$name: by $method, brstack is read as something else"
	done
	[ "$(grep -vc ' no cycles were\| duration of a cycle\| no interval is whole' err)" -eq 0 ] || wrong "$name: brstack: messages"
done

# --- names instead of addresses; kinds by their names; nothing to look at
cat >names.txt <<'END'
# lbrtime: 4 0
my prog 100/101 [001] 10.000000: 401000 main (/bin/x)
# lbrtime: 4 1
my prog 100/101 [001] 10.000100: 401210 ns::h(int, char)  main+0x5/g+0x0/P/-/-/0/CALL/-
# lbrtime: 4 3
my prog 100/101 [001] 10.000200: 401010 maing+0x20/main+0xa/P/-/-/0/RET/- ns::h(int, char)+0x9/g+0xa/P/-/-/0/RET/- g+0x5/ns::h(int, char)+0x0/P/-/-/0/CALL/-
END
"$lbrtime" --format=csv --visits --method=equal names.txt >out 2>err || wrong "brstacksym"
cut -d , -f 4-6,9,11 --output-delimiter=' ' <(python3 "$TRACERIG_TOP/tests/unit/lbrtime_csv_plain.py") | tail -n +2 >short
cat >wanted <<'END'
101 my prog first main 0
101 my prog whole main 50000
101 my prog whole ns::h(int; char) 50000
101 my prog whole g 25000
101 my prog whole ns::h(int; char) 25000
101 my prog whole g 25000
101 my prog whole main 25000
END
cmp short wanted || wrong "brstacksym: $(cat short)"
# Types of Rust have semicolons
sed 's/ns::h(int, char)/<[u8; 4]>::h/g' names.txt >rust.txt
"$lbrtime" --format=csv --visits --method=equal rust.txt >out 2>err || wrong "names with semicolons"
python3 "$TRACERIG_TOP/tests/unit/lbrtime_csv_names.py" ||
	wrong "names with semicolons"

# C++ has names with blanks, and -F dso prints files
names() {
	"$lbrtime" --format=csv --visits --method=equal "$1" >out 2>err || wrong "$1"
	python3 "$TRACERIG_TOP/tests/unit/lbrtime_names.py" >short
	cmp short wanted || wrong "$1: $(cat short)"
}
cat >blanks.txt <<'END'
p 1/1 [000] 1.000000: 401000 main
p 1/1 [000] 1.000100: 401000 f() const [clone .cold]operator new(long)+0x5/f() const [clone .cold]+0x0/P/-/-/5/CALL/- operator/(A, B)+0x9/operator new(long)+0x0/P/-/-/5/CALL/-
p 1/1 [000] 1.000200: 401000 operator/(A, B)[unknown]/operator/(A, B)+0x0/P/-/-/5/CALL/- main+0x1/[unknown]/P/-/-/5/CALL/-
END
cat >wanted <<'END'
main|main
operator/(A, B)|operator/(A, B)
operator new(long)|operator/(A, B);operator new(long)
f() const [clone .cold]|operator/(A, B);operator new(long);f() const [clone .cold]
main|main
[unknown]|main;[unknown]
operator/(A, B)|main;[unknown];operator/(A, B)
END
names blanks.txt
cat >files.txt <<'END'
p 1/1 [000] 1.000000: 401000 main
p 1/1 [000] 1.000100: 401000 f() const [clone .cold]+0x2d (/lib/a b)operator new(long)+0x5(/lib/a b)/f() const [clone .cold]+0x0(/lib/c)/P/-/-/5/CALL/- operator/(A, B)+0x9(/lib/a b)/operator new(long)+0x0([x])/P/-/-/5/CALL/-
p 1/1 [000] 1.000200: 401000 operator/(A, B)+0x1 (/lib/a b)[unknown]([unknown])/operator/(A, B)+0x0(/lib/c)/P/-/-/5/CALL/- main+0x1(/lib/d)/[unknown]([unknown])/P/-/-/5/CALL/-
END
names files.txt
# A name is no command to the terminal
printf 'p 1/1 [000] 1.0: 401000 f\033[31m\377\np 1/1 [000] 1.1: 401000 f g\033[0m+0x1/f\377+0x0/P/-/-/0\n' >escape.txt
for format in text csv folded brstack html; do
	"$lbrtime" --format=$format escape.txt >out 2>err || wrong "$format of escapes"
	LC_ALL=C grep -qP '[\033\377]' out && wrong "$format has what terminals obey"
done

# --- symbols that are not there
"$UNIT/gen_lbr" gone.dat 16 300 1 stripped >gone.truth || exit 1
"$lbrtime" gone.dat >out 2>err || wrong "a file that is gone"
grep -q '/nowhere/program: No such file or directory; its functions are named by their offsets (--symfs)' err || wrong "a missing file is not reported"
grep -qE '\[program\+0x[0-9a-f]+\]$' out || wrong "no offsets of a file that is gone"
# A stripped file still has unwind tables, which delimit its functions
mkdir -p root/nowhere
cp "$UNIT/gen_lbr" root/nowhere/program
"$lbrtime" --symfs=root --format=csv gone.dat >with.csv 2>err || wrong "--symfs"
grep -q '^lt_f7,' with.csv || wrong "--symfs: no symbols"
strip root/nowhere/program
"$lbrtime" --symfs=root --format=csv --visits gone.dat >stripped.csv 2>err || wrong "a stripped file"
grep -q 'program has no symbols: functions are named by their offsets' err || wrong "a stripped file is not reported"
grep -q ',matched,return,' stripped.csv || wrong "no code of a stripped file"
# A case's copy has the functions' names, and no code at the code's offset
id=$(readelf -n "$UNIT/gen_lbr" | sed -n 's/.*Build ID: //p')
MAP=$UNIT/gen_lbr MAP_ID=$id "$UNIT/gen_cases" copied 1000000000 a=1 >out || wrong "gen_cases: $(cat out)"
mv "copied/1/symbols$UNIT/gen_lbr" root/nowhere/program || wrong "no copy"
[ "$(stat -c %s root/nowhere/program)" -gt $((0x1800)) ] || wrong "the copy ends before the code's offset"
"$lbrtime" --symfs=root --format=csv gone.dat >copied.csv 2>err || wrong "a copy"
[ ! -s err ] || wrong "a copy is reported"
grep -q '^lt_f7,' copied.csv || wrong "a copy: no symbols"
awk 'BEGIN {
	print "p 7/7 [000] 1.000000000: PERF_RECORD_MMAP2 7/7: [0x400000(0x5000) @ 0x1000 08:01 12 0]: r-xp /nowhere/program"
	for (i = 0; i < 2048; i++)
		printf "# lbrtime: 4 1\np 7/7 [000] 1.%09d: 400010 [unknown]  %#x/0x400010/P/-/-/5/-/-\n", 1000 + i, 4194304 + i
}' >everywhere.txt
decoded() { # the number of branches that are
	"$lbrtime" --symfs=root --format=brstack everywhere.txt >brstack 2>err || wrong "branches from everywhere"
	grep -cE '/(CALL|RET|UNCOND|SYSCALL)/-$' brstack
}
[ "$(decoded)" -eq 0 ] || wrong "what is no code is decoded"
[ "$(grep -c '/-/-$' brstack)" -gt 1000 ] || wrong "a copy: no branches"
cp "$UNIT/gen_lbr" root/nowhere/program
[ "$(decoded)" -gt 100 ] || wrong "code is not decoded"

# --- needles
"$UNIT/gen_lbr" slow.dat 32 20000 3 alarms >slow.truth || exit 1
"$lbrtime" slow.dat >out 2>err || wrong "alarms"
sed -n '/^operations/,$p' out | sed -n 2p | grep -qE ' lt_f11$' || wrong "the function that is only in slow operations does not come first"
read -r at pid < <(awk -F '\t' '$1 == "S" { pid = $5 } $2 == "lt_f11" && $4 > 100 { printf "%d.%09d %d\n", $3 / 1e9, $3 % 1e9, pid; exit }' slow.truth)
"$lbrtime" --around="$at,1us" slow.dat >out 2>err || wrong "--around"
grep -qE 'lt_f11( \(± .*\)| \(time unknown\))?$' out || wrong "--around=$at does not show lt_f11"
grep -qE "^(one|three)-$pid on CPU" out || wrong "--around does not name the thread"
"$lbrtime" --around=5000 slow.dat | grep -q '^no samples there; the trace is from  *1\.00' || wrong "--around of nothing"
"$lbrtime" --request=lt_f6 --top=3 slow.dat >out 2>err || wrong "--request"
[ "$(grep -cE '^ *[0-9.]+ (ns|us|ms) ' out)" -eq 3 ] || wrong "--request --top=3 is not 3"
"$lbrtime" --request=nothing slow.dat | grep -q '^nothing is in no sample$' || wrong "--request of nothing"

# The symbols of this name in several files
cat >twins.txt <<'END'
# lbrtime: 4 0
p 1/1 [000] 1.000000: 401000 g
# lbrtime: 4 0
p 1/1 [000] 1.000100: 401100 f
# lbrtime: 4 0
p 1/1 [000] 1.000200: 401000 g  0x401100/0x401005/-/-/-/0/RET/- 0x401000/0x401100/-/-/-/0/CALL/-
# lbrtime: 4 0
p 1/1 [000] 1.000300: ffffffff81001000 g  0xffffffff81000000/0xffffffff81001005/-/-/-/0/RET/- 0xffffffff81001000/0xffffffff81000000/-/-/-/0/CALL/-
END
printf 'ffffffff81000000 T f\nffffffff81001000 T g\n' >symbols
"$lbrtime" --kallsyms=symbols --request=f twins.txt >out 2>err || wrong "--request of two functions"
grep -q '^2 executions of f from call to return' out || wrong "--request of two functions: $(cat out)"

# --- for other viewers
"$lbrtime" --format=chrome --method=equal deep32.dat >chrome.json 2>err || wrong "chrome"
"$lbrtime" --format=chrome cycles.dat >cycles.chrome 2>>err || wrong "chrome by cycles"
"$lbrtime" --format=speedscope --method=equal deep32.dat >scope.json 2>>err || wrong "speedscope"
"$lbrtime" --format=folded --method=equal deep32.dat >folded 2>>err || wrong "folded"
sed 's/ f$/ f(int, long;)/' twins.txt >blank.txt
"$lbrtime" --format=folded blank.txt 2>/dev/null | grep -qE '^(.*;)?f\(int,_long_\) [0-9]+$' || wrong "folded: a blank or a semicolon in a name"
python3 "$TRACERIG_TOP/tests/unit/lbrtime_stacks.py" || wrong "chrome, speedscope or folded are not right"

# --- text
"$lbrtime" deep8.dat >out 2>err || wrong "text"
grep -q '^deep8.dat: 4,000 samples of 2 threads on 2 CPUs, ' out || wrong "text has no number of samples"
grep -qE "^$(python3 -c 'import json; print("%.1f" % (100 * json.load(open("deep8.json"))["covered"]))') % of .* covered" out || wrong "text: another share"
grep -qE "^Visit times are reliable \(right function, within 10 % of the interval or 1 us\) for $(python3 -c 'import json; print("%.1f" % (100 * json.load(open("deep8.json"))["reliable"]["fit"]))') % of the attributed time, by fit\.\$" out ||
	wrong "text has no share of reliable times"
"$lbrtime" --method=equal deep8.dat | grep -q '^Visit times' && wrong "text has a share of reliable times for a method without errors"
"$lbrtime" --format=json --visits cycles.dat >visits.json || wrong "json visits"
"$lbrtime" --around=1.001,10s cycles.dat >around || wrong "--around of all"
python3 "$TRACERIG_TOP/tests/unit/lbrtime_reliable.py" || wrong "json, --around and csv differ in what is reliable"
grep -q ' intervals had more branches than were recorded$' out || wrong "text does not report lost branches"
"$lbrtime" plain.dat >plain.out 2>err || wrong "plain samples"
sed -n '/function$/,/(unknown)$/p' plain.out | sed '1d;$d' | tr -d ,% >plain.functions
[ "$(wc -l <plain.functions)" -gt 5 ] || wrong "plain samples: no functions"
sort -c -s -k 3,3nr plain.functions || wrong "plain samples: those with most time are not first"
"$lbrtime" --format=folded plain.dat >plain.folded 2>err || wrong "plain samples, folded"
grep -q '^lt_f7 [0-9]*$' plain.folded || wrong "plain samples: no time by default"
grep -q '^  998 intervals have no branches: none were recorded (no LBR?)$' plain.out || wrong "text does not report samples without branches"
grep -q ' had more branches than' plain.out && wrong "text reports lost branches of samples without branches"
[ "$("$lbrtime" --top=2 --format=csv deep8.dat | wc -l)" -eq 3 ] || wrong "--top=2 is not 2"
"$lbrtime" --top=2 deep8.dat | grep -q '^\.\.\. 9 more (--top)$' || wrong "--top in text"
"$lbrtime" -o out.txt deep8.dat >empty 2>err || wrong "-o"
cmp out out.txt || wrong "-o differs"
"$lbrtime" --ghz=3 --method=cycles --format=csv manycycles.dat >out 2>err || wrong "--ghz"

# --- without symbols, a function is its whole unwind description, not a row of it
cat >frames.c <<'END'
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
__attribute__((noinline)) int many(int n, ...)
{
	va_list l;
	int i, sum = 0;
	char text[512];

	va_start(l, n);
	for (i = 0; i < n; i++)
		sum += snprintf(text, sizeof(text), "%d", va_arg(l, int)) * strlen(text);
	va_end(l);
	return sum;
}
__attribute__((noinline)) int one(int a, int b, int c, char *d)
{
	if (a > b)
		return many(3, a, b, c) + many(2, c, b) + (int)strlen(d) * a;
	return c;
}
int main(int argc, char **argv)
{
	return one(argc, 1, 2, argv[0]) + many(argc, 1);
}
END
gcc -O2 -fomit-frame-pointer -o frames frames.c || exit 1
nm -S frames | awk '$3 == "T" || $3 == "t" { if ($4 ~ /^(main|one|many)$/) print $4, $1, $2 }' >functions
strip -o frames.bare frames
python3 "$TRACERIG_TOP/tests/unit/lbrtime_bare_samples.py" "$PWD/frames.bare" >frames.txt
"$lbrtime" --format=csv --visits --method=sample frames.txt >out 2>err || wrong "a stripped file"
python3 "$TRACERIG_TOP/tests/unit/lbrtime_bare.py" || wrong "a stripped file's functions are not whole"

# --- wrong use
expect 2 'which FILE|missing FILE'
expect 2 '--format=xml: must be text, json, csv' --format=xml a.dat
expect 2 '^lbrtime: --method=best: must be sample, equal, share, ratio, cycles or fit$' --method=best a.dat
expect 2 '--top=0: must be a positive integer' --top=0 a.dat
for ghz in fast 0.099999999 10.000000001 1e0 0x2 +2 2GHz; do
	expect 2 "must be a number from 0.1 to 10\$" "--ghz=$ghz" a.dat
done
expect 2 '--around=x: must be TIME' --around=x a.dat
expect 2 '--around=1,5: must be TIME' --around=1,5 a.dat
expect 2 '--around=1.5y: must be TIME' --around=1.5y a.dat
expect 2 'cannot be combined' --around=1 --request=f a.dat
expect 2 'require --format=text' --around=1 --format=json a.dat
expect 2 '--visits requires --format=csv or json' --visits a.dat
expect 2 'extra operand b.dat: one FILE at a time' a.dat b.dat
expect 1 '^lbrtime: nowhere.dat: ' nowhere.dat
expect 1 'no cycles were recorded' --method=cycles deep8.dat
expect 1 'duration of a cycle' --method=cycles manycycles.dat
expect 1 'no interval is whole' --method=fit lost.dat
expect 1 '--vmlinux=/nowhere: No such file' --vmlinux=/nowhere deep8.dat
expect 1 '--kallsyms=/nowhere: No such file' --kallsyms=/nowhere deep8.dat
"$UNIT/gen_tracedat" block other.dat >/dev/null || exit 1
expect 1 '^lbrtime: other.dat: has no lbrprof_sample events' other.dat
LC_ALL=C sed 's/u8\[\] branches;/u8[] brunches;/' deep8.dat >version.dat
grep -q brunches version.dat || exit 1
expect 1 '^lbrtime: version.dat: has lbrprof_sample events of another version' version.dat
# the number of branches, as wide and of the sign that the file says
"$UNIT/gen_lbr" forged.dat 8 2 1 forged >/dev/null || exit 1
expect 1 '^lbrtime: forged.dat:[0-9]+: damaged record: its branches cannot be unpacked$' forged.dat
for as in 'size:4;\tsigned:0' 'size:4;\tsigned:1' 'size:8;\tsigned:0' 'size:1;\tsigned:1'; do
	LC_ALL=C sed "s/u8 nr;\\toffset:16;\\tsize:1;\\tsigned:0/u8 nr;\\toffset:16;\\t$as/" forged.dat >wide.dat
	! cmp -s forged.dat wide.dat || exit 1
	expect 1 '^lbrtime: wide.dat:[0-9]+: damaged record: it has too many branches$' wide.dat
done
echo no trace >text.dat
expect 1 '^lbrtime: text.dat: neither a trace.dat nor' text.dat
: >empty.dat
expect 1 '^lbrtime: empty.dat: empty file' empty.dat
if ! grep -q __asan_init "$lbrtime"; then
	(ulimit -v 20000 && expect 1 '^lbrtime: out of memory: reading deep8.dat$' deep8.dat && exit "$failed") || failed=1
fi
head -c 30000 deep8.dat >short.dat
expect 1 '^lbrtime: short.dat:' short.dat
printf 'p 1/1 [000] 2.0: 1 f\np 1/1 [000] 1.0: 1 f\n' >back.txt
expect 1 '^lbrtime: back.txt: line 2: a sample is older' back.txt
"$lbrtime" --help | grep -q 'Exit status' || wrong "no --help"
exit $failed
