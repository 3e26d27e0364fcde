/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random numbers that are the same in every run of a test, and assertions that are cheap
 * enough for loops over them.
 */
#ifndef RANDOM_H
#define RANDOM_H

#include <math.h>
#include <stdint.h>

#include <check.h>

#include "prng.h"

/* ck_assert() writes to its parent even on success: too slow for inner loops */
#define expect(cond, ...)                                \
	do {                                             \
		if (!(cond))                             \
			ck_abort_msg(#cond __VA_ARGS__); \
	} while (0)

#define SEED 0x9e3779b97f4a7c15

static uint64_t seed = SEED;

/* A test's fixture: without a process for each test (valgrind) as with one */
static inline void rnd_restart(void)
{
	seed = SEED;
}

static inline uint64_t rnd(void)
{
	return xorshift64_star(&seed);
}

/* one of 0 to @n - 1 */
static inline int64_t below(int64_t n)
{
	return rnd() % n;
}

/* uniform in (0, 1) */
static inline double rnd1(void)
{
	return unit_interval(rnd());
}

static inline double rnd_normal(void)
{
	return sqrt(-2 * log(rnd1())) * cos(2 * M_PI * rnd1());
}

#endif
