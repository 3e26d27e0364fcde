// SPDX-License-Identifier: GPL-2.0
/*
 * libtraceevent plugin: ctlchart:ctlchart_alarm and ctlchart_limit for people.
 *
 *   block_bio_queue->block_rq_complete: 7.012 s (limit 23.41 ms, centre
 *   14.10 ms) started 12345.678901 by reader-1234 dev=8:0 sector=1234
 *   rule: limit, kept
 *
 * (in one line). An alarm has the numbers of its chart and of its limit; what
 * they stand for is in an event ctlchart_limit before it. An alarm without one
 * is shown by its numbers. A record that is not as expected is left to the
 * event's own print format.
 */
#include <linux/kernel.h>
#include <stdbool.h>
#include <string.h>

#include <event-parse.h>
#include <trace-seq.h>

#include "charts.h"
#include "keys.h"

#define NSEC_PER_SEC 1000000000ULL

enum { START, DURATION, RULES, PID, KEPT, CHART, LIMIT_NR, NUMBERS };

static const char *const numbers[NUMBERS] = {
	[START] = "start",	 [DURATION] = "duration", [RULES] = "rules",
	[PID] = "pid",		 [KEPT] = "kept",	  [CHART] = "chart",
	[LIMIT_NR] = "limit_nr",
};

/**
 * struct state - what the limit events of a trace said
 * @tep: the trace
 * @charts: its charts
 * @next: of another trace
 */
struct state {
	struct tep_handle *tep;
	struct known_charts charts;
	struct state *next;
};

static struct state *states;

struct text {
	const char *s;
	int len;
};

static bool within(const struct tep_record *record, unsigned int offset,
		   unsigned int size)
{
	return record->size >= 0 && offset <= (unsigned int)record->size &&
	       size <= (unsigned int)record->size - offset;
}

static bool get_number(struct tep_event *event, struct tep_record *record,
		       const char *name, unsigned long long *value)
{
	struct tep_format_field *f = tep_find_field(event, name);

	if (!f || f->size > 8 || f->flags & TEP_FIELD_IS_ARRAY ||
	    !within(record, f->offset, f->size))
		return false;
	*value = tep_read_number(event->tep, (char *)record->data + f->offset,
				 f->size);
	return true;
}

/* Bytes of a field: an array of its own, or one elsewhere in the record */
static bool get_bytes(struct tep_event *event, struct tep_record *record,
		      const char *name, struct text *text)
{
	struct tep_format_field *f = tep_find_field(event, name);
	unsigned int offset, size;

	if (!f || !(f->flags & TEP_FIELD_IS_ARRAY) ||
	    !within(record, f->offset, f->size))
		return false;
	offset = f->offset;
	size = f->size;
	if (f->flags & TEP_FIELD_IS_DYNAMIC) {
		unsigned int loc = tep_read_number(
			event->tep, (char *)record->data + offset, 4);

		offset = loc & 0xffff;
		size = loc >> 16;
		if (!within(record, offset, size))
			return false;
	}
	text->s = (char *)record->data + offset;
	text->len = size;
	return true;
}

/* A string, into @buf; a longer one is cut off */
static bool get_string(struct tep_event *event, struct tep_record *record,
		       const char *name, char *buf, size_t size)
{
	struct text text;

	if (!get_bytes(event, record, name, &text))
		return false;
	snprintf(buf, size, "%.*s", text.len, text.s);
	return true;
}

/* Times are in ns; a field that a chart judges has an unknown unit */
static void put_value(struct trace_seq *s, unsigned long long v, bool is_time)
{
	if (!is_time)
		trace_seq_printf(s, "%llu", v);
	else if (v >= NSEC_PER_SEC)
		trace_seq_printf(s, "%.3f s", v / 1e9);
	else if (v >= 1000000)
		trace_seq_printf(s, "%.3f ms", v / 1e6);
	else if (v >= 1000)
		trace_seq_printf(s, "%.3f us", v / 1e3);
	else
		trace_seq_printf(s, "%llu ns", v);
}

static void put_rules(struct trace_seq *s, unsigned int rules)
{
	const char *comma = "";
	int i;

	trace_seq_puts(s, " rule: ");
	for (i = 0; i < 32; i++) {
		if (!(rules & 1u << i))
			continue;
		trace_seq_puts(s, comma);
		if (i == 0)
			trace_seq_puts(s, "limit");
		else if (i == 8)
			trace_seq_puts(s, "overdue");
		else if (i == 9) /* a group's median; bit 0 is a single value */
			trace_seq_puts(s, "1");
		else if (i == 10)
			trace_seq_puts(s, "below the centre");
		else
			trace_seq_printf(s, "%d", i + 1);
		comma = ", ";
	}
}

