// SPDX-License-Identifier: GPL-2.0
/* A trace made by the kernel's filter: charts as its alarm events describe them. */
#include <stdlib.h>
#include <string.h>

#include "ctlchart.h"

enum {
	START,
	DURATION,
	CENTER,
	LIMIT,
	VALUES,
	RULES,
	PID,
	KEPT,
	EVENT,
	COMM,
	CHART,
	KEYS,
	FIELDS
};

static const struct field_want fields[FIELDS] = {
	[START] = { "start", false },	[DURATION] = { "duration", false },
	[CENTER] = { "center", false }, [LIMIT] = { "limit", false },
	[VALUES] = { "values", false }, [RULES] = { "rules", false },
	[PID] = { "pid", false },	[KEPT] = { "kept", false },
	[EVENT] = { "event", false },	[COMM] = { "comm", true },
	[CHART] = { "chart", true },	[KEYS] = { "keys", true },
};

/* Limit of the number of charts in a trace; one with more is damaged */
#define MAX_CHARTS 1000

struct alarms {
	int id;
	struct field field[FIELDS];
	struct chart *last; /* the chart of the alarm before */
};

static int init(struct input *in, void *arg)
{
	struct alarms *a = arg;
	struct tep_event *event;

	event = tep_find_event_by_name(in->tep, "ctlchart", "ctlchart_alarm");
	if (!event)
		return guard_fail(
			in->guard, GUARD_NOWHERE,
			"has no alarms of the ctlchart filter (event ctlchart:ctlchart_alarm, recorded with -e ctlchart); give -e EVENT -f 'ctlchart(...)' to chart the events it has");
	a->id = event->id;
	return fields_find(in, event, fields, a->field, FIELDS);
}

static struct chart *find_chart(struct input *in, struct alarms *a,
				const char *name, unsigned int id)
{
	struct chart *c = a->last;

	if (c && !strcmp(c->name, name))
		return c;
	c = report_find_chart(in->report, name);
	if (!c) {
		if (in->report->nr_charts == MAX_CHARTS)
			return NULL;
		c = report_add_chart(in->report, name);
		c->event = input_event_name(in, id);
	}
	a->last = c;
	return c;
}

static void add_alarm(struct input *in, struct chart *c,
		      const struct alarm *alarm, u64 values)
{
	c->is_time |= alarm->start != 0;
	if (values > c->values)
		c->values = values;
	if (alarm->limits.ucl != U64_MAX) {
		c->limits = alarm->limits;
		c->has_limit = true;
		c->has_center = alarm->limits.center != 0;
		if (c->series)
			series_limits(c->series, alarm->time, &alarm->limits,
				      c->has_center);
	}
	report_alarm(in->report, c, alarm);
}

static int on_alarm(struct input *in, struct tep_record *rec, void *arg)
{
	struct alarms *a = arg;
	char text[FIELDS][256] = { 0 };
	u64 number[FIELDS] = { 0 };
	struct alarm alarm;
	struct chart *c;
	int i;

	if (input_type(in, rec) != a->id)
		return 0;
	for (i = 0; i < FIELDS; i++) {
		const char *s = "";
		size_t len = 0;

		if (!fields[i].string) {
			if (!field_number(&a->field[i], in, rec, &number[i]))
				return input_damaged(in, rec, "ctlchart_alarm");
			continue;
		}
		if (!field_string(&a->field[i], in, rec, &s, &len))
			return input_damaged(in, rec, "ctlchart_alarm");
		snprintf(text[i], sizeof(text[i]), "%.*s", (int)len, s);
		clean_text(text[i]);
	}
	if (!report_wants(in->report, text[CHART]))
		return 0;
	alarm = (struct alarm){
		.time = rec->ts,
		.start = number[START],
		.value = number[DURATION],
		.limits = { number[CENTER], number[LIMIT] },
		.rules = number[RULES],
		.kept = number[KEPT],
		.pid = number[PID],
		.keys = text[KEYS],
		.keys_of = tep_find_event(in->tep, number[EVENT]),
		.seen = in->report->events,
	};
	snprintf(alarm.comm, sizeof(alarm.comm), "%.*s", COMM_LEN, text[COMM]);
	c = find_chart(in, a, text[CHART], number[EVENT]);
	if (!c)
		return guard_fail(in->guard, rec->offset,
				  "damaged: alarms of more than %d charts",
				  MAX_CHARTS);
	in->report->alarm_events++;
	add_alarm(in, c, &alarm, number[VALUES]);
	return 0;
}

static int end(struct input *in, void *arg)
{
	(void)arg;
	if (!in->report->nr_charts && in->report->only)
		return guard_fail(in->guard, GUARD_NOWHERE,
				  "has no alarm of a chart %s",
				  in->report->only);
	if (!in->report->nr_charts && *in->instances && !*in->report->instance)
		guard_note(
			in->guard,
			"no alarms in its main instance; --instance chooses another: %s",
			in->instances);
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
		.init = init, .event = on_alarm, .end = end, .arg = &a
	};

	return input_read(g, r, &reader);
}
