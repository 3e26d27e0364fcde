#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# What KillMode=mixed in tracerig-watch@.service means for cases: SIGTERM to the watch
# alone while a case is being written and the command of --on-alarm runs; at the end, or
# when the time is over, SIGKILL to all of its control group. A case is whole or absent.
# Cases are on a disk that takes 30 ms for each request, so that a case, each file of which
# is synchronized, takes long enough to be met half written.
. "$TRACERIG_TOP/tests/guest/functions"

need_ctlchart
export PATH=$TRACERIG_TOP/build/tools/bin:$PATH
grep -qx 'KillMode=mixed' "$TRACERIG_TOP/tools/tracerig/tracerig-watch@.service" || die "the unit has another KillMode"

explain() {
	tail -n 20 log err 2>/dev/null
	ls -A cases 2>/dev/null
}

null_disk cases memory_backed=1 size=128 irqmode=2 completion_nsec=30000000
mkfs.ext4 -q "$disk"
mkdir cases control
mount "$disk" cases
null_disk slow irqmode=2 completion_nsec=300000000
number=$(stat -c %Hr:%Lr "$disk")
dev=$((${number%:*} << 20 | ${number#*:}))
mount -t cgroup2 none control
group=control/watch
mkdir "$group"
end() {
	echo 1 >"$group/cgroup.kill"
	until_true 30 grep -qx 'populated 0' "$group/cgroup.events"
	rmdir "$group"
	umount control
	umount cases
	remove_disks
}
trap end EXIT

# Run the watch in the service's control group, without learning
start() {
	# shellcheck disable=SC2016 # for the inner shell
	sh -c 'echo $$ >"$0/cgroup.procs" && exec tracerig watch --dir="$1" --interval=0s --on-alarm="$2" \
		-e block:block_rq_complete -f "dev == $3 && ctlchart(block_bio_queue, dev, sector, ucl=100ms, pre=1s)"' \
		"$PWD/$group" "$PWD/cases" 'exec sleep 1000' "$dev" >log 2>err &
	pid=$!
	until_true 30 grep -q ': limit 100.0 ms (fixed)$' log
}

check_cases() {
	local case
	for case in cases/[0-9]*; do
		[ ! -e "$case" ] || tracerig verify "./$case" >/dev/null || die "$case is not whole"
	done
}

being_written() {
	compgen -G 'cases/.case-*' >half
}

# read_slowly: one read, by a program with a name of its own, so that its case is kept; wait
# until that is being written, or has been
sector=0
read_slowly() {
	local before program end
	before=$(wc -l <log)
	sector=$((sector + 1))
	program=reader_$(echo $sector | tr 0-9 a-j)_
	cp "$(command -v dd)" "$program"
	"./$program" if="$disk" of=/dev/null bs=4096 skip=$sector count=1 iflag=direct status=none
	end=$((SECONDS + 60 * scale))
	until being_written || [ "$(wc -l <log)" -gt "$before" ]; do
		[ "$SECONDS" -lt "$end" ] || die "no case of the read of sector $sector"
	done
}

# --- SIGTERM while a case is written: the watch waits for it; what is left is killed
inside=0
for ((round = 0; round < 10 && !inside; round++)); do
	start
	# The command of the first case runs until the end
	read_slowly
	until_true 30 grep -q ' case ' log
	before=$(find cases -maxdepth 1 -name '[0-9]*' | wc -l)
	read_slowly
	kill -TERM "$pid"
	inside=$(being_written && echo 1 || echo 0)
	wait "$pid" || die "the watch failed"
	echo 1 >"$group/cgroup.kill"
	until_true 30 grep -qx 'populated 0' "$group/cgroup.events"
	same "" "$(find cases -maxdepth 1 -name '.*' ! -name cases)" "what is left in cases"
	[ "$(find cases -maxdepth 1 -name '[0-9]*' | wc -l)" -ge "$before" ] || die "a case is gone"
	check_cases
done
[ "$inside" -eq 1 ] || die "no case was being written at SIGTERM"
same "" "$(ls "$tracing/instances")" "instances after SIGTERM"

# --- SIGKILL at once: the next watch finds complete cases, and removes the incomplete one
killed=0
for ((round = 0; round < 10 && !killed; round++)); do
	start
	read_slowly
	kill -TERM "$pid"
	echo 1 >"$group/cgroup.kill"
	# After SIGTERM it may have ended without SIGKILL
	status=0
	wait "$pid" || status=$?
	until_true 30 grep -qx 'populated 0' "$group/cgroup.events"
	[ "$status" -ne 0 ] || continue
	killed=$(being_written && echo 1 || echo 0)
	check_cases
done
[ "$killed" -eq 1 ] || die "no case was being written at SIGKILL"
start
same "" "$(find cases -maxdepth 1 -name '.case-*')" "what the next watch has left of a half case"
check_cases
kill -TERM "$pid"
wait "$pid" || die "the next watch failed"
same "" "$(ls "$tracing/instances")" "instances at the end"
