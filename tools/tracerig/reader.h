/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads the instance's ring buffer, page by page, into a spool, and finds the alarms.
 * The kernel delivers only the events of windows, so all of the spool belongs to the
 * next case.
 */
#ifndef TRACERIG_READER_H
#define TRACERIG_READER_H

#include <kbuffer.h>
#include <poll.h>
#include <stdbool.h>
#include <linux/types.h>

#include <tracefs.h>

#include "charts.h"

#define COMM_LEN 16

/* Limit of the number of alarms that case.json lists */
#define ALARMS_MAX 100

/* Number of windows that are kept for operations that are still under way */
#define PAST 4

/**
 * struct alarm - an event ctlchart_alarm
 * @ts:		its time, ns of the trace clock
 * @cpu:	CPU on which it was written
 * @start:	time of the start event, 0 for a number in an event
 * @value:	the duration in ns, or the number
 * @center:	centre line
 * @limit:	upper control limit
 * @values:	number of values that the chart had judged when its limit was written
 * @rules:	what was broken, as the kernel's flags
 * @pid:	thread that was current at the start event
 * @kept:	the judged event passed its filter
 * @comm:	name of the thread
 * @chart:	name of the chart
 * @keys:	the keys, "dev=254:0 sector=1234"
 */
struct alarm {
	u64 ts;
	u32 cpu;
	u64 start;
	u64 value;
	u64 center;
	u64 limit;
	u64 values;
	u32 rules;
	int pid;
	bool kept;
	char comm[COMM_LEN];
	char chart[128];
	char keys[200];
};

/**
 * struct spool - pages of the ring buffer
 * @page_size:	bytes of a page
 * @memory:	the first @in_memory pages
 * @in_memory:	number of pages in memory
 * @file:	a temporary file with the others; -1 if it cannot be made
 * @cpu:	CPU of each page; those of a CPU are in order
 * @nr:		number of pages
 * @room:	of @cpu
 * @end:	time of the latest event in them, ns; 0 without events
 * @dropped_pages: pages that had no room
 * @dropped_events: number of events in them
 */
struct spool {
	unsigned int page_size;
	u8 *memory;
	u32 in_memory;
	int file;
	u32 *cpu;
	size_t nr, room;
	u64 end;
	u64 dropped_pages;
	u64 dropped_events;
};

/**
 * struct held_alarm - an event ctlchart_alarm as it was read
 * @ts:		its time
 * @cpu:	CPU on which it was written
 * @size:	bytes of @data
 * @data:	the event
 */
struct held_alarm {
	u64 ts;
	u32 cpu;
	u32 size;
	u8 data[];
};

/**
 * struct reader - the ring buffers of all CPUs
 * @fd:		a file trace_pipe_raw for each CPU, -1 if it is not there
 * @cpus:	number of these
 * @buf:	a page
 * @k:		to parse it
 * @tep:	formats of the alarm and of the judged events
 * @alarm_id:	type of ctlchart_alarm
 * @limit_id:	type of ctlchart_limit
 * @charts:	the charts, from the limit events since the watch began
 * @held:	alarms that reader_finish() has not parsed yet
 * @nr_held:	number of @held
 * @held_room:	allocated length of @held
 * @not_held:	number of alarms for which @held had no room
 * @spool:	what was read since the last case
 * @past:	what was read for the cases before it, the last one first: an operation that was
 *		under way then has parts of its own window there
 * @earliest:	start of the alarms' operations, the earliest, ns
 * @alarm:	alarms in it, the first ones
 * @nr_alarms:	number of all of them
 * @lead:	the worst of them: the one with the highest ratio of value to limit
 * @dir:	where the spool may make a file
 * @own:	number of alarms since the start that the watch itself caused
 * @own_pid:	the child that writes a case, or 0
 */
struct reader {
	int *fd;
	unsigned int cpus;
	u8 *buf;
	struct kbuffer *k;
	struct tep_handle *tep;
	int alarm_id;
	int limit_id;
	struct known_charts charts;
	struct held_alarm **held;
	size_t nr_held, held_room;
	u64 not_held;
	struct spool spool;
	struct spool past[PAST];
	u64 earliest;
	struct alarm alarm[ALARMS_MAX];
	u64 nr_alarms;
	struct alarm lead;
	const char *dir;
	u64 own;
	int own_pid;
};

char *reader_open(struct reader *r, struct tracefs_instance *instance,
		  const char *const *systems, const char *dir);
bool reader_pass(struct reader *r);
void reader_finish(struct reader *r);
bool reader_needs(const struct reader *r, unsigned int nth);
void reader_reset(struct reader *r);
void reader_close(struct reader *r);
bool spool_full(const struct spool *s);
bool spool_get(const struct spool *s, size_t i, u8 *page);

#endif
