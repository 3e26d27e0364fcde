#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
# sanitizers: check-full
#
# What goes wrong for a user of tracerig is said in one line, with what to do about it.
set -u

# shellcheck source=tests/unit/cli.bash
. "$TRACERIG_TOP/tests/unit/cli.bash"
program=$TOOLS/tracerig
# One message is one line, however long the command's name is
export ARGP_HELP_FMT=rmargin=200

"$UNIT/gen_cases" cases 1000000000 reader=300 writer=800 reader=900 >made || wrong "gen_cases: $(cat made)"
mkdir -p real/1
"$UNIT/gen_explain" faults complete 1 real/1 >truth || wrong "gen_explain: $(cat truth)"

# --- standard output that cannot be written: one line, and failure
full() { # PROGRAM ARGUMENTS...
	"$@" >/dev/full 2>err
	status=$?
	if [ $status -ne 1 ] || [ "$(wc -l <err)" -ne 1 ] ||
		! grep -qE '^[a-z]+( [a-z]+)?: standard output: cannot write the result: .*No space left on device$' err; then
		wrong "${*##*/} >/dev/full: status $status"
	fi
}
for args in "list --dir cases" "list --dir cases --format=json" "list --dir real" "list --dir real --causes" "explain --dir real 1" "explain --dir real 1 --format=json" "open --dir real 1" "open --dir real 1 -o -" "verify --dir cases 1" \
	"pack --dir cases 1 -o -" "doctor" "doctor --format=json" "watch disk --print" --help --version "explain --help"; do
	# shellcheck disable=SC2086 # its words
	full "$program" $args
done
for tool in ctlchart ioreq lbrtime pathdiff schedz; do
	full "$TOOLS/$tool" --help
	full "$TOOLS/$tool" --version
done
full "$TOOLS/ctlchart" sim --help

# --- each command reports a case that is damaged, and what to do
damaged='the case is damaged: unpack its TAR again, if there is one, or remove it$'
cp -a real/1 whole
is_changed() { # PATTERN, of real/1/case.json
	for command in verify explain open pack; do
		expect 1 "^tracerig $command: real/1/case.json: $1: $damaged" $command --dir real 1
	done
	rm -rf real/1
	cp -a whole real/1
}
: >real/1/case.json
is_changed 'is empty'
mv real/1/case.json there.json
ln -s ../../there.json real/1/case.json
is_changed 'is a symbolic link, which is not followed'
rm real/1/case.json
is_changed 'No such file or directory'
echo '{}' >real/1/case.json
is_changed 'is not of a case: format must be tracerig-case'

# --- a file that this user may not read is not damage
plain=()
[ "$(id -u)" -ne 0 ] || plain=(setpriv --bounding-set=-dac_override,-dac_read_search --inh-caps=-dac_override,-dac_read_search)
chmod 000 cases/1/trace.dat
for command in verify explain open pack; do
	"${plain[@]}" "$program" $command --dir cases 1 >out 2>err && wrong "$command reads a file with the mode 000"
	[ "$(sed 's/not explained: //' err)" = "tracerig $command: cases/1/trace.dat: Permission denied: cases are for root, as tracerig watch makes them" ] ||
		wrong "$command, a file that may not be read"
	[ ! -s out ] || wrong "$command, a file that may not be read: $(cat out)"
done
chmod 640 cases/1/trace.dat

# --- where a result goes: a FIFO without a reader is not waited for
mkfifo fifo
unread='fifo: is a FIFO that no program reads: start that program first$'
expect 1 "^tracerig open: $unread" open --dir real 1 -o fifo
expect 1 "^tracerig pack: $unread" pack --dir cases 1 -o fifo
rm fifo
# A link in the current directory is not written through, unless it is named
mkdir here
echo precious >victim
for name in case-1.html case-1.tar; do
	ln -s ../victim here/$name
