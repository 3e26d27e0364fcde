#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# sanitizers: check-full
# timeout: 180
#
# tracerig explain asks pathdiff, ioreq and lbrtime: on made-up recordings whose truth is
# known they are right about the operation, and a program in their place that fails in any
# way costs nothing but its findings.
set -u

# shellcheck source=tests/unit/cli.bash
. "$TRACERIG_TOP/tests/unit/cli.bash"
program=$TOOLS/tracerig
export ARGP_HELP_FMT=rmargin=200
# Enough on the slowest host, where the default might not be
slow=--timeout=10m

make_case() { # WHAT [SYMBOL]: case WHAT, and what gen_findings has printed
	mkdir -p "$1"
	"$UNIT/gen_findings" "$1" "$1/trace.dat" >"$1.truth" || wrong "gen_findings $1"
	read -r start end fault <"$1.truth"
	python3 "$TRACERIG_TOP/tests/unit/tracerig_case.py" "$start" "$end" 30000 60000 1000 ${2+"$2"} >"$1/case.json"
}
explain() { # CASE
	"$program" explain $slow "./$1" >out 2>err || wrong "explain $1"
	[ ! -s err ] || wrong "explain $1 complains: $(cat err)"
	"$program" explain $slow --format=json "./$1" >json || wrong "explain --format=json $1"
}
# value EXPRESSION: of d, which is what is in the file json
value() {
	python3 -c 'import json, sys; d = json.load(open("json")); print(eval(sys.argv[1]))' "$1"
}
# says CASE PATTERN...: each of them
says() {
	local of=$1
	shift
	for pattern; do
		grep -qE -- "$pattern" out || wrong "$of: no '$pattern': $(cat out)"
	done
}
# found BY FUNCTION: with the time of the fault, in the operation's share of the delay
found() {
	value '(lambda f, fault, delay: (f["by"], f["in"], fault <= f["ns"] < fault * 1.02,
		f["percent"] == round(100 * min(f["ns"] - f["usual"], delay) / delay)))(
		d["findings"][0], '"$fault, $((end - start - 30000)))" >is
	[ "$(cat is)" = "('$1', '$2', True, True)" ] || wrong "$1 $2: $(cat is): $(value 'd["findings"]')"
}

# --- they agree
make_case spin
explain spin
says spin '^cause: computing, 100 % of the delay' '%  +4\.98. ms  pathdiff: pipe_read\(\) takes longer, usually 10\.00 us' \
	'^agree: pathdiff names pipe_read\(\) takes longer, the events name computing$'
found pathdiff pipe_read
make_case sleep
explain sleep
says sleep '^cause: blocked until holder-77 woke it' '^agree: pathdiff names pipe_read waits in schedule\(\).*, the events name blocked until holder-77 woke it$'
found pathdiff schedule

make_case markup
explain markup
says markup '^cause: blocked until <b>-77 woke it'

# --- they disagree, which lowers the confidence
make_case lies
explain lies
says lies '^cause: computing' '^disagree: pathdiff names pipe_read waits in schedule\(\).*, the events name computing$' \
	'^doubt: pathdiff and the events disagree$'
lowered=$(value 'd["confidence"]')
"$program" explain --timeout=0s --format=json ./lies >json || wrong "explain --timeout=0s"
alone=$(value 'd["confidence"]')
[ "$lowered" -lt "$alone" ] || wrong "a disagreement does not lower the confidence of $alone"

