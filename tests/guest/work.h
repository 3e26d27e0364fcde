/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs share that tests trace or measure. CHECK() needs _GNU_SOURCE. */
#ifndef _TESTS_GUEST_WORK_H
#define _TESTS_GUEST_WORK_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* What does not hold ends the program, with the place and errno */
#define CHECK(what)                                                      \
	do {                                                             \
		if (!(what)) {                                           \
			fprintf(stderr, "%s:%d: %s: %m\n",               \
				program_invocation_short_name, __LINE__, \
				#what);                                  \
			exit(1);                                         \
		}                                                        \
	} while (0)

static inline void __attribute__((noreturn)) die(const char *what)
{
	perror(what);
	exit(1);
}

/* As trace_clock mono has it, in ns */
static inline unsigned long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* By how much time limits are multiplied on this host today */
static inline unsigned int time_scale(void)
{
	const char *scale = getenv("TRACERIG_TIMEOUT_SCALE");

	return scale ? atoi(scale) : 1;
}

#endif /* _TESTS_GUEST_WORK_H */
