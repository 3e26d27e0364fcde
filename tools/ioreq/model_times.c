// SPDX-License-Identifier: GPL-2.0
/* Sets of durations */
#include <stdlib.h>

#include "model.h"
#include "order.h"

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

/* Nearest-rank percentile */
static u64 percentile(const struct times *t, u32 percent)
{
	return t->time[(t->nr * percent + 99) / 100 - 1];
}

/**
 * times_finish - sort the values and set the percentiles
 * @t:	set; @p50, @p99 and @max stay 0 if it is empty
 */
void times_finish(struct times *t)
{
	if (!t->nr)
		return;
	qsort(t->time, t->nr, sizeof(*t->time), order_u64);
	t->p50 = percentile(t, 50);
	t->p99 = percentile(t, 99);
	t->max = t->time[t->nr - 1];
}