# --- the events show nothing
make_case bare
explain bare
says bare '^cause: pipe_read\(\) takes longer, 100 % of the delay' '^doubt: only pathdiff names a cause, the events name none$'
[ "$(value 'd["cause_by"]')" = pathdiff ] || wrong "bare: cause by $(value 'd["cause_by"]')"
"$program" explain --timeout=0s ./bare >out || wrong "explain --timeout=0s"
grep -q '^no cause: ' out || wrong "a cause without analyzers and events: $(cat out)"
! grep -q pathdiff out || wrong "pathdiff was asked with --timeout=0s"
make_case pread
explain pread
says pread '^cause: server: pread64 /data/x, 100 % of the delay' '%  +4\.970 ms  ioreq: server: pread64 /data/x'
found ioreq 'server: pread64 /data/x'
# Where the call comes from: with the program at hand its source line, by the case's copy the
# function
printf 'int work(int n)\n{\n\treturn n + 1;\n}\nint main(void)\n{\n\treturn work(1);\n}\n' >prog.c
gcc -O0 -g -Wl,--build-id=sha1 -o prog prog.c || wrong "gcc"
id=$(readelf -n prog | sed -n 's/.*Build ID: //p')
MAP=$PWD/prog MAP_ID=$id "$UNIT/gen_cases" copied 1000000000 a=1 >out || wrong "gen_cases: $(cat out)"
mv copied/1/symbols pread || wrong "no copy"
{
	echo "stack 1 end=complete guessed=0 frames=1+0x$(nm prog | sed -n 's/ T work$//p')"
	echo "map 1 dev=8:1 ino=1 build_id=$id rows=1 bytes=2 path=$PWD/prog"
} >pread/iosys_stacks
from() { # PATTERN: what the finding ends with
	"$program" explain $slow ./pread >out 2>err || wrong "explain pread"
	says pread "  ioreq: server: pread64 /data/x.* from .*/prog\\+0x[0-9a-f]+ $1\$"
}
from 'work at .*/prog\.c:2'
# Another build, and files that are opened only if they are regular
mv prog moved
gcc -O1 -g -Wl,--build-id=sha1 -o prog prog.c && from work
rm prog && mkfifo prog && from work
rm prog && from work
# Code that was compiled at run time has the name that the case has
mv pread/iosys_stacks kept_stacks
echo 'stack 1 end=complete guessed=0 frames=0+0x7f0000001000' >pread/iosys_stacks
mkdir -p pread/symbols/tmp
echo '7f0000001000 10 JS:*readSettings /app.js:7' >pread/symbols/tmp/perf-1000.map
"$program" explain $slow ./pread >out 2>err || wrong "explain pread, code that was compiled"
says pread '  ioreq: server: pread64 /data/x.* from 0x7f0000001000 JS:\*readSettings /app\.js:7$'
mv kept_stacks pread/iosys_stacks
# A damaged one costs a line
printf 'stack 1\n' >>pread/iosys_stacks
explain pread
says pread '^without iosys_stacks: .*iosys_stacks:[0-9]*: is not a line' '%  +4\.970 ms  ioreq: server: pread64 /data/x'
found ioreq 'server: pread64 /data/x'
[ "$(grep -c '^without' out)" -eq 1 ] || wrong "more than one line: $(cat out)"
rm -r pread/iosys_stacks pread/symbols
# Where the events show who ended a wait, the call that waited is named as well
make_case slept
explain slept
says slept '^cause: blocked until holder-77 woke it \(ioreq: server: pread64 /data/x\), 100 % of the delay' \
	'^agree: ioreq names server: pread64 /data/x, the events name blocked until holder-77 woke it$'
[ "$(value 'd["cause"], d["cause_by"], d["awaited"]')" = "('blocked until holder-77 woke it', 'events', 'server: pread64 /data/x')" ] ||
	wrong "slept: $(value 'd["cause"], d["cause_by"], d["awaited"]')"
"$program" open $slow ./slept -o page.html || wrong "open, slept"
grep -q '"awaited":"server: pread64' page.html || wrong "the page has not what was awaited"
explain sleep
[ "$(value 'd["awaited"]')" = '' ] || wrong "without ioreq, something was awaited: $(value 'd["awaited"]')"
# The list has the same cause
mkdir cases
cp -r bare cases/1
"$program" list --dir=cases --causes >out || wrong "list --causes"
grep -q '^pipe_read: 1 case' out || wrong "the list has another cause: $(cat out)"

# --- a function of the kernel is pathdiff's entry
make_case spin pipe_read
explain spin
[ "$(value 'd["analyzers"][0]["result"]["entry"]')" = pipe_read ] || wrong "another entry than the function"
make_case spin

# --- and so is the one whose paths were recorded, with the baseline of the case
change() { # CASE CHANGE of d, its case.json
	python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); exec(sys.argv[2]); json.dump(d, open(sys.argv[1], "w"))' "$1/case.json" "$2"
}
cp -r spin based
cp spin/trace.dat based/baseline.dat
explain based
[ "$(value '"baseline" in d["analyzers"][0]["result"]')" = False ] || wrong "a baseline that the case does not have"
change based 'd["chart"]["paths"] = "pipe_read"; d["files"] = [{"name": "baseline.dat", "bytes": 1, "sha256": 64 * "0"}]'
"$program" explain ./based >out 2>err && wrong "explain uses a baseline that was changed"
grep -q "^tracerig explain: not explained: ./based/baseline.dat: has [0-9]* bytes, not 1: the case is damaged: " err || wrong "a changed baseline: $(cat err)"
list_baseline() {
	change based "d['files'] = [{'name': 'baseline.dat', 'bytes': $(stat -c %s based/baseline.dat), 'sha256': '$(sha256sum <based/baseline.dat | cut -d ' ' -f 1)'}]"
}
list_baseline
explain based
[ "$(value 'd["analyzers"][0]["result"]["entry"]')" = pipe_read ] || wrong "another entry than the paths'"
[ "$(value 'd["analyzers"][0]["result"]["baseline"]["file"]')" = ./based/baseline.dat ] || wrong "pathdiff has no baseline"
"$program" open $slow ./based -o page.html || wrong "open with a baseline"
grep -q '"headline":"pipe_read() takes longer"' page.html || wrong "the page has no path"
# A baseline that cannot be used costs a line
head -c 5000 spin/trace.dat >based/baseline.dat
list_baseline
explain based
says based '^without baseline.dat: .*baseline.dat' 'pathdiff: pipe_read\(\) takes longer'
cp -r based twice
change based 'd["chart"]["paths"] = 3'
"$program" explain ./based 2>err && wrong "paths of a wrong type"
grep -q 'chart.paths must be a string' err || wrong "not reported: $(cat err)"

