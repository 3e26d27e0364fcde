// SPDX-License-Identifier: GPL-2.0
/*
 * A trace of ordinary events, charted as the kernel's filter would have done:
 * ends before starts, pairing whatever the other terms say, and a value is not
 * judged by a limit that it helped to draw.
 *
 * Where the trace has the values that a chart of the kernel took (event
 * ctlchart_value), a call that names this chart is given these instead.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ctlchart.h"

#define KEYS_LEN 192
#define NSEC_PER_SEC 1000000000ULL

/* There are values in the trace: find out of which charts */
#define SCAN_FIRST (-1)

/**
 * struct desk_chart - a chart at work
 * @call:	what was asked for
 * @result:	what comes of it
 * @end:	judged event
 * @start:	start event, or NULL
 * @told:	its values are the kernel's own
 * @whole:	of a part, the chart that it is a part of
 * @end_key:	keys in the judged event; the first is the field of a field's
 *		chart
 * @start_key:	keys in the start event
 * @nr_keys:	number of them
 * @before:	terms left of the call, or NULL
 * @after:	terms right of it, or NULL
 * @pairs:	starts in flight, or NULL
 * @lead:	an earlier chart that pairs the same way: its pairs are taken
 * @paired:	the end at hand had a start, or is a field's value
 * @value:	what that made
 * @phase1:	the limit to be
 * @room:	its memory
 * @sampler:	which values are taken for it
 * @relearn:	which values are taken for the next one
 * @zones:	lines for groups
 * @rules:	the groups
 * @learning:	there is no limit yet
 * @before_ucl:	the limit before the one in force
 * @by:		field of by=
 * @by_value:	of a part, its value
 * @part:	charts of the field's values, in the order in which they came
 * @nr_parts:	number of them
 * @window:	when the current second of alarms began
 * @in_window:	alarms in it
 */
struct desk_chart {
	const struct call *call;
	struct chart *result;
	struct tep_event *end;
	struct tep_event *start;
	bool told;
	struct desk_chart *whole;
	struct field end_key[MAX_KEYS];
	struct field start_key[MAX_KEYS];
	unsigned int nr_keys;
	struct tep_event_filter *before;
	struct tep_event_filter *after;
	struct pairs *pairs;
	struct desk_chart *lead;
	bool paired;
	struct alarm value;
	struct ctlchart_phase1 phase1;
	u64 *room;
	struct ctlchart_sampler sampler;
	struct ctlchart_relearn relearn;
	struct ctlchart_zones zones;
	struct ctlchart_rules rules;
	bool learning;
	u64 before_ucl;
	struct field by;
	u64 by_value;
	struct desk_chart **part;
	u32 nr_parts;
	u64 window;
	u32 in_window;
};

/**
 * struct desk - all of them
 * @call:	the calls
 * @nr_calls:	number of them
 * @chart:	their charts
 * @epoch:	events were lost so many times
 * @scanned:	it is known whose values the trace tells
 * @values:	the reading of these, or NULL
 * @warm:	it was said that a chart began with a limit
 */
struct desk {
	const struct call *call;
	size_t nr_calls;
	struct desk_chart *chart;
	unsigned int epoch;
	bool scanned;
	struct values *values;
	bool warm;
};

static int fail_call(struct input *in, const struct call *call,
		     const char *what, const char *at)
{
	struct call_error error = { what, at };
	char *text = call_explain(call->filter, &error);
	int status = guard_fail_usage(in->guard, text);

	free(text);
	return status;
}

/* "system:event" of "system.event", "system/event" or "system:event" */
static struct tep_event *find_full(struct input *in, const char *name,
				   size_t len, size_t split)
{
	char *system = strndup(name, split);
	char *event = strndup(name + split + 1, len - split - 1);
	struct tep_event *found = NULL;

	if (system && event)
		found = tep_find_event_by_name(in->tep, system, event);
	free(system);
	free(event);
	return found;
}

/* By its name alone: of the judged event's system, or the only one */
static struct tep_event *find_bare(struct input *in, const char *name,
				   size_t len, const struct tep_event *judged,
				   bool *several)
{
	int i, n = tep_get_events_count(in->tep);
	struct tep_event *found = NULL;

	*several = false;
	for (i = 0; i < n; i++) {
		struct tep_event *e = tep_get_event(in->tep, i);

		if (!e || strlen(e->name) != len || strncmp(e->name, name, len))
			continue;
		if (judged && !strcmp(e->system, judged->system)) {
			*several = false;
			return e;
		}
		*several = found;
		found = e;
	}
	return found;
}

