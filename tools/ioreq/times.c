// SPDX-License-Identifier: GPL-2.0
/* Times, and buckets for what is found by a key. */
#include <stdlib.h>

#include "ioreq.h"

/**
 * mix - which bucket of a hash table?
 * @a: a key, or a part of it
 * @b: the other one
 *
 * Return: a number below BUCKETS.
 */
u32 mix(u64 a, u64 b)
{
	u64 h = (a ^ (b + 0x9e3779b97f4a7c15ull + (a << 6))) *
		0xff51afd7ed558ccdull;

	return (h ^ h >> 32) % BUCKETS;
}

/**
 * times_add - one more
 * @t: times
 * @time: it, ns
 */
void times_add(struct times *t, u64 time)
{
	t->time = grow(t->time, t->nr, &t->room, sizeof(*t->time));
	t->time[t->nr++] = time;
	t->sum += time;
}

static int by_value(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The least value that at least so many percent of them do not exceed */
static u64 percentile(const struct times *t, u32 percent)
{
	return t->time[(t->nr * percent + 99) / 100 - 1];
}

/**
 * times_finish - all are there
 * @t: times; @p50, @p99 and @max stay 0 if there are none
 */
void times_finish(struct times *t)
{
	if (!t->nr)
		return;
	qsort(t->time, t->nr, sizeof(*t->time), by_value);
	t->p50 = percentile(t, 50);
	t->p99 = percentile(t, 99);
	t->max = t->time[t->nr - 1];
}
