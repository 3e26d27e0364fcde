// SPDX-License-Identifier: GPL-2.0
/*
 * yield COUNT
 *
 * Two processes on one CPU that give it to each other, COUNT times each. Prints
 * the nanoseconds per switch and the number of switches; under icount the clock
 * counts instructions. Nobody is woken meanwhile, so switches are all there is.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

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

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 20000, before;
	cpu_set_t one;
	double start;
	pid_t child;

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
	yield(count - 1000);
	/* The child's are as many */
	before = 2 * (switches(RUSAGE_SELF) - before);
	printf("%.1f %ld\n", (now() - start) / (before ? before : 1), before);
	waitpid(child, NULL, 0);
	return 0;
}
