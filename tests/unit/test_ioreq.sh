#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# sanitizers: check-full
#
# The program ioreq: its sums equal those of the generated calls, and wrong use and damage
# are reported in one line.
set -u

ioreq=$TOOLS/ioreq
program=$ioreq
# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"

"$UNIT/gen_iosys" a.dat 5000 1 >a.truth || exit 1
"$UNIT/gen_iosys" b.dat 300 2 >b.truth || exit 1

# --- the sums, added up by other means
"$ioreq" web=a.dat db=b.dat --format=csv >out.csv 2>err || wrong "csv fails"
"$ioreq" web=a.dat db=b.dat --format=json >out.json 2>>err || wrong "json fails"
[ ! -s err ] || wrong "messages about good files"
python3 "$TRACERIG_TOP/tests/unit/ioreq_sums.py" || wrong "the sums are not right"

# --- other grouping keys: sums of these sums, percentiles of all calls of a group
for by in call comm,call object,host process call,size; do
	"$ioreq" web=a.dat db=b.dat --by=$by --format=csv >"by-$by.csv" 2>err || wrong "--by=$by fails"
	"$ioreq" web=a.dat db=b.dat --by=$by --format=json >"by-$by.json" 2>>err || wrong "--by=$by fails"
	[ ! -s err ] || wrong "--by=$by: messages"
done
python3 "$TRACERIG_TOP/tests/unit/ioreq_by.py" || wrong "--by is not right"
"$ioreq" --by=comm,call a.dat >out 2>err || wrong "--by in text fails"
grep -qE '^process +call +count +failed .* max$' out || wrong "--by in text: other columns"
"$ioreq" --by=call,size --top=1000 a.dat >sizes 2>err || wrong "--by=size in text fails"
grep -qE '^call +size +count ' sizes || wrong "--by=size in text: other columns"
grep -qE '^read +0 +[0-9]' sizes || wrong "--by=size has no row for 0 bytes"
grep -qE '^read +32768-65535 +[0-9]' sizes || wrong "--by=size has no row for large calls"
grep -qE '^postgres +write +[0-9]' out || wrong "--by=comm,call has no row for postgres"

# --- requests on TCP connections, of which both sides were recorded, or one
"$UNIT/gen_requests" web.dat db.dat 2000 1 >requests.truth || exit 1
"$ioreq" --requests web=web.dat db=db.dat --format=csv >requests.csv 2>err || wrong "--requests fails"
"$ioreq" --requests db=db.dat web=web.dat --format=csv >swapped.csv 2>>err || wrong "--requests fails"
"$ioreq" web=web.dat db=db.dat --format=json >requests.json 2>>err || wrong "json fails"
[ ! -s err ] || wrong "messages about requests"
# Clocks are aligned with that of the first file: times may differ by a rounding
cmp <(cut -d, -f1-19,24-39 requests.csv) <(cut -d, -f1-19,24-39 swapped.csv) || wrong "the order of files makes a difference"
python3 "$TRACERIG_TOP/tests/unit/ioreq_requests.py" || wrong "the requests are not right"
"$ioreq" --requests web=web.dat db=db.dat --top=2 >out 2>err || wrong "requests in text fail"
[ "$(grep -cE '^(web|10)[^ ]* +(db:[a-z]+ [^ ]+:|10)[^ ]* +[0-9]' out)" -eq 2 ] || wrong "--top=2 of requests is not 2"
grep -qE '^client +server +answered +unclear +unanswered +response +p50 +p99 +max +service +p50 +p99 +max +network or queue$' out ||
	wrong "columns of requests have other names"
grep -qE '^  [0-9,]+ requests by one thread: (request arriving [0-9]+ %, )?answering [0-9]+ %, .*, computing or sleeping [0-9]+ %$' out || wrong "steps have other names"
grep -qE '^  network or queue of [0-9,]+ requests: to server [0-9.]+ [a-z]+, of which .* before the server waited; to client ' out ||
	wrong "both ways have other names"
grep -q '^\.\.\. 16 more (--top)$' out || wrong "text has no number of further kinds of requests"
"$ioreq" --requests a.dat >out 2>err || wrong "no requests fail"
grep -q '^no requests$' out || wrong "text does not say that there are no requests"

