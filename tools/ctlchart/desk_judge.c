// SPDX-License-Identifier: GPL-2.0
/*
 * Judges the values of the charts: Phase I, limits, run rules, the parts of by=, and
 * alarms, with the space that the kernel's events of them would take. A value is not
 * judged by a limit that was estimated from it.
 */
#include <stdlib.h>
#include <string.h>

#include "desk.h"

#define NSEC_PER_SEC 1000000000ULL

/* How often the kernel repeats the limit event while there are alarms */
#define LIMIT_PERIOD (2 * NSEC_PER_SEC)

/**
 * desk_set_limits - put a chart's limits into force
 * @d: the chart
 * @now: since when
 */
void desk_set_limits(struct desk_chart *d, u64 now)
{
	struct chart *c = d->result;

	c->has_limit = true;
	d->limit_time = 0;
	if (c->series)
		series_limits(c->series, now, &c->limits, c->has_center);
}

/**
 * desk_start - start a chart, with its fixed limit or in Phase I
 * @d: the chart
 */
void desk_start(struct desk_chart *d)
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

/**
 * desk_free_values - free what the values of a chart needed
 * @d: the chart
 */
void desk_free_values(struct desk_chart *d)
{
	free(d->room);
	hash_free(&d->rules);
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

/**
 * desk_print_keys - print keys as text
 * @in: the input
 * @key: the keys
 * @nr_keys: number of @key
 * @rec: a record that has them
 * @buf: where to put them
 * @size: size of @buf
 */
void desk_print_keys(struct input *in, const struct field *key,
		     unsigned int nr_keys, const struct record *rec, char *buf,
		     size_t size)
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
		field_number(&key[i], rec, &value);
		pos += print_number(&key[i], value, space, buf + pos,
				    size - pos);
	}
	clean_text(buf);
}

/* Print keys whose numbers were read before */
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

