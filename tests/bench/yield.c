// SPDX-License-Identifier: GPL-2.0
/*
 * yield COUNT
 *
 * Two processes on one CPU that give it to each other, COUNT times each. Prints
 * the nanoseconds per switch, their number, and the median of the nanoseconds per
 * switch, which leaves out what is done for many switches at once; under icount the
 * clock counts instructions. No task is woken, so switches are the only events.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../guest/work.h"

static long switches(int who)
{
	struct rusage r;

	getrusage(who, &r);
	return r.ru_nvcsw + r.ru_nivcsw;
}

static void yield(long count)
{
	while (count--)
		sched_yield();
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* To the other one and back, each time: the median of half of that */
static double yield_timed(long count, double *took)
{
	double last = now(), at;
	long i;

	for (i = 0; i < count; i++) {
		sched_yield();
		at = now();
		took[i] = at - last;
		last = at;
	}
	qsort(took, count, sizeof(*took), by_value);
	return took[count / 2] / 2;
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 20000, before, first;
	double start, end, median, *took = calloc(count, sizeof(*took));
	cpu_set_t one;
	pid_t child;

	if (!took || count < 2000)
		return 1;
	/* There before it counts */
	memset(took, 1, count * sizeof(*took));

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		return 1;
	before = switches(RUSAGE_SELF);
	child = fork();
	if (child < 0)
		return 1;
	if (!child) {
		yield(count + 1000);
		_exit(0);
	}
	yield(500);
	start = now();
	before = switches(RUSAGE_SELF);
	yield(count / 2 - 500);
	end = now();
	/* The child's are as many */
	first = 2 * (switches(RUSAGE_SELF) - before);
	median = yield_timed(count / 2 - 500, took);
	printf("%.1f %ld %.1f\n", (end - start) / (first ? first : 1),
	       2 * (switches(RUSAGE_SELF) - before), median);
	waitpid(child, NULL, 0);
	return 0;
}
