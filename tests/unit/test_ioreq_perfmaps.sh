#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# ioreq --stacks: functions in memory of no file have their names from perf maps: from one that
# node writes, and from others made here, some of them damaged or hostile.
set -u

ioreq=$TOOLS/ioreq
program=$ioreq
here=$TRACERIG_TOP/tests/unit
# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"

# stacks FILE LINE...: a trace of them, besides calls of process 1000 that have the first one
stacks() {
	local file=$1
	shift
	{ printf '%s\n' "$@"; echo "call 1000 read /a 1 5 1"; } | "$UNIT/gen_stacks" "$file" || exit 1
}

# named RESULT FUNCTION...: the frames' functions, from the innermost frame of the first stack on
named() {
	python3 "$here/ioreq_perfmaps.py" "$@" || wrong "$1: frames have other names"
}

# --- what node writes
mkdir maps
node --perf-basic-prof "$here/perfmaps.js" &
pid=$!
wait $pid || exit 1
mv /tmp/perf-$pid.map maps/perf-1000.map || exit 1
python3 "$here/ioreq_perfmaps_node.py" lines >node.lines || exit 1
"$UNIT/gen_stacks" node.dat <node.lines || exit 1
"$ioreq" --stacks --format=json --perf-maps=maps node.dat >node.json 2>err || wrong "node's map fails"
[ ! -s err ] || wrong "there is a message about node's map"
python3 "$here/ioreq_perfmaps_node.py" check || wrong "frames do not have the names that node gives"
"$ioreq" --stacks --perf-maps=maps node.dat >out 2>err
grep -q '^  [| ]*0x[0-9a-f]*  *JS:[*^]readSettings /.*/perfmaps.js:7:22$' out || wrong "text has no names"
"$ioreq" --stacks --format=folded --perf-maps=maps node.dat >out 2>err
grep -q ';JS:[*^]readSettings_/.*/perfmaps.js:7:22;read;' out || wrong "folded stacks have no names"
"$ioreq" --stacks node.dat >out 2>err || wrong "no map fails"
{ ! grep -q JS: out && [ ! -s err ]; } || wrong "names are from nowhere"

# --- the bounds of functions; of a caller, the call counts, which is before the next instruction
printf '%s\n' '1000 10 first' '0x1010 0x10 a name, with blanks' '1020 8 gap' '1030 1 one' >maps/perf-1000.map
stacks bounds.dat 'stack 1 0 0 fff,1000,1001,1010,1011,1020,1021,1028,1029,1030,1031,1032'
"$ioreq" --stacks --format=json --perf-maps=maps bounds.dat >out.json 2>err || wrong "bounds fail"
named out.json - - first first 'a name, with blanks' 'a name, with blanks' gap gap - - one -
stacks inner.dat 'stack 1 0 0 1000' 'call 1000 read /a 1 5 2' 'stack 2 0 0 100f' 'call 1000 read /a 1 5 3' 'stack 3 0 0 1010'
"$ioreq" --stacks --format=json --perf-maps=maps inner.dat >out.json 2>err || wrong "inner frames fail"
named out.json first first 'a name, with blanks'
echo '1000 10 <[T; 4]>::f(a, b)' >maps/perf-1000.map
stacks lists.dat 'stack 1 0 0 1000,1001'
"$ioreq" --stacks --format=csv --perf-maps=maps lists.dat >out 2>err || wrong "names with separators fail"
grep -q ',"*0x1000 <\[T_ 4\]>::f(a_ b);0x1001 <\[T_ 4\]>::f(a_ b)"*$' out || wrong "frames in CSV are ambiguous: $(cat out)"

# --- code that was replaced; one that comes later in the file is later
printf '%s\n' '2000 100 old' '2040 20 new' '1000 5000 large' '2040 20 new' '3000 10 again' '3000 10 again' >maps/perf-1000.map
stacks replaced.dat 'stack 1 0 0 2000,2041,3001,5001'
"$ioreq" --stacks --format=json --perf-maps=maps replaced.dat >out.json 2>err || wrong "replaced code fails"
named out.json 'large (earlier: old)' 'new (earlier: large)' 'again (earlier: large)' large
{ for ((i = 0; i < 2000; i++)); do echo "2000 100 f$i"; done; echo '3000 10 g'; } >maps/perf-1000.map
"$ioreq" --stacks --format=json --perf-maps=maps replaced.dat >out.json 2>err || wrong "code that was replaced often fails"
named out.json 'f1999 (earlier: f1998)' 'f1999 (earlier: f1998)' g -

# --- a process and its child have the same stacks; if their maps disagree there is no name
stacks child.dat 'stack 1 0 0 1000' 'call 1001 read /a 1 5 1'
echo '1000 10 parent' >maps/perf-1000.map
"$ioreq" --stacks --format=json --by=call --perf-maps=maps child.dat >out.json 2>err || wrong "a child fails"
named out.json parent
echo '1000 10 child' >maps/perf-1001.map
"$ioreq" --stacks --format=json --by=call --perf-maps=maps child.dat >out.json 2>err || wrong "another map of a child fails"
named out.json -
cp maps/perf-1000.map maps/perf-1001.map
"$ioreq" --stacks --format=json --by=call --perf-maps=maps child.dat >out.json 2>err || wrong "the same map of a child fails"
named out.json parent
# The same address in different stacks; --stacks prints what they share once
echo '1000 10 child' >maps/perf-1001.map
stacks tree.dat 'stack 1 0 0 1000,1008' 'call 1001 read /a 1 5 2' 'stack 2 0 0 1000,1009'
"$ioreq" --stacks --by=call --perf-maps=maps tree.dat >out 2>err || wrong "a tree fails"
{ [ "$(grep -c ' parent$' out)" -eq 2 ] && [ "$(grep -c ' child$' out)" -eq 2 ]; } ||
	wrong "frames of a child have its parent's names: $(cat out)"
