#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
# sanitizers: check-full
#
# tracerig without a kernel: its command line, and cases as the watch writes them. Their
# sums and members are read by Python, their TAR by tar, their mutations are all refused.
set -u

# shellcheck source=tests/unit/cli.bash
. "$TRACERIG_TOP/tests/unit/cli.bash"
# shellcheck source=tests/lib.bash
. "$TRACERIG_TOP/tests/lib.bash"
program=$TOOLS/tracerig
# One message is one line, however long the command's name is
export ARGP_HELP_FMT=rmargin=200

cases() { # KEEP COMM=VALUE...: more cases in ./cases
	"$UNIT/gen_cases" cases "$@" >made || wrong "gen_cases: $(cat made)"
	[ ! -s made ] || wrong "gen_cases: $(cat made)"
}

numbers() {
	(cd cases && echo [0-9]*)
}

# --- the command line
expect 2 'missing command: doctor, watch'
expect 2 'unknown command nothing' nothing
expect 2 'nothing to watch' watch
expect 2 'unknown preset nothing: must be disk' watch nothing
expect 2 'not the name of a system call' watch syscall:
expect 2 'not the name of a system call' watch 'syscall:../x'
expect 2 'not the name of a function' watch 'function:a b'
expect 2 'must be uprobe:FILE:SYMBOL' watch uprobe:main
expect 2 'uprobe|/nosuch: No such file' watch uprobe:/nosuch:main
expect 2 'README.md: not an ELF file' watch "uprobe:$TRACERIG_TOP/README.md:main"
expect 2 'has no function nosuch_function' watch "uprobe:$program:nosuch_function"
library=$(ldd "$program" | sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')
expect 2 'memcpy is chosen when the program starts' watch "uprobe:$library:memcpy"
expect 2 '-f must follow the -e' watch -f 'ctlchart(a)'
expect 2 'must have a ctlchart\(\) call' watch -e a:b -f 'c == 1'
expect 2 'two charts are called disk' watch disk disk
expect 2 'two charts are called uprobe.main:' watch "uprobe:$program:main" "uprobe:$program:main"
expect 2 'two charts are called uprobe.main_tracerig' watch "uprobe:$UNIT/gen_cases:main" "uprobe:$program:main" "uprobe:$program:main"
"$program" watch "uprobe:$program:main" "uprobe:$UNIT/gen_cases:main" --print >out 2>err || wrong "main of two programs: $(cat err)"
[ "$(grep -oE 'name=uprobe[^)]*' out | tr '\n' ' ')" = "name=uprobe.main name=uprobe.main_gen_cases " ] || wrong "charts of two programs: $(cat out)"
[ "$(grep -cE "p:.*main_gen_cases_entry $UNIT/gen_cases:0x[0-9a-f]+" out)" -eq 1 ] || wrong "probes of two programs: $(cat out)"
expect 2 '--paths needs function:NAME or syscall:NAME' watch disk --paths
expect 2 '--paths needs function:NAME or syscall:NAME' watch --paths "uprobe:$program:main"
expect 2 '--for=7x: must be a time' watch disk --for=7x
expect 2 '--for=0d: must be a time with its unit' watch disk --for=0d
expect 2 '--for=5: must be a time with its unit, such as 20ms, 90s or 8h' watch disk --for=5
expect 2 '--on-alarm: the command is empty' watch disk --on-alarm=
expect 2 '--on-alarm: the command is empty' watch disk --on-alarm ' '
expect 1 '^tracerig watch: nosuch/x: No such file or directory: --metrics needs a directory that can be' watch disk --dir none --metrics nosuch/x
expect 1 '/proc: is a directory: name a file in it' watch disk --dir none --metrics /proc
mkfifo pipe
expect 1 'pipe: is not a regular file, and --metrics replaces the file' watch disk --dir none --metrics pipe
[ -p pipe ] || wrong "--metrics replaced a FIFO"
ln -s /dev/null metrics
expect 1 'metrics: is not a regular file' watch disk --dir none --metrics metrics
rm pipe metrics
[ ! -e none ] || wrong "a watch that cannot start makes a directory"
expect 2 '--keep=1: must be a size' watch disk --keep=1
expect 2 '--stop-after=0: must be a positive' watch disk --stop-after=0
expect 2 'missing CASE operand' verify
expect 2 'x: must be the number of a case' verify x
expect 2 'one CASE at a time' pack 1 2
expect 2 'extra operand' list 3
expect 2 '--format=xml: must be text or json' doctor --format=xml
expect 1 '/nosuch: No such file or directory: tracerig watch makes it' list --dir /nosuch
expect 1 '/nosuch/3/case.json: No such file or directory: tracerig list shows which cases there are' verify --dir /nosuch 3

expect 2 "-e a:b'c: must be SYSTEM:EVENT" watch disk -e "a:b'c"
expect 2 '-e a:b c: must be SYSTEM:EVENT' watch -e 'a:b c' -f 'ctlchart(a)'

# --- what --print says about a function is what nm says
cat >prog.c <<'END'
__attribute__((noinline)) int work_on_it(int n) { return n * 3; }
int main(int argc, char **argv) { (void)argv; return work_on_it(argc); }
END
for flags in "" -static-pie -Wl,--build-id; do
	# shellcheck disable=SC2086 # none or one
	gcc -O0 $flags -o prog prog.c || wrong "gcc"
	mkdir -p bare
	cp prog bare
	if [ "$flags" = -Wl,--build-id ]; then
		objcopy --only-keep-debug prog prog.debug
		strip bare/prog
		expect 2 'has no function work_on_it' watch uprobe:bare/prog:work_on_it
		objcopy --add-gnu-debuglink=prog.debug bare/prog
		mv prog.debug bare
	fi
	"$program" watch "uprobe:bare/prog:work_on_it" --print >out 2>err || wrong "--print fails"
	# Where the function's first bytes are in the file, by objdump's view of the section
	offset=$(sed -n "s|^echo 'p:.*:0x\([0-9a-f]*\)'.*|\1|p" out)
	python3 "$TRACERIG_TOP/tests/unit/tracerig_offset.py" "$offset" || wrong "another offset than readelf's: $(cat out)"
done
[ "$(grep -c "^echo '[pr]:tracerig/work_on_it_" out)" -eq 2 ] || wrong "not two probes: $(cat out)"
grep -qF -e "-e tracerig:work_on_it_return -f 'ctlchart(work_on_it_entry, common_pid" out || wrong "no chart of the probes"
"$program" watch disk -e net:net_dev_xmit --print >out || wrong "--print of disk fails"
grep -qF "'ctlchart(block_bio_queue, dev, sector" out || wrong "no chart: $(cat out)"
grep -qF -e '-e net:net_dev_xmit' out || wrong "no event of -e: $(cat out)"

# --- paths: each function once, and the tracer
"$program" watch --paths disk function:vfs_read syscall:fsync function:do_futex --print >out || wrong "--print of --paths fails"
[ "$(sed -n 's|^echo \(.*\) >> /sys/kernel/tracing/set_graph_function$|\1|p' out | sed 's/__.*_sys_/sys_/' | sort | paste -sd ' ')" = \
	"do_futex sys_fsync vfs_read" ] || wrong "other functions are followed: $(cat out)"
grep -q '^trace-cmd record .* -p function_graph ' out || wrong "no tracer: $(cat out)"
grep -q _paths out && wrong "probes that record nothing are printed: $(cat out)"
"$program" watch function:vfs_read --print | grep -q graph && wrong "paths without --paths"
machine=$(uname -m)
[ "$machine" != x86_64 ] || grep -q '^echo __x64_sys_fsync >>' out || wrong "another function of fsync: $(cat out)"

# libtracefs does not free the name of the directory it found
echo 'leak:libtracefs' >leaks
export LSAN_OPTIONS=suppressions=$PWD/leaks:print_suppressions=0

# --- the doctor answers, in both formats alike
"$program" doctor --tracefs "$PWD/nosuch" >out
status=$?
[ $status -eq 1 ] || wrong "doctor finds a kernel in no tracefs: status $status"
grep -q "^missing *tracefs " out || wrong "the doctor does not miss tracefs: $(cat out)"
grep -q ' memory *the ring buffers of a watch take [0-9.]* MB' out || wrong "no line on memory: $(cat out)"
grep -q ' space *[0-9.]* [kMGT]*B are free in /' out || wrong "no line on space: $(cat out)"
"$program" doctor --tracefs "$PWD/nosuch" --format=json >doctor.json
mkdir -p fake/events/ctlchart/ctlchart_alarm fake/events/iosys
"$program" doctor --tracefs "$PWD/fake" --format=json >fake.json
python3 "$TRACERIG_TOP/tests/unit/tracerig_doctor.py" || wrong "the doctor's JSON"

# --- a directory that cannot be written to
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
	mkdir readonly
	# shellcheck disable=SC2016 # for the inner shell
	unshare -m sh -c '
		mount -t tmpfs -o ro tmpfs readonly &&
		for dir in readonly readonly/new prog.c/new; do "$0" doctor --dir "$dir"; done >out
		"$1" readonly/new 1000000000 >made' "$program" "$UNIT/gen_cases"
	[ "$(grep ' space ' out)" = "missing  space      no cases in readonly: Read-only file system: choose another directory with --dir
missing  space      no cases in readonly: Read-only file system: choose another directory with --dir
missing  space      no cases in prog.c: Not a directory: choose another directory with --dir" ] || wrong "the doctor, directories: $(grep ' space ' out)"
	[ "$(cat made)" = "readonly/new: Read-only file system: choose another directory with --dir" ] || wrong "a watch in a read-only directory: $(cat made)"
fi
echo space >file
"$program" doctor --dir file >out
grep -q '^missing *space *no cases in file: Not a directory: choose another directory with --dir$' out || wrong "the doctor, a file: $(grep space out)"

# --- the preset request: what is there, and what to do about the rest, step by step
for step in "" events/iosys/io_syscall dynamic_events events/iosys/io_stack; do
	case $step in
	"") want="missing no preset request:PORT: build the kernel with CONFIG_IOSYS=y" ;;
	events/iosys/io_syscall) want="missing no preset request:PORT: build the kernel with CONFIG_KPROBE_EVENTS=y" ;;
	dynamic_events) want="limited preset request:PORT, without call sites: build the kernel with CONFIG_IOSYS_STACKS=y (x86-64 only)" ;;
	*) want="ok preset request:PORT" ;;
	esac
	[ -z "$step" ] || mkdir -p "fake/$step"
	"$program" doctor --tracefs "$PWD/fake" >out
	[ "$(awk '$2 == "requests" { $2 = ""; $0 = $0; $1 = $1; print }' out)" = "$want" ] ||
		wrong "the doctor, requests with ${step:-nothing}: $(grep requests out)"