static void put_keys(struct trace_seq *s, struct tep_handle *tep,
		     const struct known_chart *c, const struct text *t)
{
	char keys[512], shown[1024];

	keys_unpack(tep, c ? c->types : "", t->s, t->len, keys, sizeof(keys));
	keys_text(c ? tep_find_event(tep, c->event) : NULL, keys, shown,
		  sizeof(shown));
	trace_seq_printf(s, c ? " %s" : " keys %s", shown);
}

static void put_lines(struct trace_seq *s, const struct chart_lines *l,
		      bool is_time)
{
	if (l->limit == ~0ULL) {
		trace_seq_puts(s, "no limit yet");
	} else {
		trace_seq_puts(s, "limit ");
		put_value(s, l->limit, is_time);
	}
	if (l->center) {
		trace_seq_puts(s, ", centre ");
		put_value(s, l->center, is_time);
	}
}

static int alarm_handler(struct trace_seq *s, struct tep_record *record,
			 struct tep_event *event, void *context)
{
	const struct state *state = context;
	const struct chart_lines *lines;
	const struct known_chart *chart;
	unsigned long long v[NUMBERS];
	char name[CHART_NAME_SIZE];
	struct text comm, keys;
	bool is_time;
	int i;

	for (i = 0; i < NUMBERS; i++) {
		if (!get_number(event, record, numbers[i], &v[i]))
			return 1;
	}
	if (!get_bytes(event, record, "comm", &comm) ||
	    !get_bytes(event, record, "keys", &keys))
		return 1;
	chart = charts_find(&state->charts, v[CHART]);
	lines = charts_lines(chart, v[LIMIT_NR]);
	is_time = v[START];
	trace_seq_printf(s, "%s: ", charts_name(chart, v[CHART], name));
	put_value(s, v[DURATION], is_time);
	trace_seq_puts(s, " (");
	if (lines)
		put_lines(s, lines, is_time);
	else
		trace_seq_puts(s, "limit not recorded");
	trace_seq_puts(s, ")");
	if (is_time)
		trace_seq_printf(s, " started %llu.%06llu",
				 v[START] / NSEC_PER_SEC,
				 v[START] / 1000 % 1000000);
	trace_seq_printf(s, " by %.*s-%d", comm.len, comm.s, (int)v[PID]);
	if (keys.len)
		put_keys(s, event->tep, chart, &keys);
	put_rules(s, v[RULES]);
	if (v[KEPT])
		trace_seq_puts(s, ", kept");
	return 0;
}

static int limit_handler(struct trace_seq *s, struct tep_record *record,
			 struct tep_event *event, void *context)
{
	static const char *const names[] = { "chart",  "event",	   "values",
					     "center", "limit_nr", "limit" };
	unsigned long long v[ARRAY_SIZE(names)];
	struct state *state = context;
	struct known_chart c = { 0 };
	struct chart_lines line;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!get_number(event, record, names[i], &v[i]))
			return 1;
	}
	if (!get_string(event, record, "name", c.name, sizeof(c.name)) ||
	    !get_string(event, record, "keys", c.types, sizeof(c.types)))
		return 1;
	c.number = v[0];
	c.event = v[1];
	c.values = v[2];
	line = (struct chart_lines){ .center = v[3],
				     .nr = v[4],
				     .limit = v[5] };
	charts_learn(&state->charts, &c, &line);
	trace_seq_printf(s, "%s: ", c.name);
	/* A chart without keys is of a field */
	put_lines(s, &line, *c.types);
	trace_seq_printf(s, ", %llu values judged (chart #%u)", c.values,
			 c.number);
	return 0;
}

int TEP_PLUGIN_LOADER(struct tep_handle *tep)
{
	struct state *state = calloc(1, sizeof(*state));

	if (!state)
		return -1;
	state->tep = tep;
	state->next = states;
	states = state;
	tep_register_event_handler(tep, -1, "ctlchart", "ctlchart_limit",
				   limit_handler, state);
	tep_register_event_handler(tep, -1, "ctlchart", "ctlchart_alarm",
				   alarm_handler, state);
	return 0;
}

void TEP_PLUGIN_UNLOADER(struct tep_handle *tep)
{
	struct state **p = &states, *state;

	while (*p && (*p)->tep != tep)
		p = &(*p)->next;
	state = *p;
	if (!state)
		return;
	*p = state->next;
	tep_unregister_event_handler(tep, -1, "ctlchart", "ctlchart_limit",
				     limit_handler, state);
	tep_unregister_event_handler(tep, -1, "ctlchart", "ctlchart_alarm",
				     alarm_handler, state);
	charts_free(&state->charts);
	free(state);
}