static struct tep_event *find_event(struct input *in, const char *name,
				    size_t len, const struct tep_event *judged,
				    bool *several)
{
	size_t split = strcspn(name, ".:/");

	*several = false;
	if (split < len)
		return find_full(in, name, len, split);
	return find_bare(in, name, len, judged, several);
}

static int find_judged(struct input *in, struct desk_chart *d)
{
	const char *name = d->call->event;
	bool several;
	char text[512];

	d->end = find_event(in, name, strlen(name), NULL, &several);
	if (several)
		snprintf(text, sizeof(text),
			 "several systems have an event %s: write system:event",
			 name);
	else
		snprintf(
			text, sizeof(text),
			"%s has no event %s (a trace knows the events it was recorded with only)",
			in->report->file, name);
	if (!d->end || several)
		return guard_fail_usage(in->guard, text);
	return 0;
}

static int find_key(struct input *in, struct desk_chart *d,
		    struct tep_event *event, const struct token *t,
		    const char *not_found, struct field *f)
{
	if (!field_find(f, event, t->str, t->len))
		return fail_call(in, d->call, not_found, t->str);
	if (f->type == FIELD_OTHER)
		return fail_call(in, d->call, "Field cannot be a key", t->str);
	return 0;
}

static bool is_string(const struct field *f)
{
	return f->type == FIELD_STRING || f->type == FIELD_COMM;
}

static int find_keys(struct input *in, struct desk_chart *d,
		     const struct token *t, unsigned int i)
{
	const char *colon = memchr(t->str, ':', t->len);
	struct token start = *t, end = *t;
	int status;

	if (colon) {
		start.len = colon - t->str;
		end.str = colon + 1;
		end.len = t->len - start.len - 1;
	}
	status = find_key(in, d, d->start, &start,
			  "Field not found in the start event",
			  &d->start_key[i]);
	if (!status)
		status = find_key(in, d, d->end, &end,
				  "Field not found in this event",
				  &d->end_key[i]);
	if (!status && is_string(&d->start_key[i]) != is_string(&d->end_key[i]))
		status = fail_call(
			in, d->call,
			"Start and end keys must both be numbers or both strings",
			t->str);
	return status;
}

static bool same_fields(const struct field *a, const struct field *b)
{
	return a->format == b->format && a->type == b->type;
}

static bool pairs_alike(const struct desk_chart *a, const struct desk_chart *b)
{
	unsigned int i;

	if (a->end != b->end || a->start != b->start ||
	    a->nr_keys != b->nr_keys || a->call->size != b->call->size ||
	    a->call->stale != b->call->stale || a->call->last != b->call->last)
		return false;
	for (i = 0; i < a->nr_keys; i++) {
		if (!same_fields(&a->start_key[i], &b->start_key[i]) ||
		    !same_fields(&a->end_key[i], &b->end_key[i]))
			return false;
	}
	return true;
}

/* Each table reports an overdue start once: such a chart has its own. */
static struct desk_chart *find_lead(struct desk *desk, struct desk_chart *d)
{
	struct desk_chart *c;

	for (c = desk->chart; c < d && !d->call->overdue; c++) {
		if (c->pairs && !c->call->overdue && pairs_alike(c, d))
			return c;
	}
	return NULL;
}

static int find_pair(struct input *in, struct desk *desk, struct desk_chart *d)
{
	const struct token *t = &d->call->arg[0];
	bool several;
	unsigned int i;
	int status;

	d->start = find_event(in, t->str, t->len, d->end, &several);
	if (!d->start)
		return fail_call(in, d->call, "Start event not found", t->str);
	if (several)
		return fail_call(
			in, d->call,
			"Several systems have this event: write system.event",
			t->str);
	d->nr_keys = d->call->nr_args - 1;
	for (i = 0; i < d->nr_keys; i++) {
		status = find_keys(in, d, &d->call->arg[i + 1], i);
		if (status)
			return status;
	}
	d->lead = find_lead(desk, d);
	if (d->lead)
		return 0;
	d->pairs = pairs_new(d->call->size, d->call->stale, d->call->last);
	if (!d->pairs)
		abort();
	return 0;
}

static int find_field(struct input *in, struct desk_chart *d)
{
	const struct token *t = &d->call->arg[0];

	if (!field_find(&d->end_key[0], d->end, t->str, t->len))
		return fail_call(in, d->call, "Field not found in this event",
				 t->str);
	if (d->end_key[0].type != FIELD_NUMBER)
		return fail_call(in, d->call, "Only a number can be charted",
				 t->str);
	return 0;
}