done
mkdir -p other/events
"$program" doctor --tracefs "$PWD/other" >out
grep -q "^missing *requests *no preset request:PORT: boot a kernel with tracerig's patches" out || wrong "the doctor, requests of another kernel"

# --- paths need the tracer, and probes
for step in "" set_graph_function kprobe_events; do
	case $step in
	"") want="missing no kprobe_events, for --paths: build the kernel with CONFIG_KPROBE_EVENTS=y" ;;
	set_graph_function) want="missing no kprobe_events, for --paths: build the kernel with CONFIG_KPROBE_EVENTS=y" ;;
	*) want="ok tracer function_graph, for --paths" ;;
	esac
	[ -z "$step" ] || touch "fake/$step"
	"$program" doctor --tracefs "$PWD/fake" >out
	[ "$(awk '$2 == "paths" { $2 = ""; $0 = $0; $1 = $1; print }' out)" = "$want" ] ||
		wrong "the doctor, paths with ${step:-nothing}: $(grep paths out)"
done
rm fake/set_graph_function
"$program" doctor --tracefs "$PWD/fake" >out
grep -q '^missing *paths *no tracer function_graph, for --paths: build the kernel with CONFIG_FUNCTION_GRAPH_TRACER=y$' out ||
	wrong "the doctor, paths without the tracer: $(grep paths out)"

# --- an old trace-cmd, and no tracefs
mkdir old
for version in 2.9.6 3.0 3.1 3.1.6 10.0; do
	printf '#!/bin/sh\necho "trace-cmd version %s (unknown)"\n' $version >old/trace-cmd
	chmod 755 old/trace-cmd
	PATH=$PWD/old:$PATH "$program" doctor --tracefs "$PWD/fake" >out
	case $version in
	2* | 3.0) want="^limited *trace-cmd *version ${version%.6}: install version 3.1 or later$" ;;
	*) want="^ok *trace-cmd *version ${version%.6}$" ;;
	esac
	grep -q "$want" out || wrong "the doctor, trace-cmd $version: $(grep trace-cmd out)"
done
if unshare -rm true 2>/dev/null; then
	# shellcheck disable=SC2016 # for the inner shell
	unshare -rm sh -c '
		mount -t tmpfs tmpfs /sys/kernel && exec "$0" watch --dir "$PWD/none" disk' "$program" >out 2>err
	if [ "$(wc -l <err)" -ne 1 ] || ! grep -q '^tracerig watch: .*: mount -t tracefs nodev /sys/kernel/tracing$' err; then
		wrong "watch without tracefs: $(cat err)"
	fi
fi

