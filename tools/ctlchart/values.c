// SPDX-License-Identifier: GPL-2.0
/*
 * The values of the kernel's charts, from its event ctlchart_value, in the order in which
 * the charts used them. CPUs can have written the events in another order, so a value
 * waits here until all values before it have been read.
 *
 * For each chart (or part of one, with by=), values that the kernel learnt from or checked
 * by rules= are numbered from 1 on. The other values have the number of the last one
 * before them. Numbers count modulo 2^32. With rules=, values that were checked without the
 * chart's lock, while the event was not enabled, have no number, but are counted with the
 * next one of the CPU that has: at most 2^31 of all CPUs. So the first value of each CPU
 * after the event is enabled can be counted behind values from before, as if some were
 * missing.
 */
#include <stdlib.h>
#include <string.h>

#include "ctlchart.h"
#include "hash.h"
#include "text.h"

/* Limit of the number of charts and parts in a trace; one with more is damaged */
#define MAX_SOURCES 100000

/*
 * Limit of the number of waiting values of all charts: many per CPU, since the host of a
 * guest can stop a virtual CPU for a while. When there are more, the value before them
 * was lost.
 */
#define MAX_HELD 8192

enum {
	TIME,
	START,
	DURATION,
	LIMIT,
	ORDER,
	RULES,
	PID,
	EVENT,
	STUDIED,
	KEPT,
	CHART,
	KEYS,
	FIELDS
};

static const struct field_want fields[FIELDS] = {
	[TIME] = { "time", FIELD_NUMBER },
	[START] = { "start", FIELD_NUMBER },
	[DURATION] = { "duration", FIELD_NUMBER },
	[LIMIT] = { "limit", FIELD_NUMBER },
	[ORDER] = { "order", FIELD_NUMBER },
	[RULES] = { "rules", FIELD_NUMBER },
	[PID] = { "pid", FIELD_NUMBER },
	[EVENT] = { "event", FIELD_NUMBER },
	[STUDIED] = { "studied", FIELD_NUMBER },
	[KEPT] = { "kept", FIELD_NUMBER },
	[CHART] = { "chart", FIELD_STRING },
	[KEYS] = { "keys", FIELD_STRING },
};

/**
 * struct held - a value that waits
 * @value:	the value
 * @order:	its number, or that of the value before it
 * @keys:	its keys; @value.keys points there
 */
struct held {
	struct value value;
	u32 order;
	char *keys;
};

/**
 * struct source - a chart, or a part of one, that values come from
 * @name:	its name
 * @event:	id of the judged event
 * @last:	order of the last value that was passed on
 * @any:	a value was passed on
 * @used:	a value that was passed on was used
 * @missing:	number of values that are lost in between
 * @held:	waiting values, in their order
 * @nr_held:	number of @held
 * @max_held:	allocated length of @held
 */
struct source {
	char *name;
	unsigned int event;
	u32 last;
	bool any;
	bool used;
	u64 missing;
	struct held *held;
	size_t nr_held;
	size_t max_held;
};

/**
 * struct values - reader of value events
 * @id:		the event's id
 * @field:	its fields
 * @sources:	where values came from, by their names
 * @nr_held:	number of waiting values of all sources
 * @in_order:	values wait for those before them
 * @handle:	called for each value
 * @arg:	passed to @handle
 */
struct values {
	int id;
	struct field field[FIELDS];
	struct hash sources;
	size_t nr_held;
	bool in_order;
	value_handler handle;
	void *arg;
};

/**
 * values_event - does the trace have value events?
 * @in: the input
 *
 * Return: the event, or NULL.
 */
struct tep_event *values_event(struct input *in)
{
	return tep_find_event_by_name(in->tep, "ctlchart_debug",
				      "ctlchart_value");
}

/**
 * values_new - begin to read values
 * @in: the input, which has values_event()
 * @in_order: in the order of the chart, not of the trace
 * @handle: called for each value
 * @arg: passed to @handle
 *
 * Return: NULL after guard_fail() if the event is not as expected.
 */
struct values *values_new(struct input *in, bool in_order, value_handler handle,
			  void *arg)
{
	struct tep_event *event = values_event(in);
	struct values *v = xzalloc(sizeof(*v));

	v->id = event->id;
	v->in_order = in_order;
	v->handle = handle;
	v->arg = arg;
	if (!fields_find(in, event, fields, v->field, FIELDS))
		return v;
	free(v);
	return NULL;
}

/**
 * values_free - free them
 * @v: what values_new() made, or NULL
 */
void values_free(struct values *v)
{
	struct source *s;
	u32 i;

	if (!v)
		return;
	hash_for_each(&v->sources, i, s) {
		while (s->nr_held)
			free(s->held[--s->nr_held].keys);
		free(s->held);
		free(s->name);
	}
	hash_free(&v->sources);
	free(v);
}

static struct source *find_source(struct values *v, const char *name,
				  unsigned int event)
{
	u64 hash = hash_more(hash_string(name), event);
	struct source *s;

	hash_for_each_possible_entry(&v->sources, hash, s) {
		if (s->event == event && !strcmp(s->name, name))
			return s;
	}
	if (v->sources.nr == MAX_SOURCES)
		return NULL;
	s = hash_new(&v->sources, hash, sizeof(*s));
	s->name = xstrdup(name);
	s->event = event;
	return s;
}

