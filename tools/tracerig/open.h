/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The page of a case: open.c is the command, open_events.c reads the recording,
 * open_analyzers.c has what other programs find in it, and open_html.c writes the page.
 */
#ifndef TRACERIG_OPEN_H
#define TRACERIG_OPEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <linux/types.h>

#include "explain.h"
#include "explain_requests.h"
#include "guard.h"
#include "hash.h"

struct json_object;

/* What the page can hold; if names and texts make this more than 5 MB, it has fewer events */
#define OPEN_EVENTS_MAX 100000
#define OPEN_EVENTS_LEAST 1000
#define OPEN_TEXTS_MAX (1u << 20)
#define OPEN_GAPS_MAX 1000
#define OPEN_REQUESTS_MAX 16384
#define OPEN_STRETCHES_MAX 8192
#define OPEN_PARTS_MAX 200

/* An event whose text is not on the page, or that has none */
#define OPEN_NO_TEXT U32_MAX

/**
 * struct open_event - an event
 * @ts:		when
 * @cpu:	where
 * @kind:	its number in struct open_events' @kind
 * @thread:	in which thread, as all threads a number in @threads
 * @a:		the next thread, the thread that is woken, the number of a text that is an
 *		interrupt's name or the event's text, a softirq's number, or a device's
 * @b:		the state of the thread that leaves the CPU, the CPU that a thread is woken
 *		to, or a sector
 */
struct open_event {
	u64 ts;
	u32 cpu;
	u32 kind;
	u32 thread;
	u32 a;
	u64 b;
};

/**
 * struct open_kind - a kind of events
 * @name:	"SYSTEM:EVENT"
 * @role:	what it means; ROLES: it has a text
 */
struct open_kind {
	char *name;
	enum role role;
};

/**
 * struct open_thread - a thread
 * @pid:	its id
 * @comm:	its last name in the recording
 */
struct open_thread {
	s32 pid;
	char comm[64];
};

/**
 * struct open_gap - records of a CPU are lost
 * @cpu:	which
 * @from:	time of its last event before; 0: it has none
 * @to:		time of its first event after
 * @missed:	number of the records; 0: unknown
 */
struct open_gap {
	u32 cpu;
	u64 from;
	u64 to;
	u64 missed;
};

/**
 * struct open_left - events that are not on the page
 * @from:	time of the first one
 * @to:		and of the last one
 * @nr:		number of them
 */
struct open_left {
	u64 from;
	u64 to;
	u64 nr;
};

/* Before those of the page, in the middle of a long operation, and after */
enum { LEFT_BEFORE, LEFT_MIDDLE, LEFT_AFTER, LEFTS };

/**
 * struct open_events - what a recording has
 * @begin:	when the operation begins
 * @end:	when its alarm came
 * @most:	how many events the page has room for
 * @total:	number of events
 * @left:	those that are left out
 * @event:	those on the page
 * @kind:	their kinds
 * @threads:	struct open_thread, by number
 * @texts:	strings, by number
 * @text_bytes:	the room that they take on the page
 * @texts_left:	number of events whose texts are left out
 * @device:	numbers of devices, dev_t
 * @requests:	to devices
 * @gap:	where records are lost
 * @gaps_left:	number of gaps that are left out
 */
struct open_events {
	u64 begin, end;
	u64 most;
	u64 total;
	struct open_left left[LEFTS];
	struct open_event *event;
	size_t nr, room;
	struct open_kind *kind;
	size_t kinds, kind_room;
	struct hash threads;
	struct hash texts;
	size_t text_bytes;
	u64 texts_left;
	u64 *device;
	size_t devices, device_room;
	struct blk_requests *requests;
	struct open_gap *gap;
	size_t gaps, gap_room;
	u64 gaps_left;
};

/**
 * struct open_page - all that is on the page
 * @dir:	the case
 * @o:		its case.json
 * @damage:	what has changed in the case since it was written; NULL: nothing
 * @is_operation: its value is the duration of an operation
 * @x:		the explanation
 * @events:	the recording
 * @stretches_left: number and ns of the operation's pieces that are not drawn
 */
struct open_page {
	char *dir;
	struct json_object *o;
	char *damage;
	bool is_operation;
	struct explain x;
	struct open_events events;
	struct json_object *stretches_left;
};

int open_events_read(struct guard *g, const char *file,
		     struct open_events *events);
void open_events_free(struct open_events *events);
u32 open_device(struct open_events *events, u64 dev);
u32 open_thread(struct open_events *events, s32 pid, const char *comm);
void open_html(struct open_page *page, FILE *out);
struct json_object *open_analyzers(const struct explain *x);
struct json_object *open_state(const char *dir, struct json_object *files);

#endif
