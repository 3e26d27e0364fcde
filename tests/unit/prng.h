/* SPDX-License-Identifier: GPL-2.0 */
/* The random number generators of tests: the same numbers for the same state. */
#ifndef TESTS_PRNG_H
#define TESTS_PRNG_H

#include <stdint.h>

/* @state: anything but 0 */
static inline uint64_t xorshift64(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* xorshift64*: its low bits are better. @state: anything but 0 */
static inline uint64_t xorshift64_star(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

/* A random number as a uniform one in (0, 1) */
static inline double unit_interval(uint64_t number)
{
	return ((number >> 11) + 0.5) / 0x1p53;
}

#endif