done
cd here || exit 1
expect 1 '^tracerig open: case-1.html: is a symbolic link: remove it, or name a file with -o$' open --dir ../real 1
expect 1 '^tracerig pack: case-1.tar: is a symbolic link: remove it, or name a file with -o$' pack --dir ../cases 1
[ "$(cat ../victim)" = precious ] || wrong "written through a link: $(ls -l)"
rm case-1.*
# The name has the number in case.json, whatever the directory is called
cp -a ../real/1 odd
cp -a ../cases/2 good
"$program" open ./odd >out 2>err || wrong "open of a case with another name"
[ "$(cat out)" = case-1.html ] || wrong "the page of case 1: $(cat out)"
"$program" pack ./good >out 2>err || wrong "pack of a case with another name"
[ "$(tar -tf case-2.tar | head -n 1)" = good/ ] || wrong "no TAR of case 2: $(ls)"
cd .. || exit 1
there='No such file or directory: name a file in a directory that is there with -o$'
room='cannot write the result: .*No space left on device: free space, or write to another file$'
for command in "open --dir real 1" "pack --dir cases 1"; do
	# shellcheck disable=SC2086 # its words
	{
		expect 1 "^tracerig ${command%% *}: /nonexist/x: $there" $command -o /nonexist/x
		expect 1 "^tracerig ${command%% *}: here: Is a directory: name a file in it with -o$" $command -o here
		expect 1 "^tracerig ${command%% *}: /dev/full: $room" $command -o /dev/full
	}
done

# --- members of case.json that cannot be together
python3 "$TRACERIG_TOP/tests/unit/tracerig_impossible.py" cases/1/case.json >impossible || wrong "tracerig_impossible.py"
cp -a cases/1 case
cp impossible.d/good case/case.json
"$program" verify ./case >out 2>err || wrong "verify, a possible case"
[ -s impossible ] || wrong "no impossible cases"
while read -r i text; do
	cp "impossible.d/$i" case/case.json
	"$program" verify ./case >out 2>err && wrong "verify, an impossible case: $text"
	[ "$(cat err)" = "tracerig verify: ./case/case.json: $text: ${damaged%?}" ] || wrong "verify, an impossible case: $text"
done <impossible
rm -r case

# --- list names what it does not list, in order
cp -a cases named
rm named/2/trace.dat named/2/case.json
mv named/3 named/10
mkdir named/9 named/11
cp -a cases/1/case.json named/11
"$program" list --dir named >out 2>err && wrong "list, four cases: status 0"
cat >want <<END
tracerig list: named/2/case.json: No such file or directory: ${damaged%?}
tracerig list: named/9/case.json: No such file or directory: ${damaged%?}
tracerig list: named/10: is case 3: rename the directory to 3
tracerig list: named/11: is case 1, and there is another one of that number: move it to another directory, and name that with --dir
END
diff want err || wrong "list, four cases"
grep -q '^ *1  20' out || wrong "list has not the first: $(cat out)"
mv named/10 named/3
rm -r named/2 named/9 named/11
"$program" list --dir named >out 2>err || wrong "list, after what it says was done"
grep -q '^ *3  20' out || wrong "list has not what was renamed: $(cat out)"
mkdir named/{101..125}
"$program" list --dir named >out 2>err && wrong "list, many cases: status 0"
[ "$(wc -l <err)" -eq 11 ] || wrong "list, many cases: $(cat err)"
[ "$(tail -n 1 err)" = "tracerig list: named: cases that are not listed: 25; these were the first 10" ] || wrong "list, many cases"

# --- cases of services are in directories of their presets
mkdir -p service/disk service/syscall:fsync service/empty service/.hidden
cp -a cases/1 service/disk
cp -a cases/2 service/syscall:fsync
cp -a cases/2 service/.hidden
below='--dir=service/disk --dir=service/syscall:fsync'
for args in "" --causes --format=json; do
	# shellcheck disable=SC2086 # none or one
	"$program" list --dir service $args >out 2>err || wrong "list $args, directories of presets"
	[ "$(cat err)" = "tracerig list: service: no cases: they are in directories below it: $below" ] ||
		wrong "list $args, directories of presets"
done
expect 1 "^tracerig explain: service/1/case.json: No such file or directory: the cases are in directories below: $below$" explain --dir service 1
cp -a cases/3 service
expect 1 'No such file or directory: tracerig list shows' explain --dir service 1
"$program" list --dir service >out 2>err || wrong "list, cases and directories"
[ ! -s err ] || wrong "list, cases and directories"
"$program" list --dir service/empty >out 2>err || wrong "list, no cases"
[ "$(cat out)" = "service/empty: no cases" ] || wrong "list, no cases: $(cat out)"
for i in {1..9}; do
	mkdir -p "many/d$i"
	cp -a cases/1 "many/d$i"