# --- branches
mkdir branches
"$UNIT/gen_lbr" branches/trace.dat 16 2000 3 cycles to count period >truth || wrong "gen_lbr"
read -r start end < <(python3 "$TRACERIG_TOP/tests/unit/tracerig_branches.py" window truth)
python3 "$TRACERIG_TOP/tests/unit/tracerig_case.py" "$start" "$end" 1000 2000 701 >branches/case.json
explain branches
python3 "$TRACERIG_TOP/tests/unit/tracerig_branches.py" check truth <json || wrong "lbrtime: $(cat out)"

# --- programs in their place that fail
mkdir bin
cp "$program" bin
program=bin/tracerig
fake() { # a shell script as bin/pathdiff
	printf '#!/bin/sh\n%s\n' "$1" >bin/pathdiff
	chmod +x bin/pathdiff
}
# fails TROUBLE [OPTION]: the events' result is not affected
fails() {
	"$program" explain "${2-$slow}" ./spin >out 2>err || wrong "$1: explain fails"
	[ ! -s err ] || wrong "$1: $(cat err)"
	grep -qxE -- "doubt: pathdiff: $1" out || wrong "no '$1': $(cat out)"
	grep -q '^cause: computing, 100 % of the delay' out || wrong "$1: another cause: $(cat out)"
	! grep -q '% .* pathdiff:' out || wrong "$1: a finding: $(cat out)"
}
fake 'kill -SEGV $$'
fails 'it crashed \(Segmentation fault\)'
fake 'echo "pathdiff: is out of luck" >&2; echo more >&2; exit 1'
fails 'pathdiff: is out of luck'
fake 'printf "\033[31mred\n" >&2; exit 3'
fails '\?\[31mred'
fake 'exit 7'
fails 'it ended with status 7'
# Without the baseline, too: that is not what is wrong
"$program" explain $slow ./twice >out 2>err || wrong "two failures: explain fails"
grep -qx 'doubt: pathdiff: it ended with status 7' out || wrong "two failures: $(cat out)"
! grep -q '^without' out || wrong "two failures: $(cat out)"
fake ':'
fails 'it wrote nothing'
fake 'echo "{ \"causes\": [ {"'
fails 'its output is not understood: no JSON object'
fake 'head -c 1000000 /dev/urandom'
fails 'its output is not understood: no JSON object'
fake 'head -c 1G /dev/zero'
fails 'its output is larger than 8 MiB'
fake 'yes "[" | tr -d "\n" | head -c 100000'
fails 'its output is not understood: no JSON object'
fake 'echo "{}"'
fails 'its output is not understood: causes and slow executions are not in it'
# A second run, without the baseline, has what is left of the time
fake 'echo >>asked; exec sleep 1234567'
SECONDS=0
"$program" explain --timeout=4s ./twice >out 2>err || wrong "a hanging analyzer with a baseline: explain fails"
[ "$(wc -l <asked)" -eq 1 ] || wrong "a hanging analyzer is asked $(wc -l <asked) times, in $SECONDS s"
grep -qx 'doubt: pathdiff: it did not end within 4.000 s: see --timeout' out || wrong "a hanging analyzer with a baseline: $(cat out)"
# The analyzer's children end as well; on a slow host they may not even have begun
ends() { # SCRIPT, which writes the number of a process to sleeper
	fake "$1"
	for limit in '300.0 ms' '3.000 s' '30.00 s'; do
		rm -f sleeper
		fails "it did not end within $limit: see --timeout" --timeout="$limit"
		[ ! -s sleeper ] || break
	done
	[ -s sleeper ] || wrong "the analyzer has not begun"
	# SIGKILL takes its time, and in a container what has ended may stay as a zombie
	for _ in {1..300}; do
		grep -qs '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$(cat sleeper)/status" || return
		sleep 0.1
	done
	wrong "what the analyzer has started still runs: $1"
}
# --timeout is an option of all commands that say so
fake 'exec sleep 1234567'
mkdir -p sleepy
cp -r spin sleepy/1
for command in "open ./spin -o -" "list --dir=sleepy --causes"; do
	# shellcheck disable=SC2086 # a command is many words
	"$program" $command --timeout=300ms >out 2>err || wrong "$command --timeout: $(cat err)"
	# shellcheck disable=SC2086
	"$program" $command --timeout=0s >out 2>err || wrong "$command --timeout=0s: $(cat err)"
