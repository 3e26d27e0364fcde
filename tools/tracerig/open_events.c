// SPDX-License-Identifier: GPL-2.0
/*
 * Reads a recording for the page of a case. See open.h.
 *
 * It is read twice: the events are counted first, to choose which ones fit on the page:
 * those of the operation, then those after it, then those before it. If the operation
 * alone has too many, its middle is left out.
 */
#include <event-parse.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <stdlib.h>
#include <string.h>
#include <trace-seq.h>

#include "memory.h"
#include "open.h"
#include "page.h"
#include "records.h"
#include "roles.h"
#include "text.h"

/* Bytes of an event's text that the page shows */
#define TEXT_LEN 240

/* The type of an event has two bytes */
#define TYPES 65536

/* What is known of a type of event; @kind: its number plus one, 0 when it is new */
struct type {
	u32 kind;
	struct tep_event *event;
	enum role role;
	struct event_fields fields;
};

struct reading {
	struct records *r;
	struct open_events *to;
	struct number type, pid;
	struct type *types;
	/* of each CPU, time of the last event */
	u64 *last;
	/* number of events before, in and after the operation; and that are on the page */
	u64 nr[3];
	u64 keep_before, keep_ends, keep_after;
	/* number of the event at hand */
	u64 at;
};

/* ---- tables ---- */

/**
 * open_thread - the number of a thread
 * @events: has the threads
 * @pid: its id
 * @comm: its name now; NULL or "": unknown
 */
u32 open_thread(struct open_events *events, s32 pid, const char *comm)
{
	u64 hash = hash_u64((u32)pid);
	struct open_thread *t;
	u32 i;

	hash_for_each_possible(&events->threads, hash, i) {
		t = hash_entry(&events->threads, i);
		if (t->pid == pid)
			break;
	}
	if (i == HASH_NONE) {
		i = events->threads.nr;
		t = hash_new(&events->threads, hash, sizeof(*t));
		*t = (struct open_thread){ .pid = pid };
	}
	if (comm && *comm) {
		snprintf(t->comm, sizeof(t->comm), "%s", comm);
		clean_text(t->comm);
	}
	return i;
}

/**
 * open_device - the number of a device
 * @events: has the devices
 * @dev: its dev_t
 */
u32 open_device(struct open_events *events, u64 dev)
{
	size_t i;

	for (i = 0; i < events->devices; i++) {
		if (events->device[i] == dev)
			return i;
	}
	GROW(events->device, events->devices, events->device_room);
	events->device[events->devices++] = dev;
	return i;
}

static u32 text_number(struct open_events *events, char *text)
{
	u64 hash;
	size_t size;
	u32 i;

	clean_text(text);
	hash = hash_string(text);
	hash_for_each_possible(&events->texts, hash, i) {
		if (!strcmp(hash_entry(&events->texts, i), text))
			return i;
	}
	size = page_room(text) + 1;
	if (events->text_bytes + size > OPEN_TEXTS_MAX) {
		events->texts_left++;
		return OPEN_NO_TEXT;
	}
	events->text_bytes += size;
	size = strlen(text) + 1;
	memcpy(hash_new(&events->texts, hash, size), text, size);
	return events->texts.nr - 1;
}

static struct type *find_type(struct reading *d, u32 id)
{
	struct open_events *to = d->to;
	struct type *t = &d->types[id];
	struct open_kind *k;

	if (t->kind)
		return t;
	t->event = tep_find_event(records_tep(d->r), id);
	t->role = t->event ? role_of(t->event) : ROLES;
	GROW(to->kind, to->kinds, to->kind_room);
	k = &to->kind[to->kinds++];
	k->role = t->role;
	k->name = t->event ?
			  xasprintf("%s:%s", t->event->system, t->event->name) :
			  xasprintf("event %u", id);
	clean_text(k->name);
	t->kind = to->kinds;
	if (t->role < ROLES)
		event_find(&t->fields, records_tep(d->r), &role_names[t->role]);
	return t;
}

