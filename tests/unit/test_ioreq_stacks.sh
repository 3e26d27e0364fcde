#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# sanitizers: check-full
# timeout: 200
#
# ioreq --stacks: generated stacks in a program that is compiled here, against independent
# sums, and against the functions and lines that addr2line (binutils) finds.
set -u

ioreq=$TOOLS/ioreq
program=$ioreq
# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"

cat >prog.c <<'END'
#include <unistd.h>
static int n;
__attribute__((noinline)) void log_line(const char *s)
{
	n += write(1, s, 1);
}
__attribute__((noinline)) void one(void)
{
	log_line("1");
	n++;
}
__attribute__((noinline)) void two(void)
{
	log_line("2");
	n++;
}
int main(void)
{
	one();
	two();
	return n;
}
END
mkdir -p root/usr/bin
gcc -O1 -g -Wl,--build-id=sha1 -o root/usr/bin/prog prog.c || exit 1
gcc -O1 -g -Wl,--build-id=none -o root/usr/bin/plain prog.c || exit 1
objcopy --only-keep-debug root/usr/bin/prog prog.debug && cp root/usr/bin/prog root/usr/bin/prog-stripped &&
	strip root/usr/bin/prog-stripped && objcopy --add-gnu-debuglink=prog.debug root/usr/bin/prog-stripped &&
	cp prog.debug root/usr/bin/ || exit 1

python3 "$TRACERIG_TOP/tests/unit/ioreq_stacks_make.py" 1 a.truth >a.lines && "$UNIT/gen_stacks" a.dat <a.lines || exit 1
# The first version of the program has other frames
python3 "$TRACERIG_TOP/tests/unit/ioreq_stacks_make.py" 2 b.truth first >b.lines &&
	"$UNIT/gen_stacks" --first b.dat <b.lines || exit 1

both="--symfs=root web=a.dat db=b.dat"
# shellcheck disable=SC2086 # several words
for format in json csv text folded; do
	"$ioreq" --stacks --format=$format --top=1000 $both >out.$format 2>err.$format || wrong "$format fails"
done
# shellcheck disable=SC2086
"$ioreq" --stacks --format=json --by=call --longer=2ms $both >longer.json 2>err || wrong "--longer fails"
# shellcheck disable=SC2086
"$ioreq" --format=csv --by=call --longer=2ms $both >longer.csv 2>err || wrong "--longer fails in csv"
python3 "$TRACERIG_TOP/tests/unit/ioreq_stacks_check.py" || wrong "stacks are not the generated ones"
sort -u err.json | cut -d: -f2- >notes
grep -q 'root/usr/bin/prog: its build ID is not the recorded one' err.json || wrong "another build is not reported"
grep -q 'root/usr/lib/gone.so: No such file or directory' err.json || wrong "a missing file is not reported"
grep -q 'plain\|stripped\|second' err.json && wrong "a good file, or an unused one, is reported"

# --- the same stacks, of which the recordings have none or a part, from copies of iosys_stacks
same_stacks() { # JSON: as in got.json
	python3 "$TRACERIG_TOP/tests/unit/ioreq_same_stacks.py" "$1" got.json
}
python3 "$TRACERIG_TOP/tests/unit/ioreq_known.py" a.lines >a.known || exit 1
grep -v '^map\|^stack' a.lines | "$UNIT/gen_stacks" none-a.dat || exit 1
grep -v '^map' a.lines | "$UNIT/gen_stacks" part-a.dat || exit 1
"$ioreq" --stacks --format=json --symfs=root web=a.dat >want.json 2>/dev/null || wrong "a.dat fails"
for dat in none-a.dat part-a.dat a.dat; do
	"$ioreq" --stacks --format=json --symfs=root --iosys-stacks=web=a.known web=$dat >got.json 2>err || wrong "$dat with known stacks: $(cat err)"
	same_stacks want.json || wrong "$dat: other stacks than in the recording"
