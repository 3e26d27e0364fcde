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

#include "alarms.h"
#include "charts.h"

struct record;

/* Number of windows that are kept for operations in flight */
#define PAST 4

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
 * @events:	number of events in the pages
 * @dropped_pages: pages that had no room
 * @dropped_events: number of events in them, and in pages of an earlier window that are
 *		not kept any more
 */
struct spool {
	unsigned int page_size;
	u8 *memory;
	u32 in_memory;
	int file;
	u32 *cpu;
	size_t nr, room;
	u64 end;
	u64 events;
	u64 dropped_pages;
	u64 dropped_events;
};

/**
 * struct own - a child of the watch, whose alarms are in no case
 * @pid:	its process; 0: there was none yet
 * @ended:	when it was reaped, ns of CLOCK_MONOTONIC; 0: it lives. From then on, another
 *		process can have the number
 */
struct own {
	int pid;
	u64 ended;
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
 * @page:	numbers of the pages of @spool that have alarms
 * @nr_pages:	number of @page
 * @page_room:	allocated length of @page
 * @seen:	number of alarms in @spool that are not parsed; after reader_finish(), that
 *		cannot be parsed
 * @read:	number of alarms that were read since the start
 * @spool:	what was read since the last case
 * @past:	what was read for the cases before it, the last one first: an operation in
 *		flight then has parts of its own window there
 * @alarms:	alarms in it, after reader_finish()
 * @lost:	alarms that had no room in @spool
 * @nr_alarms:	number of @alarms, with @lost; 0 without @alarms
 * @dir:	where the spool may make a file
 * @own:	number of alarms since the start that the watch itself caused
 * @own_before:	number of these before the current window
 * @writer:	the child that writes a case
 * @baseline:	the child that records normal executions
 * @helper:	the number of a process that helps @writer, in memory that they share
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
	size_t *page;
	size_t nr_pages, page_room;
	u64 seen;
	u64 read;
	struct spool spool;
	struct spool past[PAST];
	struct alarm_list alarms;
	struct alarm_list lost;
	u64 nr_alarms;
	u64 lead_in;
	const char *dir;
	u64 own;
	u64 own_before;
	struct own writer;
	struct own baseline;
	int *helper;
};

struct kbuffer *reader_kbuffer(void);
char *reader_room(void);
char *reader_open(struct reader *r, struct tracefs_instance *instance,
		  const char *const *systems, const char *dir, u64 lead_in);
bool reader_pass(struct reader *r);
bool reader_next_event(struct reader *r, struct record *rec, u16 *type);
void reader_finish(struct reader *r);
bool reader_is_own(const struct reader *r, const struct alarm *a);
bool reader_needs(const struct reader *r, unsigned int nth);
void reader_reset(struct reader *r);
void reader_close(struct reader *r);
bool spool_full(const struct spool *s);
u64 spool_time(const struct spool *s, size_t i);
bool spool_get(const struct spool *s, size_t i, u8 *page);

#endif