rm maps/perf-1001.map

# --- a call before its stack, and several hosts, whose processes have the same ID
stacks late.dat 'call 1000 read /a 1 5 1' 'stack 1 0 0 1000'
"$ioreq" --stacks --format=json --perf-maps=maps late.dat >out.json 2>err || wrong "a late stack fails"
named out.json parent
mkdir maps/web maps/db
echo '1000 10 on web' >maps/web/perf-1000.map
echo '1000 10 on db' >maps/db/perf-1000.map
"$ioreq" --stacks --format=json --by=call --perf-maps=maps web=late.dat db=inner.dat >out.json 2>err || wrong "several hosts fail"
named out.json 'on db' 'on web' 'on db' -

# --- where perf looks for maps, and which of them must not be trusted
mkdir -p root/tmp
map=root/tmp/perf-1000.map
echo '1000 10 found' >$map
"$ioreq" --stacks --format=json --symfs=root late.dat >out.json 2>err || wrong "a map in /tmp fails"
named out.json found

# refused REASON: the map in /tmp has a message, and frames have no names
refused() {
	"$ioreq" --stacks --format=json --symfs=root late.dat >out.json 2>err || wrong "$1: fails"
	grep -qx "ioreq: late.dat: root/tmp/perf-1000.map: $1; its functions are named by their addresses" err || wrong "$1: is not reported"
	[ "$(wc -l <err)" -eq 1 ] || wrong "$1: not one message"
	named out.json -
}

expect 1 '^ioreq: late.dat: --perf-maps=nowhere: No such file or directory$' --stacks --perf-maps=nowhere late.dat
expect 1 '^ioreq: late.dat: --perf-maps=late.dat: Not a directory$' --stacks --perf-maps=late.dat late.dat

mv $map elsewhere && ln -s ../../elsewhere $map && refused 'a symbolic link'
rm $map && ln -s /dev/zero $map && refused 'a symbolic link'
rm $map && mkfifo $map && refused 'not a regular file'
rm $map && mkdir $map && refused 'not a regular file'
rmdir $map && truncate -s 1T $map && refused 'larger than 1 GiB'
: >$map && refused 'no line with start, size and name of a function'
head -c 300000 /dev/urandom >$map && refused 'no line with start, size and name of a function'
printf '%s\n' '-1000 10 minus' ' 1000 10 blank' '1000 0 empty' '1000  10 two' '1000 10' '1000 10 ' 'fffffffffffffff0 10 over' \
	'10000000000000000 10 wide' '1000 ffffffffffffffffff wide' '0x 10 bare' 'zz' '' >$map &&
	refused 'no line with start, size and name of a function'
# The cost of a map does not depend on its number of lines, or on repeated addresses
yes '1000 10 found' | head -c 40000000 >$map
if ! grep -q __asan_init "$ioreq"; then
	(ulimit -v 200000 && "$ioreq" --stacks --format=json --symfs=root late.dat >out.json 2>err) || wrong "a large map fails"
	named out.json found
fi
stacks frames.dat "stack 1 0 0 $(seq -s , 1000 1199)"
yes '0 ffffffff all' | head -n 100000 >$map
"$ioreq" --stacks --format=json --symfs=root frames.dat >out.json 2>err || wrong "overlapping functions fail"
grep -q ': too many functions at the same addresses; its functions are named by their addresses$' err || wrong "overlapping functions are not bounded"
# shellcheck disable=SC2046 # a word for each frame
named out.json $(yes -- - | head -n 200)
if [ "$(id -u)" -eq 0 ]; then
	echo '1000 10 foreign' >$map && chown 65534 $map &&
		refused 'owned by another user (to use it, name its directory with --perf-maps)'
	"$ioreq" --stacks --format=json --perf-maps=root/tmp late.dat >out.json 2>err || wrong "a map of another user fails"
	named out.json foreign
fi
# Valid lines among others, an incomplete line, and names that are not text
rm $map
printf 'junk\n1000 10 \xff\x1b[31mred\x01\n1010 10 done\n1020 10 unfin' >$map
stacks red.dat 'stack 1 0 0 1000,1011,1021'
"$ioreq" --stacks --symfs=root red.dat >out 2>err || wrong "a strange name fails"
{ grep -q '??\[31mred?$' out && grep -q ' done$' out && ! grep -q unfin out && [ ! -s err ]; } || wrong "a strange name is another one"
{ printf '1000 10 '; head -c 1000000 /dev/zero | tr '\0' x; echo; } >$map
"$ioreq" --stacks --format=json --symfs=root late.dat >out.json 2>err || wrong "a long name fails"
named out.json "$(printf 'x%.0s' {1..1000})"
printf '1000 10 nul\0more\n1010 10 next\n' >$map
"$ioreq" --stacks --format=json --symfs=root red.dat >out.json 2>err || wrong "a NUL fails"
named out.json nul next -
exit $failed