/* ---- events ---- */

static bool next(struct reading *d, struct record *rec)
{
	while (records_next(d->r, rec)) {
		if (rec->cpu < records_cpus(d->r) &&
		    number_fits(&d->type, rec) && number_fits(&d->pid, rec) &&
		    number_get(&d->type, rec) < TYPES)
			return true;
	}
	return false;
}

/* The same for both readings, each of which counts the events in d->at */
static int part_of(const struct open_events *to, u64 ts)
{
	return ts < to->begin ? 0 : ts <= to->end ? 1 : 2;
}

static u32 event_text(struct reading *d, const struct type *t,
		      const struct record *rec)
{
	struct tep_record whole = { .ts = rec->ts,
				    .offset = rec->offset,
				    .size = rec->size,
				    .record_size = rec->size,
				    .data = (void *)rec->data,
				    .cpu = rec->cpu };
	char text[TEXT_LEN + 1];
	struct trace_seq s;

	if (!t->event)
		return OPEN_NO_TEXT;
	trace_seq_init(&s);
	tep_print_event(records_tep(d->r), &s, &whole, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&s);
	snprintf(text, sizeof(text), "%s", s.buffer);
	trace_seq_destroy(&s);
	return text_number(d->to, text);
}

static void add_event(struct reading *d, const struct type *t,
		      const struct record *rec, const u64 *v,
		      char text[EVENT_TEXTS][96], u32 thread)
{
	struct open_events *to = d->to;
	struct open_event *e;

	GROW(to->event, to->nr, to->room);
	e = &to->event[to->nr++];
	*e = (struct open_event){ .ts = rec->ts,
				  .cpu = rec->cpu,
				  .kind = t->kind - 1,
				  .thread = thread };
	switch (t->role) {
	case ROLE_SWITCH:
		e->a = open_thread(to, v[1], text[1]);
		e->b = v[2] & 0xff;
		break;
	case ROLE_WAKING:
		e->a = open_thread(to, v[0], text[0]);
		e->b = v[1];
		break;
	case ROLE_IRQ:
		e->a = text_number(to, text[0]);
		break;
	case ROLE_IRQ_EXIT:
		break;
	case ROLE_SOFTIRQ:
	case ROLE_SOFTIRQ_EXIT:
		e->a = min(v[0], (u64)U32_MAX);
		break;
	case ROLE_BIO:
	case ROLE_ISSUE:
	case ROLE_COMPLETE:
		e->a = open_device(to, v[0]);
		e->b = v[1];
		break;
	default:
		e->a = event_text(d, t, rec);
	}
}

static void note_gap(struct reading *d, const struct record *rec)
{
	struct open_events *to = d->to;

	if (to->gaps == OPEN_GAPS_MAX) {
		to->gaps_left++;
		return;
	}
	GROW(to->gap, to->gaps, to->gap_room);
	to->gap[to->gaps++] = (struct open_gap){ .cpu = rec->cpu,
						 .from = d->last[rec->cpu],
						 .to = rec->ts,
						 .missed = rec->missed };
}

/* Of which of struct open_events' @left the event at hand is, or LEFTS */
static int is_left(const struct reading *d)
{
	u64 in = d->nr[0], after = in + d->nr[1];

	if (d->at < in)
		return d->at < in - d->keep_before ? LEFT_BEFORE : LEFTS;
	if (d->at >= after)
		return d->at >= after + d->keep_after ? LEFT_AFTER : LEFTS;
	return d->at - in >= d->keep_ends && after - d->at > d->keep_ends ?
		       LEFT_MIDDLE :
		       LEFTS;
}

static void leave(struct open_left *left, u64 ts)
{
	if (!left->nr++)
		left->from = ts;
	left->to = ts;
}