done
# Of two hosts, those of the one that is named
"$ioreq" --stacks --format=json --symfs=root --iosys-stacks web=a.known db=b.dat web=none-a.dat >got.json 2>err || wrong "two hosts: $(cat err)"
same_stacks out.json || wrong "two hosts with the stacks of one"
expect 2 '--iosys-stacks=a.known: must be HOST=FILE' --iosys-stacks=a.known web=a.dat db=b.dat
expect 2 '--iosys-stacks=x=a.known: no host has this name' --iosys-stacks=x=a.known web=a.dat
expect 2 '--iosys-stacks=a.known: the host has a file already' --iosys-stacks=web=a.known --iosys-stacks=a.known web=a.dat
expect 1 '^ioreq: nosuch: No such file' --stacks --iosys-stacks=nosuch a.dat
expect 1 'a.known' --stacks --iosys-stacks=a.known -o a.known a.dat
mkfifo known.fifo
for file in known.fifo /dev/zero .; do
	expect 1 "^ioreq: $file: not a regular file$" --stacks --iosys-stacks=$file a.dat
done
# Of another boot
sed 's/^stack 1 \(.*\)0x/stack 1 \10x1/' a.known >other.known
expect 1 '^ioreq: other.known:[0-9]*: stack or file 1 differs from that in the recording' --stacks --iosys-stacks=other.known a.dat
sed '/^stack/d; s/^map 5 \(.*\)ino=/map 5 \1ino=9/' a.known >other.known
expect 1 '^ioreq: other.known:[0-9]*: stack or file 5 differs from that in the recording' --stacks --iosys-stacks=other.known a.dat
# An escaped path is the path; a line that is cut, or none
printf 'map 1 dev=8:1 ino=1 build_id= rows=0 bytes=0 path=/usr/a\\012b\\134c\n' >escaped.known
{ echo "stack 1 0 0 8000000100000010"; echo "call 1000 read /a 1 5 1"; } | "$UNIT/gen_stacks" escaped.dat || exit 1
"$ioreq" --stacks --format=json --symfs=root --iosys-stacks=escaped.known escaped.dat >got.json 2>err || wrong "an escaped path: $(cat err)"
grep -qF 'a?b\\c' got.json || wrong "an escaped path: $(cat got.json)"
for line in x 'stack 1' 'stack 1 end=complete guessed=0 frames=1+' 'stack 1 end=complete guessed=0 frames=4294967295+0x1' \
	'stack 1 end=complete guessed=0 frames=1+0x100000000' 'stack 1 end= guessed=0 frames=' 'stack 0 end=deep guessed=0 frames=' \
	'stack 18446744073709551617 end=deep guessed=0 frames=' 'stack 1 end=deep guessed=0 frames=1+0x1 ' \
	'stack map 1 dev=8:1 ino=1 build_id= rows=0 bytes=0 path=/a' 'map 1 dev=8:1 ino=1 build_id=abc rows=0 bytes=0 path=/a' \
	"map 1 dev=8:1 ino=1 build_id=$(printf %042d 0) rows=0 bytes=0 path=/a" 'map 1 dev=8:1 ino=1 build_id= rows=0 bytes=0 path=/a\000' \
	"stack 1 end=deep guessed=0 frames=$(seq -s, -f '%g+0x1' 1 257)" "map 1 dev=8:1 ino=1 build_id= rows=0 bytes=0 path=$(printf %05000d 0)" \
	"$(printf %020000d 0)" 'map 1 dev=8:1048576 ino=1 build_id= rows=0 bytes=0 path=/a'; do
	printf '# good\n%s\n' "$line" >damaged.known
	expect 1 '^ioreq: damaged.known:7: is not a line of the file iosys_stacks' --stacks --iosys-stacks=damaged.known a.dat
done
printf 'stack 70 end=complete guessed=0 frames=1+0x1' >damaged.known
expect 1 '^ioreq: damaged.known:0: is not a line' --stacks --iosys-stacks=damaged.known a.dat

