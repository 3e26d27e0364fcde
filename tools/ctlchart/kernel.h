/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The charts of the running kernel, by libtracefs.
 */
#ifndef CTLCHART_KERNEL_H
#define CTLCHART_KERNEL_H

#include <tracefs.h>

#include "limits.h"

int kernel_check(struct guard *g, const char *dir);
const char *kernel_tracefs(void);
bool kernel_has_instance(const char *name);
bool kernel_has_file(struct tracefs_instance *instance, const char *system,
		     const char *event, const char *file);

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
	u64 values;
};

bool kernel_next_chart(char **text, struct kernel_chart *c);
char *kernel_filter(struct tracefs_instance *instance, const char *system,
		    const char *event);

#endif
