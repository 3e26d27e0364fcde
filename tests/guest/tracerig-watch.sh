#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# part: check-full
#
# tracerig watch: learns, waits, and keeps each slow operation as a case that is whole
# and can be read without this machine; whatever ends it, nothing is left in tracefs.
# The truth about slow operations and their durations is in their programs' output.
. "$TRACERIG_TOP/tests/guest/functions"

need_ctlchart

explain() {
	tail -n 50 log err truth why 2>/dev/null
	tail -n 30 "$instances"/*/events/block/block_rq_complete/ctlchart 2>/dev/null
}
export PATH=$TRACERIG_TOP/build/tools/bin:$PATH
instances=$tracing/instances

# The state of tracefs without a watch
check_clean() {
	same "" "$(ls "$instances")" "instances $1"
	[ ! -s "$tracing/kprobe_events" ] || die "kprobes are left $1: $(cat "$tracing/kprobe_events")"
	[ ! -s "$tracing/uprobe_events" ] || die "uprobes are left $1: $(cat "$tracing/uprobe_events")"
}

# fails STATUS TEXT COMMAND...
fails() {
	local want=$1 text=$2 status=0
	shift 2
	"$@" >out 2>err || status=$?
	same "$want" "$status" "status of $*"
	grep -q -- "$text" err || die "$*: not reported: $text: $(cat err)"
	same 1 "$(wc -l <err)" "lines of error of $*"
}

# watch OPTION...: in the background; waits until it has begun
watch() {
	tracerig watch --dir="$PWD/cases" "$@" >log 2>err &
	pid=$!
	until_true 30 grep -q ': \(learning\|judging\)$' log
}

all_learnt() {
	[ "$(grep -c ': learnt: ' log)" -eq "$1" ]
}

more_lines() {
	[ "$(wc -l <"$2")" -gt "$1" ]
}

# case_of KIND: the slow operation of the last line of truth has a case
case_of() {
	tail -n 1 truth >last
	python3 "$TRACERIG_TOP/tests/guest/tracerig_cases.py" last log cases "$@" >why 2>&1
}

# Each case that is kept is complete, and in the list
check_cases() {
	local case
	tracerig list --dir=cases >listed || die "the cases cannot be listed"
	for case in cases/[0-9]*; do
		tracerig verify --dir=cases "${case#*/}" >/dev/null || die "$case is not whole"
		grep -q "^ *${case#*/}  20" listed || die "$case is not in the list: $(cat listed)"
	done
}

# ended STATUS
ended() {
	local status=0
	wait "$pid" || status=$?
	same "$1" "$status" "status of the watch ($(cat err log))"
	check_clean "after the watch"
}

# --- errors before the watch begins
fails 1 'run this as root' setpriv --reuid=65534 --clear-groups tracerig watch --dir=/tmp/none disk
fails 1 'this kernel has no event sched:nothing' tracerig watch --dir="$PWD/none" \
	-e sched:nothing -f 'ctlchart(sched_waking, common_pid)'
fails 1 'no_such_function cannot be probed' tracerig watch --dir="$PWD/none" function:no_such_function
# shellcheck disable=SC2016 # for the inner shell
fails 1 'this kernel has no ctlchart() filter: boot a kernel with' unshare -m sh -c '
	mount -t tmpfs none "$0/events/ctlchart" && exec tracerig watch --dir="$PWD/none" disk' "$tracing"
tracerig watch dusk >out 2>err && die "a preset that does not exist is watched"
grep -q "unknown preset dusk" err || die "an unknown preset is not reported: $(cat err)"
fails 3 'disk: ended while learning' tracerig watch --dir="$PWD/none" --for=1s disk
check_clean "after what cannot work"
# shellcheck disable=SC2013 # words
for path in $(sed -n 's/^[A-Z][a-z]*PathExists=//p' "$TRACERIG_TOP/tools/tracerig/tracerig-watch@.service"); do
	[ -e "$path" ] || die "the service does not start here: no $path"
done

