// SPDX-License-Identifier: GPL-2.0
/*
 * A trace made by the kernel's filter: charts as its alarm events describe them.
 *
 * Alarms refer to their chart and limit by numbers, which limit events explain. The
 * kernel writes one before the first alarm and every two seconds of alarms. An alarm
 * of another CPU may get into the trace before it, and a trace may begin between two
 * of them: an alarm waits for its limit event, and later alarms wait after it, so that
 * the order stays.
 */
#include <stdlib.h>
#include <string.h>

#include "charts.h"
#include "ctlchart.h"
#include "keys.h"
#include "text.h"

enum { START, DURATION, RULES, PID, KEPT, CHART, LIMIT_NR, COMM, KEYS, FIELDS };

static const struct field_want fields[FIELDS] = {
	[START] = { "start", FIELD_NUMBER },
	[DURATION] = { "duration", FIELD_NUMBER },
	[RULES] = { "rules", FIELD_NUMBER },
	[PID] = { "pid", FIELD_NUMBER },
	[KEPT] = { "kept", FIELD_NUMBER },
	[CHART] = { "chart", FIELD_NUMBER },
	[LIMIT_NR] = { "limit_nr", FIELD_NUMBER },
	[COMM] = { "comm", FIELD_STRING },
	[KEYS] = { "keys", FIELD_BYTES },
};

enum {
	L_CENTER,
	L_LIMIT,
	L_VALUES,
	L_CHART,
	L_EVENT,
	L_LIMIT_NR,
	L_NAME,
	L_KEYS,
	L_FIELDS
};

static const struct field_want limit_fields[L_FIELDS] = {
	[L_CENTER] = { "center", FIELD_NUMBER },
	[L_LIMIT] = { "limit", FIELD_NUMBER },
	[L_VALUES] = { "values", FIELD_NUMBER },
	[L_CHART] = { "chart", FIELD_NUMBER },
	[L_EVENT] = { "event", FIELD_NUMBER },
	[L_LIMIT_NR] = { "limit_nr", FIELD_NUMBER },
	[L_NAME] = { "name", FIELD_STRING },
	[L_KEYS] = { "keys", FIELD_STRING },
};

/* Limit of the number of charts in a trace; one with more is damaged */
#define MAX_CHARTS 1000

/* An alarm waits for this time of the trace, longer than the kernel's two seconds */
#define WAIT_NS (5 * 1000000000ull)
#define MAX_WAITING 65536

/* Maximum size of an alarm's keys, in bytes */
#define MAX_KEY_BYTES 192

/**
 * struct waiting - an alarm whose limit event may yet come
 * @alarm:	the alarm, without keys and limits
 * @number:	of its chart
 * @limit_nr:	of its limit
 * @offset:	of its record
 * @bytes:	length of @keys
 * @keys:	its keys, as in the record
 */
struct waiting {
	struct alarm alarm;
	unsigned int number;
	unsigned int limit_nr;
	u64 offset;
	size_t bytes;
	char keys[MAX_KEY_BYTES];
};

/**
 * struct alarms - what is known while the trace is read
 * @id:		of the alarm event
 * @limit_id:	of the limit event; -1 if the trace has none
 * @field:	fields of the alarm event
 * @limit_field: fields of the limit event
 * @known:	charts that limit events have described
 * @last:	the chart of the alarm before
 * @waiting:	a ring of alarms, in their order
 * @first:	index of the first one
 * @nr:		number of @waiting
 * @room:	allocated length of @waiting
 * @unknown:	alarms whose limit event did not come
 * @learning:	a limit event says that there is no limit yet
 * @drawn:	one has a limit
 */
struct alarms {
	int id;
	int limit_id;
	struct field field[FIELDS];
	struct field limit_field[L_FIELDS];
	struct known_charts known;
	struct chart *last;
	struct waiting *waiting;
	size_t first;
	size_t nr;
	size_t room;
	u64 unknown;
	bool learning;
	bool drawn;
};

static int init(struct input *in, void *arg)
{
	struct alarms *a = arg;
	struct tep_event *event;
	int status;

	event = tep_find_event_by_name(in->tep, "ctlchart", "ctlchart_alarm");
	if (!event)
		return guard_fail(
			in->guard, GUARD_NOWHERE,
			"has no alarms of the ctlchart filter (event ctlchart:ctlchart_alarm, recorded with -e ctlchart); give -e EVENT -f 'ctlchart(...)' to chart the events it has");
	a->id = event->id;
	status = fields_find(in, event, fields, a->field, FIELDS);
	event = tep_find_event_by_name(in->tep, "ctlchart", "ctlchart_limit");
	a->limit_id = event ? event->id : -1;
	if (status || !event)
		return status;
	return fields_find(in, event, limit_fields, a->limit_field, L_FIELDS);
}

