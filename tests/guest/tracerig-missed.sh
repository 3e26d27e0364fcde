#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 200
#
# A watch of a function of the kernel in which many threads sleep: by itself, a return probe
# has room for 10 calls. The watch's has room for 4096, and the calls that it misses are
# counted, as the kernel counts them.
. "$TRACERIG_TOP/tests/guest/functions"

need_ctlchart
export PATH=$TRACERIG_TOP/build/tools/bin:$PATH
function=hrtimer_nanosleep

explain() {
	cat log err "$tracing/kprobe_events" "$tracing/kprobe_profile" 2>/dev/null
}

cat >sleepers.c <<'END'
/* sleepers N: N threads that are in nanosleep() at a time, until a line comes */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void *sleeper(void *arg)
{
	struct timespec ts = { .tv_sec = 100000 };

	nanosleep(&ts, NULL);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_attr_t attr;
	pthread_t t;
	int i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16384);
	for (i = 0; i < atoi(argv[argc - 1]); i++) {
		if (pthread_create(&t, &attr, sleeper, NULL)) {
			perror("pthread_create");
			return 1;
		}
	}
	puts("all");
	fflush(stdout);
	_exit(getchar() == EOF);
}
END
gcc -O1 -o sleepers sleepers.c -lpthread
echo 20000 >/proc/sys/kernel/threads-max
echo 20000 >/proc/sys/vm/max_map_count

# A probe of another program, with an event of the same name, is before the watch's own
echo "r:other/${function}_return $function" >>"$tracing/kprobe_events"
echo 1 >"$tracing/events/other/enable"

# hits: of the probes in the order of kprobe_events, by the kernel
asleep() {
	[ "$(awk -v f="${function}_entry" '$1 == f { print $2 }' "$tracing/kprobe_profile")" -ge "$1" ]
}
measured() { # NUMBER: as many missed calls, or more, in the metrics
	metric=$(sed -n "s/^tracerig_missed_calls_total{chart=\"function.$function\"} //p" metrics)
	[ "${metric:--1}" -ge "$1" ]
}
missed() { # NUMBER of a probe
	awk -v n="$1" 'NR == n { print $3 }' "$tracing/kprobe_profile"
}

crowd() { # N: sleepers during a watch; how many calls the watch says that it has missed is in $said
	tracerig watch --dir="$PWD/cases" "function:$function" --metrics=metrics >log 2>err &
	pid=$!
	until_true 30 grep -q ': learning$' log
	grep -q "^r4096:tracerig_1/${function}_return $function" "$tracing/kprobe_events" || die "no room for 4096 calls"
	mkfifo go
	./sleepers "$1" <go >sleeping &
	exec 3>go
	until_true 60 grep -q all sleeping
	until_true 60 asleep "$1"
	ours=$(($(missed 2) + $(missed 3)))
	others=$(missed 1)
	until_true 30 measured "$ours"
	# Others sleep as well, and while there is no room they are missed, too
	later=$(($(missed 2) + $(missed 3)))
	[ "$metric" -le "$later" ] || die "the metrics have $metric missed calls, and the kernel has $later"
	echo >&3
	exec 3>&-
	rm go
	kill "$pid"
	wait "$pid" && die "a watch that has learnt nothing says so"
	said=$(sed -n "s/^function.$function: \([0-9]*\) calls were missed.*/\1/p" log)
}

crowd 60
[ "$others" -ge 40 ] || die "a probe of the usual size missed $others of 60 calls"
same 0 "$ours" "missed calls, by the kernel"
same "" "$said" "missed calls, by the watch"
crowd 4300
[ "$ours" -ge 204 ] || die "$ours of 4300 calls were missed"
[ "$said" -ge "$ours" ] || die "the watch counts $said missed calls, and $ours were missed"
echo "4300 calls at a time: $ours missed"
echo 0 >"$tracing/events/other/enable"
echo >"$tracing/kprobe_events"
