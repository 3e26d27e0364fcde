// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the events, keys and terms of a filter in a trace, and the chart's name.
 * Mistakes are reported with the place in the filter.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "desk.h"
#include "keys.h"

static int fail_help(struct input *in, const struct call *call,
		     const char *what, const char *at, const char *help)
{
	struct call_error error = { what, at, help };
	char *text = call_explain(call->filter, &error);
	int status = guard_fail_usage(in->guard, text);

	free(text);
	return status;
}

static int fail_call(struct input *in, const struct call *call,
		     const char *what, const char *at)
{
	return fail_help(in, call, what, at, NULL);
}

/* "system:event" of "system.event", "system/event" or "system:event" */
static struct tep_event *find_full(struct input *in, const char *name,
				   size_t len, size_t split)
{
	char *system = xstrndup(name, split);
	char *event = xstrndup(name + split + 1, len - split - 1);
	struct tep_event *found;

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

/**
 * desk_find_judged - find the event that a chart judges
 * @in: the trace
 * @d: the chart, with its call; @d->end is set
 *
 * Return: 0, or EXIT_FAILURE, reported.
 */
int desk_find_judged(struct input *in, struct desk_chart *d)
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
			"%s has no event %s (a trace describes only the events that were recorded)",
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
	if (f->type == FIELD_OTHER || f->type == FIELD_BYTES)
		return fail_call(in, d->call, "Field cannot be a key", t->str);
	return 0;
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
	if (!status && field_is_string(&d->start_key[i]) !=
			       field_is_string(&d->end_key[i]))
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
		return fail_help(
			in, d->call, "Start event not found", t->str,
			"no such event in this recording (trace-cmd report --events)");
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

/* libtraceevent has but one name for a field of every event: @name of @len becomes it */
static void rename_common(const struct field *f, char *name, size_t len)
{
	const char *to = f->type == FIELD_CPU ? "CPU" : "COMM";

	if (f->type != FIELD_CPU && f->type != FIELD_COMM)
		return;
	memset(name, ' ', len);
	memcpy(name, to, strlen(to));
}

/*
 * libtraceevent reads some terms otherwise than the kernel does. Its ~ compares the
 * string with the pattern itself, so it is never true; its =~ is a regular
 * expression that ignores case, to which a glob cannot be rewritten. It reads
 * MAJOR:MINOR as MAJOR; the kernel refuses it.
 */
static int check_value(struct input *in, struct desk_chart *d, const char *op,
		       const char *end)
{
	const char *s = op, *value;
	unsigned long long major, minor;
	char text[128];

	if (*op == '~')
		return fail_call(
			in, d->call,
			"A glob is not supported here, only == and !=, or a regular expression with =~ or !~",
			op);
	while (s < end && strchr("=!<>~&", *s))
		s++;
	while (s < end && isspace((unsigned char)*s))
		s++;
	value = s;
	while (s < end && isdigit((unsigned char)*s))
		s++;
	if (s == value || s == end || *s != ':' || s + 1 == end ||
	    !isdigit((unsigned char)s[1]))
		return 0;
	major = strtoull(value, NULL, 10);
	minor = strtoull(s + 1, NULL, 10);
	if (major >> (32 - KEY_MINORBITS) || minor >> KEY_MINORBITS)
		snprintf(text, sizeof(text),
			 "Device numbers end at 4095:1048575");
	else
		snprintf(
			text, sizeof(text),
			"A filter compares devices as numbers: %llu:%llu is 0x%llx",
			major, minor, major << KEY_MINORBITS | minor);
	return fail_call(in, d->call, text, value);
}

/*
 * For libtraceevent, a term with a field that does not exist is never true. Check all
 * names that an operator follows. @copy is the text that libtraceevent will read.
 */
static int check_names(struct input *in, struct desk_chart *d, const char *s,
		       const char *end, char *copy)
{
	const char *begin = s;
	struct field f;
	char quote = 0;
	size_t len;
	int status;

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
		status = check_value(in, d, s, end);
		if (status)
			return status;
		rename_common(&f, copy + (name - begin), len);
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
	*filter = tep_filter_alloc(in->tep);
	if (!*filter)
		memory_failed();
	string = xasprintf("%s/%s:%s", d->end->system, d->end->name, terms);
	if (check_names(in, d, at, at + strlen(terms),
			string + strlen(string) - strlen(terms))) {
		free(string);
		return EXIT_FAILURE;
	}
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
	char *s = xstrndup(t->str + from, t->len - from);

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
/**
 * desk_name - the name of a chart, as the kernel makes it
 * @d: the chart, with its call and judged event
 * @name: where to put it
 * @size: its size
 */
void desk_name(const struct desk_chart *d, char *name, size_t size)
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

	desk_name(d, name, sizeof(name));
	if (!in->report->sim && report_find_chart(in->report, name))
		return fail_call(
			in, d->call,
			"Another chart has this name: give one of them name=",
			d->call->filter);
	d->result = report_add_chart(in->report, name);
	d->result->call = d->call;
	d->result->event = input_event_name(in, d->end->id);
	d->result->is_time = d->call->nr_args > 1;
	d->result->from_kernel = d->from_kernel;
	if (d->start)
		d->result->start = input_event_name(in, d->start->id);
	else if (d->result->is_time)
		d->result->start = label(t, 0);
	else
		d->result->field = label(t, 0);
	return 0;
}

static int find_by(struct input *in, struct desk_chart *d)
{
	if (!d->call->charts)
		return 0;
	d->part = xcalloc(d->call->charts, sizeof(*d->part));
	if (d->from_kernel)
		return 0;
	return find_key(in, d, d->end, &d->call->by,
			"Field not found in this event", &d->by);
}

/**
 * desk_bind - find the events and fields of a chart's call in a trace
 * @in: the trace
 * @desk: all charts; an earlier one can have the same pairs
 * @d: the chart, with its call
 *
 * Return: 0, or EXIT_FAILURE, reported.
 */
int desk_bind(struct input *in, struct desk *desk, struct desk_chart *d)
{
	int status = desk_find_judged(in, d);

	if (!status && !d->from_kernel)
		status = d->call->nr_args > 1 ? find_pair(in, desk, d) :
						find_field(in, d);
	if (!status)
		status = find_by(in, d);
	if (!status && !d->from_kernel)
		status = make_filter(in, d, d->call->before, d->call->before_at,
				     &d->before);
	if (!status && !d->from_kernel)
		status = make_filter(in, d, d->call->after, d->call->after_at,
				     &d->after);
	if (!status)
		status = make_result(in, d);
	return status;
}
