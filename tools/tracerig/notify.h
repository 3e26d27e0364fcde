/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reports cases: to a command (--on-alarm), to the journal, and to a file for Prometheus.
 */
#ifndef TRACERIG_NOTIFY_H
#define TRACERIG_NOTIFY_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <linux/types.h>

#include "plan.h"
#include "rig.h"
#include "store.h"

/**
 * struct notice - a case to report
 * @number:	its number, 0 if it is not kept
 * @like:	number of the first kept case that it is like, its own if it is the first;
 *		0 if no such case is kept
 * @alike:	number of cases that are alike, this one included
 * @dir:	its directory, "" if it is not kept
 * @group:	what makes cases alike
 * @chart:	name of its chart
 * @value:	the value, or the duration in ns
 * @limit:	the limit
 * @is_time:	these are times
 * @pid:	thread of the start event
 * @comm:	its name
 * @keys:	keys of the alarm
 * @nr_alarms:	number of alarms in the window
 * @charts:	names of the charts that had them, @chart first
 * @removed:	number of the case that it replaces as the worst one, 0 if none
 * @why:	why it is not kept; "" if it is, or is only counted
 * @message:	all of this but @why in a line
 */
struct notice {
	u64 number;
	u64 like;
	u64 alike;
	const char *dir;
	const char *group;
	const char *chart;
	u64 value;
	u64 limit;
	bool is_time;
	int pid;
	const char *comm;
	const char *keys;
	u64 nr_alarms;
	struct json_object *charts;
	u64 removed;
	const char *why;
	const char *message;
};

char *notice_message(const struct notice *n);

/**
 * struct command - the command of --on-alarm
 * @text:	for the shell; NULL: none
 * @interval:	shortest time from one start to the next, ns
 * @pid:	the process, 0 if it does not run
 * @next:	when it may be started again, ns of CLOCK_MONOTONIC
 * @skipped:	number of cases since its last start for which it was not started
 * @failed:	number of times that it failed
 */
struct command {
	const char *text;
	u64 interval;
	pid_t pid;
	u64 next;
	u64 skipped;
	u64 failed;
};

bool command_start(struct command *c, const struct notice *n, u64 now);
void command_ended(struct command *c, int status);
void command_wait(struct command *c);

bool journal_send(const struct notice *n);

/* Groups with a sample of their own: each is a time series in Prometheus */
#define METRICS_GROUPS 50

/**
 * struct metrics - what is written for Prometheus
 * @plan:	the charts
 * @chart:	what the kernel says about each of them
 * @kept:	number of cases kept since the start
 * @alike:	number of cases since the start that were only counted
 * @failed:	number of cases since the start that could not be written
 * @lost:	number of events lost in windows since the start
 * @own:	number of alarms that the watch itself caused
 * @bytes:	size of all cases
 * @store:	the cases, whose groups are never reordered
 */
struct metrics {
	const struct plan *plan;
	const struct rig_chart *chart;
	u64 kept;
	u64 alike;
	u64 failed;
	u64 lost;
	u64 own;
	u64 bytes;
	const struct store *store;
};

void metrics_print(const struct metrics *m, FILE *out);
char *metrics_check(const char *path);
char *metrics_write(const struct metrics *m, const char *path);

#endif
