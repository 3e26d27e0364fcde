/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The trace.dat of a case: what the ring buffers of all CPUs had in the window.
 */
#ifndef TRACERIG_WINDOW_H
#define TRACERIG_WINDOW_H

#include <stdbool.h>
#include <stdio.h>
#include <linux/types.h>

#include "elfcopy.h"
#include "reader.h"
#include "callstacks.h"

struct datfile;

/* Values that a case keeps before, and after, its alarm */
#define VALUES_BEFORE 50
#define VALUES_AFTER 10

/**
 * struct window_cpu - a CPU's part of a window
 * @events:	number of events
 * @first:	time of the first one, ns
 * @last:	time of the last one, ns
 * @gaps:	number of places where events are lost
 * @lost:	number of events that are lost there, as far as the kernel counts them
 */
struct window_cpu {
	u64 events;
	u64 first;
	u64 last;
	u64 gaps;
	u64 lost;
};

/**
 * struct window_value - a value of the alarm's chart
 * @ts:		when it was judged, ns
 * @value:	the value
 * @limit:	what it was judged by; U64_MAX if there was no limit
 */
struct window_value {
	u64 ts;
	u64 value;
	u64 limit;
};

/**
 * struct window - what is known about a window
 * @cpu:	of each CPU
 * @cpus:	number of these
 * @first:	time of the first event, ns
 * @last:	time of the last one, ns
 * @value:	values of the alarm's chart in order of time, those around the alarm
 * @nr_values:	number of these
 * @symbols:	programs and libraries that its addresses refer to
 * @stacks:	of the calls that iosys has seen
 */
struct window {
	struct window_cpu *cpu;
	unsigned int cpus;
	u64 first;
	u64 last;
	struct window_value *value;
	size_t nr_values, value_room;
	struct elfcopy symbols;
	struct callstacks stacks;
};

int window_head(const char *const *systems, const char *dir);
struct datfile *window_begin(FILE *out, int head, unsigned int cpus,
			     unsigned int page_size);
bool window_write(struct window *w, FILE *out, int head, struct reader *r);
void window_free(struct window *w);

#endif
