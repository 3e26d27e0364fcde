/* SPDX-License-Identifier: GPL-2.0 */
/* tracerig watch: its options, and what it does. */
#ifndef TRACERIG_WATCH_H
#define TRACERIG_WATCH_H

#include <stdbool.h>
#include <linux/types.h>

#include "plan.h"

/**
 * struct watch_options - the command line
 * @plan:	what is watched
 * @event:	the last -e, if no -f has followed
 * @dir:	directory of the cases
 * @duration:	how long, ns; 0: until a signal
 * @on_alarm:	command for the shell, or NULL
 * @interval:	shortest time between two starts of it, ns
 * @stop_after:	number of cases after which the watch ends; 0: never
 * @keep:	bytes that all cases may have
 * @buffer:	bytes of the ring buffer of each CPU
 * @limits:	file of limits to load, or NULL
 * @save_limits: file to save limits to, or NULL
 * @metrics:	file for Prometheus, or an address, see http_is_address(), or NULL
 * @paths:	record the paths of functions
 * @print:	print the commands that record the same, and end
 */
struct watch_options {
	struct plan plan;
	const char *event;
	const char *dir;
	u64 duration;
	const char *on_alarm;
	u64 interval;
	u64 stop_after;
	u64 keep;
	u64 buffer;
	const char *limits;
	const char *save_limits;
	const char *metrics;
	bool paths;
	bool print;
};

int watch_run(const struct watch_options *o);

/* Limits go through ctlchart save and ctlchart load */
char *limits_check_save(const char *path);
char *limits_check_load(const char *file);
bool limits_exchange(const struct plan *p, const char *instance,
		     const char *file, bool load);

#endif