/* Is @a's turn after @b's? */
static bool is_after(const struct held *a, u32 order, bool studied)
{
	s32 diff = a->order - order;

	return diff > 0 || (!diff && studied && !a->value.studied);
}

static bool is_due(const struct source *s, u32 order, bool studied)
{
	/* One that comes again is of a chart that was made anew */
	return (s32)(order - s->last) <= (studied ? 1 : 0);
}

static int pass_on(struct values *v, struct input *in, struct source *s,
		   struct value *value, u32 order)
{
	int status;

	if ((s32)(order - s->last) > value->studied)
		s->missing += order - s->last - value->studied;
	/* One that was not numbered may come late */
	if (value->studied || (s32)(order - s->last) > 0)
		s->last = order;
	value->first = !s->any;
	s->any = true;
	status = v->handle(in, value, v->arg);
	s->used |= value->used;
	return status;
}

static void hold(struct values *v, struct source *s, const struct value *value,
		 u32 order)
{
	struct held *held;
	size_t at;

	if (s->nr_held == s->max_held) {
		s->max_held = s->max_held ? 2 * s->max_held : 16;
		s->held = xreallocarray(s->held, s->max_held, sizeof(*s->held));
	}
	for (at = s->nr_held; at; at--) {
		if (!is_after(&s->held[at - 1], order, value->studied))
			break;
	}
	held = &s->held[at];
	memmove(held + 1, held, (s->nr_held - at) * sizeof(*held));
	*held = (struct held){ *value, order, xstrdup(value->keys) };
	held->value.chart = s->name;
	held->value.keys = held->keys;
	s->nr_held++;
	v->nr_held++;
}

/* Pass on the values that are due, and then the first @force of the others */
static int release(struct values *v, struct input *in, struct source *s,
		   size_t force)
{
	size_t n = 0, i;
	int status = 0;

	while (n < s->nr_held && !status) {
		struct held *h = &s->held[n];

		if (!is_due(s, h->order, h->value.studied)) {
			if (!force)
				break;
			force--;
		}
		status = pass_on(v, in, s, &h->value, h->order);
		n++;
	}
	if (!n)
		return 0;
	v->nr_held -= n;
	s->nr_held -= n;
	for (i = 0; i < n; i++)
		free(s->held[i].keys);
	memmove(s->held, s->held + n, s->nr_held * sizeof(*s->held));
	return status;
}

static int read_value(struct values *v, struct input *in,
		      const struct record *rec, u64 *number,
		      char (*text)[VALUE_TEXT])
{
	int i;

	for (i = 0; i < FIELDS; i++) {
		const char *s = "";
		size_t len = 0;

		if (fields[i].type == FIELD_NUMBER) {
			if (!field_number(&v->field[i], rec, &number[i]))
				return input_damaged(in, rec, "ctlchart_value");
			continue;
		}
		if (!field_string(&v->field[i], in, rec, &s, &len))
			return input_damaged(in, rec, "ctlchart_value");
		snprintf(text[i - CHART], VALUE_TEXT, "%.*s", (int)len, s);
		clean_text(text[i - CHART]);
	}
	return 0;
}

/**
 * values_record - handle a record of the trace
 * @v: the values
 * @in: the input
 * @rec: the record, of any event
 *
 * Return: 0, or another status, which ends the reading.
 */
int values_record(struct values *v, struct input *in, const struct record *rec)
{
	char text[FIELDS - CHART][VALUE_TEXT];
	u64 number[FIELDS] = { 0 };
	struct source *s;
	struct value value;
	int status;

	if (input_type(in, rec) != v->id)
		return 0;
	status = read_value(v, in, rec, number, text);
	if (status)
		return status;
	s = find_source(v, text[0], number[EVENT]);
	if (!s)
		return guard_fail(in->guard, rec->offset,
				  "damaged: values of more than %d charts",
				  MAX_SOURCES);
	value = (struct value){
		.chart = s->name,
		.event = number[EVENT],
		.time = number[TIME],
		.start = number[START],
		.value = number[DURATION],
		.limit = number[LIMIT],
		.rules = number[RULES],
		.pid = number[PID],
		.cpu = rec->cpu,
		.studied = number[STUDIED] == 1,
		.missed = number[STUDIED] == 2,
		.kept = number[KEPT],
		.keys = text[KEYS - CHART],
	};
	if (!v->in_order ||
	    (!s->nr_held && is_due(s, number[ORDER], value.studied)))
		return pass_on(v, in, s, &value, number[ORDER]);
	hold(v, s, &value, number[ORDER]);
	return release(v, in, s, v->nr_held > MAX_HELD ? 1 : 0);
}

/**
 * values_end - pass on the values that still wait at the end of the trace
 * @v: the values
 * @in: the input
 *
 * Return: 0, or another status, which ends the reading.
 */
int values_end(struct values *v, struct input *in)
{
	struct source *s;
	int status = 0;
	u32 i;

	hash_for_each(&v->sources, i, s) {
		status = release(v, in, s, s->nr_held);
		if (s->missing && s->used)
			guard_note(
				in->guard,
				"%s: %llu value%s lost: whether out of control is unknown",
				s->name, s->missing, plural(s->missing));
		if (status)
			break;
	}
	return status;
}
