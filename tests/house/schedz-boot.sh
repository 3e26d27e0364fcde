#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 150
# needs: vm, kernel
# The command line sets the trace option schedz, and enables the event schedz_block in
# an instance, before there are events and timers.  Events that are encoded still reach
# the console (tp_printk) and have their stack traces.
. "$TRACERIG_TOP/tests/house/lib.sh"

mkdir out.d
cat >out.d/guest <<'END'
set -euo pipefail
cd /sys/kernel/tracing

fail() {
	printf '%s\n' "$@" >&2
	head -n 20 schedz instances/boot/schedz >&2
	exit 1
}

# get WORD [DIR]: the number after a word in the file schedz
get() {
	sed -n "s/.*\\b$1:* \\([0-9]*\\).*/\\1/p" "${2:-.}/schedz" | head -n 1
}

# Partial blocks are written without any reader, on a slow machine late
await_block() {
	local i
	for ((i = 0; i < 300; i++)); do
		[ "$(get blocks "$1")" -eq 0 ] || return 0
		sleep 0.2
	done
	fail "$1: no block was written"
}

[ "$(cat options/schedz)" -eq 1 ] || fail "trace_options=schedz did not set the option"
[ "$(sed -n 's/^state: //p' schedz)" = option ] || fail "the option is set, but not in use"
[ "$(sed -n 's/^state: //p' instances/boot/schedz)" = tap ] || fail "trace_instance= did not tap"
cp /bin/true /tmp/schedz_boot_exec
/tmp/schedz_boot_exec
await_block .
await_block instances/boot

# Events from before the option was in use are records
echo >trace
/tmp/schedz_boot_exec
dmesg | grep -q 'sched_process_exec: filename=/tmp/schedz_boot_exec' ||
	fail "tp_printk did not print an event that was encoded"
echo 0 >tracing_on
[ "$(get waiting)" -eq 0 ] || fail "events wait although recording is off"
cat trace >/tmp/trace
grep -q ' schedz_block: ' /tmp/trace || fail "there is no block"
if grep -q ' sched_process_exec: ' /tmp/trace; then
	fail "there are records of events that should be in blocks"
fi
grep -q '<stack trace>' /tmp/trace || fail "options/stacktrace recorded no stack"
END
expect 0 "$vm" --timeout $((120 * scale)) --output "$PWD/out.d" \
	--append "trace_options=schedz,stacktrace trace_event=sched:sched_process_fork,sched:sched_process_exec trace_instance=boot,schedz:schedz_block tp_printk" \
	-- bash -c '. "$TRACERIG_OUTPUT/guest"'
