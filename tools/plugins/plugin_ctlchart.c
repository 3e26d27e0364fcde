// SPDX-License-Identifier: GPL-2.0
/*
 * libtraceevent plugin: ctlchart:ctlchart_alarm for people.
 *
 *   block_bio_queue->block_rq_complete: 7.012 s (limit 23.41 ms, centre
 *   14.10 ms) started 12345.678901 by reader-1234 dev=8:0 sector=1234
 *   rule: limit, kept
 *
 * (in one line). A record that is not as expected is left to the event's own
 * print format.
 */
#include <stdbool.h>
#include <string.h>

#include <event-parse.h>
#include <trace-seq.h>

#include "keys.h"

#define NSEC_PER_SEC 1000000000ULL

enum { START, DURATION, CENTER, LIMIT, RULES, PID, EVENT, KEPT, NUMBERS };

static const char *const numbers[NUMBERS] = {
	[START] = "start", [DURATION] = "duration", [CENTER] = "center",
	[LIMIT] = "limit", [RULES] = "rules",	    [PID] = "pid",
	[EVENT] = "event", [KEPT] = "kept",
};

enum { COMM, CHART, KEYS, STRINGS };

static const char *const strings[STRINGS] = {
	[COMM] = "comm",
	[CHART] = "chart",
	[KEYS] = "keys",
};

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

static bool get_string(struct tep_event *event, struct tep_record *record,
		       const char *name, struct text *text)
{
	struct tep_format_field *f = tep_find_field(event, name);
	unsigned int offset, size;

	if (!f || !(f->flags & TEP_FIELD_IS_STRING) ||
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
	text->len = strnlen(text->s, size);
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

static void put_keys(struct trace_seq *s, struct tep_event *judged,
		     const struct text *t)
{
	char keys[256], shown[512];

	snprintf(keys, sizeof(keys), "%.*s", t->len, t->s);
	keys_text(judged, keys, shown, sizeof(shown));
	trace_seq_printf(s, " %s", shown);
}

static int alarm_handler(struct trace_seq *s, struct tep_record *record,
			 struct tep_event *event, void *context)
{
	unsigned long long v[NUMBERS];
	struct text t[STRINGS];
	bool is_time;
	int i;

	(void)context;
	for (i = 0; i < NUMBERS; i++) {
		if (!get_number(event, record, numbers[i], &v[i]))
			return 1;
	}
	for (i = 0; i < STRINGS; i++) {
		if (!get_string(event, record, strings[i], &t[i]))
			return 1;
	}
	is_time = v[START];
	trace_seq_printf(s, "%.*s: ", t[CHART].len, t[CHART].s);
	put_value(s, v[DURATION], is_time);
	if (v[LIMIT] == ~0ULL) {
		trace_seq_puts(s, " (no limit yet");
	} else {
		trace_seq_puts(s, " (limit ");
		put_value(s, v[LIMIT], is_time);
	}
	if (v[CENTER]) {
		trace_seq_puts(s, ", centre ");
		put_value(s, v[CENTER], is_time);
	}
	trace_seq_puts(s, ")");
	if (is_time)
		trace_seq_printf(s, " started %llu.%06llu",
				 v[START] / NSEC_PER_SEC,
				 v[START] / 1000 % 1000000);
	trace_seq_printf(s, " by %.*s-%d", t[COMM].len, t[COMM].s, (int)v[PID]);
	if (t[KEYS].len)
		put_keys(s, tep_find_event(event->tep, v[EVENT]), &t[KEYS]);
	put_rules(s, v[RULES]);
	if (v[KEPT])
		trace_seq_puts(s, ", kept");
	return 0;
}

int TEP_PLUGIN_LOADER(struct tep_handle *tep)
{
	tep_register_event_handler(tep, -1, "ctlchart", "ctlchart_alarm",
				   alarm_handler, NULL);
	return 0;
}

void TEP_PLUGIN_UNLOADER(struct tep_handle *tep)
{
	tep_unregister_event_handler(tep, -1, "ctlchart", "ctlchart_alarm",
				     alarm_handler, NULL);
}
