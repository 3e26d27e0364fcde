/* SPDX-License-Identifier: GPL-2.0 */
/* Random numbers for made-up loads: the same for the same seed. */
#ifndef TESTS_CHANCE_H
#define TESTS_CHANCE_H

#include <math.h>
#include <stdint.h>

#include "prng.h"

/* Anything but 0, before the first number */
extern uint64_t chance_state;

static inline double uniform(double least, double most)
{
	return least +
	       (most - least) * ((xorshift64(&chance_state) >> 11) / 0x1p53);
}

static inline unsigned int below(unsigned int n)
{
	return uniform(0, n);
}

static inline int chance(double p)
{
	return uniform(0, 1) < p;
}

static inline double normal(void)
{
	return sqrt(-2 * log(uniform(1e-12, 1))) * cos(uniform(0, 2 * M_PI));
}

static inline double vary(double center, double sigma)
{
	return center * exp(sigma * normal());
}

#endif