/*
 * libtraceevent takes a field that does not exist for a term that is never
 * true. Look at all names that an operator follows.
 */
static int check_names(struct input *in, struct desk_chart *d, const char *s,
		       const char *end)
{
	struct field f;
	char quote = 0;
	size_t len;

	while (s < end) {
		const char *name = s;

		if (quote || *s == '\'' || *s == '"') {
			if (!quote || *s == quote)
				quote = quote ? 0 : *s;
			s++;
			continue;
		}
		while (s < end && (isalnum((unsigned char)*s) || *s == '_'))
			s++;
		len = s - name;
		if (!len) {
			s++;
			continue;
		}
		while (s < end && isspace((unsigned char)*s))
			s++;
		if (isdigit((unsigned char)*name) || s == end ||
		    !strchr("=!<>~&", *s) || (*s == '&' && s[1] == '&'))
			continue;
		if (!field_find(&f, d->end, name, len))
			return fail_call(in, d->call,
					 "Field not found in this event", name);
	}
	return 0;
}

static int make_filter(struct input *in, struct desk_chart *d,
		       const char *terms, const char *at,
		       struct tep_event_filter **filter)
{
	char *string, why[256], text[1024];
	enum tep_errno err;

	if (!terms)
		return 0;
	if (check_names(in, d, at, at + strlen(terms)))
		return EXIT_FAILURE;
	*filter = tep_filter_alloc(in->tep);
	if (!*filter || asprintf(&string, "%s/%s:%s", d->end->system,
				 d->end->name, terms) < 0)
		abort();
	err = tep_filter_add_filter_str(*filter, string);
	free(string);
	if (err >= 0)
		return 0;
	tep_filter_strerror(*filter, err, why, sizeof(why));
	snprintf(text, sizeof(text), "in the terms \"%s\": %s", terms, why);
	return guard_fail_usage(in->guard, text);
}

/* A token of the call, from its place @from on */
static char *label(const struct token *t, size_t from)
{
	char *s = strndup(t->str + from, t->len - from);

	if (!s)
		abort();
	clean_text(s);
	return s;
}

/* The start event's name, without its system */
static char *start_label(const struct token *t)
{
	size_t split = strcspn(t->str, ".:/");

	return label(t, split < t->len ? split + 1 : 0);
}

/* As the kernel names it */
static void make_name(const struct desk_chart *d, char *name, size_t size)
{
	const struct token *t = &d->call->arg[0];
	bool is_pair = d->call->nr_args > 1;
	char *first = is_pair ? start_label(t) : label(t, 0);

	if (*d->call->name)
		snprintf(name, size, "%s", d->call->name);
	else if (is_pair)
		snprintf(name, size, "%s->%s", first, d->end->name);
	else
		snprintf(name, size, "%s.%s", d->end->name, first);
	free(first);
}

static int make_result(struct input *in, struct desk_chart *d)
{
	const struct token *t = &d->call->arg[0];
	char name[256];

	make_name(d, name, sizeof(name));
	if (!in->report->sim && report_find_chart(in->report, name))
		return fail_call(
			in, d->call,
			"Another chart has this name: give one of them name=",
			d->call->filter);
	d->result = report_add_chart(in->report, name);
	d->result->call = d->call;
	d->result->event = input_event_name(in, d->end->id);
	d->result->is_time = d->call->nr_args > 1;
	d->result->told = d->told;
	if (d->start)
		d->result->start = input_event_name(in, d->start->id);
	else if (d->result->is_time)
		d->result->start = label(t, 0);
	else
		d->result->field = label(t, 0);
	return 0;
}

static void set_limits(struct desk_chart *d, u64 now)
{
	struct chart *c = d->result;

	c->has_limit = true;
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
	d->room = calloc(ctlchart_phase1_room(&d->call->method), sizeof(u64));
	if (!d->room)
		abort();
	ctlchart_phase1_start(&d->phase1, &d->call->method, d->room);
	ctlchart_sampler_start(&d->sampler, d->call->learn,
			       ctlchart_method_samples(&d->call->method));
}

static int find_by(struct input *in, struct desk_chart *d)
{
	if (!d->call->charts)
		return 0;
	d->part = calloc(d->call->charts, sizeof(*d->part));
	if (!d->part)
		abort();
	if (d->told)
		return 0;
	return find_key(in, d, d->end, &d->call->by,
			"Field not found in this event", &d->by);
}