# --- a kernel without iosys
"$UNIT/gen_stock" stock.dat 3000 1 >stock.truth || exit 1
"$ioreq" stock.dat --format=csv >stock.csv 2>err || wrong "a stock kernel's trace fails"
"$ioreq" stock.dat --format=json >stock.json 2>>err || wrong "a stock kernel's trace fails"
[ ! -s err ] || wrong "messages about a stock kernel's trace"
python3 "$TRACERIG_TOP/tests/unit/ioreq_stock.py" || wrong "a stock kernel's calls are not right"

# --- text
"$ioreq" a.dat >out 2>err || wrong "text fails"
grep -q '^a.dat: 5,000 calls$' out || wrong "text has no number of calls"
[ "$(sed -n '/^process/,/^\.\.\./p' out | wc -l)" -eq 22 ] || wrong "text is not 20 sums"
grep -q '^pending calls$' out || wrong "text has no pending calls"
[ "$("$ioreq" --top=3 --format=csv a.dat | wc -l)" -eq 4 ] || wrong "--top=3 is not 3"
"$ioreq" -o out.txt a.dat >empty 2>err || wrong "-o fails"
cmp out out.txt || wrong "-o differs"

# --- events that were recorded into an instance
"$UNIT/gen_iosys" instance.dat 100 1 web >instance.truth || exit 1
"$ioreq" instance.dat >out 2>err && wrong "a trace with nothing but an instance does not fail"
grep -qx 'ioreq: instance.dat: only the main instance is read; --instance chooses another: web' err ||
	wrong "the instances are not listed"

# --- wrong use
expect 2 'which FILE|missing FILE'
expect 2 '--epoch=soon: must be a positive integer' --epoch=soon a.dat
expect 2 '--epoch=9999999999: must be at most 9000000000' --epoch=9999999999 a.dat
expect 2 '--format=xml: must be text, json, csv' --format=xml a.dat
expect 2 '--by=thread: must be host, comm, process, call, object, size or client' --by=call,thread a.dat
expect 2 '--by=: must be host' --by= a.dat
expect 2 '--top=0: must be a positive integer' --top=0 a.dat
expect 2 '--top=-1: must be a positive integer' --top=-1 a.dat
expect 1 '^ioreq: nowhere.dat: ' nowhere.dat
expect 1 '^ioreq: nowhere.dat: ' db=nowhere.dat
"$UNIT/gen_tracedat" block other.dat >/dev/null || exit 1
expect 1 '^ioreq: other.dat: has neither iosys events .* nor events of system calls' other.dat
echo no trace >text.dat
expect 1 '^ioreq: text.dat:' text.dat
head -c 30000 a.dat >short.dat
expect 1 '^ioreq: short.dat:' short.dat
for subject in requests clocks paths reads; do
	expect 2 "--$subject requires --format=text, json or csv" --$subject --format=html a.dat
	expect 2 "--$subject requires --format=text, json or csv" --format=folded --$subject a.dat
done
expect 2 '--stacks requires --format=text, json, csv or folded' --stacks --format=otlp a.dat
expect 2 '--paths and --requests cannot be combined' --paths --requests a.dat
expect 2 '--stacks and --reads cannot be combined' --stacks --format=csv --reads --stacks a.dat
"$ioreq" --help | grep -q 'Exit status' || wrong "no --help"

# --- the result never replaces a recording; a file size limit is not reported as damage
cp b.dat precious.dat
expect 1 '^ioreq: precious.dat: would be replaced by the result$' -o ./precious.dat a.dat db=precious.dat
cmp b.dat precious.dat || wrong "a recording was replaced by the result"
(
	ulimit -f 1
	expect 1 '^ioreq: large.html: cannot write the result: File too large$' --format=html -o large.html a.dat
	exit $failed
) || failed=1
[ ! -e large.html ] || wrong "a partial result is left"
"$ioreq" --format=html a.dat >/dev/full 2>err && wrong "no error on a full standard output"
grep -q '^ioreq: standard output: cannot write the result: No space left on device$' err || wrong "standard output is not named: $(cat err)"

