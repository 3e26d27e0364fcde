#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# Code and stacks that may block the reader for ever: files of FUSE whose server does not
# respond, memory of userfaultfd that no program fills, and memory of memfd_secret. No call
# waits for them, their stacks say why they end, and other programs get their tables.
. "$TRACERIG_TOP/tests/guest/functions"

files=24	# more than the workers that build tables
here=$TRACERIG_TOP/tests/guest

[ -e "$tracing/events/iosys/io_stack" ] || die "this kernel has no io_stack"
gcc -O2 -fomit-frame-pointer -Wall -Wextra -o stallwork "$here/stallwork.c"

explain() {
	cat "$tracing/iosys"
}

# has_table NAME: true if the program of this name has a table, once it has run
has_table() {
	"./$1" >/dev/null 2>&1 || :
	grep -q "^map .* rows=[1-9].* path=.*/$1\$" "$tracing/iosys_stacks"
}

nothing_queued() {
	grep '^tables:' "$tracing/iosys" | grep -q ' queued 0$'
}

# id_of NAME: print the number of the stack of the last read by this name
id_of() {
	sed -n "s/^ *$1-[0-9].* io_syscall: pread64=1 .* stack=//p" trace | tail -n 1
}

# end_of NAME: print why that stack ends, and where it begins
end_of() {
	local id
	id=$(id_of "$1")
	sed -n "s/^stack ${id:-none} end=\([a-z_]*\) guessed=[0-9]* frames=\([0-9]*+0x[0-9a-f]*\).*/\1 \2/p" stacks
}

for event in io_syscall io_stack io_map; do
	echo 1 >"$tracing/events/iosys/$event/enable"
done
within 20 has_table stallwork || die "stallwork has no table"
within 20 nothing_queued || die "builds do not end"

mkdir files
coproc { exec ./stallwork files $files 2>err; }
work=$COPROC_PID
# It is killed if it blocks
read -r said <&"${COPROC[0]}" || die "stallwork has ended" "$(cat err)"
same wait "$said" "what it says"
within 20 nothing_queued || die "builds do not end"
echo >&"${COPROC[1]}"
read -r said <&"${COPROC[0]}" || die "stallwork has ended" "$(cat err)"
same ready "$said" "what it says"

# Nothing has responded so far, and other programs do not wait
cp "$(type -P true)" another
within 20 has_table another || die "no table for another program"
within 20 nothing_queued || die "builds do not end"
cat "$tracing/iosys_stacks" >stacks
# Reading the trace would add records with each read
for event in io_syscall io_stack io_map; do
	echo 0 >"$tracing/events/iosys/$event/enable"
done
cat "$tracing/trace" >trace
eval "exec ${COPROC[1]}>&-"
wait "$work" || die "stallwork: $(cat err)"

same $files "$(grep -cx '# no table: of FUSE' stacks)" "objects of FUSE"
same $files "$(grep -c '^ *on-fuse-.* io_syscall: pread64=1 ' trace)" "reads from code of FUSE"
# The last one's code is after the call, 16 bytes from its beginning
map=$(grep "^map .* path=.*/f$((files - 1))\$" stacks | cut -d ' ' -f 2)
same "complete $map+0x100e" "$(end_of on-fuse)" "the stack with code of FUSE"
# The rest of the file's page is zeroes, which no program has to fill
map=$(grep "^map .* path=/memfd:unfilled" stacks | cut -d ' ' -f 2)
same "complete ${map:-none}+0x100e" "$(end_of on-uffd)" "the stack with code behind what is not there"
for name in fuse-stack uffd-stack; do
	case $(end_of $name) in
	"bad_memory "*) ;;
	*) die "$name: $(end_of $name)" "$(cat stacks)" ;;
	esac
done
# The stack is the program's own; the part that is kept is where code is: in the C library, in
# the program, and at makecontext()'s return address, which is before a function
case $(end_of secret-stack) in
"no_rule "*) ;;
*) die "secret-stack: $(end_of secret-stack)" "$(cat stacks)" ;;
esac
map=$(grep "^map .* path=.*/stallwork$" stacks | cut -d ' ' -f 2)
frames=$(sed -n "s/^stack $(id_of secret-stack) .* frames=//p" stacks)
[[ $frames =~ ^([0-9]+)\+0x[0-9a-f]+,$map\+0x[0-9a-f]+,([0-9]+)\+0x[0-9a-f]+$ &&
	${BASH_REMATCH[1]} = "${BASH_REMATCH[2]}" ]] || die "secret-stack: $frames"