# --- kernel settings that restrict root, whatever this host's are
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null && [ -d /sys/kernel/security ]; then
	for mode in none integrity confidentiality; do
		# shellcheck disable=SC2016 # for the inner shell
		unshare -m sh -c '
			mount -t tmpfs tmpfs /sys/kernel/security &&
			echo "none integrity confidentiality" | sed "s/$1/[&]/" >/sys/kernel/security/lockdown &&
			"$0" doctor --tracefs "$PWD/fake" >out
			[ "$1" != confidentiality ] || "$0" watch --dir "$PWD/locked" disk >watched 2>&1' "$program" $mode
		case $mode in
		none) want='^ok *lockdown *off$' ;;
		integrity) want='^ok *lockdown *integrity$' ;;
		*) want='^missing *lockdown *confidentiality: tracefs cannot be used: boot with' ;;
		esac
		grep -q "$want" out || wrong "the doctor, lockdown $mode: $(cat out)"
	done
	[ "$(cat watched)" = "tracerig watch: lockdown (confidentiality): tracefs cannot be used: boot with lockdown=integrity, or without Secure Boot" ] ||
		wrong "watch, lockdown: $(cat watched)"
fi

# --- cases: the first, the worst and every tenth are kept
cases 1000000000 reader=300 reader7=200 reader=500 writer=800 \
	reader=240 reader=250 reader=260 reader=270 reader=280 reader=290 reader=300 reader=600 reader=310
[ "$(numbers)" = "1 3 4 5" ] || wrong "not the first, the worst and the tenth: $(numbers)"
[ "$(find cases -name '.*' ! -name . | wc -l)" -eq 0 ] || wrong "something is left: $(ls -A cases)"
"$program" list --dir cases >out || wrong "list fails"
grep -q '^disk reader dev=254:0: 12 cases$' out || wrong "list: $(cat out)"
"$program" list --dir cases --format=json >list.json || wrong "list fails"
python3 "$TRACERIG_TOP/tests/unit/tracerig_kept.py" || wrong "what is in cases"
for i in $(numbers); do
	"$program" verify --dir cases "$i" >out 2>err || wrong "case $i is not whole"
	"$program" verify "cases/$i/" >out 2>err || wrong "cases/$i/ is not whole"
done

# --- how many alarms a window has, and of which charts
ALSO=wakeup,disk,request.80 "$UNIT/gen_cases" several 1000000000 reader=700 >made || wrong "gen_cases: $(cat made)"
"$program" list --dir several >out || wrong "list of several alarms fails"
grep -q ' reader-42  dev=254:0 sector=8 (4 alarms; also of charts wakeup, request.80)$' out || wrong "list of several alarms: $(cat out)"
"$program" list --dir several --format=json >several.json || wrong "list of several alarms fails"
[ "$(python3 -c 'import json; c = json.load(open("several.json"))["groups"][0]["cases"][0]; print(c["nr_alarms"], c["chart"], *c["charts"])')" = "4 disk disk wakeup request.80" ] ||
	wrong "the JSON of several alarms: $(cat several.json)"
"$program" list --dir cases >out
! grep -q alarms out || wrong "one alarm is not worth a word: $(cat out)"

# --- the number of kept cases is that of the directories
count=$(COUNT=1 "$UNIT/gen_cases" several 1000000000 reader=800 reader=900 reader=950 writer=9)
[ "$count" = 2 ] || wrong "kept of four, two of which were replaced: $count"
[ "$(cd several && echo [0-9]*)" = "1 4 5" ] || wrong "kept: $(ls several)"

# A damaged recording could have another cause
cp -r "cases/$i" hurt
printf '\377' | dd of=hurt/trace.dat bs=1 seek=20 conv=notrunc status=none
expect 1 '^tracerig explain: not explained: ./hurt/trace.dat: its SHA-256 is not that in case.json: the case is damaged: unpack its TAR' explain ./hurt
rm -r hurt

# Counts that are lost are at least those of the cases
mv cases/groups.json groups.json
"$program" list --dir cases >out || wrong "list fails without counts"
grep -q '^disk reader dev=254:0: 11 cases$' out || wrong "list without counts: $(cat out)"
# A link, or a pipe, in its place is not followed or waited for
ln -s ../groups.json cases/groups.json
"$program" list --dir cases >out || wrong "list fails with a link"
grep -q '^disk reader dev=254:0: 11 cases$' out || wrong "list follows a link: $(cat out)"
rm cases/groups.json
mkfifo cases/groups.json
timeout 60 "$program" list --dir cases >out || wrong "list waits for a pipe"
rm cases/groups.json
mv groups.json cases

# --- pack
(cd cases && "$program" pack ./4) || wrong "pack fails"
tar -xf cases/case-4.tar
diff -r 4 cases/4 || wrong "the TAR has another case"
"$program" verify ./4 >out || wrong "the unpacked case is not whole"
"$program" pack --dir cases 4 -o - | cmp - cases/case-4.tar || wrong "pack -o - is another TAR"
# A file that is not regular is written to, not replaced; a link stays a link
mkfifo fifo
timeout 60 cat fifo >packed &
"$program" pack --dir cases 4 -o fifo || wrong "pack to a FIFO fails"
wait $!
[ -p fifo ] || wrong "the FIFO was replaced"
cmp packed cases/case-4.tar || wrong "pack to a FIFO is another TAR"
: >target
ln -s target link
"$program" pack --dir cases 4 -o link || wrong "pack to a link fails"
cmp target cases/case-4.tar || wrong "pack to a link is another TAR"
[ -L link ] || wrong "the link was replaced"
rm target
"$program" pack --dir cases 4 -o link || wrong "pack to a link to nothing fails"
cmp target cases/case-4.tar || wrong "pack to a link to nothing is another TAR"
[ -L link ] || wrong "the link to nothing was replaced"
rm cases/case-4.tar fifo
# Not into the case, but to a path that begins with the same letters
(cd cases/4 && "$program" pack ../4 >../../out 2>&1) && wrong "a TAR in the case"
grep -q 'case-4.tar: would be a file of the case' out || wrong "no reason: $(cat out)"
expect 1 'x.tar: would be a file of the case' pack --dir cases 4 -o cases/4/x.tar
"$program" verify --dir cases 4 >out || wrong "the case is spoiled by pack"
mkdir cases/4tar
"$program" pack --dir cases 4 -o cases/4tar/x.tar || wrong "cases/4tar is taken for the case 4"
rm -r cases/4tar
expect 1 'nosuch/x.tar.*: No such file' pack --dir cases 4 -o nosuch/x.tar
# The mode is that of any new file, and what was there before is replaced
(umask 027 && "$program" pack --dir cases 4 -o mode.tar) || wrong "pack fails with another umask"
[ "$(stat -c %a mode.tar)" = 640 ] || wrong "mode of a TAR: $(stat -c %a mode.tar)"
echo old >mode.tar
"$program" pack --dir cases 4 -o mode.tar || wrong "pack does not replace a file"
cmp mode.tar target || wrong "pack replaces a file by another TAR"
# Nothing is left of a killed one; what was there stays
mkdir bin killed
cat >bin/tar <<'END'
#!/bin/sh
echo part
echo $$ >tar.pid.new && mv tar.pid.new tar.pid
exec sleep 60
END
chmod 755 bin/tar
for signal in TERM KILL; do
	echo old >killed/there.tar
	for name in there new; do
		rm -f tar.pid
		PATH=$PWD/bin:$PATH "$program" pack --dir cases 4 -o killed/$name.tar 2>err &
		until_true 20 test -e tar.pid
		kill -$signal $!
		wait $! 2>/dev/null
		kill "$(cat tar.pid)"
	done
	[ "$(ls -A killed)" = there.tar ] || wrong "left by a pack that SIG$signal ended: $(ls -A killed)"
	[ "$(cat killed/there.tar)" = old ] || wrong "SIG$signal: there.tar was replaced"