static void set_comm(struct input *in, struct alarm *a)
{
	snprintf(a->comm, sizeof(a->comm), "%.*s", COMM_LEN,
		 tep_data_comm_from_pid(in->tep, a->pid));
	clean_text(a->comm);
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
	d->lines++;
	c->shape = ctlchart_phase1_shape(&d->phase1);
	c->has_center = true;
	c->zones = d->zones;
	c->has_zones = d->call->rules;
	c->phase1_end = now;
	desk_set_limits(d, now);
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

static struct ctlchart_rules *rules_of(struct desk_chart *d, u32 cpu)
{
	u64 hash = hash_u64(cpu);
	struct desk_rules *r;

	hash_for_each_possible_entry(&d->rules, hash, r) {
		if (r->cpu == cpu)
			return &r->rules;
	}
	r = hash_new(&d->rules, hash, sizeof(*r));
	r->cpu = cpu;
	return &r->rules;
}

/* Nelson's rules; returns RULE_* */
static u32 check_rules(struct desk_chart *d, u64 value, u32 cpu)
{
	struct ctlchart_verdict verdict;
	struct ctlchart_rules *rules;
	u64 point;
	u32 broken;
	int i;

	if (!d->call->rules || !d->result->has_center)
		return 0;
	rules = rules_of(d, cpu);
	if (!ctlchart_rules_add(rules, &d->call->method, d->lines, value,
				&point))
		return 0;
	ctlchart_rules_check(rules, &d->zones, point, &verdict);
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
	if (now - d->window >= NSEC_PER_SEC) {
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
		if (field_is_string(&d->end_key[i]))
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
		       (field_is_string(&d->end_key[i]) ? 7 : 4);
	return ring_size(len);
}

/**
 * desk_raise_alarm - report an alarm, if rate= allows it
 * @in: the input
 * @d: the chart
 * @a: the alarm
 */
void desk_raise_alarm(struct input *in, struct desk_chart *d, struct alarm *a)
{
	struct report *r = in->report;

	set_comm(in, a);
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
	desk_start(part);
	if (part->call->ucl)
		desk_set_limits(part, now);
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

/*
 * "field=value" as the kernel names a part: ] and \, and what is not printable ASCII, as
 * \xHH. The kernel takes no other spelling back.
 */
static void print_part(struct input *in, const struct field *by,
		       const struct record *rec, char *buf, size_t size)
{
	const char *s;
	size_t len, pos, i;

	if (!field_is_string(by) || !field_string(by, in, rec, &s, &len)) {
		desk_print_keys(in, by, 1, rec, buf, size);
		return;
	}
	pos = snprintf(buf, size, "%s=", field_name(by));
	for (i = 0; i < len && pos < size; i++) {
		unsigned char c = s[i];
		bool plain = c >= ' ' && c < 0x7f && c != ']' && c != '\\';

		pos += snprintf(buf + pos, size - pos, plain ? "%c" : "\\x%02x",
				c);
	}
}

/* by=: the chart of the field's value, or the one that the rest shares */
static struct desk_chart *part_of(struct input *in, struct desk_chart *d,
				  const struct record *rec)
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
	} else if (!field_number(&d->by, rec, &value)) {
		return d;
	}
	part = find_part(d, value);
	if (part)
		return part;
	print_part(in, &d->by, rec, key, sizeof(key));
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
static void study(struct desk_chart *d, struct alarm *a, u32 cpu)
{
	struct chart *c = d->result;
	bool complete;

	a->rules = check_rules(d, a->value, cpu);
	complete = learn(d, a->value, a->time);
	if (d->learning)
		c->phase1_taken = ctlchart_phase1_taken(&d->phase1);
	if (complete)
		draw_limits(d, a->time);
}

/* The event's keys as text */
static void set_keys(struct input *in, struct desk_chart *d, struct alarm *a,
		     const struct value *v, const struct record *rec,
		     char keys[KEYS_LEN])
{
	a->keys_of = d->end;
	if (v) {
		a->keys = v->keys;
		return;
	}
	desk_print_keys(in, d->end_key, d->nr_keys, rec, keys, KEYS_LEN);
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

/**
 * desk_finish_points - make the text of points that was postponed
 * @in: the input
 * @d: the chart
 */
void desk_finish_points(struct input *in, const struct desk_chart *d)
{
	struct finish f = { in, d };
	u32 i;

	if (d->result->points)
		points_finish(d->result->points, finish_point, &f);
	for (i = 0; i < d->nr_parts; i++)
		desk_finish_points(in, d->part[i]);
}

/*
 * Add a value in control to the page, if points_due() says so. Most of these points are
 * replaced by later ones, so if the keys are numbers, their text is postponed.
 */
static void add_point(struct input *in, struct desk_chart *d, struct alarm *a,
		      const struct value *v, const struct record *rec)
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
		field_number(&d->end_key[i], rec, &point.key[i]);
	}
	if (!v && i == d->nr_keys) {
		points_add(d->result->points, false, &point);
		return;
	}
	set_comm(in, a);
	set_keys(in, d, a, v, rec, keys);
	report_normal(d->result, a);
}

/* Does the event pass the whole filter? For value events this is known only of alarms */
static bool is_kept(struct desk_chart *d, const struct value *v,
		    const struct record *rec)
{
	if (v)
		return v->kept || !v->rules;
	if (!desk_matches(d->after, rec))
		return false;
	d->result->kept_bytes += rec->stored;
	return true;
}

/**
 * desk_judge - judge a value
 * @in: the input
 * @d: its chart, or the one that its chart is a part of
 * @a: the value; becomes the alarm
 * @v: the kernel's value event that it is from, or NULL
 * @rec: otherwise the record that it is from
 *
 * Return: whether the record is kept.
 */
bool desk_judge(struct input *in, struct desk_chart *d, struct alarm *a,
		const struct value *v, const struct record *rec)
{
	struct chart *c;
	char keys[KEYS_LEN];

	d = v ? part_of_value(in, d, v) : part_of(in, d, rec);
	c = d->result;
	a->limits = c->limits;
	/* Not in order: the next limit may already be in force */
	if (v && !v->studied && v->limit == d->before_ucl)
		a->limits.ucl = v->limit;
	if (!v || !v->missed)
		study(d, a, v ? v->cpu : rec->cpu);
	if (a->limits.ucl == U64_MAX) {
		c->learnt++;
	} else {
		c->values++;
		if (a->value > a->limits.ucl)
			a->rules |= RULE_LIMIT;
		if (a->rules) {
			set_keys(in, d, a, v, rec, keys);
			a->kept = is_kept(d, v, rec);
			desk_raise_alarm(in, d, a);
			return a->kept;
		}
	}
	if (c->points)
		add_point(in, d, a, v, rec);
	else if (c->series)
		series_add(c->series, a->time, a->value, false);
	return false;
}