static int init_chart(struct input *in, struct desk *desk, struct desk_chart *d)
{
	int status = find_judged(in, d);

	if (!status && !d->told)
		status = d->call->nr_args > 1 ? find_pair(in, desk, d) :
						find_field(in, d);
	if (!status)
		status = find_by(in, d);
	if (!status && !d->told)
		status = make_filter(in, d, d->call->before, d->call->before_at,
				     &d->before);
	if (!status && !d->told)
		status = make_filter(in, d, d->call->after, d->call->after_at,
				     &d->after);
	if (!status)
		status = make_result(in, d);
	if (!status)
		start_chart(d);
	return status;
}

static int take_told(struct input *in, struct value *v, void *arg);

static int init(struct input *in, void *arg)
{
	struct desk *desk = arg;
	bool told = false;
	int status = 0;
	size_t i;

	if (!desk->scanned && values_event(in))
		return SCAN_FIRST;
	for (i = 0; i < desk->nr_calls && !status; i++) {
		desk->chart[i].call = &desk->call[i];
		status = init_chart(in, desk, &desk->chart[i]);
		told |= desk->chart[i].told;
	}
	if (status || !told)
		return status;
	desk->values = values_new(in, true, take_told, desk);
	return desk->values ? 0 : EXIT_FAILURE;
}

/* ---- whose values are in the trace? ---- */

