#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
#
# What make demo calls a failure, and what it only mentions: recordings in which one
# thing is wrong, from gen_demo, which knows each read in them.
set -u

top=$(realpath "$(dirname "$0")/../..")
build=${TRACERIG_BUILD:-$top/build}
san=
case $TOOLS in *-san/*) san=1 ;; esac
compare=$build/demo${san:+-san}/compare
failed=0

make --no-print-directory -s -C "$top/tests/demo" BUILD="$build" SAN=$san "$compare" >make.log 2>&1 || {
	cat make.log
	exit 1
}

wrong() {
	echo "wrong: $1: $2"
	sed 's/^/  /' out err
	failed=1
}

# try VARIANT STATUS [FILE=PATTERN...]: lines that are there, !FILE=: that are not
try() {
	local variant=$1 status=$2 code=0 want file
	shift 2
	rm -rf demo
	mkdir demo
	"$UNIT/gen_demo" demo "$variant" || exit 1
	[ -z "$others" ] || echo "others: $others % of the CPUs" >demo/host
	"$compare" demo >out 2>err || code=$?
	[ "$code" -eq "$status" ] || wrong "$variant" "status $code, not $status"
	[ -s demo/summary.json ] || wrong "$variant" "no summary"
	for want; do
		file=${want%%=*}
		if [ "${file#!}" != "$file" ]; then
			! grep -qE -e "${want#*=}" "${file#!}" || wrong "$variant" "${want#*=}"
		else
			grep -qE -e "${want#*=}" "$file" || wrong "$variant" "no ${want#*=}"
		fi
	done
	# Only a failure says so.
	if [ "$status" -eq 0 ]; then
		[ ! -s err ] || wrong "$variant" "messages on stderr"
	else
		[ "$(grep -c '^demo: FAILED: ' err)" -eq "$(grep -c '' err)" ] || wrong "$variant" "other messages"
	fi
}

others=3
try none 0 'out=caught 40 of the 40 reads' 'out=usually 12 to 25' '!out=busy' '!out=stood still'

# Errors of ctlchart
try missing 1 'err=1 of 40 reads of more than a second are not in the log: the worst of process 1, begun at 0.000 s, .* took 1.500 s$'
try missing-calm 1 'err=1 of 1 reads of more than a second are not in the log of the healthy load'
try half-still 1 'err=1 of 41 reads of more than a second are not in the log: '
try little-cpu 1 'err=1 of 41 reads of more than a second are not in the log: '
try wrong-limit 1 'err=40 of 40 reads of more than a second are not in the log: ' 'out=limit is above a second'
try alarm 1 'err=ctlchart.whole counts 41 alarms, 0 of them not written, and 40 are in the log'
try normal 1 'err=1 completions without an alarm are in the log of ctlchart.whole'
try sum 1 'err=ctlchart.whole does not add up: starts: 4040 = paired 4039'
try starts 1 'err=counts 4039 reads begun, and the processes made 4040'
try nothing-plain 1 'err=plain ftrace recorded nothing of the storm'
try nothing 1 'err=nothing of the storm was recorded through the chart' 'err=40 of 40 reads'
try lost 1 'err=overwritten before they were read'

# Failures that are not ctlchart's
try unwritten 0
try stood-still 0 'out=the guest stood still for 2\.[0-9] s' 'out=1 reads took more than a second only because'
try no-cpu 0 'out=1 reads took more than a second only because' '!out=stood still for'
try no-storm 0 'out=there was no storm to be seen'
try lost-plain 0 'out=Plain ftrace lost events'
try high-limit 0 'out=limit is above a second'
try late 0 'out=the storm.s log is [23]\.[0-9] times smaller \(usually 12' 'out=less than usual, and the host was not busy'
others=
try late 0 'out=not busy, as far as is known'
others=96.4
try late 0 'out=^The host was busy: other programs used 96% of its CPUs' '!out=not busy'
try none 0 'out=The host was busy'
try missing 1 'out=The host was busy' 'err=1 of 40'

exit $failed