done
"$program" list --dir many >out 2>err
grep -q ' --dir=many/d8 \.\.\.$' err || wrong "list, many directories"

# --- options
for option in dir metrics limits save-limits; do
	expect 2 "^tracerig watch: --$option=: the name is empty" watch disk --$option=
done
for port in 0 99999; do
	expect 2 "^tracerig watch: --metrics=127.0.0.1:$port: the port must be a number from 1 to 65535" watch disk --metrics=127.0.0.1:$port
	expect 2 "^tracerig watch: --metrics=:$port: the port must be a number from 1 to 65535" watch disk --print --metrics=:$port
done
expect 2 '^tracerig watch: --metrics=::1:9100: an IPv6 address must be in brackets' watch disk --print --metrics=::1:9100
for command in doctor list; do
	expect 2 "^tracerig $command: --dir=: the name is empty" $command --dir=
done
expect 2 '--dir=: the name is empty' explain 1 --dir=
expect 2 '--output=: the name is empty' pack 1 -o ''
expect 1 '^tracerig watch: /nosuch: No such file or directory: --limits needs a file that --save-limits or ctlchart save' watch disk --limits=/nosuch

# --- few open files
few() { # N ARGUMENTS...: without the right to have more
	local n=$1 run=()
	shift
	[ "$(id -u)" -ne 0 ] || run=(setpriv --bounding-set=-sys_resource --inh-caps=-sys_resource)
	# shellcheck disable=SC2016 # for the inner shell
	"${run[@]}" bash -c 'ulimit -n "$0" && exec "$@"' "$n" "$program" "$@" >out 2>err && wrong "$*: $n files are enough"
	[ "$(wc -l <err)" -eq 1 ] || wrong "$*: $n files"
}
few 20 watch disk
grep -qE '^tracerig watch: a watch needs [0-9]+ open files: raise ulimit -n, or LimitNOFILE= of a service$' err || wrong "watch with 20 files"
if [[ $TOOLS != *-san/* ]]; then
	few 5 explain --dir real 1
	grep -q '^tracerig explain: cannot start a process: Too many open files: raise ulimit -n$' err || wrong "explain with 5 files"
fi

# --- texts of a case are cut, between characters; the group is one
mkdir -p long
cp -a cases/1 long/1
python3 "$TRACERIG_TOP/tests/unit/tracerig_texts.py" long cases/1/case.json long/1/case.json || wrong "tracerig_texts.py"
"$program" list --dir long >out 2>err || wrong "list, long texts"
[ "$(wc -c <out)" -lt 2500 ] || wrong "list, long texts: $(wc -c <out) bytes"
[ "$(head -n 1 out)" = "g$(printf 'é%.0s' {1..249}): 1 case" ] || wrong "list, long texts: $(head -n 1 out)"
"$program" list --dir long --format=json | python3 -c 'import json, sys; assert len(json.load(sys.stdin)["groups"]) == 1' || wrong "list, long texts"

# --- a file of limits that cannot be made is found before anything is learnt
mkdir limits
for file in limits nosuch/limits; do
	"$program" watch --save-limits=$file disk >out 2>err && wrong "watch --save-limits=$file"
	grep -qE "^tracerig watch: $file: (Is a directory|No such file or directory): --save-limits needs a file that can be written$" err ||
		wrong "watch --save-limits=$file: $(cat err)"
done

# --- more groups than a watch counts: the cases of others are listed
mkdir groups
cp -a cases/1 groups/1
python3 "$TRACERIG_TOP/tests/unit/tracerig_texts.py" groups groups || wrong "tracerig_texts.py"
"$program" list --dir groups >out 2>err || wrong "list, many groups"
[ "$(grep -c '^group [0-9]*: 1 case$' out)" -eq 999 ] || wrong "list, many groups: $(grep -c '^group [0-9]*: 1 case$' out)"
grep -qx 'others: 2 cases' out || wrong "list, many groups: $(tail out)"
[ "$(sed -n '/^others/,/^$/p' out | grep -c '^ *100[12]  20')" -eq 2 ] || wrong "list, many groups: $(tail out)"
exit $failed
