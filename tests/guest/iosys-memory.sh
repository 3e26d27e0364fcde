#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# iosys allocates memory for the threads that make calls, no more than the file iosys reports,
# and frees it when the events are disabled. The allocations are read from /proc/vmallocinfo.
. "$TRACERIG_TOP/tests/guest/functions"

# memory WORD: print the number after it in the line "memory" of the file iosys
memory() { sed -n "s/^memory:.* $1 \([0-9]*\).*/\1/p" "$tracing/iosys"; }
# count WORD: print the number after the first WORD in the file
count() { sed -n "s/.*\b$1:* \([0-9]*\).*/\1/p" "$tracing/iosys" | head -n 1; }
# Bytes of slots, by the function that allocates them; each area has a guard page
allocated() {
	awk '/ add_chunk\+/ { n += $2 - 4096 } END { print n + 0 }' /proc/vmallocinfo
}
enable() {
	local event
	for event in io_syscall io_request io_pending io_fault io_stack io_map; do
		[ ! -e "$tracing/events/iosys/$event" ] || echo "$1" >"$tracing/events/iosys/$event/enable"
	done
}
# The parts that are freed; stacks, and the objects they refer to, stay for the trace's readers
all_freed() {
	local part
	for part in call_slots request_slots known_files stack_walkers; do
		same 0 "$(memory $part)" "bytes of $part, $1"
	done
	same 0 "$(allocated)" "bytes that are allocated for slots, $1"
}

[ -e "$tracing/events/iosys" ] || die "this kernel has no iosys"
all_freed "before the first event"

cat >blocked.c <<'END'
/* 2000 threads that read an empty pipe, until there is a byte in the standard input */
#include <pthread.h>
#include <unistd.h>

static int ends[2];

static void *wait_for_end(void *arg)
{
	char c;

	if (read(ends[0], &c, 1) < 0)
		_exit(1);
	return arg;
}

int main(void)
{
	pthread_t threads[2000];
	pthread_attr_t attr;
	char c;

	if (pipe(ends) || pthread_attr_init(&attr) || pthread_attr_setstacksize(&attr, 65536))
		return 1;
	for (int i = 0; i < 2000; i++)
		if (pthread_create(&threads[i], &attr, wait_for_end, NULL))
			return 1;
	if (read(0, &c, 1) < 0 || close(ends[1]))
		return 1;
	for (int i = 0; i < 2000; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
gcc -O1 -Wall -Wextra -pthread -o blocked blocked.c

enable 1
cpus=$(awk -F- '{ print $NF + 1 }' /sys/devices/system/cpu/possible)
small=$(count slots)
[ "$small" -lt 4096 ] || die "a small system has $small slots" "$(cat "$tracing/iosys")"
[ "$(memory stack_walkers)" -le $((65536 * cpus)) ] || die "more than 64 KB per CPU" "$(cat "$tracing/iosys")"

# Many threads that wait have slots; there are no other slots but the spare ones
before=$(count dropped)
mkfifo go
./blocked <go &
exec 3>go
all_wait() { [ "$(count open)" -ge 2000 ]; }
while_alive $! all_wait || die "the threads are gone"
same "$before" "$(count dropped)" "calls without a slot"
[ "$(count slots)" -ge 2000 ] || die "2000 calls have $(count slots) slots" "$(cat "$tracing/iosys")"
[ "$(allocated)" -gt 0 ] || die "there are no slots in /proc/vmallocinfo"
slots=$(($(memory call_slots) + $(memory request_slots)))
# Besides the slots, at most two words for each
rest=$((slots - $(allocated)))
if [ "$rest" -lt 0 ] || [ "$rest" -gt $((16 * (16384 + 8192) + 8192)) ]; then
	die "$(allocated) bytes of slots are allocated" "$(cat "$tracing/iosys")"
fi
echo "# $(grep '^slots:' "$tracing/iosys")"
echo "# $(grep '^memory:' "$tracing/iosys")"
echo >&3
wait $!
exec 3>&-
same "$before" "$(count dropped)" "calls without a slot, after all"
enable 0
all_freed "after the last event"

# An event in an instance has slots, too
mkdir "$tracing/instances/memory"
echo 1 >"$tracing/instances/memory/events/iosys/io_syscall/enable"
[ "$(allocated)" -gt 0 ] || die "an instance has no slots"
rmdir "$tracing/instances/memory"
all_freed "after an instance"
