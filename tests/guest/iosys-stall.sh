#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# Code and stacks that would take for ever to be read: files of FUSE whose server does
# not answer. No call waits for them, its stack says why it ends, and other programs get
# their tables.
. "$TRACERIG_TOP/tests/guest/functions"

files=24	# more than the workers that build tables
here=$TRACERIG_TOP/tests/guest

[ -e "$tracing/events/iosys/io_stack" ] || die "this kernel has no io_stack"
gcc -O2 -fomit-frame-pointer -Wall -Wextra -o stallwork "$here/stallwork.c"

# until_so WHAT COMMAND...: it succeeds, within 20 seconds
until_so() {
	local i what=$1
	shift
	for ((i = 0; i < 200; i++)); do
		! "$@" || return 0
		sleep 0.1
	done
	die "$what" "$(cat "$tracing/iosys")"
}

# has_table NAME: the program of this name, once it has run
has_table() {
	"./$1" >/dev/null 2>&1 || :
	grep -q "^map .* rows=[1-9].* path=.*/$1\$" "$tracing/iosys_stacks"
}

nothing_queued() {
	grep '^tables:' "$tracing/iosys" | grep -q ' queued 0$'
}

# end_of BYTES: why the stack of the last read of so many ends, and where it begins
end_of() {
	local id
	id=$(sed -n "s/.* io_syscall: pread64=$1 .* stack=//p" trace | tail -n 1)
	sed -n "s/^stack ${id:-none} end=\([a-z_]*\) guessed=[0-9]* frames=\([0-9]*+0x[0-9a-f]*\).*/\1 \2/p" stacks
}

for event in io_syscall io_stack io_map; do
	echo 1 >"$tracing/events/iosys/$event/enable"
done
until_so "stallwork has no table" has_table stallwork
until_so "builds do not end" nothing_queued

mkdir files
coproc { exec ./stallwork files $files 2>err; }
work=$COPROC_PID
# It is killed if it is blocked
read -r said <&"${COPROC[0]}" || die "stallwork has ended" "$(cat err "$tracing/iosys")"
same ready "$said" "what it says"

# Nobody has answered so far, and others are not kept waiting
cp "$(type -P true)" another
until_so "no table for another program" has_table another
until_so "builds do not end" nothing_queued
cat "$tracing/iosys_stacks" >stacks
# Who reads the trace would write to it with each read
for event in io_syscall io_stack io_map; do
	echo 0 >"$tracing/events/iosys/$event/enable"
done
cat "$tracing/trace" >trace
eval "exec ${COPROC[1]}>&-"
wait "$work" || die "stallwork: $(cat err)"

same $files "$(grep -cx '# no table: of FUSE' stacks)" "objects of FUSE"
same $files "$(grep -c ' io_syscall: pread64=1 ' trace)" "reads from code of FUSE"
# The last one's code is behind the call, 16 bytes from its beginning
map=$(grep "^map .* path=.*/f$((files - 1))\$" stacks | cut -d ' ' -f 2)
same "complete $map+0x100e" "$(end_of 1)" "the stack with code of FUSE"
case $(end_of 2) in
"bad_memory "*) ;;
*) die "the stack in FUSE: $(end_of 2)" "$(cat stacks)" ;;
esac
