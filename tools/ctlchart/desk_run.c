// SPDX-License-Identifier: GPL-2.0
/*
 * Charts ordinary events as the kernel's filter would have done: an event is handled as
 * an end before it is handled as a start, other terms do not affect pairing, and a value
 * is not judged by a limit that was estimated from it.
 *
 * If the trace has the values of a kernel's chart (event ctlchart_value), a call that
 * names this chart uses these values instead.
 */
#include <stdlib.h>
#include <string.h>

#include "desk.h"
#include "hash.h"

#define KEYS_LEN 192
#define NSEC_PER_SEC 1000000000ULL

/* How often the kernel repeats the limit event while there are alarms */
#define LIMIT_PERIOD (2 * NSEC_PER_SEC)

/* There are values in the trace: find out of which charts */
#define SCAN_FIRST (-1)

static void set_limits(struct desk_chart *d, u64 now)
{
	struct chart *c = d->result;

	c->has_limit = true;
	d->limit_time = 0;
	if (c->series)
		series_limits(c->series, now, &c->limits, c->has_center);
}

static void start_chart(struct desk_chart *d)
{
	struct chart *c = d->result;

	c->limits.ucl = U64_MAX;
	d->before_ucl = U64_MAX;
	if (d->call->ucl) {
		c->limits.ucl = d->call->ucl;
		return;
	}
	d->learning = true;
	d->room = xcalloc(ctlchart_phase1_room(&d->call->method), sizeof(u64));
	ctlchart_phase1_start(&d->phase1, &d->call->method, d->room);
	ctlchart_sampler_start(&d->sampler, d->call->learn,
			       ctlchart_method_samples(&d->call->method));
}

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
			start_chart(&desk->chart[i]);
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

static int scan_event(struct input *in, struct tep_record *rec, void *arg)
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
		      const struct field *key, struct tep_record *rec,
		      u64 *value)
{
	unsigned int i;

	memset(value, 0, MAX_KEYS * sizeof(*value));
	for (i = 0; i < d->nr_keys; i++) {
		const char *s;
		size_t len;

		if (!field_is_string(&key[i])) {
			if (!field_number(&key[i], in, rec, &value[i]))
				return false;
			continue;
		}
		if (!field_string(&key[i], in, rec, &s, &len))
			return false;
		value[i] = hash_bytes(s, len);
	}
	return true;
}

static size_t print_number(const struct field *key, u64 value,
			   const char *space, char *buf, size_t size)
{
	const char *name = field_name(key);

	if (key->format && key->format->flags & TEP_FIELD_IS_SIGNED)
		return snprintf(buf, size, "%s%s=%lld", space, name,
				(s64)value);
	return snprintf(buf, size, "%s%s=%llu", space, name, value);
}

/* Keys as text; they could be read before */
static void print_fields(struct input *in, const struct field *key,
			 unsigned int nr_keys, struct tep_record *rec,
			 char *buf, size_t size)
{
	size_t pos = 0;
	unsigned int i;

	*buf = '\0';
	for (i = 0; i < nr_keys && pos < size; i++) {
		const char *name = field_name(&key[i]), *s = "";
		const char *space = i ? " " : "";
		u64 value = 0;
		size_t len = 0;

		if (field_is_string(&key[i])) {
			field_string(&key[i], in, rec, &s, &len);
			pos += snprintf(buf + pos, size - pos, "%s%s=%.*s",
					space, name, (int)len, s);
			continue;
		}
		field_number(&key[i], in, rec, &value);
		pos += print_number(&key[i], value, space, buf + pos,
				    size - pos);
	}
	clean_text(buf);
}

/* The same of numbers that were read before */
static void print_values(const struct field *key, unsigned int nr_keys,
			 const u64 *value, char buf[KEYS_LEN])
{
	size_t pos = 0;
	unsigned int i;

	*buf = '\0';
	for (i = 0; i < nr_keys && pos < KEYS_LEN; i++)
		pos += print_number(&key[i], value[i], i ? " " : "", buf + pos,
				    KEYS_LEN - pos);
	clean_text(buf);
}

static void print_keys(struct input *in, const struct desk_chart *d,
		       const struct field *key, struct tep_record *rec,
		       char *buf, size_t size)
{
	print_fields(in, key, d->nr_keys, rec, buf, size);
}

static void set_comm(struct input *in, struct alarm *a)
{
	snprintf(a->comm, sizeof(a->comm), "%.*s", COMM_LEN,
		 tep_data_comm_from_pid(in->tep, a->pid));
	clean_text(a->comm);
}

static bool matches(struct tep_event_filter *filter, struct tep_record *rec)
{
	return !filter ||
	       tep_filter_match(filter, rec) == TEP_ERRNO__FILTER_MATCH;
}