# --- disk: a limit for each, by the time that they are made to take
null_disk fast irqmode=2 completion_nsec=10000
fast=$disk
null_disk steady irqmode=2 completion_nsec=50000000
steady=$disk
null_disk slow irqmode=2 completion_nsec=900000000
slow=$disk
number() { # disk: as the kernel has it in memory
	echo $(((0x$(stat -c %t "$1") << 20) + 0x$(stat -c %T "$1")))
}
both_judge() {
	[ "$(grep -c '^state: judging' "$instances/tracerig-1/events/block/block_rq_complete/ctlchart")" -eq 2 ]
}
# of DISK, LINE: a line of its chart in the saved limits, in ns
of() {
	awk -v RS= -v chart="chart: disk[dev=$(number "$1")]" 'index($0, chart)' saved | sed -n "s/^$2: \([0-9]*\) ns$/\1/p"
}
watch disk --dir="$PWD/each" --save-limits=saved --metrics="$PWD/metrics"
readers=()
# The slower one first: it must have begun when the fast one has learnt
for disk in "$steady" "$fast"; do
	python3 "$TRACERIG_TOP/tests/guest/block_reads.py" each.log "$disk" 0 200000 0.01 &
	readers+=($!)
done
until_true 90 both_judge
until_true 30 grep -q '^disk: learnt: ' log
kill "${readers[@]}"
wait "${readers[@]}" || :
kill -TERM "$pid"
ended 0
[ "$(of "$steady" center)" -ge 50000000 ] || die "the slower disk's centre is too low: $(cat saved)"
[ "$(of "$fast" center)" -lt 50000000 ] || die "the fast disk's centre is too high: $(cat saved)"
grep -qE '^disk: learnt: (limit of 1 (of 2 charts|chart)|limits of 2 charts): dev=[0-9]+:[0-9]+ centre [0-9]' log || die "limits are not reported: $(cat log)"
# The parts have the same lines everywhere
for disk in "$fast" "$steady"; do
	part=$(printf '%d:%d' "0x$(stat -c %t "$disk")" "0x$(stat -c %T "$disk")")
	for line in center limit; do
		awk -v part="tracerig_${line}_seconds{chart=\"disk[dev=$part]\"}" -v ns="$(of "$disk" $line)" '
			index($0, part) == 1 { found = $NF * 1e9 - ns < 1 && ns - $NF * 1e9 < 1 }
			END { exit !found }' metrics || die "no $line of $part: $(cat metrics saved)"
	done
done

# --- slow reads of a disk that has the limit of the fast one
# (found by its name, although another disk has the number)
awk -v RS= -v ORS='\n\n' -v chart="chart: disk[dev=$(number "$fast")]" 'index($0, chart)' saved |
	sed "s/^disk: fast$/disk: slow/" >slow.limits
grep -q '^disk: slow$' slow.limits || die "the disk has no name in the file: $(cat saved)"
mv slow.limits saved
note="env | grep ^TRACERIG_ | sort >>'$PWD/alarms'"
watch disk --interval=0s --on-alarm="$note" --limits=saved
# slow_reads N: make them, and wait for their cases
slow_reads() {
	local i
	for ((i = 1; i <= $1; i++)); do
		reads slow.log "$slow" $((100 * i)) 1
		until_true 30 grep -q "case .* sector=$((800 * i))," log
	done
}
slow_reads 3
kill -TERM "$pid"
ended 0
sed 's/^\([0-9]*\) \(.*\)/disk \2 sector=\1/' slow.log >truth
python3 "$TRACERIG_TOP/tests/guest/tracerig_cases.py" truth log cases disk=disk || die "the cases are not the slow reads"
check_cases
same "$(find cases -maxdepth 1 -name '[0-9]*' | wc -l)" "$(sed -n 's/^[0-9]* cases*: \([0-9]*\) kept, .*/\1/p' log)" "cases that are kept"
slow_part=$(printf 'dev=%d:%d' "0x$(stat -c %t "$slow")" "0x$(stat -c %T "$slow")")
grep -qE "case 1: disk took [^,]*, limit [^,]*, $slow_part sector=800, process" log || die "the slow disk is not named: $(cat log)"
grep -qF "disk[$slow_part]" cases/1/case.json || die "the case is not of the slow disk's chart: $(cat cases/1/case.json)"
grep -q "^disk .* $slow_part" listed || die "another group: $(cat listed)"
grep -qx 'TRACERIG_CHART=disk' alarms || die "another chart: $(cat alarms)"
# The command is run for the first case, and not for cases that come while it runs
message=$(sed -n 's/^TRACERIG_MESSAGE=//p' alarms | head -n 1)
grep -qF " $message" log || die "the command's message is not in the log: $message"
[ "$(sed -n 's/^TRACERIG_DIR=//p' alarms | head -n 1)" = "$PWD/cases/1" ] || die "not case 1: $(cat alarms)"