# --- by client, and traces of a kernel without stacks
"$ioreq" --stacks --by=client,call --format=csv --symfs=root a.dat >client.csv 2>err || wrong "--by=client fails"
[ "$(cut -d, -f11 client.csv | sort -u | tr '\n' ' ')" = "- client " ] || wrong "--by=client has clients"
"$UNIT/gen_iosys" none.dat 100 1 >none.truth || exit 1
"$ioreq" --stacks none.dat >out 2>err || wrong "no stacks at all fails"
grep -q '^  without a stack$' out || wrong "calls without a stack are not marked"

# --- stacks that were evicted or refused meanwhile, not before; and numbers at their maximum
[ "$(grep -c evicted err.json)" -eq 0 ] || wrong "stacks were evicted where none was"
{ echo "counts 4294967290 7"; echo "map 2147483647 1 1 - /usr/last"; echo "stack 4294967295 0 0 ffffffffffffffff,7fffffffffffffff"
  echo "counts 5 10"; echo "stack 1 0 0 -"; echo "call 1000 read /a 1 5 4294967295"; } | "$UNIT/gen_stacks" counts.dat || exit 1
"$ioreq" --stacks counts.dat >out 2>err || wrong "evicted stacks fail"
grep -q '^ioreq: counts.dat: the kernel evicted 11 stacks' err || wrong "evicted stacks are not reported"
grep -q '^ioreq: counts.dat: the kernel had no room for the stacks of 3 or more calls' err || wrong "refused stacks are not reported"
{ grep -q 'last+0xffffffff' out && grep -q '0x7fffffffffffffff' out; } || wrong "large numbers are others"

# --- wrong use and damage
expect 2 '--stacks requires --format=text, json, csv or folded' --stacks --format=chrome a.dat
expect 2 '--longer=20: must be a time' --longer=20 a.dat
expect 2 '--longer=-1ms: must be a time' --longer=-1ms a.dat
expect 2 '--longer=99999999999999999s: must be a time' --longer=99999999999999999s a.dat
for what in stack map; do
	{ cat a.lines; echo "bad $what"; } | "$UNIT/gen_stacks" bad.dat || exit 1
	expect 1 '^ioreq: bad.dat:[0-9]*: damaged record of a stack or of a mapped file' --stacks bad.dat
	"$ioreq" --by=call bad.dat >out 2>err || wrong "a damaged $what fails a report that does not use it"
done
mkfifo root/usr/lib-fifo 2>/dev/null
{ echo "map 1 1 1 - /usr/lib-fifo"; echo "stack 1 0 0 8000000100000010"; echo "call 1000 read /a 1 5 1"; } |
	"$UNIT/gen_stacks" fifo.dat || exit 1
"$ioreq" --stacks --symfs=root fifo.dat >out 2>err || wrong "a fifo fails"
grep -q 'root/usr/lib-fifo: not a regular file' err || wrong "a fifo is not reported"
{ printf 'map 1 1 1 - /usr/\033[31mred\n'; echo "stack 1 0 0 8000000100000010"; echo "call 1000 read /a 1 5 1"; } |
	"$UNIT/gen_stacks" red.dat || exit 1
"$ioreq" --stacks red.dat >out 2>err || wrong "a strange name fails"
! grep -q "$(printf '\033')" out err || wrong "a name reaches the terminal with its control characters"

printf 'leak:libtraceevent\nleak:libtracecmd\n' >leaks
export LSAN_OPTIONS=suppressions=$PWD/leaks:print_suppressions=0
head -n 60 a.lines | "$UNIT/gen_stacks" small.dat || exit 1
python3 "$TRACERIG_TOP/tests/unit/ioreq_stacks_damage.py"
for bad in bad[0-9]*.dat; do
	"$ioreq" --stacks --symfs=root "$bad" >out 2>err
	code=$?
	case $code in
	0) [ -s out ] || wrong "$bad: neither result nor message" ;;
	1) grep -q '^ioreq: ' err || wrong "$bad: failed without a message" ;;
	*) wrong "$bad: status $code" ;;
	esac
done
exit $failed
