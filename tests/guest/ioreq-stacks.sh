#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# A program that logs twice for each request, and syncs once too often: ioreq names both call
# sites, and the source line of the slow call.
. "$TRACERIG_TOP/tests/guest/functions"

[ -e "$tracing/events/iosys/io_stack" ] || die "this kernel has no io_stack"
cat >worker.c <<'END'
#include <fcntl.h>
#include <unistd.h>
static int file;
#define KEEP __asm__ volatile("" ::: "memory")
__attribute__((noinline)) static void log_line(const char *line, int len)
{
	if (write(file, line, len) != len) /* write */
		_exit(1);
	KEEP;
}
__attribute__((noinline)) static void take(int request)
{
	log_line("begin\n", 6); /* begin */
	if (request % 4 == 0)
		fsync(file); /* sync */
	KEEP;
}
__attribute__((noinline)) static void answer(void)
{
	log_line("end\n", 4); /* end */
	KEEP;
}
int main(void)
{
	int request;

	file = open("worker.log", O_CREAT | O_WRONLY | O_APPEND, 0600);
	for (request = 0; request < 40; request++) {
		take(request);
		answer();
		answer();
	}
	return 0;
}
END
gcc -O2 -g -Wl,--build-id -o worker worker.c
# The tables of new files are not built in the first run
for _ in 1 2 3 4 5 6 7 8 9 10; do
	trace-cmd record -q -b 8192 -e iosys:io_syscall -e iosys:io_stack -e iosys:io_map -o trace.dat ./worker \
		>out 2>&1 || die "$(cat out)"
	! trace-cmd report trace.dat 2>/dev/null | grep 'io_stack: .*end=pending' >/dev/null || continue
	break
done
ioreq=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/ioreq
"$ioreq" --stacks --by=comm,call,object --format=json trace.dat >stacks.json || die "ioreq fails"
"$ioreq" --stacks trace.dat >stacks.txt || die "ioreq fails"
python3 "$TRACERIG_TOP/tests/guest/ioreq_stacks_check.py" || die "the stacks are not those of the program" "$(cat stacks.txt)"
grep -q " take at .*worker\.c:$(awk '/sync \*\// { print NR }' worker.c)\$" stacks.txt || die "text has no source line" "$(cat stacks.txt)"