/* Give a value to Phase I; returns true if it is complete */
static bool learn(struct desk_chart *d, u64 value, u64 now)
{
	if (d->learning)
		return ctlchart_sampler_due(&d->sampler, now) &&
		       ctlchart_phase1_add(&d->phase1, value);
	return d->call->relearn &&
	       ctlchart_relearn_add(&d->relearn, value, d->result->limits.ucl,
				    now);
}

static void draw_limits(struct desk_chart *d, u64 now)
{
	struct chart *c = d->result;

	d->before_ucl = c->limits.ucl;
	ctlchart_phase1_limits(&d->phase1, &c->limits);
	ctlchart_phase1_zones(&d->phase1, &d->zones);
	ctlchart_rules_start(&d->rules, &d->call->method);
	c->shape = ctlchart_phase1_shape(&d->phase1);
	c->has_center = true;
	c->zones = d->zones;
	c->has_zones = d->call->rules;
	c->phase1_end = now;
	set_limits(d, now);
	if (!d->learning) {
		c->relearnt++;
		ctlchart_relearn_again(&d->relearn);
		return;
	}
	d->learning = false;
	if (d->call->relearn)
		ctlchart_relearn_start(&d->relearn, &d->phase1,
				       &d->call->method, d->room,
				       d->call->relearn, d->call->relearn_time);
}

/* Nelson's rules; returns RULE_* */
static u32 check_rules(struct desk_chart *d, u64 value)
{
	struct ctlchart_verdict verdict;
	u32 broken;
	int i;

	if (!d->call->rules || !d->result->has_center ||
	    !ctlchart_rules_add(&d->rules, &d->zones, value, &verdict))
		return 0;
	broken = verdict.rules & d->call->rules;
	if (!broken)
		return 0;
	for (i = 0; i < CTLCHART_RULES; i++)
		d->result->broken[i] += !!(broken & CTLCHART_NELSON(i + 1));
	if (broken & CTLCHART_NELSON(1))
		broken += RULE_FIRST - CTLCHART_NELSON(1);
	return verdict.below ? broken | RULE_BELOW : broken;
}

/* rate=: would another alarm event be written? */
static bool within_rate(struct desk_chart *d, u64 now)
{
	if (d->whole)
		d = d->whole;
	if (!d->call->rate)
		return true;
	if (now < d->window || now - d->window >= NSEC_PER_SEC) {
		d->window = now;
		d->in_window = 0;
	}
	if (d->in_window >= d->call->rate)
		return false;
	d->in_window++;
	return true;
}

/* Room for an event of @len bytes in the ring buffer */
static size_t ring_size(size_t len)
{
	len = (len + 3) & ~(size_t)3;
	return len + (len > 112 ? 8 : 4);
}

static bool is_string(const struct field *f)
{
	return f->type == FIELD_STRING || f->type == FIELD_COMM;
}

static bool is_wide(const struct desk_chart *d, unsigned int i)
{
	const struct tep_format_field *end = d->end_key[i].format;
	const struct tep_format_field *start = d->start_key[i].format;

	return (end && end->size == 8) || (start && start->size == 8);
}

/* Room for an alarm: its fields and the words of its keys */
static size_t alarm_size(const struct desk_chart *d, const struct alarm *a)
{
	const char *keys = a->keys, *end;
	size_t len = 56;
	unsigned int i;

	for (i = 0; i < d->nr_keys; i++) {
		keys += strcspn(keys, "=");
		keys += *keys == '=';
		end = keys +
		      (i + 1 < d->nr_keys ? strcspn(keys, " ") : strlen(keys));
		if (is_string(&d->end_key[i]))
			len += ((end - keys) / 4 + 1) * 4;
		else
			len += is_wide(d, i) ? 8 : 4;
		keys = end;
	}
	return ring_size(len);
}

/* Room for the limit event before an alarm, if the kernel would have written it */
static size_t limit_size(struct desk_chart *d, const struct alarm *a)
{
	size_t len = 48 + strlen(d->result->name) + 1 + !d->nr_keys;
	unsigned int i;

	if (d->limit_time && a->time - d->limit_time < LIMIT_PERIOD)
		return 0;
	d->limit_time = a->time;
	for (i = 0; i < d->nr_keys; i++)
		len += strlen(field_name(&d->end_key[i])) + 1 +
		       (is_string(&d->end_key[i]) ? 7 : 4);
	return ring_size(len);
}

