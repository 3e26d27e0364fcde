#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# vm: --cpus 3
# module: awake
# timeout: 240
#
# The machine is suspended as far as it comes back from by itself: with all tasks frozen, devices
# asleep, and all CPUs off but the first. Meanwhile lbrprof's sampler is on, on all CPUs, or on one
# that goes, or is off; and tracecast sends. Afterwards each CPU has samples again, and all records
# arrive.
. "$TRACERIG_TOP/tests/guest/functions"
. "$TRACERIG_TOP/tests/guest/tracecast_functions"

schedz=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/schedz
instance=$tracing/instances/asleep
target=/sys/kernel/config/tracecast/rig
sampler=$tracing/lbrprof
samples=$instance/events/lbrprof
all=$(nproc)
cpus=$all
marks=0
mapfile -t each < <(seq 0 $((all - 1)))
last=${each[-1]}

number() { # WORD FILE
	sed -n "s/.*\\b$1:\\{0,1\\} \\([0-9]*\\).*/\\1/p" "$2" | head -n 1
}

# On all CPUs, when all are there
mark() {
	[ "$cpus" -eq "$all" ] || return 0
	python3 "$TRACERIG_TOP/tests/guest/tracecast_cpu_marks.py" "$marks" 20 "$cpus" \
		$instance/trace_marker
	marks=$((marks + 20))
}

of_cpu() { # CPU: number of its samples
	sed -n "s/^cpu$1: .* samples=\\([0-9]*\\).*/\\1/p" $sampler/status
}

# As many as are there by now, and more
work() { # CPU
	taskset -c "$1" sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done'
}

# CPUs that are sampled, as a list, and only these
check_samples() { # CPU...
	local cpu before
	for ((cpu = 0; cpu < cpus; cpu++)); do
		before=$(of_cpu $cpu)
		work $cpu
		case " $* " in
		*" $cpu "*) [ "$(of_cpu $cpu)" -gt "$before" ] || die "CPU $cpu has no samples: $(cat $sampler/status)" ;;
		*) [ "$(of_cpu $cpu)" -eq "$before" ] || die "CPU $cpu has samples: $(cat $sampler/status)" ;;
		esac
	done
}

# suspend STATE LEVEL
suspend() {
	local before
	before=$(cat /sys/power/suspend_stats/success)
	mark
	echo "$2" >/sys/power/pm_test
	echo "$1" >/sys/power/state || die "suspend to $1, $2: $(dmesg | tail -n 20)"
	[ "$(cat /sys/power/suspend_stats/success)" -eq $((before + 1)) ] || die "it was not suspended"
	[ "$(nproc)" -eq "$cpus" ] || die "a CPU did not come back"
}

insmod "${TRACERIG_MODULES}/awake/awake.ko"
grep -qw deep /sys/power/mem_sleep || die "the CPUs of this machine cannot be switched off"
echo deep >/sys/power/mem_sleep
echo 1 >/sys/module/suspend/parameters/pm_test_delay

mkdir collected
$schedz collect --output collected >collected/ledger 2>collector.err &
collector=$!
trap 'kill $collector 2>/dev/null || true' EXIT
mkdir $instance
mkdir $target
echo 8192 >$instance/buffer_size_kb
echo asleep >$target/instance
echo 127.0.0.1 >$target/remote_ip
echo 2 >$target/senders
echo 1 >$target/enabled

# --- all CPUs are sampled, by each of the events
for event in lbrprof_sample lbrprof_map lbrprof_task; do
	echo 1 >$samples/$event/enable
done
check_samples "${each[@]}"
for level in freezer devices platform; do
	suspend freeze $level
done
for level in platform processors core; do
	suspend mem $level
	check_samples "${each[@]}"
done
# A CPU that was off before stays so
echo 0 >/sys/devices/system/cpu/cpu"$last"/online
cpus=$last
suspend mem processors
echo 1 >/sys/devices/system/cpu/cpu"$last"/online
cpus=$all
check_samples "${each[@]}"
echo 0 >$samples/enable

# --- only one that goes; others from one suspend to the next
for cpu in 1 "$last" 0; do
	echo "$cpu" >$sampler/cpus
	echo 1 >$samples/enable
	suspend mem processors
	check_samples "$cpu"
	echo 0 >$samples/enable
done
# All changes at once, while it suspends: writers are frozen wherever they are
(
	for ((i = 0; ; i++)); do
		echo 0 >$samples/lbrprof_sample/enable
		echo $((i % cpus)) >$sampler/cpus
		echo 1 >$samples/lbrprof_sample/enable
	done
) &
changing=$!
for level in processors core processors; do
	suspend mem $level
done
kill $changing 2>/dev/null || die "the sampler could not be changed"
wait $changing || true
echo 0 >$samples/enable
echo all >$sampler/cpus

# --- off, and on again
suspend mem processors
check_samples
echo 1 >$samples/enable
check_samples "${each[@]}"
suspend mem core
check_samples "${each[@]}"
echo 0 >$samples/enable
grep -q '^state: off' $sampler/status || die "the sampler is on: $(cat $sampler/status)"
mark

stop
made=$(number generated $target/ledger)
[ "$made" -eq "$(number acknowledged $target/ledger)" ] || die "not all was acknowledged"
[ "$made" -eq "$(number generated collected/ledger)" ] || die "the ledgers differ"
[ "$made" -eq "$(number delivered collected/ledger)" ] || die "not all was delivered"
trace-cmd report collected/*.dat >asleep.txt 2>report.err || die "report: $(cat report.err)"
grep -E ': cpu [0-9]+ mark ' asleep.txt >marks.txt
python3 "$TRACERIG_TOP/tests/guest/tracecast_cpu_marks_check.py" marks.txt "$all" $marks once ||
	die "marks are missing"
rmdir $target
rmdir $instance
rmmod awake
