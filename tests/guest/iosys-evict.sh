#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# part: check-full
# timeout: 600
#
# Unprivileged programs that make more stacks and objects than there is room for: the stacks
# of other users keep their numbers, programs that start later have room, and no number
# stands for two stacks.
. "$TRACERIG_TOP/tests/guest/functions"

[ -e "$tracing/events/iosys/io_stack" ] || die "this kernel has no io_stack"
gcc -O2 -fno-optimize-sibling-calls -Wall -Wextra -o hostile "$TRACERIG_TOP/tests/guest/hostile.c" -luring
echo 'int read(int, void *, unsigned long);
void call(void) { read(-1, 0, 0); __asm__ volatile("# not a jump"); }' >object.c
gcc -O2 -shared -fPIC -o object.so object.c
for name in other newcomer jobs; do cp hostile "$name"; done
chmod 755 .. . hostile other newcomer jobs object.so
# as USER COMMAND...: run it as the user
as() { setpriv --reuid "$1" --regid "$1" --clear-groups "${@:2}"; }
# numbers COMM: print the stack numbers of its reads of descriptor -1, in order
numbers() { sed -n "s/^ *$1-.* io_syscall: read=-9 .* stack=\([0-9]*\)$/\1/p" trace; }
# recorded COMMAND...: run it, and print the trace as a file
recorded() {
	echo >"$tracing/trace"
	"$@"
	cat "$tracing/trace" >trace
	check_trace
}
# check_trace: each number is defined before it is used, with one meaning in the whole recording
check_trace() {
	awk '
	NR == FNR { stack[$1] = $2; next }
	/ io_stack: / {
		match($0, / id=[0-9]+/); id = substr($0, RSTART + 4, RLENGTH - 4)
		what = $0; sub(/.* guessed=/, "", what); sub(/ evicted=.*/, "", what); gsub(/ /, "", what)
		if (id in stack && stack[id] != what) { print id " is two stacks: " what; exit 1 }
		stack[id] = what; here[id] = 1
	}
	/ io_syscall: / {
		match($0, / stack=[0-9]+/); id = substr($0, RSTART + 7, RLENGTH - 7)
		if (id != 0 && !(id in here)) { print id " is not defined before: " $0; exit 1 }
	}
	END { for (id in stack) print id, stack[id] >"known.new" }' known trace >wrong || die "$(head -c 2000 wrong)"
	mv known.new known
}
: >known

echo 16000 >"$tracing/buffer_size_kb"
echo 'comm == "other" || comm == "newcomer" || comm == "jobs"' >"$tracing/events/iosys/io_syscall/filter"
for e in io_syscall io_stack io_map; do echo 1 >"$tracing/events/iosys/$e/enable"; done
for name in hostile other newcomer jobs; do
	for _ in 1 2 3; do as 1 "./$name" stacks 0 1 1; built; done
done

# The stacks of "other" before, during and after other users make as many stacks as they can
recorded as 1 ./other stacks 0 20 1
numbers other >before
same 20 "$(sort -u before | grep -vc '^0$')" "stacks of another user before"
flood() {
	local user
	for user in 65534 {1000..1004}; do
		as "$user" ./hostile stacks $((user * 10000)) 4500 1 &
		as 1 ./other stacks 0 20 2
		wait $!
	done
}
recorded flood
numbers other >meanwhile
for _ in {1..12}; do cat before; done | cmp - meanwhile ||
	die "another user's stacks have other numbers, or none" "$(sort meanwhile | uniq -c | sort -n | tail -n 5)"
[ "$(field stacks evicted)" -gt 0 ] || die "nothing was evicted" "$(cat "$tracing/iosys")"
[ "$(field stacks words)" -le 524288 ] || die "the store is larger than its limit" "$(cat "$tracing/iosys")"

# A new user, and the next programs of those users
recorded as 2 ./newcomer stacks 0 300 1
same 300 "$(numbers newcomer | sort -u | grep -vc '^0$')" "stacks of a user who comes later"
recorded as 65534 ./newcomer stacks 0 300 1
same 300 "$(numbers newcomer | sort -u | grep -vc '^0$')" "stacks of the user who had all"

# More programs are built, run and removed than there is room for objects
recorded as 65534 ./jobs objects "$PWD/object.so" 2600
same 7800 "$(numbers jobs | grep -c .)" "calls of new objects"
known=$(numbers jobs | grep -vc '^0$')
[ $((100 * known)) -ge $((99 * 7800)) ] || die "new objects: $known of 7800 calls have a stack" "$(cat "$tracing/iosys")"
[ "$(field objects evicted)" -gt 0 ] || die "no object was evicted" "$(cat "$tracing/iosys")"
recorded as 1 ./other stacks 0 20 1
numbers other | cmp - before || die "another user's stacks have other numbers after objects"
cp hostile "$PWD/fresh"
for _ in 1 2; do as 2 ./fresh stacks 0 1 1; built; done
grep -q "path=$PWD/fresh\$" "$tracing/iosys_stacks" || die "there is no room for one more object" "$(cat "$tracing/iosys")"
echo "# $(grep '^stacks:' "$tracing/iosys")"
echo "# $(grep '^objects:' "$tracing/iosys")"