static void raise_alarm(struct input *in, struct desk_chart *d, struct alarm *a)
{
	struct report *r = in->report;

	a->seen = d->from_kernel ? 0 : r->events;
	a->suppressed = !within_rate(d, a->time);
	if (!a->suppressed) {
		size_t size = alarm_size(d, a) + limit_size(d, a);

		r->alarm_events++;
		r->kept_bytes += size;
		d->result->alarm_events++;
		d->result->kept_bytes += size;
	}
	report_alarm(r, d->result, a);
}

/* A copy of the whole chart; its name includes the field's value */
static struct desk_chart *add_part(struct input *in, struct desk_chart *d,
				   u64 value, const char *key, u64 now)
{
	struct desk_chart *part = xzalloc(sizeof(*part));
	struct chart *c = d->result;
	char name[256 + VALUE_TEXT];

	d->part[d->nr_parts++] = part;
	part->call = d->call;
	part->from_kernel = d->from_kernel;
	part->whole = d;
	part->end = d->end;
	part->start = d->start;
	memcpy(part->end_key, d->end_key, sizeof(part->end_key));
	part->nr_keys = d->nr_keys;
	part->after = d->after;
	part->by_value = value;
	snprintf(name, sizeof(name), "%s[%s]", c->name, key);
	part->result = report_add_chart(in->report, name);
	part->result->call = c->call;
	part->result->is_time = c->is_time;
	part->result->from_kernel = c->from_kernel;
	part->result->event = xstrdup(c->event);
	part->result->field = xstrdup(c->field);
	start_chart(part);
	if (part->call->ucl)
		set_limits(part, now);
	return part;
}

static struct desk_chart *find_part(struct desk_chart *d, u64 value)
{
	u32 i;

	for (i = 0; i < d->nr_parts; i++) {
		if (d->part[i]->by_value == value)
			return d->part[i];
	}
	return i == d->call->charts ? d : NULL;
}

/* by=: the chart of the field's value, or the one that the rest shares */
static struct desk_chart *part_of(struct input *in, struct desk_chart *d,
				  struct tep_record *rec)
{
	struct desk_chart *part;
	char key[KEYS_LEN];
	u64 value;

	if (!d->part)
		return d;
	if (field_is_string(&d->by)) {
		const char *s;
		size_t len;

		if (!field_string(&d->by, in, rec, &s, &len))
			return d;
		value = hash_bytes(s, len);
	} else if (!field_number(&d->by, in, rec, &value)) {
		return d;
	}
	part = find_part(d, value);
	if (part)
		return part;
	print_fields(in, &d->by, 1, rec, key, sizeof(key));
	return add_part(in, d, value, key, rec->ts);
}

/* The same for a value event, whose chart is already that of the part */
static struct desk_chart *part_of_value(struct input *in, struct desk_chart *d,
					const struct value *v)
{
	const char *key = strchr(v->chart, '[');
	struct desk_chart *part;
	char text[VALUE_TEXT];
	u64 value;

	if (!d->part || !key)
		return d;
	value = hash_string(key);
	part = find_part(d, value);
	if (part)
		return part;
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(key + 1, "]"),
		 key + 1);
	return add_part(in, d, value, text, v->time);
}

/* Run rules and Phase I, in the kernel's order */
static void study(struct desk_chart *d, struct alarm *a)
{
	struct chart *c = d->result;
	bool complete;

	a->rules = check_rules(d, a->value);
	complete = learn(d, a->value, a->time);
	if (d->learning)
		c->phase1_taken = ctlchart_phase1_taken(&d->phase1);
	if (complete)
		draw_limits(d, a->time);
}

/* The event's keys as text, and its process */
static void set_keys(struct input *in, struct desk_chart *d, struct alarm *a,
		     const struct value *v, struct tep_record *rec,
		     char keys[KEYS_LEN])
{
	set_comm(in, a);
	a->keys_of = d->end;
	if (v) {
		a->keys = v->keys;
		return;
	}
	print_keys(in, d, d->end_key, rec, keys, KEYS_LEN);
	a->keys = d->start ? keys : "";
}

/* For points whose text add_point() has postponed */
struct finish {
	struct input *in;
	const struct desk_chart *d;
};

static void finish_point(struct point *point, void *arg)
{
	const struct finish *f = arg;
	struct alarm a = { .pid = point->pid };
	char keys[KEYS_LEN], shown[SHOWN_KEYS];

	print_values(f->d->end_key, f->d->start ? f->d->nr_keys : 0, point->key,
		     keys);
	show_keys(f->d->end, keys, shown);
	set_comm(f->in, &a);
	strcpy(point->comm, a.comm);
	point->keys = xstrdup(shown);
}

static void finish_points(struct input *in, const struct desk_chart *d)
{
	struct finish f = { in, d };
	u32 i;

	if (d->result->points)
		points_finish(d->result->points, finish_point, &f);
	for (i = 0; i < d->nr_parts; i++)
		finish_points(in, d->part[i]);
}

