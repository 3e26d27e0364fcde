#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# sanitizers: check-full
# timeout: 300
#
# A trace of more than a gigabyte: all of it is read, in as little memory as a
# small one, and a person who waits sees how far it is.
set -u

# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"

events=18600000
ctlchart=$TOOLS/ctlchart
filter='ctlchart(block_bio_queue, dev, sector, ucl=10ms)'

case $TOOLS in
*-san/*) echo "the plain tools have read it; with sanitizers it would take minutes"; exit 77 ;;
esac
free=$(df --output=avail -B 1M . | tail -n 1)
[ "$free" -gt 1500 ] || { echo "$free MB of disk are too few for a trace of 1.1 GB"; exit 77; }

# peak ARGUMENTS...: run ctlchart, result in out; print the kilobytes it took
peak() {
	python3 "$TRACERIG_TOP/tests/unit/peak_memory.py" "$ctlchart" "$@"
}

"$UNIT/gen_large" small.dat 500000 >truth || exit 1
"$UNIT/gen_large" large.dat $events >truth || exit 1
[ "$(stat -c %s large.dat)" -ge $((1 << 30)) ] || wrong "only $(stat -c %s large.dat) bytes"
slow=$(sed -n 's/^slow=//p' truth)

# Memory: bounded, whatever the size of the file. Points of a picture grow up to
# their bound, which the small file does not reach.
for way in --format=csv --format=svg "--format=html --worst=10"; do
	# shellcheck disable=SC2086 # words
	small=$(peak $way -e block:block_rq_complete -f "$filter" small.dat)
	# shellcheck disable=SC2086 # words
	large=$(peak $way -e block:block_rq_complete -f "$filter" large.dat)
	echo "$way: $small KB, $large KB"
	[ "$large" -lt $((2 * small + 65536)) ] || wrong "$way: $large KB instead of $small KB"
	case $way in
	*csv) [ "$(tail -n +2 out | wc -l)" -eq "$slow" ] || wrong "not $slow alarms" ;;
	*html*) grep -q "\"alarms\":$slow," out || wrong "not $slow alarms in the page" ;;
	esac
done

# Progress, on a terminal alone
grid=(sim -e block:block_rq_complete -f "$filter" --grid size=512,1024,2048,4096,8192 --format=csv)
TERM=xterm script -qec "'$ctlchart' ${grid[*]@Q} large.dat >out" /dev/null >progress
tr '\r' '\n' <progress | grep -qE '^ctlchart: [0-9.]+ M events, [0-9.]+ s of trace' || wrong "no progress on a terminal"
[ "$(grep -c ",$slow,0,$slow,$slow," out)" -eq 5 ] ||
	wrong "not $slow alarms in each setting: $(cat out)"
"$ctlchart" "${grid[@]}" large.dat 2>err >out
[ ! -s err ] || wrong "progress without a terminal"

exit $failed
