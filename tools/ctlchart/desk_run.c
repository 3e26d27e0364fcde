// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the values of the charts in ordinary events, as the kernel's filter would have
 * done: an event is handled as an end before it is handled as a start, and other terms
 * do not affect pairing.
 *
 * If the trace has the values of a kernel's chart (event ctlchart_value), a call that
 * names this chart uses these values instead.
 */
#include <stdlib.h>
#include <string.h>

#include "desk.h"
#include "hash.h"

/* There are values in the trace: find out of which charts */
#define SCAN_FIRST (-1)

static int judge_kernel_value(struct input *in, struct value *v, void *arg);

static int init(struct input *in, void *arg)
{
	struct desk *desk = arg;
	bool from_kernel = false;
	int status = 0;
	size_t i;

	if (!desk->scanned && values_event(in))
		return SCAN_FIRST;
	for (i = 0; i < desk->nr_calls && !status; i++) {
		desk->chart[i].call = &desk->call[i];
		status = desk_bind(in, desk, &desk->chart[i]);
		if (!status)
			desk_start(&desk->chart[i]);
		from_kernel |= desk->chart[i].from_kernel;
	}
	if (status || !from_kernel)
		return status;
	desk->values = values_new(in, true, judge_kernel_value, desk);
	return desk->values ? 0 : EXIT_FAILURE;
}

/* ---- charts whose values are in the trace ---- */

/* Is it a value of this chart, or of a part of it? */
static bool is_value_of(const struct desk_chart *d, const struct value *v)
{
	size_t len = strcspn(v->chart, "["), full;
	char name[256];

	if ((int)v->event != d->end->id)
		return false;
	desk_name(d, name, sizeof(name));
	full = strlen(name);
	/* The kernel's own names end there */
	return len == (full < NAME_LEN ? full : NAME_LEN - 1) &&
	       !strncmp(v->chart, name, len);
}

static int scan_value(struct input *in, struct value *v, void *arg)
{
	struct desk *desk = arg;
	bool all = true;
	size_t i;

	(void)in;
	for (i = 0; i < desk->nr_calls; i++) {
		struct desk_chart *d = &desk->chart[i];

		d->from_kernel = d->from_kernel || is_value_of(d, v);
		all &= d->from_kernel;
	}
	desk->scanned = all;
	return 0;
}

static int scan_init(struct input *in, void *arg)
{
	struct desk *desk = arg;
	int status = 0;
	size_t i;

	for (i = 0; i < desk->nr_calls && !status; i++) {
		desk->chart[i].call = &desk->call[i];
		status = desk_find_judged(in, &desk->chart[i]);
	}
	if (status)
		return status;
	desk->values = values_new(in, false, scan_value, desk);
	return desk->values ? 0 : EXIT_FAILURE;
}

static int scan_event(struct input *in, const struct record *rec, void *arg)
{
	struct desk *desk = arg;

	/* libtracecmd leaks memory if it is stopped: read on to the end */
	return desk->scanned ? 0 : values_record(desk->values, in, rec);
}

static int scan_end(struct input *in, void *arg)
{
	(void)in;
	(void)arg;
	return 0;
}

static int scan(struct guard *g, const struct report *r, struct desk *desk)
{
	struct report none = { .file = r->file,
			       .instance = r->instance,
			       .format = r->format };
	const struct reader reader = { .init = scan_init,
				       .event = scan_event,
				       .end = scan_end,
				       .arg = desk };
	int status = input_read(g, &none, &reader);

	values_free(desk->values);
	desk->values = NULL;
	desk->scanned = true;
	return status;
}

/* ---- */

static bool read_keys(struct input *in, const struct desk_chart *d,
		      const struct field *key, const struct record *rec,
		      u64 *value)
{
	unsigned int i;

	memset(value, 0, MAX_KEYS * sizeof(*value));
	for (i = 0; i < d->nr_keys; i++) {
		const char *s;
		size_t len;

		if (!field_is_string(&key[i])) {
			if (!field_number(&key[i], rec, &value[i]))
				return false;
			continue;
		}
		if (!field_string(&key[i], in, rec, &s, &len))
			return false;
		value[i] = hash_bytes(s, len);
	}
	return true;
}

