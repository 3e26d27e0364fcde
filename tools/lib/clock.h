/* SPDX-License-Identifier: GPL-2.0 */
/* Time that passes while a tool runs. */
#ifndef LIB_CLOCK_H
#define LIB_CLOCK_H

#include <linux/types.h>
#include <time.h>

/**
 * now_ns - the time by CLOCK_MONOTONIC, in ns
 */
static inline u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

#endif