done
"$program" open ./spin -o out --timeout=300ms || wrong "open --timeout"
grep -q 'pathdiff: it did not end within 300.0 ms: see --timeout' out || wrong "open: the analyzer is not stopped"
ends 'sleep 1234567 & echo $! >sleeper; wait'
ends 'exec >&- 2>&-; echo $$ >sleeper; exec sleep 1234567'
# JSON with other types, and numbers out of range, in the members that are used
"$TOOLS/pathdiff" --format=json --limit=60000ns spin/trace.dat >real.json 2>/dev/null || wrong "pathdiff"
fake 'cat hostile.json'
hostile() { # CHANGE of d, which is pathdiff's real output
	python3 -c 'import json, sys; d = json.load(open("real.json")); exec(sys.argv[1]); print(json.dumps(d))' "$1" >hostile.json
	"$program" explain $slow --format=json ./spin >json 2>err || wrong "$1: explain fails"
	[ "$(value 'd["cause"]')" = computing ] || wrong "$1: another cause"
	[ "$(value 'all(f["percent"] <= 100 and f["confidence"] <= 99 for f in d["findings"])')" = True ] ||
		wrong "$1: $(value 'd["findings"]')"
}
hostile 'd["slow"][0]["excess"] = 2**64 - 1'
hostile 'd["slow"][0]["excess"] = 2**200'
hostile 'd["slow"][0]["duration"] = 2**64 - 1'
hostile 'd["slow"][0]["start"] = -1'
hostile 'd["slow"][0]["cause"] = 4000000000'
hostile 'd["slow"][0]["cause"] = "x"'
hostile 'd["slow"] = [1, None, "x", {}, []] + d["slow"]'
hostile 'd["slow"] = {}'
hostile 'd["causes"] = [3]'
hostile 'd["causes"][0] = {"confidence": 1e300, "function": 7, "wait": [], "worst": "x"}'
hostile 'd["causes"][0]["confidence"] = -5'
hostile 'd["causes"][0]["confidence"] = float("nan")'
hostile 'd["causes"][0]["wait"] = {"who": [], "kind": "blocked"}'
hostile 'd["causes"][0].update(kind="wait", wait={"who": [{"name": {}}], "time": -1, "queued": 1e30})'
# No more findings than from other programs, even if many functions are slow
many='s = d["slow"][0]
d["causes"] = [{"function": "f%d" % i, "headline": "f%d" % i, "confidence": 0.9} for i in range(n)]
d["slow"] = [{"start": s["start"], "duration": s["duration"], "pid": s["pid"], "cause": i, "excess": 1000000 + i} for i in range(n)]'
hostile "n = 300; $many"
[ "$(value '[f["in"] for f in d["findings"]]')" = "['f299', 'f298', 'f297', 'f296', 'f295']" ] || wrong "of 300 functions: $(value 'd["findings"]')"
[ "$(value 'd["remarks"]')" = "[]" ] || wrong "of 300 functions: $(value 'd["remarks"]')"
hostile "n = 25000; $many"
[ "$(value 'len(d["findings"])')" = 5 ] || wrong "of 25000 functions: $(value 'd["findings"]')"
[ "$(value '"first 500 slow functions" in d["remarks"][0] and "without 24500 executions" in d["remarks"][0]')" = True ] ||
	wrong "of 25000 functions: $(value 'd["remarks"]')"
hostile 'd["slow"][0]["excess"] = 1000'
[ "$(value 'd["findings"]')" = "[]" ] || wrong "a finding of less than 1 %: $(value 'd["findings"]')"
hostile 'd["causes"][0]["headline"] = "a\a\x1b[31m" + "x" * 100000'
[ "$(value 'd["findings"][0]["name"][:6]')" = 'a??[31' ] || wrong "a headline: $(value 'd["findings"][0]["name"]')"

# --- one that is not installed
rm bin/pathdiff
PATH=/usr/bin:/bin "$program" explain ./spin >out || wrong "without pathdiff"
grep -q '^not seen: pathdiff: it is not installed' out || wrong "it is not said that pathdiff is not installed: $(cat out)"
# but in PATH
PATH=$TOOLS:$PATH "$program" explain $slow ./spin >out || wrong "pathdiff in PATH"
grep -q '^agree: pathdiff' out || wrong "pathdiff in PATH is not asked: $(cat out)"
expect 2 '--timeout=fast' explain --timeout=fast ./spin
exit "$failed"
