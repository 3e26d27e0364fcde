/* SPDX-License-Identifier: GPL-2.0 */
/* Whether a limit fits the load: with one that does not, most values are alarms. */
#ifndef TRACERIG_ABOVE_H
#define TRACERIG_ABOVE_H

#include <stdbool.h>
#include <linux/types.h>

#include "rig.h"

/**
 * struct above - values of a chart and alarms, from one minute to the next
 * @begun:	when this minute began, ns of CLOCK_MONOTONIC; 0: not yet
 * @values:	number of values judged until then
 * @alarms:	number of alarms until then
 * @limit:	the limit then
 * @next:	when it may be reported again, ns
 */
struct above {
	u64 begun;
	u64 values;
	u64 alarms;
	u64 limit;
	u64 next;
};

unsigned int above_look(struct above *a, const struct rig_chart *c, u64 now,
			u64 *values);

#endif