/*
 * Add a value in control to the page, if points_due() says so. Most of these points are
 * replaced by later ones, so if the keys are numbers, their text is postponed.
 */
static void add_point(struct input *in, struct desk_chart *d, struct alarm *a,
		      const struct value *v, struct tep_record *rec)
{
	struct point point = { .time = a->time,
			       .value = a->value,
			       .pid = a->pid };
	char keys[KEYS_LEN];
	unsigned int i;

	if (!points_due(d->result->points))
		return;
	for (i = 0; i < d->nr_keys && !v; i++) {
		if (field_is_string(&d->end_key[i]))
			break;
		field_number(&d->end_key[i], in, rec, &point.key[i]);
	}
	if (!v && i == d->nr_keys) {
		points_add(d->result->points, false, &point);
		return;
	}
	set_keys(in, d, a, v, rec, keys);
	report_normal(d->result, a);
}

/* Does the event pass the whole filter? For value events, that is known of alarms only */
static bool is_kept(struct desk_chart *d, const struct value *v,
		    struct tep_record *rec)
{
	if (v)
		return v->kept || !v->rules;
	if (!matches(d->after, rec))
		return false;
	d->result->kept_bytes += rec->record_size;
	return true;
}

/*
 * Judge a value, of a record or of @v. Return: whether its event is kept.
 */
static bool judge(struct input *in, struct desk_chart *d, struct alarm *a,
		  const struct value *v, struct tep_record *rec)
{
	struct chart *c = d->result;
	char keys[KEYS_LEN];

	a->limits = c->limits;
	/* Not in order: the next limit may already be in force */
	if (v && !v->studied && v->limit == d->before_ucl)
		a->limits.ucl = v->limit;
	if (!v || !v->missed)
		study(d, a);
	if (a->limits.ucl == U64_MAX) {
		c->learnt++;
	} else {
		c->values++;
		if (a->value > a->limits.ucl)
			a->rules |= RULE_LIMIT;
		if (a->rules) {
			set_keys(in, d, a, v, rec, keys);
			a->kept = is_kept(d, v, rec);
			raise_alarm(in, d, a);
			return a->kept;
		}
	}
	if (c->points)
		add_point(in, d, a, v, rec);
	else if (c->series)
		series_add(c->series, a->time, a->value, false);
	return false;
}

/* A field's value, or a pair's; returns false if the record is too short */
static bool measure_value(struct input *in, struct desk_chart *d,
			  struct tep_record *rec)
{
	struct alarm *a = &d->value;
	u64 key[MAX_KEYS];
	struct start s;

	*a = (struct alarm){ .time = rec->ts };
	d->paired = false;
	if (!d->start) {
		if (!field_number(&d->end_key[0], in, rec, &a->value))
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
		      struct tep_record *rec, bool *kept)
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
	if (!matches(d->before, rec))
		d->result->uncharted++;
	else if (judge(in, part_of(in, d, rec), &a, NULL, rec))
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
				"%s had a limit before its first value in the trace: here it learns",
				v->chart);
			desk->warm = true;
		}
		v->used = true;
		judge(in, part_of_value(in, d, v), &a, v, NULL);
	}
	return 0;
}

static bool put_start(struct input *in, struct desk *desk, struct desk_chart *d,
		      struct tep_record *rec)
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
		print_keys(in, d, d->start_key, rec, keys, sizeof(keys));
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

		set_comm(in, &a);
		raise_alarm(in, d, &a);
	}
}

static void count_event(struct chart *c, const struct tep_record *rec)
{
	c->events++;
	c->bytes += rec->record_size;
}

static int on_event(struct input *in, struct tep_record *rec, void *arg)
{
	struct desk *desk = arg;
	int id = input_type(in, rec);
	bool ours = false, kept = false;
	size_t i;

	for (i = 0; i < desk->nr_calls; i++) {
		struct desk_chart *d = &desk->chart[i];

		find_overdue(in, d, rec->ts);
		if (d->call->ucl && !d->result->has_limit)
			set_limits(d, rec->ts);
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
		in->report->log_bytes += rec->record_size;
	}
	if (kept) {
		in->report->kept_events++;
		in->report->kept_bytes += rec->record_size;
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
		finish_points(in, d);
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
			"none of the events in its main instance; --instance chooses another: %s",
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
		free(desk.chart[i].room);
		while (desk.chart[i].nr_parts) {
			struct desk_chart *part =
				desk.chart[i].part[--desk.chart[i].nr_parts];

			free(part->room);
			free(part);
		}
		free(desk.chart[i].part);
	}
	free(desk.chart);
	return status;
}
