#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# sanitizers: check-full
#
# The program ctlchart as a user meets it: help, files that are not traces, output
# that cannot be written, colours, damage, completion.
set -u

ctlchart=$TOOLS/ctlchart
program=$ctlchart
# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"
block=(-e block:block_rq_complete -f 'ctlchart(block_bio_queue, dev, sector)')

"$UNIT/gen_tracedat" block block.dat 100 200 >truth || exit 1
"$UNIT/gen_tracedat" alarm alarm.dat 100 200 >>truth || exit 1

# Reading a file does not depend on earlier contents of memory, in the libraries neither
case $TOOLS in
*-san/*) ;;
*) valgrind -q --trace-children=yes --error-exitcode=99 "$ctlchart" block.dat >out 2>err ||
	wrong "memory is read that was not written" ;;
esac

# --- help
"$ctlchart" --help >out 2>err || wrong "--help fails"
for command in "" sim save load; do
	# shellcheck disable=SC2086 # a command or nothing
	"$ctlchart" $command --help >out 2>err || wrong "$command --help fails"
	grep -q '^Examples:' out || wrong "$command --help has no examples"
	[ "$(awk 'length > 79' out)" = "" ] || wrong "$command --help is wider than 79 columns"
	[ "$(head -n 1 out | cut -d ' ' -f 1-3)" = "Usage: ctlchart ${command:-[OPTION...]}" ] ||
		wrong "$command --help: $(head -n 1 out)"
	[ -z "$command" ] || "$ctlchart" --help | grep -q "^  ctlchart $command " || wrong "--help does not name $command"
done
"$ctlchart" --version | grep -qE '^ctlchart \(tracerig\) [0-9]' || wrong "--version"

# --- files that are not traces
: >empty.dat
echo "this is no trace at all" >text.dat
head -c 5000 alarm.dat >short.dat
mkdir dir.dat
mkfifo fifo.dat
printf '\027\010\104tracing9\0' >future.dat
expect 1 '^ctlchart: missing.dat: No such file or directory$' missing.dat
expect 1 '^ctlchart: empty.dat: empty file$' empty.dat
expect 1 '^ctlchart: text.dat: not a trace.dat file$' text.dat
expect 1 '^ctlchart: dir.dat: is a directory$' dir.dat
expect 1 '^ctlchart: fifo.dat: is not a regular file' fifo.dat
expect 1 '^ctlchart: short.dat:[0-9]+: truncated: ' short.dat
expect 1 '^ctlchart: future.dat:10: trace.dat of a version' future.dat
expect 1 '^ctlchart: alarm.dat: has no alarm of a chart x$' --chart=x alarm.dat
expect 1 'Not a directory|cannot write' -o alarm.dat/x alarm.dat
# A mistake in a filter says what to write instead
for option in samples=101 group=3; do
	expect 2 '\^ samples= a multiple of group= \(100 and 5 if not given\)' alarm.dat -e block:block_rq_complete -f "ctlchart(block_bio_queue, dev, $option)"
done
expect 2 '\^ 2 to 10$' alarm.dat -e block:block_rq_complete -f 'ctlchart(block_bio_queue, dev, group=1)'
expect 2 '\^ a time with a whole number, such as 20ms' alarm.dat -e block:block_rq_complete -f 'ctlchart(block_bio_queue, dev, learn=1.5s)'
expect 2 '\^ 1 to 63 characters: letters, digits, _, - and \.$' alarm.dat -e block:block_rq_complete -f "ctlchart(block_bio_queue, dev, name=$(printf %064d 0))"
for option in stale overdue; do
	expect 2 '\^ a time with a whole number above 0, such as 20ms, 1s or 5m$' alarm.dat -e block:block_rq_complete -f "ctlchart(block_bio_queue, dev, $option=0s)"
done
expect 2 '\^ a time, such as 5m, or a number of values, above 0$' alarm.dat -e block:block_rq_complete -f 'ctlchart(block_bio_queue, dev, relearn=0)'
expect 1 '\^ no such event in this recording' alarm.dat -e block:block_rq_complete -f 'ctlchart(nosuch, dev)'

# No alarms: perhaps there was no limit yet, which the last limit event says, if there is one
"$ctlchart" block.dat >out 2>err || wrong "no alarms are a failure"
grep -q 'has no alarms: no value was beyond the limit, or there was none yet' err ||
	wrong "a recording without limit events: $(cat err)"
"$UNIT/gen_tracedat" learning learning.dat >>truth || exit 1
"$ctlchart" learning.dat >out 2>err || wrong "no alarms are a failure"
grep -q 'has no alarms; a chart has no limit yet: it learns for learn=' err ||
	wrong "a recording of a chart that learns: $(cat err)"
"$UNIT/gen_tracedat" judging judging.dat >>truth || exit 1
for file in judging.dat alarm.dat; do
	"$ctlchart" $file >out 2>err || wrong "$file"
	[ ! -s err ] || wrong "a recording with a limit: $(cat err)"
done

# --- output
expect 1 '^ctlchart: /dev/full: cannot write the result: No space left on device' -o /dev/full alarm.dat
[ -c /dev/full ] || wrong "-o /dev/full replaced a device"
echo before >result
expect 1 'truncated' -o result short.dat
grep -qx before result || wrong "a failure changed the output file"
"$ctlchart" -o result alarm.dat || wrong "-o fails"
"$ctlchart" alarm.dat | cmp - result || wrong "-o writes something else"
(umask 077 && "$ctlchart" -o private alarm.dat)
[ "$(stat -c %a private)" = 600 ] || wrong "-o does not obey the umask"
ln -s result link
"$ctlchart" --format=csv -o link alarm.dat
[ -L link ] || wrong "-o replaced a link"
ln -sf alarm.dat recording
before=$(cksum <alarm.dat)
expect 1 'alarm.dat: would be replaced by the result' -o recording alarm.dat
[ "$(cksum <alarm.dat)" = "$before" ] || wrong "-o replaced a recording"
grep -q '^chart,event' result || wrong "-o does not follow a link"
[ -z "$(find . -name '*.??????' ! -name '*.dat')" ] || wrong "temporary files are left"
"$ctlchart" alarm.dat >/dev/full 2>err && wrong "a full disk is success"
"$ctlchart" --format=csv --worst=0 alarm.dat | head -n 1 >out
[ "$(cat out)" = "$(head -n 1 result)" ] || wrong "the first line of CSV"
"$ctlchart" --worst=100000 alarm.dat 2>err | true
[ ! -s err ] || wrong "a closed pipe is worth a message"

# --- colours: on a terminal only, and not with NO_COLOR
esc=$(printf '\033')
"$ctlchart" alarm.dat | grep -q "$esc" && wrong "colours in a pipe"
TERM=xterm script -qec "'$ctlchart' alarm.dat" /dev/null | grep -q "$esc\[31m" ||
	wrong "no colours on a terminal"
TERM=xterm NO_COLOR=1 script -qec "'$ctlchart' alarm.dat 2>/dev/null" /dev/null | grep -q "$esc" &&
	wrong "colours in spite of NO_COLOR"

# --- formats
"$ctlchart" "${block[@]}" --format=svg block.dat >out 2>err || wrong "svg"
if command -v rsvg-convert >/dev/null; then
	rsvg-convert out -o chart.png || wrong "the SVG does not render"
fi
"$ctlchart" report "${block[@]}" block.dat >out 2>err || wrong "report"
alarms=$(sed -n 's/^alarms=//p' truth | head -n 1)
grep -q "^  alarms     $alarms (" out || wrong "not $alarms alarms"
for count in 0 1 5; do
	"$ctlchart" --worst=$count alarm.dat >out
	[ "$(grep -c ' limit  ' out)" -eq $((count + 1)) ] || # and the limit's line
		wrong "--worst=$count"
done

# --- damage, a little of it; tests/fuzz/ctlchart does much
TOOLS=$TOOLS UNIT=$UNIT TRACERIG_BUILD=$PWD "$TRACERIG_TOP/tests/fuzz/ctlchart" 40 4711 ||
	wrong "damaged files"

# --- completion
if [ -r /usr/share/bash-completion/bash_completion ]; then
	complete_to() {
		bash -c '
			. /usr/share/bash-completion/bash_completion
			. "$1/tools/ctlchart/ctlchart.bash"
			COMP_LINE=$2 COMP_POINT=${#2}
			read -ra COMP_WORDS <<<"$2"
			COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
			_ctlchart ctlchart
			echo "${COMPREPLY[*]}"' - "$TRACERIG_TOP" "$1" 2>/dev/null
	}
	[ "$(complete_to 'ctlchart --format s')" = svg ] || wrong "completion of --format"
	[ "$(complete_to 'ctlchart al')" = alarm.dat ] || wrong "completion of a file"
	[ "$(complete_to 'ctlchart --wo')" = --worst= ] || wrong "completion of an option"
	[ "$(complete_to 'ctlchart sim --gr')" = --grid= ] || wrong "completion of an option of sim"
	[ "$(complete_to 'ctlchart sim --wo')" = "" ] || wrong "completion of an option that sim has not"
	[ "$(complete_to 'ctlchart sim --format s')" = "" ] || wrong "completion of a format that sim has not"
	[ "$(complete_to 'ctlchart sim al')" = alarm.dat ] || wrong "completion of a file of sim"
	[ "$(complete_to 'ctlchart sa')" = save ] || wrong "completion of a command"
	[ "$(complete_to 'ctlchart load --dr')" = --dry-run ] || wrong "completion of an option of load"
	[ "$(complete_to 'ctlchart load te')" = text.dat ] || wrong "completion of a file of load"
	[ "$(complete_to 'ctlchart sim --grid gr')" = group= ] || wrong "completion of a grid"
fi
# Options and completion know of each other.
for option in $(for command in report sim save load; do "$ctlchart" $command --help; done |
	grep -oE -- '--[a-z-]+' | sort -u); do
	case $option in --help | --version) continue ;; esac
	grep -q -- "$option" "$TRACERIG_TOP/tools/ctlchart/ctlchart.bash" || wrong "completion lacks $option"
	[ "$option" = --usage ] || grep -q -- "${option//-/\\\\-}" "$TRACERIG_TOP/tools/ctlchart/ctlchart.1" ||
		wrong "the man page lacks $option"
done

exit "$failed"