static struct chart *find_chart(struct input *in, struct alarms *a,
				const char *name, const struct known_chart *k)
{
	struct chart *c = a->last;

	if (c && !strcmp(c->name, name))
		return c;
	c = report_find_chart(in->report, name);
	if (!c) {
		if (in->report->nr_charts == MAX_CHARTS)
			return NULL;
		c = report_add_chart(in->report, name);
		c->event = k ? input_event_name(in, k->event) :
			       xstrdup("unknown");
	}
	a->last = c;
	return c;
}

static void add_alarm(struct input *in, struct chart *c,
		      const struct alarm *alarm, u64 values)
{
	c->is_time |= alarm->start != 0;
	if (alarm->limits.ucl != U64_MAX) {
		c->limits = alarm->limits;
		c->has_limit = true;
		c->has_center = alarm->limits.center != 0;
		if (c->series)
			series_limits(c->series, alarm->time, &alarm->limits,
				      c->has_center);
	}
	report_alarm(in->report, c, alarm);
	if (values > c->values) {
		c->values = values;
		c->alarms_then = c->alarms;
	}
}

/* Report an alarm, with what is known of its chart */
static int finish(struct input *in, struct alarms *a, struct waiting *w)
{
	const struct known_chart *k = charts_find(&a->known, w->number);
	const struct chart_lines *lines = charts_lines(k, w->limit_nr);
	char name[CHART_NAME_SIZE], keys[512];
	struct alarm *alarm = &w->alarm;
	struct chart *c;

	a->unknown += !k;
	charts_name(k, w->number, name);
	if (!report_wants(in->report, name))
		return 0;
	alarm->limits.ucl = U64_MAX;
	if (lines)
		alarm->limits =
			(struct ctlchart_limits){ lines->center, lines->limit };
	keys_unpack(in->tep, k ? k->types : "", w->keys, w->bytes, keys,
		    sizeof(keys));
	clean_text(keys);
	alarm->keys = keys;
	alarm->keys_of = k ? tep_find_event(in->tep, k->event) : NULL;
	c = find_chart(in, a, name, k);
	if (!c)
		return guard_fail(in->guard, w->offset,
				  "damaged: alarms of more than %d charts",
				  MAX_CHARTS);
	in->report->alarm_events++;
	add_alarm(in, c, alarm, k ? k->values : 0);
	return 0;
}

/* Report alarms in their order, up to one that should wait for its limit event */
static int finish_due(struct input *in, struct alarms *a, u64 now)
{
	int status = 0;

	while (a->nr && !status) {
		struct waiting *w = &a->waiting[a->first];

		if (now - w->alarm.time < WAIT_NS && a->nr < MAX_WAITING &&
		    !charts_lines(charts_find(&a->known, w->number),
				  w->limit_nr))
			break;
		status = finish(in, a, w);
		a->first = (a->first + 1) & (a->room - 1);
		a->nr--;
	}
	return status;
}

/* Room for one more, at the end */
static struct waiting *add_waiting(struct alarms *a)
{
	if (a->nr == a->room) {
		size_t room = a->room ? 2 * a->room : 16;

		a->waiting =
			xreallocarray(a->waiting, room, sizeof(*a->waiting));
		/* What went round follows the rest now */
		memcpy(a->waiting + a->room, a->waiting,
		       a->first * sizeof(*a->waiting));
		a->room = room;
	}
	return &a->waiting[(a->first + a->nr++) & (a->room - 1)];
}

