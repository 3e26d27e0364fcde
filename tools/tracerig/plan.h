/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a watch does to the kernel: probes, events and filters, from the presets and
 * options on its command line.
 */
#ifndef TRACERIG_PLAN_H
#define TRACERIG_PLAN_H

#include <linux/types.h>
#include <stddef.h>
#include <stdio.h>

/* Limit of the number of charts of a watch */
#define PLAN_CHARTS 16

/*
 * Calls whose returns can be traced at a time: the maximum that the kernel allows. Its
 * default is 10, or 2 for each CPU; a function in which threads sleep has more calls in
 * flight. It takes about 350 KiB, and 32 KiB for each CPU. Returns in user space have no
 * such limit.
 */
#define PLAN_CALLS 4096

/* The tracer that records paths */
#define PLAN_TRACER "function_graph"

/* How the events of probes end that are struct plan_probe's @paths */
#define PLAN_PATHS "_paths"

/**
 * struct plan_probe - a dynamic event
 * @event:	its name; its system is the watch's own
 * @returns:	it is at the return of the function
 * @function:	function of the kernel, or NULL
 * @file:	program or library, or NULL
 * @offset:	of the function in @file, in bytes
 * @of:		it is another event of @of, "system/event", that passes a filter; or NULL
 * @args:	then its fields and the filter
 * @paths:	it is never enabled: it says that this watch follows @function, and stays if the
 *		watch is killed
 */
struct plan_probe {
	char *event;
	bool returns;
	char *function;
	char *file;
	u64 offset;
	const char *of;
	char *args;
	bool paths;
};

/**
 * struct plan_chart - a chart
 * @name:	its name
 * @system:	system of the judged event, or NULL if that is a probe
 * @event:	the judged event
 * @filter:	its filter
 * @symbol:	function of a probe, for case.json; or NULL
 * @file:	program or library of a probe, or NULL
 * @build_id:	its build-id in hexadecimal, or NULL
 * @paths:	the function of the kernel whose paths are recorded, or NULL
 */
struct plan_chart {
	char *name;
	char *system;
	char *event;
	char *filter;
	char *symbol;
	char *file;
	char *build_id;
	char *paths;
};

/**
 * struct plan - a watch
 * @chart:	its charts
 * @nr_charts:	number of these
 * @lead_in:	the longest time before an operation that its windows include, ns
 * @probe:	its probes
 * @nr_probes:	number of these
 * @context:	the other events that are recorded, "system:event"
 * @optional:	for each of these: whether the kernel may lack it
 * @nr_context:	number of these
 */
struct plan {
	struct plan_chart chart[PLAN_CHARTS];
	size_t nr_charts;
	u64 lead_in;
	struct plan_probe *probe;
	size_t nr_probes, probe_room;
	char **context;
	bool *optional;
	size_t nr_context;
};

char *plan_preset(struct plan *p, const char *text);
char *plan_filter(struct plan *p, const char *event, const char *filter);
char *plan_context(struct plan *p, const char *event);
char *plan_paths(struct plan *p);
const char *plan_call(const struct plan_chart *c);
bool plan_has_paths(const struct plan *p);
void plan_common(struct plan *p);
void plan_print(const struct plan *p, FILE *out, u64 buffer,
		bool (*has_event)(const char *system, const char *event));
const char **plan_systems(const struct plan *p, const char *probes);
void plan_systems_free(const char **list);
void plan_free(struct plan *p);

char *uprobe_find(const char *file, const char *symbol, u64 *offset,
		  char **build_id);

#endif