/* A field's value, or a pair's; returns false if the record is too short */
static bool measure_value(struct input *in, struct desk_chart *d,
			  const struct record *rec)
{
	struct alarm *a = &d->value;
	u64 key[MAX_KEYS];
	struct start s;

	*a = (struct alarm){ .time = rec->ts };
	d->paired = false;
	if (!d->start) {
		if (!field_number(&d->end_key[0], rec, &a->value))
			return false;
		if (d->end_key[0].format->flags & TEP_FIELD_IS_SIGNED &&
		    (s64)a->value < 0)
			a->value = 0;
		a->pid = input_pid(in, rec);
		d->paired = true;
		return true;
	}
	if (!read_keys(in, d, d->end_key, rec, key))
		return false;
	if (!pairs_remove(d->pairs, key, &s))
		return true;
	free(s.keys);
	d->paired = true;
	a->pid = s.pid;
	a->start = s.time;
	if (rec->ts >= s.time)
		a->value = rec->ts - s.time;
	return true;
}

/* Returns false if the record is too short */
static bool judge_end(struct input *in, struct desk_chart *d,
		      const struct record *rec, bool *kept)
{
	const struct desk_chart *lead = d->lead ? d->lead : d;
	struct alarm a;

	if (!d->lead && !measure_value(in, d, rec))
		return false;
	if (!lead->paired)
		return true;
	a = lead->value;
	if (rec->ts < a.start)
		d->result->backwards++;
	if (!desk_matches(d->before, rec))
		d->result->uncharted++;
	else if (desk_judge(in, d, &a, NULL, rec))
		*kept = true;
	return true;
}

static int judge_kernel_value(struct input *in, struct value *v, void *arg)
{
	struct desk *desk = arg;
	size_t i;

	for (i = 0; i < desk->nr_calls; i++) {
		struct desk_chart *d = &desk->chart[i];
		struct alarm a = {
			.time = v->time,
			.start = v->start,
			.value = v->value,
			.pid = v->pid,
		};

		if (!d->from_kernel || !is_value_of(d, v))
			continue;
		if (v->first && v->limit != U64_MAX && !d->call->ucl &&
		    !desk->warm) {
			guard_note(
				in->guard,
				"%s: the kernel had learnt its limit before the trace began; it is learnt again from the trace",
				v->chart);
			desk->warm = true;
		}
		v->used = true;
		desk_judge(in, d, &a, v, NULL);
	}
	return 0;
}

static bool put_start(struct input *in, struct desk *desk, struct desk_chart *d,
		      const struct record *rec)
{
	struct start s = {
		.time = rec->ts,
		.pid = input_pid(in, rec),
		.epoch = desk->epoch,
	};
	char keys[KEYS_LEN];

	if (!read_keys(in, d, d->start_key, rec, s.key))
		return false;
	if (d->call->overdue) {
		desk_print_keys(in, d->start_key, d->nr_keys, rec, keys,
				sizeof(keys));
		s.keys = xstrdup(keys);
	}
	pairs_put(d->pairs, &s);
	return true;
}

static void find_overdue(struct input *in, struct desk_chart *d, u64 now)
{
	const struct start *s;

	if (!d->call->overdue || d->from_kernel || now <= d->call->overdue)
		return;
	while ((s = pairs_overdue(d->pairs, now - d->call->overdue)) != NULL) {
		struct alarm a = {
			.time = now,
			.start = s->time,
			.value = now - s->time,
			.limits = d->result->limits,
			.rules = RULE_OVERDUE,
			.pid = s->pid,
			.keys = s->keys,
			.keys_of = d->start,
		};

		desk_raise_alarm(in, d, &a);
	}
}

static void count_event(struct chart *c, const struct record *rec)
{
	c->events++;
	c->bytes += rec->stored;
}