done
# Without /proc, a file without a name cannot get one, and sanitizers do not work
if [[ $TOOLS != *-san/* ]] && [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
	mkdir named
	# shellcheck disable=SC2016 # for the inner shell
	unshare -m sh -c 'mount -t tmpfs tmpfs /proc && "$0" pack --dir cases 4 -o named/x.tar' "$program" ||
		wrong "pack without /proc fails"
	cmp named/x.tar target || wrong "pack without /proc is another TAR"
	[ "$(ls -A named)" = x.tar ] || wrong "left without /proc: $(ls -A named)"
fi

# --- each change of a case is found
refused() { # PATTERN, after changing ./4
	expect 1 "$1" verify ./4
	expect 1 "$1" pack ./4 -o no.tar
	[ ! -e no.tar ] || wrong "a case that is not whole was packed: $1"
	rm -rf 4
	cp -a cases/4 4
}
printf x | dd of=4/trace.dat bs=1 seek=5000 conv=notrunc status=none
refused '4/trace.dat: its SHA-256 is not'
truncate -s 100 4/trace.dat
refused '4/trace.dat: has 100 bytes'
rm 4/vmstat.txt
refused '4/vmstat.txt: No such file'
mkfifo 4/more
refused '4/more: is not in case.json'
rm 4/chart.txt && mkfifo 4/chart.txt
refused '4/chart.txt: is not a regular file'
rm 4/chart.txt && ln -s /etc/passwd 4/chart.txt
refused '4/chart.txt: is not a regular file'
truncate -s 20M 4/case.json
refused '4/case.json: is larger than 4 MiB'
truncate -s 2000 4/case.json
refused '4/case.json: [0-9]*: '
echo x >>4/case.json
refused '4/case.json: [0-9]*: unexpected character'
printf '\0x' >>4/case.json
refused '4/case.json: [0-9]*: data after the object'
rm 4/case.json
refused '4/case.json: No such file'
rm 4/case.json && mkfifo 4/case.json
refused '4/case.json: is not a regular file'
# Each member absent, of each other type, or unknown: one line, naming it
python3 "$TRACERIG_TOP/tests/unit/tracerig_mutations.py" >mutations || wrong "mutations"
[ "$(wc -l <mutations)" -gt 250 ] || wrong "only $(wc -l <mutations) mutations"
while read -r n what; do
	cp "mutations.d/$n" 4/case.json
	"$program" verify ./4 >out 2>err
	status=$?
	lines=$(wc -l <err)
	if [ $status -ne 1 ] || [ "$lines" -ne 1 ] || [ -s out ]; then
		wrong "mutation $n of $what: status $status, $lines lines"
		break
	fi
done <mutations
# Cases of version 1 have no sum of case.json
cp version1.json 4/case.json
"$program" verify ./4 >out 2>err || wrong "a case of version 1 is not whole: $(cat err)"
# Version 2: any change is found, however valid it is
changed() { # PATTERN PYTHON: the object o is case.json
	cp cases/4/case.json 4/case.json
	python3 -c 'import json, sys; o = json.load(open("4/case.json")); exec(sys.argv[1]); json.dump(o, open("4/case.json", "w"), indent=2)' "$2"
	refused "$1"
}
cp cases/4/case.json 4/case.json
sed -i 's/"value":300/"value":301/' 4/case.json
refused '4/case.json: its SHA-256 is not that in it: it was changed: the case is damaged: '
changed '4/case.json: its SHA-256 is not that in it' 'o["alarm"]["comm"] = "nobody"'
changed '4/case.json: its SHA-256 is not that in it' 'o["sha256"] = "0" * 64'
changed '4/case.json: sha256 is absent: the case is damaged: ' 'del o["sha256"]'
changed '4/case.json: sha256 is unknown in version 1: ' 'o["version"] = 1'
changed '4/case.json: has version 3; this program reads versions 1 to 2: use the tracerig that wrote it, or a later one$' 'o["version"] = 3'
# The sum is that of the text with zeros in its place
python3 "$TRACERIG_TOP/tests/unit/tracerig_sum.py" cases/4/case.json || wrong "another sum of case.json"
# Lists are bounded, so that no case takes long to check
damaged='the case is damaged: unpack its TAR again, if there is one, or remove it'
for list in alarms:100 values:60 window.cpus:8192 missing:1024 files:1024; do
	for more in 0 1; do
		python3 "$TRACERIG_TOP/tests/unit/tracerig_long.py" "${list%:*}" $((${list#*:} + more)) <version1.json >4/case.json ||
			wrong "no case with a long list"
		"$program" verify ./4 >out 2>err
		long=0
		[ "$(cat err)" != "tracerig verify: ./4/case.json: ${list%:*} has more than ${list#*:} items: $damaged" ] || long=1
		[ $long -eq $more ] || wrong "a list of ${list} items and $more: $(cat err)"
	done
	cp cases/4/case.json 4
done
rm -rf 4

# list reports a damaged case, and lists the others
cp -a cases/4 saved
echo '{}' >cases/4/case.json
"$program" list --dir cases >out 2>err && wrong "list does not say that a case is damaged"
grep -q '^tracerig list: cases/4/case.json: .*: the case is damaged: ' err || wrong "list: $(cat err)"
[ "$(grep -c '^ *[135] ' out)" -eq 3 ] || wrong "list has not the others: $(cat out)"
rm -rf cases/4 && mv saved cases/4
mkdir -p only/1 && echo '{}' >only/1/case.json
"$program" list --dir only >out 2>err && wrong "list does not say that the only case is damaged"
[ ! -s out ] || wrong "list of a damaged case: $(cat out)"
# A result that cannot be written is no success
"$program" verify --dir cases 1 >/dev/full 2>err && wrong "verify succeeds on a full disk"
# A case has its own name in a TAR, however it was called
ln -s ../cases/1 only/link
for dir in cases/1/. only/link/; do
	"$program" pack "$dir" -o "$PWD/named.tar" || wrong "pack $dir fails"
	[ "$(tar -tf named.tar | head -n 1)" = 1/ ] || wrong "pack $dir: $(tar -tf named.tar | head -n 1)"
done
rm -rf only named.tar

# --- a killed watch's leftovers are removed, nothing else is, and numbers go on
mkdir cases/.case-9 cases/.gone-2 cases/mine
touch cases/.case-9/trace.dat cases/.gone-2/case.json cases/.groups-new
cases 1000000000 other=5
left=$(cd cases && find . -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | tr '\n' ' ')
[ "$left" = "1 3 4 5 6 groups.json mine " ] || wrong "left: $left"
# Two watches cannot have the same cases
flock cases "$UNIT/gen_cases" cases 1000000000 other=5 >out && wrong "two watches have one directory"
grep -q 'is in use by another watch' out || wrong "the other watch: $(cat out)"

# --- keep: tenths go first, then the worst, then the first; the youngest stays
size=$(du -sb --apparent-size cases/1 | cut -f 1)
cases $((size * 4)) other=1
cases $((size * 4)) youngest=5
case " $(numbers) " in *" 4 "*) wrong "a tenth outlives others: $(numbers)" ;; esac
case " $(numbers) " in *" 1 "*) ;; *) wrong "the first of a kind went before others: $(numbers)" ;; esac
cases 1 last=5
[ "$(numbers | wc -w)" -eq 1 ] || wrong "not the youngest alone: $(numbers)"
"$program" list --dir cases >out || wrong "list fails"
grep -q '^disk last ' out || wrong "the youngest went: $(cat out)"
"$program" verify --dir cases "$(numbers)" >out || wrong "the last case is not whole"
# What is on the disk counts, not what case.json says of it; a damaged case stays, and counts
on_disk() {
	find "$@" -type f -printf '%i %s\n' | sort -u | awk '{ n += $2 } END { print n }'
}
rm -rf keep
"$UNIT/gen_cases" keep 1000000000 a=1 b=2 c=3 >out || wrong "gen_cases: $(cat out)"
sed -i 's/"bytes":[0-9]*/"bytes":0/' keep/2/case.json
size=$(on_disk keep/[1-3])
"$UNIT/gen_cases" keep "$size" d=4 >out || wrong "gen_cases: $(cat out)"
[ "$(on_disk keep/[0-9]*)" -le "$size" ] || wrong "more than --keep with sizes of 0 in case.json: $(on_disk keep/[0-9]*)"
rm -rf keep
"$UNIT/gen_cases" keep 1000000000 a=1 b=2 c=3 d=4 >out || wrong "gen_cases: $(cat out)"
echo '{}' >keep/4/case.json
size=$(on_disk keep/[1-4])
"$UNIT/gen_cases" keep "$size" e=4 >out || wrong "gen_cases: $(cat out)"
[ "$(on_disk keep/[0-9]*)" -le "$size" ] || wrong "more than --keep with a damaged case: $(on_disk keep/[0-9]*)"
[ -e keep/4 ] || wrong "a damaged case was removed"
# What cannot be removed is reported, once, and the other cases stay
NO_REMOVE=trace.dat "$UNIT/gen_cases" keep 1 f=5 >out 2>err
[ "$(grep -c '/.gone-[0-9]* cannot be removed: Operation not permitted' err)" -eq 1 ] || wrong "not removed: $(cat err)"
[ "$(find keep -name '[0-9]*' | wc -l)" -ge 3 ] || wrong "others are removed for what cannot be removed: $(ls -A keep)"
"$UNIT/gen_cases" keep 1000000000 g=6 >out || wrong "gen_cases: $(cat out)"
[ -z "$(find keep -name '.gone-*')" ] || wrong "the next watch does not remove the rest: $(ls -A keep)"
# A case that another program removes is no reason to keep more
rm -rf keep
"$UNIT/gen_cases" keep 1000000000 a=1 b=2 c=3 >out || wrong "gen_cases: $(cat out)"
size=$(on_disk keep/[1-3])
"$UNIT/gen_cases" keep "$size" /1 d=4 e=5 f=6 >out 2>err || wrong "gen_cases: $(cat out)"
[ ! -s err ] || wrong "messages about a case that was removed by hand: $(cat err)"
[ "$(on_disk keep/[0-9]*)" -le "$size" ] || wrong "more than --keep after a case was removed by hand: $(on_disk keep/[0-9]*)"
# A group whose cases were all removed has a first one again
rm -rf keep
"$UNIT/gen_cases" keep 1 a=5 b=4 a=3 >out || wrong "gen_cases: $(cat out)"
[ -e keep/3 ] || wrong "a group without a case does not get one: $(ls keep), $(cat out)"
# A case of which a part stays on the disk is replaced, too
rm -rf keep
NO_REMOVE=trace.dat "$UNIT/gen_cases" keep 1000000000 a=1 a=2 a=3 >out 2>err
grep -qx 'case 3 replaces case 2' err || wrong "not named as replaced: $(cat err)"
[ ! -e keep/2 ] || wrong "case 2 is still there"
rm -rf keep

# --- the normal executions that cases share count once; without links they are copied
rm -rf cases
# As long as LENGTH; the errno, if there is one, is that of link()
shared() { # LENGTH ERRNO COMM=VALUE...
	local length=$1 error=$2
	shift 2
	export BASELINE
	BASELINE=$(printf "%${length}s")
	[ -z "$error" ] || export NO_LINK=$error
	cases 1000000000 "$@"
	unset BASELINE NO_LINK
}
shared 50000 "" a=1 b=1 c=1
cases 1000000000 without=1
shared 60000 "" d=1 e=1
[ "$(stat -c %i cases/1/baseline.dat)" = "$(stat -c %i cases/3/baseline.dat)" ] || wrong "cases do not share baseline.dat"
# EPERM, EMLINK, EOPNOTSUPP, and one with which a copy would not help
shared 70000 1 f=1
shared 70000 31 g=1
shared 70000 95 h=1
shared 70000 5 i=1
for i in 7 8 9; do
	[ "$(stat -c '%h %s' cases/$i/baseline.dat)" = "1 70000" ] || wrong "case $i has no copy"
	cmp cases/7/baseline.dat cases/$i/baseline.dat || wrong "case $i has another copy"
done
[ ! -e cases/10/baseline.dat ] || wrong "case 10 has what cannot be linked"
grep -q '"baseline.dat"' cases/10/case.json || wrong "case 10 does not say what is missing"
for i in $(numbers); do
	"$program" verify --dir cases "$i" >out 2>err || wrong "case $i with normal executions is not whole"
done
listed() {
	"$program" list --dir cases --format=json | python3 -c 'import json, sys; print(json.load(sys.stdin)["bytes"])'
}
[ "$(listed)" = "$(on_disk cases/[0-9]*)" ] || wrong "size of all cases: $(listed) instead of $(on_disk cases/[0-9]*)"
# One case more than there is room for: few cases are removed for it
size=$(on_disk cases/[0-9]*)
cases "$size" b=2
[ "$(listed)" = "$(on_disk cases/[0-9]*)" ] || wrong "size after one more: $(listed) instead of $(on_disk cases/[0-9]*)"
[ "$(listed)" -le "$size" ] || wrong "more than --keep: $(listed)"
[ "$(numbers | wc -w)" -ge 9 ] || wrong "--keep counts what is shared more than once: $(numbers)"
rm -rf cases
cases 1000000000 last=5

# --- the symbols of what is mapped, without its code
gcc -O0 -o prog prog.c || wrong "gcc"
id=$(readelf -n prog | sed -n 's/.*Build ID: //p')
mapped() { # PATH BUILD-ID: a case in ./mapped with that file
	rm -rf mapped
	MAP=$1 MAP_ID=$2 "$UNIT/gen_cases" mapped 1000000000 a=1 >made || wrong "gen_cases: $(cat made)"
	"$program" verify ./mapped/1 >out 2>err || wrong "a case with symbols is not whole"
}
mapped "$PWD/prog" "$id"
copy=mapped/1/symbols$PWD/prog
functions() {
	nm "$1" | awk '$2 ~ /[Tt]/ { print $1, $3 }'
}
functions prog >its-functions
[ "$(grep -c ' work_on_it$\| main$' its-functions)" -eq 2 ] || wrong "nm finds no functions"
functions "$copy" | diff its-functions - || wrong "other functions in the copy"
[ "$(readelf -n "$copy" | sed -n 's/.*Build ID: //p')" = "$id" ] || wrong "another build-id in the copy"
! readelf -S --wide "$copy" | grep -E '\.(text|data|rodata) +PROGBITS' || wrong "code or data in the copy"
# The analyzers find what they find in the program itself
sed 's/ .*//' its-functions >addresses
"$UNIT/peer_elffile" prog <addresses | grep -v ':0$' >want
"$UNIT/peer_elffile" "$copy" <addresses | grep -v ':0$' | diff want - || wrong "the analyzers find other functions"
"$program" pack ./mapped/1 -o - | tar -t | grep -qx "1/symbols$PWD/prog" || wrong "the TAR lacks the symbols"
# A path that is longer than the format ustar has
long=$(printf %0150d 0)
mkdir -p "$long/$long"
cp prog "$long/$long/$long"
cp -a mapped unlong
mapped "$PWD/$long/$long/$long" "$id"
"$program" pack ./mapped/1 -o long.tar || wrong "no TAR of a long path"
"$program" pack ./mapped/1 -o - | cmp - long.tar || wrong "another TAR of a long path"
mkdir unpacked
tar -xf long.tar -C unpacked
diff -r unpacked/1 mapped/1 || wrong "another case of a long path"
python3 -c 'import tarfile; print(*tarfile.open("long.tar").getnames(), sep="\n")' |
	grep -qx "1/symbols$PWD/$long/$long/$long" || wrong "Python finds no long path"
rm -rf mapped && mv unlong mapped
# Files that are not in case.json, or at another place
cp -a mapped unchanged
again() {
	rm -rf mapped elsewhere
	cp -a unchanged mapped
}
# shellcheck disable=SC2016 # for eval
for change in 'echo >>$copy' 'echo >$copy.more' 'rm $copy' 'rm $copy && ln -s /etc/passwd $copy' \
	'mv mapped/1/symbols elsewhere && ln -s $PWD/elsewhere mapped/1/symbols' 'mkdir mapped/1/more'; do
	eval "$change"
	expect 1 'symbols|more: is not in case.json' verify ./mapped/1
	again
done
for name in symbols symbols/ symbols/../x symbols/./x symbols/a//b symbols/a/ symbols//a x/y; do
	sed "s|\"name\":\"symbols.*\"|\"name\":\"$name\"|" mapped/1/case.json >case.json
	cp case.json mapped/1/case.json
	expect 1 'files\[[0-9]*\].name must be the name of a file' verify ./mapped/1
	again
done
# Another program by now, a damaged one, no program, and a path that leads elsewhere
mapped "$PWD/prog" "${id%??}$(printf %02x $((0x${id: -2} ^ 1)))"
cp mapped/1/case.json other.json
for size in 0 63 1000 8000 15000; do
	head -c $size prog >"$PWD/cut"
	mapped "$PWD/cut" "$id"
	[ -e "mapped/1/symbols$PWD/cut" ] || grep -q '^ *"symbols"' mapped/1/case.json || wrong "cut to $size bytes: not missing"
done
# Only regular files are opened: opening a device may act, as it lets the FIFO's writer go on
mkfifo fifo
ln -s fifo "link to fifo"
sh -c ': >fifo' &
writer=$!
until_true 20 grep -q '^State:.S' /proc/$writer/status
mapped "$PWD/link to fifo" "$id"
cp mapped/1/case.json fifo.json
kill $writer || wrong "a FIFO was opened"
wait $writer
[ $? -eq 143 ] || wrong "a FIFO was opened"
for file in other.json fifo.json; do
	grep -q '^ *"symbols"' $file || wrong "$file: symbols are not missing"
done
for path in "/../..$PWD/prog" "$PWD/.."; do
	mapped "$path" "$id"
	[ ! -e mapped/1/symbols ] || wrong "a path leads elsewhere"
done
# The directories of Kubernetes' volumes begin with two points
mkdir ..data
cp prog ..data/prog
mapped "$PWD/..data/prog" "$id"
functions "mapped/1/symbols$PWD/..data/prog" | diff its-functions - || wrong "no copy from ..data"
! grep -q '^ *"symbols"' mapped/1/case.json || wrong "..data: symbols are missing"
# Files that are not copied are listed as missing: a name that case.json cannot have, and no build-id
for name in $'new\nline' $'not\xffutf8' $'bell\a'; do
	cp prog "$name"
	mapped "$PWD/$name" "$id"
	[ ! -e mapped/1/symbols ] || wrong "an odd name is copied"
	grep -q '^ *"symbols"' mapped/1/case.json || wrong "an odd name: symbols are not missing"
done
# A call's stack that the window has, without its file: it is not known what it refers to
is_missing() { # NAME
	grep -q "^ *\"$1\"" mapped/1/case.json
}
STACK=1 CALLS=1 mapped "$PWD/prog" "$id"
! is_missing symbols || wrong "a stack with its map: symbols are missing"
! is_missing iosys_stacks || wrong "a stack with its map: iosys_stacks is missing"
[ ! -e mapped/1/iosys_stacks ] || wrong "a file iosys_stacks of no kernel"
unmapped() { # a case without an io_map
	rm -rf mapped
	"$UNIT/gen_cases" mapped 1000000000 a=1 >made || wrong "gen_cases: $(cat made)"
	"$program" verify ./mapped/1 >out 2>err || wrong "a case with stacks is not whole"
}
STACK=1 CALLS=1 unmapped
is_missing symbols || wrong "a stack without a map: symbols are not missing"
is_missing iosys_stacks || wrong "a stack without a map: iosys_stacks is not missing"

# --- what the kernel still knows of the window's stacks, and no others
{
	echo 'stack 7 end=complete guessed=0 frames=3+0x20,0+0x7f0000001000'
	echo 'stack 8 end=complete guessed=0 frames=4+0x20'
	echo 'stack 9 end=deep guessed=1 frames=3+0x30,5+0x1'
	echo "map 3 dev=8:1 ino=1 build_id=$id rows=1 bytes=2 path=$PWD/prog"
	echo "# no table: it costs too much for its size"
	echo "map 4 dev=8:1 ino=2 build_id=$id rows=1 bytes=2 path=$PWD/never"
	echo "map 5 dev=8:1 ino=3 build_id= rows=0 bytes=0 path=[vdso]"
} >known
accounts() { # STACKS UNKNOWN FILES UNKNOWN
	printf '# stacks of the window'"'"'s calls: %s, of which the kernel no longer knows: %s, without room here: 0\n' "$1" "$2"
	printf '# files of their frames: %s, of which the kernel no longer knows: %s, without room here: 0\n' "$3" "$4"
}
KNOWN=known CALLS=7,9,7 unmapped
{ grep -e '^stack [79]' -e '^map [35]' known; accounts 2 0 2 0; } | diff - mapped/1/iosys_stacks || wrong "another iosys_stacks"
functions "mapped/1/symbols$PWD/prog" | diff its-functions - || wrong "no symbols of a file in iosys_stacks"
[ ! -e "mapped/1/symbols$PWD/never" ] || wrong "symbols of a file that no call needs"
! is_missing iosys_stacks || wrong "iosys_stacks is missing"
! is_missing symbols || wrong "symbols are missing"
grep -q '^ *"name":"iosys_stacks"' mapped/1/case.json || wrong "iosys_stacks is not listed"
"$program" pack ./mapped/1 -o - | tar -t | grep -qx 1/iosys_stacks || wrong "the TAR lacks iosys_stacks"
grep -qx "$id $PWD/prog" mapped/1/build-ids.txt || wrong "no build-id of a file in iosys_stacks"
! grep -q never mapped/1/build-ids.txt || wrong "the build-id of a file that no call needs"
# Stacks that it has evicted, one of which the window has, and files
STACK=20 KNOWN=known CALLS=7,20,21,22 unmapped
{ grep -e '^stack 7' -e '^map 3' known; accounts 4 2 2 1; } | diff - mapped/1/iosys_stacks || wrong "another iosys_stacks of evicted stacks"
is_missing iosys_stacks || wrong "evicted stacks are not missing"
is_missing symbols || wrong "symbols of an unknown file are not missing"
# No stacks at all, no file, and a file with no valid line
KNOWN=known CALLS=0 unmapped
[ ! -e mapped/1/iosys_stacks ] || wrong "iosys_stacks without stacks"
! is_missing iosys_stacks || wrong "missing iosys_stacks without stacks"
KNOWN=nosuch CALLS=7 unmapped
[ ! -e mapped/1/iosys_stacks ] || wrong "iosys_stacks of no file"
is_missing iosys_stacks || wrong "iosys_stacks is not missing"
head -c 100000 /dev/urandom >noise
KNOWN=noise CALLS=7 unmapped
accounts 1 1 0 0 | diff - mapped/1/iosys_stacks || wrong "another iosys_stacks of noise"
# The number is bounded: the rest is counted
python3 "$TRACERIG_TOP/tests/unit/tracerig_stacks.py" >large || wrong "tracerig_stacks.py"
KNOWN=large CALLS=$(seq -s , 10) unmapped
kept=$(grep -c ^map mapped/1/iosys_stacks)
lines=$((kept + 10))
head -n $lines large | cmp - <(head -n $lines mapped/1/iosys_stacks) || wrong "another iosys_stacks of long lines"
size=$(head -n $lines large | wc -c)
next=$(sed -n "$((lines + 1))p" large | wc -c)
{ [ "$size" -le $((4 << 20)) ] && [ $((size + next)) -gt $((4 << 20)) ]; } || wrong "iosys_stacks has $size bytes"
accounts 10 0 2500 0 | sed "\$s/here: 0/here: $((2500 - kept))/" | diff - <(tail -n 2 mapped/1/iosys_stacks) || wrong "the accounts of a bounded iosys_stacks"
is_missing iosys_stacks || wrong "what has no room is not missing"
mapped "$PWD/prog" ""
grep -q '^ *"symbols"' mapped/1/case.json || wrong "no build-id: symbols are not missing"

# --- names of code that was compiled at run time: the lines that the window's addresses need
sleep 1000 &
jit=$!
map=/tmp/perf-$jit.map
trap 'kill $jit; rm -f $map' EXIT
names=mapped/1/symbols/tmp/perf-$jit.map
# coded WANT: a case whose calls are of that process has these lines
coded() {
	TGID=$jit unmapped
	printf %b "$1" | diff - "$names" || wrong "other names of code: $(cat known)"
}
# Stack 7 was called from the instruction before 0x7f0000001000; the last line is not finished
printf '%s\n' '7f0000000ff0 10 call it' '7f0000001000 10 next' '1000 10 other' '7f0000000000 1000 old' \
	'7f0000000fff 1 new' 'ffffffffff 0 empty' nothing >$map
printf '7f0000000ff0 10 half' >>$map
want='7f0000000ff0 10 call it\n7f0000000000 1000 old\n7f0000000fff 1 new\n'
KNOWN=known CALLS=7 coded "$want"
! is_missing symbols || wrong "names of code: symbols are missing"
grep -q "^ *\"name\":\"symbols/tmp/perf-$jit.map\"" mapped/1/case.json || wrong "names of code are not listed"
"$program" pack ./mapped/1 -o - | tar -t | grep -qx "1/symbols/tmp/perf-$jit.map" || wrong "the TAR lacks names of code"
# A stack that the window has; what both have is there once
MAP=$PWD/prog MAP_ID=$id STACK=7 CODE=7f0000001001 CALLS=7 coded '7f0000001000 10 next\n'
MAP=$PWD/prog MAP_ID=$id STACK=7 CODE=7f0000001001 KNOWN=known CALLS=7,9,7 coded '7f0000001000 10 next\n'
no_names() {
	[ -z "$(find mapped/1 -name 'perf-*')" ] || wrong "$1"
}
# Another process, no address with a name, and no map: nothing is missing
TGID=$$ KNOWN=known CALLS=7 unmapped
! is_missing symbols || wrong "a process without a map: symbols are missing"
no_names "names of another process"
TGID=$jit KNOWN=known CALLS=9 unmapped
no_names "names that no address needs"
# A map that must not be used, and one that is too large
refuses() { # WHAT
	TGID=$jit KNOWN=known CALLS=7 unmapped
	is_missing symbols || wrong "$1: symbols are not missing"
	[ ! -e $names ] || [ "$(stat -c %s $names)" -le $((4 << 20)) ] || wrong "$1: is copied"
}
mv $map there
ln -s "$PWD/there" $map && refuses "a symbolic link"
rm $map && mkfifo $map && refuses "a FIFO"
rm $map
yes "7f0000000ff0 10 $(printf %0900d 0)" | head -n 10000 >$map && refuses "a large map"
if [ "$(id -u)" -eq 0 ]; then
	cp there $map
	chown 65534 $map
	refuses "a map of another user"
	no_names "names by another user"
fi
kill $jit
wait $jit 2>/dev/null
# A process that has ended may have a map, too
rm -f $map
mv there $map
KNOWN=known CALLS=7 coded "$want"
rm $map
# The kernel has regular files that cannot be read
unreadable=/sys/class/net/lo/speed
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null && [ -f $unreadable ] && ! cat $unreadable >/dev/null 2>&1; then
	: >$map
	rm -rf mapped
	# shellcheck disable=SC2016 # for the inner shell
	TGID=$jit KNOWN=known CALLS=7 unshare -m sh -c 'mount --bind "$1" "$2" && "$0" mapped 1000000000 a=1' \
		"$UNIT/gen_cases" $unreadable $map >made || wrong "gen_cases with a map that cannot be read: $(cat made)"
	is_missing symbols || wrong "a map that cannot be read: symbols are not missing"
	rm $map
fi
# In a container the map is elsewhere, with the number that the process has there
if [ "$(id -u)" -eq 0 ] && unshare -mpf true 2>/dev/null; then
	# shellcheck disable=SC2016 # for the inner shell
	unshare --kill-child -mpf sh -c 'mount -t tmpfs tmpfs /tmp && echo "7f0000000ff0 10 inside" >/tmp/perf-$$.map && exec sleep 1000' &
	outer=$!
	trap 'kill -KILL $outer' EXIT
	has_inner() {
		jit=$(ps -o pid= --ppid "$outer" | tr -d ' ') && [ -e "/proc/$jit/root/tmp/perf-1.map" ]
	}
	within 60 has_inner || wrong "no process in a container"
	names=mapped/1/symbols/tmp/perf-$jit.map
	KNOWN=known CALLS=7 coded '7f0000000ff0 10 inside\n'
	kill -KILL $outer
	wait $outer 2>/dev/null
fi
trap - EXIT

# --- the state of the system: of a machine that is made up here
made_up() { # FILE WHERE: a line of its own in a file that takes the place of WHERE
	mkdir -p "machine/$(dirname "$1")"
	echo "this is $1" >"machine/$1"
	echo "$2 $1" >>machine.files
}
cpu=/sys/devices/system/cpu thermal=/sys/class/thermal
for i in 0 1; do
	for what in cur_freq min_freq max_freq governor; do
		made_up cpu/cpufreq/policy$i/scaling_$what cpufreq.txt
	done
	made_up cpu/cpu$i/thermal_throttle/core_throttle_count throttle.txt
	made_up thermal/thermal_zone$i/type thermal.txt
	made_up thermal/thermal_zone$i/temp thermal.txt
	made_up thermal/cooling_device$i/cur_state thermal.txt
	made_up pressure/source$i pressure.txt
done
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null && [ -d $thermal ] && [ -d /proc/pressure ]; then
	# shellcheck disable=SC2016 # for the inner shell
	unshare -m sh -c 'mount --bind machine/cpu "$1" && mount --bind machine/thermal "$2" &&
		mount --bind machine/pressure /proc/pressure && "$0" stated 1000000000 a=1' \
		"$UNIT/gen_cases" $cpu $thermal >made || wrong "gen_cases on a made-up machine: $(cat made)"
	while read -r name file; do
		case $file in
		cpu/*) path=$cpu${file#cpu} ;;
		thermal/*) path=$thermal${file#thermal} ;;
		*) path=/proc/$file ;;
		esac
		[ "$(grep -A 1 -xF "==> $path <==" "stated/1/$name" | tail -n 1)" = "this is $file" ] ||
			wrong "$name lacks $path: $(cat "stated/1/$name")"
	done <machine.files
	grep -qE '^ *"(cpufreq|throttle|thermal|pressure).txt"' stated/1/case.json && wrong "what is there is missing"
fi
for name in vmstat diskstats meminfo loadavg interrupts softirqs; do
	[ "$(awk '{ print NF; exit }' "cases/$(numbers)/$name.txt")" = "$(awk '{ print NF; exit }' /proc/$name)" ] || wrong "another $name.txt"
done

# --- a full disk: no case, or a whole one
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
	mkdir full
	# For one case and a half: what it takes depends on the machine's log and configuration
	size=$(du -sk "cases/$(numbers)" | cut -f 1)
	# shellcheck disable=SC2016 # for the inner shell
	unshare -m sh -c '
		mount -t tmpfs -o "size=$2k" tmpfs full &&
		"$0" full 1000000000 a=1 b=2 c=3 d=4 >said
		ls -A full >names
		for i in full/[0-9]*; do "$1" verify "./$i" || echo "$i is not whole"; done >verified 2>&1' \
		"$UNIT/gen_cases" "$program" $((size * 3 / 2))
	grep -q 'No space left on device' said || wrong "a full disk is not said: $(cat said)"
	grep -qx 1 names || wrong "nothing was written before the disk was full: $(cat names)"
	! grep 'is not whole' verified || wrong "a case is half there"
fi

# --- a case from anyone: its texts do not control the terminal, and explain sees a change
mkdir strange
cp -r "cases/$(numbers)" strange/1
sed -i 's/"case": *[0-9]*/"case": 1/; s/"comm": *"[^"]*"/"comm": "x\\u001b[31m\\u009b31m\\u202e"/; s/"group": *"[^"]*"/"group": "g\\u0007"/' strange/1/case.json
"$program" list --dir strange >out 2>err || wrong "list, strange texts: $(cat err)"
[ "$(head -n 1 out)" = "g?: 1 case" ] || wrong "list, strange texts: $(cat out)"
grep -qF ' x?[31m?31m?-' out || wrong "list, strange texts: $(cat out)"
LC_ALL=C grep -qP '[\x00-\x08\x0e-\x1f]|\xc2[\x80-\x9f]' out && wrong "list, strange texts: $(cat -v out)"
"$program" explain --dir strange 1 >out 2>err && wrong "explain accepts a changed case.json: $(cat out)"
grep -q 'case.json: its SHA-256 is not that in it: it was changed: the case is damaged: ' err || wrong "explain, a changed case.json: $(cat err)"
# Programs in C would see only what is before the NUL
sed 's/"comm": *"[^"]*"/"comm": "x\\u0000y"/' strange/1/case.json >case.json
mv case.json strange/1/case.json
"$program" verify --dir strange 1 >out 2>err && wrong "verify accepts U+0000"
grep -q 'alarm.comm must not contain U+0000' err || wrong "verify, U+0000: $(cat err)"
sed -i 's/x\\u0000y/xy/' strange/1/case.json
# What a message repeats of it, too
sed -i 's/"comm":/"\\u001b[2J":/' strange/1/case.json
"$program" verify --dir strange 1 >out 2>err && wrong "verify accepts an unknown key"
LC_ALL=C grep -qP '[\x00-\x08\x0e-\x1f]' err && wrong "verify, strange texts: $(cat -v err)"
exit $failed