# --- a case on another machine: as a TAR, and damaged
mkdir desk
case=$(sed -n 's/.* case \([0-9]*\): .* sector=800,.*/\1/p' log)
tracerig pack --dir=cases -o case.tar "$case" || die "case $case cannot be packed"
tar -C desk -xf case.tar
tracerig verify --dir=desk "$case" >/dev/null || die "a packed case is not whole"
trace-cmd report -i "desk/$case/trace.dat" >text 2>/dev/null
grep -q 'block_rq_complete: .* 800 + 8 ' text || die "the trace lacks the slow read"
grep -q 'ctlchart_alarm: ' text || die "the trace lacks the alarm"
for cpu in 000 001; do
	grep -q "\[$cpu\].*sched_" text || die "the trace has nothing of CPU $cpu"
done
printf x | dd of="desk/$case/trace.dat" bs=1 seek=5000 conv=notrunc status=none
fails 1 'trace.dat: ' tracerig verify --dir=desk "$case"

# --- the limit is of another disk
watch disk --dir="$PWD/other" --limits=saved
until_true 60 grep -q '^disk: loaded: ' log
reads other.log "$fast" 100 1
until_true 60 grep -qF 'disk: --limits has no limit for disk[dev=' err
kill -TERM "$pid"
ended 3

# --- limits of two charts from a pipe
printf '\n%s\n' 'event: sched:sched_switch' 'chart: wakeup' 'limit: 50 s' | cat saved - |
	tracerig watch disk wakeup --dir="$PWD/none" --limits=- --for=3s >log 2>err || die "limits from a pipe: $(cat err log)"
grep -qF 'wakeup: limit 50.00 s (fixed)' log || die "the second chart's limit is not loaded: $(cat log)"

# --- limits of a disk that is not there, and of a filter without by=
sed 's/^disk: .*/disk: gone/' saved >gone.limits
tracerig watch disk --dir="$PWD/none" --limits=gone.limits >out 2>err && die "limits of no disk are loaded"
grep -q 'gone.limits: this machine has none of its disks: learn limits here' err || die "limits of no disk are not reported: $(cat err)"
sed -e 's/ by=dev,//' -e 's/^\(chart: disk\).*/\1/' -e '/^disk: /d' saved >old.limits
fails 1 'old.limits:[0-9]*: the limits of disk are of another filter than block:block_rq_complete has: learn them again' \
	tracerig watch disk --dir="$PWD/none" --limits=old.limits
check_clean "after limits that were not loaded"

# --- damaged cases without which there would be room: the good ones stay
cp -a cases kept
mkdir kept/900
truncate -s 3M kept/900/trace.dat
before=$(ls kept)
fails 1 'kept: damaged cases: 1; they take 3.1 MB of the room: .*, or choose a larger --keep$' tracerig watch --dir="$PWD/kept" --keep=2M disk
same "$before" "$(ls kept)" "cases after a watch without room"
rm -rf kept

# --- with fixed limits, without learning; full disk
mkdir full
mount -t tmpfs -o size=512k none full
fails 1 'full/made: No space left on device' tracerig watch --dir="$PWD/full/made" disk
check_clean "after a watch without room"
same "" "$(ls -A full)" "what a watch without room has made"
mount -o remount,size=4m full
watch disk --dir="$PWD/full" --limits=saved
reads slow.log "$slow" 1000 1
until_true 30 grep -q 'case 1 is not kept: No space left on device: free space, choose a smaller --keep' err
kill -TERM "$pid"
ended 3
same "groups.json" "$(ls -A full)" "files on a full disk"
grep -q ' not kept: disk took ' log || die "the case is not reported: $(cat log)"
same "" "$(grep 'like case' log)" "cases like one that is not there"
umount full