/* Is it a value of this chart, or of a part of it? */
static bool is_value_of(const struct desk_chart *d, const struct value *v)
{
	size_t len = strcspn(v->chart, "["), full;
	char name[256];

	if ((int)v->event != d->end->id)
		return false;
	make_name(d, name, sizeof(name));
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

		d->told = d->told || is_value_of(d, v);
		all &= d->told;
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
		status = find_judged(in, &desk->chart[i]);
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

/* FNV-1a */
static u64 hash_string(const char *s, size_t len)
{
	u64 hash = 0xcbf29ce484222325ULL;

	while (len--)
		hash = (hash ^ (unsigned char)*s++) * 0x100000001b3ULL;
	return hash;
}

static bool read_keys(struct input *in, const struct desk_chart *d,
		      const struct field *key, struct tep_record *rec,
		      u64 *value)
{
	unsigned int i;

	memset(value, 0, MAX_KEYS * sizeof(*value));
	for (i = 0; i < d->nr_keys; i++) {
		const char *s;
		size_t len;

		if (!is_string(&key[i])) {
			if (!field_number(&key[i], in, rec, &value[i]))
				return false;
			continue;
		}
		if (!field_string(&key[i], in, rec, &s, &len))
			return false;
		value[i] = hash_string(s, len);
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

		if (is_string(&key[i])) {
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

/* Room for an alarm event in the ring buffer: its fields and its strings */
static size_t alarm_size(const struct chart *c, const struct alarm *a)
{
	size_t len = 88 + strlen(c->name) + strlen(a->keys) + 2;

	len = (len + 3) & ~(size_t)3;
	return len + (len > 112 ? 8 : 4);
}

static void raise(struct input *in, struct desk_chart *d, struct alarm *a)
{
	struct report *r = in->report;

	a->seen = d->told ? 0 : r->events;
	a->suppressed = !within_rate(d, a->time);
	if (!a->suppressed) {
		size_t size = alarm_size(d->result, a);

		r->alarm_events++;
		r->kept_bytes += size;
		d->result->alarm_events++;
		d->result->kept_bytes += size;
	}
	report_alarm(r, d->result, a);
}

/* A chart as the whole one, under its name with the field's value */
static struct desk_chart *add_part(struct input *in, struct desk_chart *d,
				   u64 value, const char *key, u64 now)
{
	struct desk_chart *part = calloc(1, sizeof(*part));
	struct chart *c = d->result;
	char name[256 + VALUE_TEXT];

	if (!part)
		abort();
	d->part[d->nr_parts++] = part;
	part->call = d->call;
	part->told = d->told;
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
	part->result->told = c->told;
	part->result->event = strdup(c->event);
	part->result->field = c->field ? strdup(c->field) : NULL;
	if (!part->result->event || (c->field && !part->result->field))
		abort();
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
	if (is_string(&d->by)) {
		const char *s;
		size_t len;

		if (!field_string(&d->by, in, rec, &s, &len))
			return d;
		value = hash_string(s, len);
	} else if (!field_number(&d->by, in, rec, &value)) {
		return d;
	}
	part = find_part(d, value);
	if (part)
		return part;
	print_fields(in, &d->by, 1, rec, key, sizeof(key));
	return add_part(in, d, value, key, rec->ts);
}

/* The same of a value that the kernel told: it has found the part */
static struct desk_chart *part_told(struct input *in, struct desk_chart *d,
				    const struct value *v)
{
	const char *key = strchr(v->chart, '[');
	struct desk_chart *part;
	char text[VALUE_TEXT];
	u64 value;

	if (!d->part || !key)
		return d;
	value = hash_string(key, strlen(key));
	part = find_part(d, value);
	if (part)
		return part;
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(key + 1, "]"),
		 key + 1);
	return add_part(in, d, value, text, v->time);
}

/* What is asked beside the limit, in the kernel's order: rules, then Phase I */
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
	if (v) {
		a->keys = v->keys;
		return;
	}
	print_keys(in, d, d->end_key, rec, keys, KEYS_LEN);
	a->keys = d->start ? keys : "";
}

/* What add_point() put off */
struct finish {
	struct input *in;
	const struct desk_chart *d;
};

static void finish_point(struct point *point, void *arg)
{
	const struct finish *f = arg;
	struct alarm a = { .pid = point->pid };
	char keys[KEYS_LEN];

	print_values(f->d->end_key, f->d->start ? f->d->nr_keys : 0, point->key,
		     keys);
	set_comm(f->in, &a);
	strcpy(point->comm, a.comm);
	point->keys = strdup(keys);
	if (!point->keys)
		abort();
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
 * A value in control, for the page, if it is its turn. Most of them give way to
 * later ones: their text can wait, if their keys are numbers.
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
		if (is_string(&d->end_key[i]))
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

/* Does the event pass the whole filter? Only the kernel knows, for its alarms */
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
 * The verdict on a value, of a record or of @v; returns whether its event is
 * kept.
 */
static bool judge(struct input *in, struct desk_chart *d, struct alarm *a,
		  const struct value *v, struct tep_record *rec)
{
	struct chart *c = d->result;
	char keys[KEYS_LEN];

	a->limits = c->limits;
	/* It was not in line: the next limit may have come into force before */
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
			raise(in, d, a);
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
static bool take_value(struct input *in, struct desk_chart *d,
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
	if (!pairs_take(d->pairs, key, &s))
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
static bool take_end(struct input *in, struct desk_chart *d,
		     struct tep_record *rec, bool *kept)
{
	const struct desk_chart *lead = d->lead ? d->lead : d;
	struct alarm a;

	if (!d->lead && !take_value(in, d, rec))
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

static int take_told(struct input *in, struct value *v, void *arg)
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

		if (!d->told || !is_value_of(d, v))
			continue;
		if (v->first && v->limit != U64_MAX && !d->call->ucl &&
		    !desk->warm) {
			guard_note(
				in->guard,
				"%s had a limit before its first value in the trace: here it learns",
				v->chart);
			desk->warm = true;
		}
		v->taken = true;
		judge(in, part_told(in, d, v), &a, v, NULL);
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
		s.keys = strdup(keys);
		if (!s.keys)
			abort();
	}
	pairs_put(d->pairs, &s);
	return true;
}

static void find_overdue(struct input *in, struct desk_chart *d, u64 now)
{
	const struct start *s;

	if (!d->call->overdue || d->told || now <= d->call->overdue)
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
		};

		set_comm(in, &a);
		raise(in, d, &a);
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
		if (d->end->id != id || d->told)
			continue;
		ours = true;
		count_event(d->result, rec);
		if (!take_end(in, d, rec, &kept))
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

/* Of a chart with by=, what its parts make together */
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

static void tell_limits_of_values(struct input *in, const struct desk_chart *d)
{
	const struct call *call = d->call;

	if (call->overdue)
		guard_note(
			in->guard,
			"%s: overdue= is not looked at: the trace has the values alone",
			d->result->name);
	if (call->before || call->after)
		guard_note(
			in->guard,
			"%s: terms beside ctlchart() are as in the kernel's filter: the trace has the values alone",
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
		if (d->told)
			tell_limits_of_values(in, d);
		if (!pairs)
			continue;
		d->result->accounts = *pairs_accounts(pairs);
		d->result->in_flight = pairs_in_flight(pairs);
	}
	if (!in->report->log_events && !desk->values && *in->instances &&
	    !*in->report->instance)
		guard_note(
			in->guard,
			"none of the events in its main buffer; --instance chooses another: %s",
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
		.chart = calloc(nr_calls, sizeof(*desk.chart)),
	};
	const struct reader reader = { .init = init,
				       .event = on_event,
				       .lost = on_lost,
				       .end = end,
				       .arg = &desk };
	int status;
	size_t i;

	if (!desk.chart)
		abort();
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
