/* SPDX-License-Identifier: GPL-2.0 */
/* What a watch reports about its charts while it waits. */
#ifndef TRACERIG_WATCH_CHARTS_H
#define TRACERIG_WATCH_CHARTS_H

#include <stdbool.h>
#include <linux/types.h>

#include "above.h"
#include "plan.h"
#include "rig.h"

/**
 * struct seen - what has been printed of a chart
 * @limit:	the limit, or with by= the number of limits
 * @said:	this has been printed
 * @loaded:	the first limit is from --limits
 * @charts:	with by= and @loaded, charts that were there at first, or that were reported
 * @unloaded:	one of these learns, since --limits has no limit for it
 * @next:	when the number of limits may be printed again
 * @silent:	a value has come, or that none has was printed
 * @above:	whether it fits the load
 */
struct seen {
	u64 limit;
	bool said;
	bool loaded;
	unsigned int charts;
	bool unloaded;
	u64 next;
	bool silent;
	struct above above;
};

bool chart_look(const struct rig *rig, const struct plan_chart *c,
		struct rig_chart *k, struct seen *s, u64 waited);

#endif