# --- its directory is moved away; what it says cannot be written; few open files
watch disk --dir="$PWD/moved" --limits=saved
mv moved away
reads slow.log "$slow" 1003 1
until_true 30 grep -q 'case 1 is not kept: No such file or directory: the directory of the cases was removed or moved: restart' err
kill -TERM "$pid"
ended 3
status=0
tracerig watch disk --dir="$PWD/unsaid" --limits=saved --for=1s >/dev/full 2>err || status=$?
same 1 "$status" "status of a watch whose output cannot be written"
same "tracerig watch: standard output: cannot write the result: No space left on device" "$(cat err)" "what it says"
check_clean "after a watch whose output cannot be written"
bash -c 'ulimit -n 24 && exec tracerig watch disk --dir="$PWD/few" --limits=saved --for=1s' >out 2>err ||
	die "root does not get the files that a watch needs: $(cat err)"

# --- another reader has the alarm, and another watch wants its file of metrics
watch disk --dir="$PWD/taken" --limits=saved --metrics=metrics.prom
grep -q '^tracerig_alarms_total' metrics.prom || die "no metrics when the watch begins"
fails 1 'metrics.prom: another watch writes it: choose another file with --metrics' \
	tracerig watch disk --dir="$PWD/second" --limits=saved --metrics="$PWD/metrics.prom"
kill -STOP "$pid"
reads slow.log "$slow" 1002 1
cat "$instances/tracerig-1/trace_pipe" >pipe &
reader=$!
until_true 30 grep -q ctlchart_alarm pipe
kill "$reader"
wait "$reader" 2>/dev/null || :
kill -CONT "$pid"
kill -TERM "$pid"
ended 3
grep -q '^tracerig watch: alarms that could not be read: 1: another program reads the trace instance tracerig-1,' err ||
	die "another reader is not reported: $(cat err)"

# --- no process to write a case
mkdir -p group
mount -t cgroup2 none group
echo +pids >group/cgroup.subtree_control
mkdir group/alone
watch disk --dir="$PWD/fresh" --limits=saved
echo "$pid" >group/alone/cgroup.procs
echo 1 >group/alone/pids.max
reads slow.log "$slow" 1001 1
until_true 30 grep -q ' not kept: Resource temporarily unavailable' err
kill -TERM "$pid"
ended 3
rmdir group/alone
umount group

# --- the commands that the watch prints work
tracerig watch disk wakeup --print >print
grep -q '^trace-cmd record -B tracerig ' print || die "not printed: $(cat print)"
sed '$s/$/ -o printed.dat true/' print >print.sh
bash -eu print.sh >print.log 2>&1 || die "what is printed fails: $(cat print.sh print.log)"
trace-cmd reset >/dev/null 2>&1
rmdir "$instances"/* 2>/dev/null || :
check_clean "after the printed commands"

# --- system calls, functions of the kernel and of programs, wake-ups; killed
gcc -O2 -g -Wall -Wextra -o work "$TRACERIG_TOP/tests/guest/tracerigwork.c"
mkfifo commands
./work commands >truth &
work=$!
exec 7>commands
until_true 30 grep -q ready truth
rm -rf cases
presets=(wakeup syscall:nanosleep function:__x64_sys_nanosleep "uprobe:$PWD/work:work")
watch "${presets[@]}"
same tracerig-1 "$(ls "$instances")" "instances while it watches"
kill -KILL "$pid"
wait "$pid" 2>/dev/null || :
same tracerig-1 "$(ls "$instances")" "instances after SIGKILL"
watch "${presets[@]}"
grep -q '^removed trace instances of killed watches: 1$' log || die "what the killed watch left is not reported: $(cat log)"
until_true 90 all_learnt 4
sleep=sleep=syscall.nanosleep,function.__x64_sys_nanosleep,uprobe.work
crowd=crowd=syscall.nanosleep,function.__x64_sys_nanosleep,uprobe.work
wait=wait=wakeup
for kind in sleep crowd wait; do
	lines=$(wc -l <truth)
	echo $kind >&7
	until_true 30 more_lines "$lines" truth
	until_true 30 case_of "${!kind}"
done
kill -TERM "$pid"
ended 0
exec 7>&-
wait "$work"
sed -i /ready/d truth
python3 "$TRACERIG_TOP/tests/guest/tracerig_cases.py" truth log cases "$sleep" "$crowd" "$wait" ||
	die "the cases are not the slow operations"
check_cases
