/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of the kernel that a watch uses: a trace instance of its own, and probes in
 * a system of its own. Both are removed when the watch ends. The next watch removes what
 * a killed one left: a living watch holds a lock on the directory of its instance, and
 * the lock of a killed one ended with its process. What is neither in the instance nor a
 * probe, set_graph_function, has a probe that names it.
 */
#ifndef TRACERIG_RIG_H
#define TRACERIG_RIG_H

#include <stdbool.h>
#include <linux/types.h>

#include <tracefs.h>

#include "plan.h"

/* Parts of a chart with by= whose limits are read: as many as the kernel has by default */
#define RIG_PARTS 64

/**
 * struct rig_part - the lines of a part of a chart with by=
 * @name:	"CHART[FIELD=VALUE]", as chart_label() makes it
 * @has_limit:	there is a limit
 * @center:	centre line
 * @limit:	upper control limit
 */
struct rig_part {
	char name[128];
	bool has_limit;
	u64 center;
	u64 limit;
};

/**
 * struct rig_chart - the state of a chart in the kernel
 * @state:	"judging" and so on; "" if that is unknown
 * @has_limit:	there is a limit
 * @has_center:	there is a centre line; otherwise the limit is fixed
 * @is_time:	its values are times, in ns
 * @center:	centre line
 * @limit:	upper control limit
 * @learnt:	number of values that its limit is learnt from
 * @values:	number of values judged
 * @alarms:	number of alarms
 * @not_written: number of alarms that are not in the ring buffer
 * @missed:	number of a function's calls that its probes have missed
 * @by:		it has a chart for each value of a field (by=): @has_limit and @has_center
 *		say whether any of them has one; with a centre line, @center and @limit are 0,
 *		without, @limit is that of all of them
 * @charts:	number of these
 * @limits:	how many of them have a limit
 * @part:	the first RIG_PARTS of them
 * @shared:	"CHART[]", the chart of all values for which the kernel has no room
 */
struct rig_chart {
	char state[64];
	bool has_limit;
	bool has_center;
	bool is_time;
	u64 center;
	u64 limit;
	u64 learnt;
	u64 values;
	u64 alarms;
	u64 not_written;
	u64 missed;
	bool by;
	unsigned int charts;
	unsigned int limits;
	struct rig_part part[RIG_PARTS];
	struct rig_part shared;
};

/**
 * struct rig - the part of the kernel
 * @plan:	what the watch does
 * @number:	N of instance tracerig-N and system tracerig_N
 * @name:	name of the instance
 * @system:	name of the probes' system
 * @instance:	the instance, NULL as long as there is none
 * @lock:	lock on its directory, or -1
 * @followed:	what paths_add() has said
 * @tep:	formats of the judged events, to name the parts of charts; or NULL
 */
struct rig {
	const struct plan *plan;
	unsigned int number;
	char name[32];
	char system[32];
	struct tracefs_instance *instance;
	int lock;
	size_t followed;
	struct tep_handle *tep;
};

/* The mode of lockdown in which tracefs cannot be used, and what to do */
#define LOCKDOWN_ALL "confidentiality"
#define LOCKDOWN_ADVICE \
	"tracefs cannot be used: boot with lockdown=integrity, or without Secure Boot"

/* What to do about it if another program has changed the instance of a watch */
#define RIG_ADVICE "end that program, and start the watch again"

bool rig_has_event(const char *system, const char *event);
char *rig_lockdown(void);
char *rig_check(void);
char *rig_open(struct rig *r, const struct plan *p, unsigned int *cleaned);
char *rig_prepare(struct rig *r, u64 buffer);
char *rig_start(struct rig *r);
char *rig_baseline(const struct rig *r, u64 buffer,
		   struct tracefs_instance **instance);
void rig_end_baseline(const struct rig *r);
void rig_stop(struct rig *r);
char *rig_close(struct rig *r);
char *rig_damage(const struct rig *r);
const char *rig_system(const struct rig *r, const struct plan_chart *c);
char *rig_chart_file(const struct rig *r, const struct plan_chart *c);
char *rig_chart_text(const struct rig *r, const struct plan_chart *c);
bool rig_parse_chart(char *text, const char *name, struct rig_chart *chart);
bool rig_chart(const struct rig *r, const struct plan_chart *c,
	       struct rig_chart *chart);
bool rig_has_lost(const struct rig *r, const struct plan_chart *c);
u64 rig_missed(const char *probes, const char *profile, const char *system,
	       const char *event);
u64 rig_overwritten(const struct rig *r, unsigned int cpus);

#endif
