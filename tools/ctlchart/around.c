// SPDX-License-Identifier: GPL-2.0
/*
 * The events around the worst alarms, from a second pass over the trace: the worst
 * alarms are known only after the first pass.
 *
 * The latest events are kept in a ring. Once an alarm's time has passed, it gets the
 * events in the ring and then the events that follow. The number of events before each
 * alarm is known, so the ring is filled only shortly before it, and most of the trace is
 * skipped.
 */
#include <stdlib.h>
#include <string.h>

#include "ctlchart.h"
#include "order.h"

/* Alarms that are given their events, and the length of one's text */
#define MAX_ALARMS 1000
#define TEXT_LEN 400

/**
 * struct kept - a record in the ring
 * @rec:	the record, whose data are @data
 * @data:	its data
 * @room:	bytes allocated for them
 */
struct kept {
	struct record rec;
	u8 *data;
	size_t room;
};

/**
 * struct work - state of the second pass
 * @alarm:	the alarms, in order of time
 * @from:	for each alarm, the number of the first event that the ring needs
 * @nr:		number of alarms
 * @next:	the first alarm whose time has not passed
 * @open:	the first alarm that still gets events
 * @ring:	the latest events
 * @size:	size of the ring: events wanted on each side of an alarm
 * @filled:	number of records put into the ring
 */
struct work {
	struct alarm **alarm;
	u64 *from;
	size_t nr;
	size_t next;
	size_t open;
	struct kept *ring;
	size_t size;
	u64 filled;
};

static int init(struct input *in, void *arg)
{
	(void)in;
	(void)arg;
	return 0;
}

static void keep(struct work *w, const struct record *rec)
{
	struct kept *k = &w->ring[w->filled++ % w->size];

	if (rec->size > k->room || !k->data) {
		k->room = rec->size > 64 ? rec->size : 64;
		k->data = xreallocarray(k->data, k->room, 1);
	}
	memcpy(k->data, rec->data, rec->size);
	k->rec = *rec;
	k->rec.data = k->data;
}

static char *clean_copy(const char *s, size_t len)
{
	char *c = xstrndup(s, len);

	clean_text(c);
	return c;
}

static void add_event(struct input *in, struct alarm *a,
		      const struct record *rec)
{
	struct around *r = a->around;
	struct tep_event *event = tep_find_event(in->tep, input_type(in, rec));
	int pid = input_pid(in, rec);
	struct tep_record printed = input_tep_record(rec);
	struct around_event *e;
	struct trace_seq text;
	char who[64];

	r->event = xreallocarray(r->event, r->nr + 1, sizeof(*r->event));
	e = &r->event[r->nr++];
	e->time = rec->ts;
	e->cpu = rec->cpu;
	e->name = event ? clean_copy(event->name, TEXT_LEN) :
			  input_event_name(in, input_type(in, rec));
	snprintf(who, sizeof(who), "%.*s-%d", COMM_LEN,
		 tep_data_comm_from_pid(in->tep, pid), pid);
	e->who = clean_copy(who, sizeof(who));
	trace_seq_init(&text);
	if (event)
		tep_print_event(in->tep, &text, &printed, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&text);
	e->text = clean_copy(text.buffer, TEXT_LEN);
	trace_seq_destroy(&text);
}

/* Its time has passed: the ring has the events before it */
static void begin(struct input *in, struct work *w, struct alarm *a)
{
	u64 i = w->filled > w->size ? w->filled - w->size : 0;

	a->around = xzalloc(sizeof(*a->around));
	for (; i < w->filled; i++)
		add_event(in, a, &w->ring[i % w->size].rec);
	a->around->before = a->around->nr;
}

static int on_event(struct input *in, const struct record *rec, void *arg)
{
	struct work *w = arg;
	size_t i;

	while (w->next < w->nr && w->alarm[w->next]->time < rec->ts)
		begin(in, w, w->alarm[w->next++]);
	for (i = w->open; i < w->next; i++) {
		struct around *r = w->alarm[i]->around;

		if (r->nr - r->before < w->size)
			add_event(in, w->alarm[i], rec);
		/* They began in order, and so they end */
		if (r->nr - r->before >= w->size && i == w->open)
			w->open++;
	}
	keep(w, rec);
	return 0;
}

static u64 wanted(void *arg)
{
	struct work *w = arg;

	return w->open == w->next ? w->from[w->next] : 0;
}

static int end(struct input *in, void *arg)
{
	struct work *w = arg;

	while (w->next < w->nr)
		begin(in, w, w->alarm[w->next++]);
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct alarm *x = *(struct alarm *const *)a,
			   *y = *(struct alarm *const *)b;

	return ORDER(x->time, y->time);
}

/* The worst ones of each chart, as many of each */
static void choose(struct report *r, struct work *w)
{
	size_t rank, i;
	bool any = true;

	w->alarm = xcalloc(MAX_ALARMS, sizeof(struct alarm *));
	for (rank = 0; any; rank++) {
		any = false;
		for (i = 0; i < r->nr_charts && w->nr < MAX_ALARMS; i++) {
			struct chart *c = r->chart[i];

			if (rank >= c->nr_worst || !report_wants(r, c->name))
				continue;
			w->alarm[w->nr++] = &c->worst[rank];
			any = true;
		}
	}
	qsort(w->alarm, w->nr, sizeof(struct alarm *), by_time);
	w->from = xcalloc(MAX_ALARMS + 1, sizeof(*w->from));
	w->from[w->nr] = U64_MAX;
	for (i = w->nr; i-- > 0;) {
		u64 seen = w->alarm[i]->seen;

		/* Alarms at the same time can be in any order */
		w->from[i] = seen > w->size ? seen - w->size : 0;
		if (w->from[i + 1] < w->from[i])
			w->from[i] = w->from[i + 1];
	}
}

/**
 * around_collect - give the worst alarms the events around them
 * @g: the guard
 * @r: the report, whose counts of events do not change
 * @size: events on each side
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int around_collect(struct guard *g, struct report *r, size_t size)
{
	struct work w = { .size = size };
	const struct reader reader = {
		.init = init,
		.event = on_event,
		.end = end,
		.wanted = wanted,
		.arg = &w,
	};
	struct report again = { .file = r->file,
				.instance = r->instance,
				.format = r->format,
				.places = r->places };
	size_t i;
	int status = 0;

	if (!size)
		return 0;
	choose(r, &w);
	w.ring = xcalloc(size, sizeof(*w.ring));
	if (w.nr)
		status = input_read(g, &again, &reader);
	for (i = 0; i < size; i++)
		free(w.ring[i].data);
	free(w.ring);
	free(w.alarm);
	free(w.from);
	return status;
}

/**
 * around_free - free the events around an alarm
 * @r: the events, or NULL
 */
void around_free(struct around *r)
{
	size_t i;

	if (!r)
		return;
	for (i = 0; i < r->nr; i++) {
		free(r->event[i].name);
		free(r->event[i].who);
		free(r->event[i].text);
	}
	free(r->event);
	free(r);
}