# --- hosts have different names
mkdir -p web db
ln -s ../a.dat web/trace.dat
ln -s ../b.dat db/trace.dat
names() {
	python3 -c 'import json; print(*(h["name"] for h in json.load(open("names.json"))["hosts"]))'
}
"$ioreq" --clocks --format=json web/trace.dat >names.json || wrong "a file in a directory fails"
[ "$(names)" = trace.dat ] || wrong "a host without a name is $(names)"
"$ioreq" --clocks --format=json web/trace.dat db/trace.dat x=stock.dat >names.json || wrong "two files of the same name fail"
[ "$(names)" = "web/trace.dat db/trace.dat x" ] || wrong "hosts with files of the same name are $(names)"
expect 2 'two hosts have the name x: ' x=a.dat x=b.dat
expect 2 'two hosts have the name nowhere.dat: ' nowhere.dat nowhere.dat
expect 2 'web/trace.dat and a.dat are the same file' web=web/trace.dat db=a.dat
"$ioreq" $'a\nb\e[1m\xff c=a.dat' "d=b.dat" >names.txt || wrong "a host with an odd name fails"
python3 "$TRACERIG_TOP/tests/unit/ioreq_host_name.py" || wrong "the name of a host is printed as it is"

# --- completion: functions of bash-completion as far as it uses them, where words have = in them
complete() { :; }
_init_completion() {
	cur=$word
	prev=ioreq
	split=false
}
_filedir() {
	mapfile -t COMPREPLY < <(compgen -f -X "!*.$1" -- "$cur")
}
# shellcheck source=tools/ioreq/ioreq.bash
. "$TRACERIG_TOP/tools/ioreq/ioreq.bash"
for word in web/tr host=web/tr; do
	_ioreq
	[ "${COMPREPLY[*]}" = web/trace.dat ] || wrong "$word is completed to ${COMPREPLY[*]}"
done
mkdir a=b
ln -s ../a.dat a=b/c.dat
for word in ./a=b/c a=a=b/c; do
	_ioreq
	[ "${COMPREPLY[*]##*/}" = c.dat ] || wrong "$word is completed to ${COMPREPLY[*]}"
done
unset -f complete

# --- several hosts, one of which is missing or damaged: the others are analysed
"$UNIT/gen_tiers" front.dat app.dat db.dat 40 3 >tiers.truth || exit 1
"$ioreq" --format=json front=front.dat app=app.dat >two.json || wrong "two hosts fail"
"$ioreq" --format=json front=front.dat app=app.dat db=missing.dat >some.json 2>err || wrong "a missing host ends it"
[ "$(cat err)" = "ioreq: missing.dat: No such file or directory" ] || wrong "no message names the missing host"
"$ioreq" front=front.dat app=app.dat db=missing.dat 2>/dev/null | grep -q '^  skipped: No such file or directory$' ||
	wrong "text does not name the missing host"
python3 "$TRACERIG_TOP/tests/unit/ioreq_host_missing.py" || wrong "a missing host changes the results of the others"
"$ioreq" missing.dat text.dat >out 2>err && wrong "two bad files are no trouble"
[ ! -s out ] || wrong "two bad files have a result"
[ "$(cut -d: -f1-2 err | tr '\n' ,)" = "ioreq: missing.dat,ioreq: text.dat," ] || wrong "not one line for each bad file"
for ((i = 0; i < 60; i++)); do
	"$UNIT/gen_damage" app.dat damaged.dat $i || exit 1
	"$ioreq" --format=json front=front.dat app=damaged.dat db=db.dat >some$i.json 2>err$i || wrong "damage $i ends it"
done
python3 "$TRACERIG_TOP/tests/unit/ioreq_host_damaged.py" || wrong "damage to one host is not reported, or changes the others"

# --- any damage: a result or one line
# (libraries leak when a format is damaged)
printf 'leak:libtraceevent\nleak:libtracecmd\n' >leaks
export LSAN_OPTIONS=suppressions=$PWD/leaks:print_suppressions=0
"$UNIT/gen_requests" small-web.dat small.dat 20 3 >small.truth || exit 1
"$UNIT/gen_stock" small-stock.dat 300 1 >small.truth || exit 1
python3 "$TRACERIG_TOP/tests/unit/ioreq_damage.py"
for bad in bad*.dat; do
	"$ioreq" "$bad" >out 2>err
	code=$?
	case $code in
	0) [ -s out ] || wrong "$bad: neither result nor message" ;;
	1)
		grep -q '^ioreq: ' err || wrong "$bad: failed without a message"
		[ ! -s out ] || wrong "$bad: failed with a result"
		;;
	*) wrong "$bad: status $code" ;;
	esac
done
exit $failed
