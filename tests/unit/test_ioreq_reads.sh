#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# ioreq --reads: the reads that programs made, and the disk reads for them, against the truth.
set -u

ioreq=$TOOLS/ioreq
program=$ioreq
# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"

for kind in "" both requests; do
	# shellcheck disable=SC2086 # or none
	"$UNIT/gen_reads" reads.dat 3000 5 $kind >truth || exit 1
	"$ioreq" --reads --format=json reads.dat >reads.json 2>err || wrong "--reads fails"
	"$ioreq" --reads --format=csv reads.dat >reads.csv 2>>err || wrong "--reads in csv fails"
	[ ! -s err ] || wrong "messages about good files"
	python3 "$TRACERIG_TOP/tests/unit/ioreq_reads.py" || wrong "reads are not right (${kind:-bios})"
done
"$ioreq" --reads --top=1 reads.dat >out || wrong "--reads in text fails"
grep -q '^\.\.\. [0-9]* more (--top)$' out || wrong "text does not say that there is more"
grep -q 'no requests to disks' out && wrong "text says that there are no requests to disks"
"$UNIT/gen_chain" web.dat app.dat db.dat alone.dat 30 1 >truth || exit 1
"$ioreq" --reads db.dat | grep -q 'no requests to disks in the trace .record them with: trace-cmd record ' || wrong "text does not say what is missing"
expect 2 '--reads requires --format=text, json or csv' --reads --format=html reads.dat
exit $failed
