#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 150
# needs: vm, kernel
# The command line sets the trace option schedz, and enables the event schedz_block in an
# instance, before events and timers work.  Events that are encoded still reach the console
# (tp_printk) and have their stack traces.
. "$TRACERIG_TOP/tests/house/lib.sh"

in_guest 0 \
	--append "trace_options=schedz,stacktrace trace_event=sched:sched_process_fork,sched:sched_process_exec trace_instance=boot,schedz:schedz_block tp_printk" <<'END'
set -euo pipefail
. "$TRACERIG_TOP/tests/lib.bash"
cd /sys/kernel/tracing

explain() {
	head -n 20 schedz instances/boot/schedz
}

# get WORD [DIR]: print the number after a word in the file schedz
get() {
	sed -n "s/.*\\b$1:* \\([0-9]*\\).*/\\1/p" "${2:-.}/schedz" | head -n 1
}

# Partial blocks are written without any reader, but late on a slow machine
has_block() {
	[ "$(get blocks "$1")" -gt 0 ]
}

[ "$(cat options/schedz)" -eq 1 ] || die "trace_options=schedz did not set the option"
[ "$(sed -n 's/^state: //p' schedz)" = option ] || die "the option is set, but not in use"
[ "$(sed -n 's/^state: //p' instances/boot/schedz)" = tap ] || die "trace_instance= did not tap"
cp /bin/true /tmp/schedz_boot_exec
/tmp/schedz_boot_exec
until_true 60 has_block .
until_true 60 has_block instances/boot

# Events from before the option was set are ordinary records
echo >trace
/tmp/schedz_boot_exec
dmesg | grep 'sched_process_exec: filename=/tmp/schedz_boot_exec' >/dev/null ||
	die "tp_printk did not print an event that was encoded"
echo 0 >tracing_on
[ "$(get waiting)" -eq 0 ] || die "events wait although recording is off"
cat trace >/tmp/trace
grep -q ' schedz_block: ' /tmp/trace || die "there is no block"
if grep -q ' sched_process_exec: ' /tmp/trace; then
	die "there are records of events that should be in blocks"
fi
grep -q '<stack trace>' /tmp/trace || die "options/stacktrace recorded no stack"
END
