#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# Every tool reads a trace instance with --instance=NAME: the result is that of a file
# that has the same records in its main instance. Without it, a note lists the instances.
set -u

# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"

# make GENERATOR ARGUMENTS...: the files, in main/ and in instance/
make() {
	local generator=$UNIT/$1
	shift
	(cd main && "$generator" "$@" >/dev/null) || exit 1
	(cd instance && TD_INSTANCE=disk "$generator" "$@" >/dev/null) || exit 1
}

# same TOOL ARGUMENTS...: the same from both files
same() {
	program=$TOOLS/$1
	shift
	(cd main && "$program" "$@") >right 2>err || wrong "$program $*"
	(cd instance && "$program" "$@" --instance=disk) >out 2>err2 || wrong "$program $* --instance=disk: $(cat err2)"
	[ -s right ] || wrong "$program $*: no result"
	diff right out || wrong "${program##*/} $*: not the same with --instance"
	diff err err2 || wrong "${program##*/} $*: not the same messages with --instance"
	(cd instance && "$program" "$@" --instance=disc) >out 2>err &&
		wrong "${program##*/} $*: an instance that is not there"
	grep -q ': has no instance disc, but: disk$' err || wrong "${program##*/} $*: not which instances there are"
	(cd main && "$program" "$@" --instance=disk) >out 2>err &&
		wrong "${program##*/} $*: an instance of a file without any"
	grep -q ': has no instance disk, nor any$' err || wrong "${program##*/} $*: not that there are none"
}

# listed TOOL ARGUMENTS...: the main instance, which is empty, is read
listed() {
	program=$TOOLS/$1
	shift
	(cd instance && "$program" "$@") >out 2>err
	grep -qE 'instance chooses another: disk$' err || wrong "${program##*/} $*: not which instances there are"
}

mkdir main instance
make gen_paths slow slow.dat 1000
make gen_lbr lbr.dat 32 400 5 period
make gen_schedz blocks.dat plain.dat 4000 1
make gen_requests clients.dat servers.dat 100 1
make gen_tracedat block block.dat 2000 20

for format in text json folded; do
	same pathdiff --format=$format slow.dat
	same lbrtime --format=$format lbr.dat
done
# As trace-cmd writes files today: the pages of one are mapped, those of the other not
mkdir v7
(cd main && "$TOOLS/pathdiff" slow.dat) >right || wrong "pathdiff"
for compression in none any; do
	trace-cmd convert -i instance/slow.dat -o v7/slow.dat --file-version 7 --compression $compression >log 2>&1 ||
		wrong "trace-cmd convert --compression $compression: $(cat log)"
	(cd v7 && "$TOOLS/pathdiff" --instance=disk slow.dat) >out 2>err || wrong "pathdiff of version 7"
	diff right out || wrong "version 7, compression $compression: not the same with --instance"
done
same ioreq clients.dat servers.dat
same ioreq --requests clients.dat servers.dat
for command in stat "decode --format=json"; do
	# shellcheck disable=SC2086 # several words
	same schedz $command blocks.dat
done
same schedz decode blocks.dat
filter='ctlchart(block_bio_queue, dev, sector)'
# Its text says which instance it was
same ctlchart -e block:block_rq_complete -f "$filter" --format=csv block.dat
listed pathdiff slow.dat
listed lbrtime lbr.dat
listed schedz stat blocks.dat
listed ctlchart -e block:block_rq_complete -f "$filter" block.dat
listed ioreq clients.dat servers.dat

# schedz expands the instance's events, into the main instance of the result
"$TOOLS/schedz" expand -o main.dat main/blocks.dat || wrong "expand"
"$TOOLS/schedz" expand -o instance.dat --instance=disk instance/blocks.dat || wrong "expand --instance"
cmp main.dat instance.dat || wrong "expand: not the same with --instance"

program=$TOOLS/lbrtime
echo 'a 1 2.0: 1 cycles:' >text
expect 1 'only a trace.dat has trace instances' --instance=disk text
exit "$failed"
