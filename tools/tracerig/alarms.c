// SPDX-License-Identifier: GPL-2.0
/* The alarms of a window. See alarms.h. */
#include <stdlib.h>

#include "alarms.h"

static bool is_worse(const struct alarm *a, const struct alarm *b)
{
	bool unknown = a->start && !a->limit;

	/* The event that has the limit of a duration can be lost */
	if (unknown != (b->start && !b->limit))
		return !unknown;
	/* By multiplication: the limit of a number in an event can be 0 */
	return (double)a->value * (b->limit ? b->limit : 1) >
	       (double)b->value * (a->limit ? a->limit : 1);
}

/**
 * alarm_list_add - add an alarm
 * @l: the list
 * @a: the alarm; if there are ALARMS_MAX, it takes the place of one that is not as bad
 */
void alarm_list_add(struct alarm_list *l, const struct alarm *a)
{
	u64 start = a->start ? a->start : a->ts;
	size_t i, least = 0;

	if (!l->nr || is_worse(a, &l->lead))
		l->lead = *a;
	if (!l->nr || start < l->earliest)
		l->earliest = start;
	if (l->nr++ < ALARMS_MAX) {
		l->alarm[l->nr - 1] = *a;
		return;
	}
	for (i = 1; i < ALARMS_MAX; i++) {
		if (is_worse(&l->alarm[least], &l->alarm[i]))
			least = i;
	}
	if (is_worse(a, &l->alarm[least]))
		l->alarm[least] = *a;
}

static int by_time(const void *a, const void *b)
{
	const struct alarm *x = a, *y = b;

	return x->ts < y->ts ? -1 : x->ts > y->ts;
}

/**
 * alarm_list_sort - sort the alarms by time
 * @l: the list
 *
 * Return: the number of alarms in @l->alarm.
 */
size_t alarm_list_sort(struct alarm_list *l)
{
	size_t n = l->nr < ALARMS_MAX ? l->nr : ALARMS_MAX;

	qsort(l->alarm, n, sizeof(*l->alarm), by_time);
	return n;
}
