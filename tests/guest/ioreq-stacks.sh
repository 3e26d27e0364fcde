#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# A program that logs twice for each request, and syncs once too often: ioreq names the
# two places, and the source line that the slow call comes from.
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
# The first time tables of what is new are not there yet
for _ in 1 2 3 4 5 6 7 8 9 10; do
	trace-cmd record -q -b 8192 -e iosys:io_syscall -e iosys:io_stack -e iosys:io_map -o trace.dat ./worker \
		>out 2>&1 || die "$(cat out)"
	! trace-cmd report trace.dat 2>/dev/null | grep -q 'io_stack: .*end=pending' || continue
	break
done
ioreq=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/tools/bin/ioreq
"$ioreq" --stacks --by=comm,call,object --format=json trace.dat >stacks.json || die "ioreq fails"
"$ioreq" --stacks trace.dat >stacks.txt || die "ioreq fails"
python3 - <<'END' || die "the stacks are not those of the program" "$(cat stacks.txt)"
import json
line = {word: n for n, text in enumerate(open("worker.c"), 1)
        for word in ("write", "begin", "sync", "end") if f"/* {word} */" in text}
result = json.load(open("stacks.json"))
group = {g["call"]: g for g in result["stacks"] if g["comm"] == "worker" and g["name"].endswith("/worker.log")}


def at(frame):
    return frame.get("function"), frame.get("file", "").rsplit("/", 1)[-1], frame.get("line")


def own(stack):
    assert stack["end"] == "complete" and stack["guessed"] == 0, stack
    return [at(f) for f in stack["frames"] if f["object"].endswith("/worker") and "line" in f]


# The write is the same; who wants it are three places, of which main calls one from two
write = group["write"]
assert write["count"] == 120, write
logged = ("log_line", "worker.c", line["write"])
seen = {}
for stack in write["stacks"]:
    frames = own(stack)
    assert frames[0] == logged and frames[-1][0] == "main", frames
    assert at(stack["frames"][stack["parts"] - 1])[0] in ("log_line", "answer"), stack
    seen.setdefault(frames[1], []).append(stack["count"])
assert seen == {("take", "worker.c", line["begin"]): [40], ("answer", "worker.c", line["end"]): [40, 40]}, seen
sync, = group["fsync"]["stacks"]
assert sync["count"] == 10 and own(sync)[0] == ("take", "worker.c", line["sync"]), sync
END
grep -q " take at .*worker\.c:$(awk '/sync \*\// { print NR }' worker.c)\$" stacks.txt || die "text has no source line" "$(cat stacks.txt)"
