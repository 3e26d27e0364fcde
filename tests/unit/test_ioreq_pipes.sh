#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 60
#
# Work that processes hand over through pipes: the parents of the receivers' requests, and
# the clients of their calls on files, against the truth.
set -u

ioreq=$TOOLS/ioreq
program=$ioreq
# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"

for seed in 1 2; do
	for mode in turns early sizes; do
		"$UNIT/gen_pipes" host.dat 2400 $seed $mode >truth || exit 1
		"$ioreq" --format=otlp host.dat >links.otlp 2>err || wrong "otlp fails"
		"$ioreq" --format=json --by=client,call host.dat >files.json 2>>err || wrong "--by=client fails"
		[ ! -s err ] || wrong "messages about good files"
		python3 -B "$TRACERIG_TOP/tests/unit/ioreq_pipes_links.py" $mode || wrong "links of $mode, seed $seed"
	done
done

# Requests of a worker whose job was lost have an unknown client, which is not the worker
for seed in 1 2 3; do
	"$UNIT/gen_pipes" host.dat 2400 $seed lossy >truth || exit 1
	"$ioreq" --format=json --by=client,call host.dat >files.json 2>/dev/null || wrong "--by=client fails"
	python3 "$TRACERIG_TOP/tests/unit/ioreq_pipes_lost.py" || wrong "clients where records are lost, seed $seed"
done
exit $failed