static int on_event(struct input *in, const struct record *rec, void *arg)
{
	struct desk *desk = arg;
	int id = input_type(in, rec);
	bool ours = false, kept = false;
	size_t i;

	for (i = 0; i < desk->nr_calls; i++) {
		struct desk_chart *d = &desk->chart[i];

		find_overdue(in, d, rec->ts);
		if (d->call->ucl && !d->result->has_limit)
			desk_set_limits(d, rec->ts);
		if (d->end->id != id || d->from_kernel)
			continue;
		ours = true;
		count_event(d->result, rec);
		if (!judge_end(in, d, rec, &kept))
			return input_damaged(in, rec, d->end->name);
	}
	for (i = 0; i < desk->nr_calls; i++) {
		struct desk_chart *d = &desk->chart[i];

		if (!d->start || d->start->id != id)
			continue;
		ours = true;
		if (d->end->id != id)
			count_event(d->result, rec);
		if (!d->lead && !put_start(in, desk, d, rec))
			return input_damaged(in, rec, d->start->name);
	}
	if (ours) {
		in->report->log_events++;
		in->report->log_bytes += rec->stored;
	}
	if (kept) {
		in->report->kept_events++;
		in->report->kept_bytes += rec->stored;
	}
	return desk->values ? values_record(desk->values, in, rec) : 0;
}

static void on_lost(struct input *in, void *arg)
{
	struct desk *desk = arg;

	(void)in;
	desk->epoch++;
}

/* Add up the parts of a chart with by= */
static void sum_parts(struct desk_chart *d)
{
	struct chart *c = d->result;
	u32 i;

	for (i = 0; i < d->nr_parts; i++) {
		const struct chart *part = d->part[i]->result;

		c->learnt += part->learnt;
		c->values += part->values;
		c->alarms += part->alarms;
		c->kept += part->kept;
		c->alarm_events += part->alarm_events;
		c->kept_bytes += part->kept_bytes;
	}
}

static void note_ignored_terms(struct input *in, const struct desk_chart *d)
{
	const struct call *call = d->call;

	if (call->overdue)
		guard_note(
			in->guard,
			"%s: overdue= is ignored: the trace has only the chart's values",
			d->result->name);
	if (call->before || call->after)
		guard_note(
			in->guard,
			"%s: terms beside ctlchart() are those of the kernel's filter: the trace has only the chart's values",
			d->result->name);
}

static int end(struct input *in, void *arg)
{
	struct desk *desk = arg;
	int status = 0;
	size_t i;

	if (desk->values)
		status = values_end(desk->values, in);
	for (i = 0; i < desk->nr_calls; i++) {
		struct desk_chart *d = &desk->chart[i];
		const struct pairs *pairs = d->lead ? d->lead->pairs : d->pairs;

		if (d->call->context)
			guard_note(
				in->guard,
				"%s: the context of pre=, post= and from= is not counted",
				d->result->name);
		d->result->parts = d->nr_parts;
		desk_finish_points(in, d);
		if (in->report->sim)
			sum_parts(d);
		if (d->from_kernel)
			note_ignored_terms(in, d);
		if (!pairs)
			continue;
		d->result->accounts = *pairs_accounts(pairs);
		d->result->in_flight = pairs_in_flight(pairs);
	}
	if (!in->report->log_events && !desk->values && *in->instances &&
	    !*in->report->instance)
		guard_note(
			in->guard,
			"has none of the events in its main instance; --instance chooses another: %s",
			in->instances);
	return status;
}

/**
 * desk_report - chart a trace's ordinary events
 * @g: the guard
 * @r: the report
 * @call: the calls
 * @nr_calls: number of them
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int desk_report(struct guard *g, struct report *r, const struct call *call,
		size_t nr_calls)
{
	struct desk desk = {
		.call = call,
		.nr_calls = nr_calls,
		.chart = xcalloc(nr_calls, sizeof(*desk.chart)),
	};
	const struct reader reader = { .init = init,
				       .event = on_event,
				       .lost = on_lost,
				       .end = end,
				       .arg = &desk };
	int status;
	size_t i;

	status = input_read(g, r, &reader);
	if (status == SCAN_FIRST) {
		status = scan(g, r, &desk);
		if (!status)
			status = input_read(g, r, &reader);
	}
	values_free(desk.values);
	for (i = 0; i < nr_calls; i++) {
		if (desk.chart[i].before)
			tep_filter_free(desk.chart[i].before);
		if (desk.chart[i].after)
			tep_filter_free(desk.chart[i].after);
		pairs_free(desk.chart[i].pairs);
		desk_free_values(&desk.chart[i]);
		while (desk.chart[i].nr_parts) {
			struct desk_chart *part =
				desk.chart[i].part[--desk.chart[i].nr_parts];

			desk_free_values(part);
			free(part);
		}
		free(desk.chart[i].part);
	}
	free(desk.chart);
	return status;
}
