/* SPDX-License-Identifier: GPL-2.0 */
/* Where the time of an operation went, from the scheduling, interrupt and block events. */
#ifndef TRACERIG_EXPLAIN_H
#define TRACERIG_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "guard.h"

/* What the events of a recording allow to find */
enum { SAW_SWITCH, SAW_WAKING, SAW_IRQ, SAW_SOFTIRQ, SAW_BLOCK, SAW_NR };

/**
 * struct cause - a part of the operation's time
 * @name:	what took it
 * @detail:	of its longest stretch
 * @ns:		time of all stretches
 * @usual:	of these, part of the usual duration
 * @longest:	the longest stretch
 * @at:		when that began
 * @cpu:	where
 * @own:	the thread's own running
 */
struct cause {
	char *name;
	char *detail;
	u64 ns;
	u64 usual;
	u64 longest;
	u64 at;
	u32 cpu;
	bool own;
};

/**
 * struct explain - the operation, and where its time went
 * @file:	the trace.dat
 * @start:	when it began
 * @end:	when it ended
 * @center:	its usual duration
 * @pid:	its thread, 0: it is a request to a device
 * @dev:	the device
 * @sector:	the request's first sector
 * @seen:	the events that the recording has
 * @lost:	records are lost in it
 * @cause:	the parts, largest excess first
 * @known:	time that these are
 */
struct explain {
	const char *file;
	u64 start;
	u64 end;
	u64 center;
	s32 pid;
	u64 dev;
	u64 sector;
	bool seen[SAW_NR];
	bool lost;
	struct cause *cause;
	size_t nr, room;
	u64 known;
};

int explain_read(struct guard *g, struct explain *x);
void explain_free(struct explain *x);

#endif
