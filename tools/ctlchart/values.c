// SPDX-License-Identifier: GPL-2.0
/*
 * The values that the kernel's charts took, as its event ctlchart_value tells
 * them, in the order in which they were taken: events of several CPUs may have
 * been written in another one, so that a value waits here for those before it.
 *
 * Of each chart (or part of one, with by=), values that the kernel learnt from or
 * checked by rules= are numbered, from 1 on. The others say how many of these
 * there were before. Numbers count modulo 2^32.
 */
#include <stdlib.h>
#include <string.h>

#include "ctlchart.h"

/* Charts and parts of them in one trace: more than this is no trace of ours */
#define MAX_SOURCES 100000
#define BUCKETS 4096

/*
 * Values that wait, of all charts: many more than CPUs can have at hand, since
 * the host of a guest may stop one of them for a while. Who waits longer waits
 * for one that was lost.
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
	[TIME] = { "time", false },	    [START] = { "start", false },
	[DURATION] = { "duration", false }, [LIMIT] = { "limit", false },
	[ORDER] = { "order", false },	    [RULES] = { "rules", false },
	[PID] = { "pid", false },	    [EVENT] = { "event", false },
	[STUDIED] = { "studied", false },   [KEPT] = { "kept", false },
	[CHART] = { "chart", true },	    [KEYS] = { "keys", true },
};

/**
 * struct held - a value that waits
 * @value:	the value
 * @order:	its number, or that of the one before
 * @keys:	what @value.keys points to
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
 * @next:	next one of the bucket
 * @last:	order of the last value that was passed on
 * @any:	there was one
 * @taken:	one that was of use
 * @missing:	values that should have been there in between
 * @held:	those that wait, in their order
 * @nr_held:	number of them
 * @max_held:	room for as many
 */
struct source {
	char *name;
	unsigned int event;
	struct source *next;
	u32 last;
	bool any;
	bool taken;
	u64 missing;
	struct held *held;
	size_t nr_held;
	size_t max_held;
};

/**
 * struct values - the reading of them
 * @id:		of the event
 * @field:	its fields
 * @bucket:	where values came from, by their names
 * @nr_sources:	number of them
 * @nr_held:	values that wait, of all
 * @in_order:	values wait for their turn
 * @take:	what is done with a value
 * @arg:	passed to it
 */
struct values {
	int id;
	struct field field[FIELDS];
	struct source *bucket[BUCKETS];
	size_t nr_sources;
	size_t nr_held;
	bool in_order;
	values_take take;
	void *arg;
};

/**
 * values_event - does the trace tell of values?
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
 * values_new - begin to read them
 * @in: the input, which has values_event()
 * @in_order: in the order of the chart, not of the trace
 * @take: called for each value
 * @arg: passed to it
 *
 * Return: NULL after guard_fail() if the event is not as expected.
 */
struct values *values_new(struct input *in, bool in_order, values_take take,
			  void *arg)
{
	struct tep_event *event = values_event(in);
	struct values *v = calloc(1, sizeof(*v));

	if (!v)
		abort();
	v->id = event->id;
	v->in_order = in_order;
	v->take = take;
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
	struct source *s, *next;
	size_t i;

	for (i = 0; v && i < BUCKETS; i++) {
		for (s = v->bucket[i]; s; s = next) {
			next = s->next;
			while (s->nr_held)
				free(s->held[--s->nr_held].keys);
			free(s->held);
			free(s->name);
			free(s);
		}
	}
	free(v);
}

static u32 hash_of(const char *s)
{
	u32 hash = 2166136261u;

	while (*s)
		hash = (hash ^ (unsigned char)*s++) * 16777619u;
	return hash;
}

static struct source *find_source(struct values *v, const char *name,
				  unsigned int event)
{
	struct source **to = &v->bucket[hash_of(name) % BUCKETS], *s;

	for (s = *to; s; s = s->next) {
		if (s->event == event && !strcmp(s->name, name))
			return s;
	}
	if (v->nr_sources == MAX_SOURCES)
		return NULL;
	v->nr_sources++;
	s = calloc(1, sizeof(*s));
	if (!s)
		abort();
	s->name = strdup(name);
	if (!s->name)
		abort();
	s->event = event;
	s->next = *to;
	*to = s;
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
	status = v->take(in, value, v->arg);
	s->taken |= value->taken;
	return status;
}

static void hold(struct values *v, struct source *s, const struct value *value,
		 u32 order)
{
	struct held *held;
	size_t at;

	if (s->nr_held == s->max_held) {
		s->max_held = s->max_held ? 2 * s->max_held : 16;
		s->held = realloc(s->held, s->max_held * sizeof(*s->held));
		if (!s->held)
			abort();
	}
	for (at = s->nr_held; at; at--) {
		if (!is_after(&s->held[at - 1], order, value->studied))
			break;
	}
	held = &s->held[at];
	memmove(held + 1, held, (s->nr_held - at) * sizeof(*held));
	*held = (struct held){ *value, order, strdup(value->keys) };
	if (!held->keys)
		abort();
	held->value.chart = s->name;
	held->value.keys = held->keys;
	s->nr_held++;
	v->nr_held++;
}

/* Those whose turn has come, and @force of them whose has not */
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
		      struct tep_record *rec, u64 *number,
		      char (*text)[VALUE_TEXT])
{
	int i;

	for (i = 0; i < FIELDS; i++) {
		const char *s = "";
		size_t len = 0;

		if (!fields[i].string) {
			if (!field_number(&v->field[i], in, rec, &number[i]))
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
 * values_record - take a record of the trace
 * @v: the values
 * @in: the input
 * @rec: the record, of any event
 *
 * Return: 0, or what is to end the reading.
 */
int values_record(struct values *v, struct input *in, struct tep_record *rec)
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
 * values_end - the trace has ended: what waits still is taken
 * @v: the values
 * @in: the input
 *
 * Return: 0, or what is to end the reading.
 */
int values_end(struct values *v, struct input *in)
{
	struct source *s;
	int status = 0;
	size_t i;

	for (i = 0; i < BUCKETS; i++) {
		for (s = v->bucket[i]; s && !status; s = s->next) {
			status = release(v, in, s, s->nr_held);
			if (s->missing && s->taken)
				guard_note(
					in->guard,
					"%s: %llu values are not in the trace, and what came of them is not known",
					s->name, s->missing);
		}
	}
	return status;
}