static int on_alarm(struct input *in, struct alarms *a,
		    const struct record *rec)
{
	u64 number[FIELDS] = { 0 };
	const char *comm, *keys;
	size_t len, bytes;
	struct waiting *w;
	int i;

	for (i = 0; i < COMM; i++) {
		if (!field_number(&a->field[i], rec, &number[i]))
			return input_damaged(in, rec, "ctlchart_alarm");
	}
	if (!field_string(&a->field[COMM], in, rec, &comm, &len) ||
	    !field_bytes(&a->field[KEYS], rec, &keys, &bytes))
		return input_damaged(in, rec, "ctlchart_alarm");
	w = add_waiting(a);
	*w = (struct waiting){
		.alarm = { .time = rec->ts,
			   .start = number[START],
			   .value = number[DURATION],
			   .rules = number[RULES],
			   .kept = number[KEPT],
			   .pid = number[PID],
			   .seen = in->report->events },
		.number = number[CHART],
		.limit_nr = number[LIMIT_NR],
		.offset = rec->offset,
		.bytes = bytes < MAX_KEY_BYTES ? bytes : MAX_KEY_BYTES,
	};
	memcpy(w->keys, keys, w->bytes);
	snprintf(w->alarm.comm, sizeof(w->alarm.comm), "%.*s",
		 len < COMM_LEN ? (int)len : COMM_LEN, comm);
	clean_text(w->alarm.comm);
	return finish_due(in, a, rec->ts);
}

static int on_limit(struct input *in, struct alarms *a,
		    const struct record *rec)
{
	const char *name, *types;
	struct known_chart k = { 0 };
	struct chart_lines line;
	u64 number[L_FIELDS] = { 0 };
	size_t len, types_len;
	int i;

	for (i = 0; i < L_NAME; i++) {
		if (!field_number(&a->limit_field[i], rec, &number[i]))
			return input_damaged(in, rec, "ctlchart_limit");
	}
	if (!field_string(&a->limit_field[L_NAME], in, rec, &name, &len) ||
	    !field_string(&a->limit_field[L_KEYS], in, rec, &types, &types_len))
		return input_damaged(in, rec, "ctlchart_limit");
	k.number = number[L_CHART];
	k.event = number[L_EVENT];
	k.values = number[L_VALUES];
	line = (struct chart_lines){ .nr = number[L_LIMIT_NR],
				     .center = number[L_CENTER],
				     .limit = number[L_LIMIT] };
	a->learning |= line.limit == U64_MAX;
	a->drawn |= line.limit != U64_MAX;
	snprintf(k.name, sizeof(k.name), "%.*s", (int)len, name);
	snprintf(k.types, sizeof(k.types), "%.*s", (int)types_len, types);
	clean_text(k.name);
	if (!charts_learn(&a->known, &k, &line))
		return guard_fail(in->guard, rec->offset,
				  "damaged: limits of more than %d charts",
				  CHARTS_KNOWN);
	return finish_due(in, a, rec->ts);
}

static int on_event(struct input *in, const struct record *rec, void *arg)
{
	struct alarms *a = arg;
	int type = input_type(in, rec);

	if (type == a->id)
		return on_alarm(in, a, rec);
	return type == a->limit_id ? on_limit(in, a, rec) : 0;
}

static int end(struct input *in, void *arg)
{
	struct alarms *a = arg;
	int status = finish_due(in, a, U64_MAX);

	if (status)
		return status;
	if (a->unknown)
		guard_note(
			in->guard,
			"%llu alarm%s with only the number of the chart: the trace lacks its event ctlchart:ctlchart_limit (record it with -e ctlchart)",
			a->unknown, plural(a->unknown));
	if (!in->report->nr_charts && in->report->only)
		return guard_fail(in->guard, GUARD_NOWHERE,
				  "has no alarm of a chart %s",
				  in->report->only);
	if (!in->report->nr_charts && *in->instances && !*in->report->instance)
		guard_note(
			in->guard,
			"has no alarms in its main instance; --instance chooses another: %s",
			in->instances);
	else if (!in->report->nr_charts && !a->drawn && a->limit_id >= 0)
		/* A limit older than the recording has no event in it without an alarm */
		guard_note(
			in->guard,
			a->learning ?
				"has no alarms; a chart has no limit yet: it learns for learn= (10 s by default) before it judges" :
				"has no alarms: no value was beyond the limit, or there was none yet (a chart learns for learn=, 10 s by default)");
	return 0;
}

/**
 * alarms_report - report the charts of a trace's alarm events
 * @g: the guard
 * @r: the report
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int alarms_report(struct guard *g, struct report *r)
{
	struct alarms a = { 0 };
	const struct reader reader = {
		.init = init, .event = on_event, .end = end, .arg = &a
	};
	int status = input_read(g, r, &reader);

	charts_free(&a.known);
	free(a.waiting);
	return status;
}