static void on_record(struct reading *d, const struct record *rec)
{
	struct type *t = find_type(d, number_get(&d->type, rec));
	s32 pid = number_get(&d->pid, rec);
	int left = is_left(d), i;
	u64 v[EVENT_NUMBERS] = { 0 };
	char text[EVENT_TEXTS][96];
	u32 thread;

	d->at++;
	if (rec->lost)
		note_gap(d, rec);
	d->last[rec->cpu] = rec->ts;
	for (i = 0; i < EVENT_NUMBERS; i++)
		v[i] = number_in(&t->fields.number[i], rec);
	for (i = 0; i < EVENT_TEXTS; i++) {
		array_text(t->fields.text[i], rec, text[i], sizeof(text[i]));
		clean_text(text[i]);
	}
	if (t->role >= ROLE_BIO && t->role <= ROLE_COMPLETE)
		blk_requests_event(d->to->requests, t->role, rec->ts, pid, v,
				   text[0]);
	if (left < LEFTS) {
		leave(&d->to->left[left], rec->ts);
		return;
	}
	/* Another thread's, or an interrupt's, in other events */
	thread = open_thread(d->to, pid,
			     t->role == ROLE_SWITCH || t->role == ROLE_BIO ||
					     t->role == ROLE_ISSUE ?
				     text[0] :
				     NULL);
	add_event(d, t, rec, v, text, thread);
}

static void choose(struct reading *d)
{
	u64 room = d->to->most;

	d->keep_ends = d->nr[1] > room ? room / 2 : d->nr[1];
	room -= min(d->nr[1], room);
	d->keep_after = min(d->nr[2], room);
	d->keep_before = min(d->nr[0], room - d->keep_after);
	d->to->total = d->nr[0] + d->nr[1] + d->nr[2];
}

/* Names of threads that have no switch in the recording */
static void name_threads(struct reading *d)
{
	struct open_thread *t;
	const char *comm;
	u32 i;

	hash_for_each(&d->to->threads, i, t) {
		comm = t->pid ? tep_data_comm_from_pid(records_tep(d->r),
						       t->pid) :
				"idle";
		/* The library's name for threads that it does not know */
		if (!t->pid || (!*t->comm && strcmp(comm, "<...>") != 0))
			open_thread(d->to, t->pid, comm);
	}
}

static bool find_common(struct reading *d)
{
	struct tep_event *first = tep_get_event(records_tep(d->r), 0);

	return first && number_find(&d->type, d->r, first, "common_type") &&
	       number_find(&d->pid, d->r, first, "common_pid");
}

static int read_twice(struct reading *d)
{
	struct record rec;
	int status;

	while (next(d, &rec))
		d->nr[part_of(d->to, rec.ts)]++;
	status = records_rewind(d->r);
	if (status)
		return status;
	choose(d);
	while (next(d, &rec))
		on_record(d, &rec);
	name_threads(d);
	return records_status(d->r);
}

/**
 * open_events_read - read a recording
 * @g: the guard
 * @file: the trace.dat
 * @events: zeroes with @begin, @end and @most; filled in, for open_events_free()
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int open_events_read(struct guard *g, const char *file,
		     struct open_events *events)
{
	struct reading d = { .to = events };
	int status = 0;

	d.r = records_open_expanded(g, file, NULL);
	if (!d.r)
		return EXIT_FAILURE;
	events->requests = blk_requests_new();
	d.types = xcalloc(TYPES, sizeof(*d.types));
	d.last = xcalloc(records_cpus(d.r) + 1, sizeof(*d.last));
	if (find_common(&d))
		status = read_twice(&d);
	free(d.types);
	free(d.last);
	records_close(d.r);
	return status;
}

/**
 * open_events_free - free what is in it
 * @events: it
 */
void open_events_free(struct open_events *events)
{
	while (events->kinds)
		free(events->kind[--events->kinds].name);
	free(events->kind);
	free(events->event);
	free(events->device);
	free(events->gap);
	hash_free(&events->threads);
	hash_free(&events->texts);
	if (events->requests)
		blk_requests_free(events->requests);
}
