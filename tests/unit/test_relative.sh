#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 60
#
# Where an event's fields are __rel_loc, whose offsets count from the end of the field,
# every tool reports the same as where they are __data_loc.
set -u

# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"

# make GENERATOR ARGUMENTS...: the files, in absolute/ and in relative/
make() {
	local generator=$UNIT/$1
	shift
	(cd absolute && "$generator" "$@" <../lines >/dev/null) || exit 1
	(cd relative && TD_RELATIVE=1 "$generator" "$@" <../lines >/dev/null) || exit 1
}

# same FILE TOOL ARGUMENTS...: the same from both files; FILE is one of them
same() {
	local file=$1
	program=$TOOLS/$2
	shift 2
	grep -qa __rel_loc "relative/$file" || wrong "$file: no field is relative"
	(cd absolute && "$program" "$@") >right 2>err || wrong "$program $*: $(cat err)"
	(cd relative && "$program" "$@") >out 2>err2 || wrong "$program $* with relative fields: $(cat err2)"
	[ -s right ] || wrong "$program $*: no result"
	diff right out || wrong "${program##*/} $*: not the same with relative fields"
	diff err err2 || wrong "${program##*/} $*: not the same messages with relative fields"
}

mkdir absolute relative
cat >lines <<'EOF'
map 1 8388609 77 - /usr/bin/program
stack 5 0 0 8000000100000010,8000000100000020
call 100 read file 5 1000 5
EOF
make gen_paths slow slow.dat 1000
make gen_lbr lbr.dat 32 400 5 period
make gen_requests clients.dat servers.dat 100 1
make gen_iosys calls.dat 500 1
make gen_stock stock.dat 500 1
make gen_stacks stacks.dat
make gen_tracedat alarm alarms.dat 2000 20

same slow.dat pathdiff --format=json slow.dat
same lbr.dat lbrtime --format=json lbr.dat
same clients.dat ioreq --requests --format=json clients.dat servers.dat
same clients.dat schedz decode --format=json clients.dat
same calls.dat ioreq --format=json calls.dat
same stock.dat ioreq --format=json stock.dat
same stacks.dat ioreq --stacks stacks.dat
same alarms.dat ctlchart --format=json alarms.dat
exit "$failed"
