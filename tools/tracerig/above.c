// SPDX-License-Identifier: GPL-2.0
/* Whether a limit fits the load. See above.h. */
#include "above.h"

#define SECOND 1000000000ull
#define MINUTE (60 * SECOND)

/* Shortest time between two reports of a chart */
#define AGAIN (60 * MINUTE)

/* Fewer values say nothing about the load */
#define VALUES_MIN 50

/* Percentage of values above the limit: more of them are not rare operations */
#define SHARE_MAX 50

/**
 * above_look - see whether most values of the last minute were above the limit
 * @a: what was seen before, all zero at first; updated
 * @c: the chart
 * @now: ns of CLOCK_MONOTONIC
 * @values: set to the number of values if the return value is not 0
 *
 * Return: the percentage above the limit if it is to be reported, otherwise 0.
 */
unsigned int above_look(struct above *a, const struct rig_chart *c, u64 now,
			u64 *values)
{
	u64 new_values = c->values - a->values;
	u64 new_alarms = c->alarms - a->alarms;
	bool whole = a->begun && now - a->begun >= MINUTE;
	/* The kernel may have restarted the count, or have another limit */
	bool same = c->values >= a->values && c->alarms >= a->alarms &&
		    c->limit == a->limit && c->has_limit;

	if (a->begun && same && !whole)
		return 0;
	*a = (struct above){ .begun = now,
			     .values = c->values,
			     .alarms = c->alarms,
			     .limit = c->limit,
			     .next = a->next };
	if (!whole || !same || new_values < VALUES_MIN || now < a->next ||
	    new_alarms * 100 <= new_values * SHARE_MAX)
		return 0;
	a->next = now + AGAIN;
	*values = new_values;
	/* An alarm can be counted before its value */
	return new_alarms >= new_values ? 100 : new_alarms * 100 / new_values;
}
