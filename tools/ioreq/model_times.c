// SPDX-License-Identifier: GPL-2.0
/* Sets of durations */
#include "hash.h"
#include "model.h"

/**
 * times_add - add a value
 * @t:		set
 * @time:	value, ns or bytes
 */
void times_add(struct times *t, u64 time)
{
	GROW(t->time, t->nr, t->room);
	t->time[t->nr++] = time;
	t->sum += time;
}

/*
 * Put the value that a sorted array would have at @at there, greater ones after it and
 * lesser ones before it: Hoare, "Algorithm 65: Find", CACM 4 (1961). As the pivot is random,
 * the author of a file cannot choose times that make this slow.
 */
static u64 select_at(u64 *value, s64 low, s64 high, s64 at)
{
	while (low < high) {
		u64 random = hash_pair(low, high) % (u64)(high - low + 1);
		u64 pivot = value[low + random];
		s64 i = low, j = high;

		while (i <= j) {
			while (value[i] < pivot)
				i++;
			while (value[j] > pivot)
				j--;
			if (i <= j) {
				u64 swap = value[i];

				value[i++] = value[j];
				value[j--] = swap;
			}
		}
		if (at > j && at < i)
			break;
		if (at <= j)
			high = j;
		else
			low = i;
	}
	return value[at];
}

/* Index of a nearest-rank percentile */
static s64 rank(const struct times *t, u32 percent)
{
	return (t->nr * percent + 99) / 100 - 1;
}

/**
 * times_finish - set the percentiles
 * @t:	set, of which this changes the order; @p50, @p99 and @max stay 0 if it is empty
 */
void times_finish(struct times *t)
{
	s64 last = t->nr - 1;

	if (!t->nr)
		return;
	t->p50 = select_at(t->time, 0, last, rank(t, 50));
	t->p99 = select_at(t->time, rank(t, 50), last, rank(t, 99));
	t->max = select_at(t->time, rank(t, 99), last, last);
}
