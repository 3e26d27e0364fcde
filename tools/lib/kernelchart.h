/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The charts of the running kernel: what an event's file "ctlchart" says.
 */
#ifndef LIB_KERNELCHART_H
#define LIB_KERNELCHART_H

#include <stdbool.h>
#include <linux/types.h>

#include "chart.h"

/**
 * struct kernel_chart - a chart in an event's file "ctlchart"
 * @name:	its name, in the text that was parsed
 * @part:	it is a part (by=) of the chart before it
 * @by:		it has parts: its lines are for values that have no part of their own
 * @call:	its call, without spaces
 * @state:	"judging" and so on
 * @limits:	the lines
 * @is_time:	they are times
 * @has_limit:	there is a limit
 * @has_center:	there is a centre line
 * @zones:	lines of rules=, as text, or NULL
 * @learnt:	values that its limit is learnt from
 * @values:	values judged
 */
struct kernel_chart {
	char *name;
	bool part;
	bool by;
	char *call;
	char *state;
	struct ctlchart_limits limits;
	bool is_time;
	bool has_limit;
	bool has_center;
	char *zones;
	u64 learnt;
	u64 values;
};

bool kernel_next_chart(char **text, struct kernel_chart *c);

#endif
