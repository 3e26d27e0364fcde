// SPDX-License-Identifier: GPL-2.0
/* What charts say, and what all ways of writing it have in common. */
#include <stdlib.h>
#include <string.h>

#include "ctlchart.h"

/**
 * report_find_chart - find a chart by its name
 * @r: the report
 * @name: the name
 *
 * Return: the chart, or NULL.
 */
struct chart *report_find_chart(struct report *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->nr_charts; i++) {
		if (!strcmp(r->chart[i]->name, name))
			return r->chart[i];
	}
	return NULL;
}

/**
 * chart_is - whether a chart has a name, or is part of one that has it
 * @chart: name of the chart, maybe "name[field=value]"
 * @name: the name
 */
bool chart_is(const char *chart, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(chart, name, len) && (!chart[len] || chart[len] == '[');
}

/**
 * report_wants - whether the user wants to see a chart
 * @r: the report
 * @name: its name
 */
bool report_wants(const struct report *r, const char *name)
{
	return !r->only || chart_is(name, r->only);
}

/**
 * report_add_chart - add a chart
 * @r: the report
 * @name: its name, copied
 *
 * Return: the chart, empty.
 */
struct chart *report_add_chart(struct report *r, const char *name)
{
	struct chart *c = calloc(1, sizeof(*c));

	r->chart = realloc(r->chart, (r->nr_charts + 1) * sizeof(*r->chart));
	if (!c || !r->chart)
		abort();
	r->chart[r->nr_charts++] = c;
	c->name = strdup(name);
	if (!c->name)
		abort();
	if ((r->format == FORMAT_SVG || r->format == FORMAT_HTML) &&
	    r->nr_charts <= MAX_PANELS) {
		c->series = series_new();
		if (!c->series)
			abort();
	}
	if (c->series && r->format == FORMAT_HTML) {
		c->points = points_new();
		if (!c->points)
			abort();
	}
	return c;
}

/* Keep the largest ones in order; of equal ones the first */
static void rank(struct report *r, struct chart *c, const struct alarm *a)
{
	size_t i = c->nr_worst;

	if (!r->max_worst ||
	    (i == r->max_worst && a->value <= c->worst[i - 1].value))
		return;
	if (i == c->max_worst) {
		/* one more than is kept, for the moment of insertion */
		c->max_worst = c->max_worst ? 2 * c->max_worst : 16;
		c->worst = realloc(c->worst,
				   (c->max_worst + 1) * sizeof(*c->worst));
		if (!c->worst)
			abort();
	}
	while (i > 0 && c->worst[i - 1].value < a->value)
		i--;
	memmove(&c->worst[i + 1], &c->worst[i],
		(c->nr_worst - i) * sizeof(*c->worst));
	c->worst[i] = *a;
	c->worst[i].keys = strdup(a->keys);
	if (!c->worst[i].keys)
		abort();
	if (c->nr_worst == r->max_worst)
		free((char *)c->worst[c->nr_worst].keys);
	else
		c->nr_worst++;
}

static void add_point(struct chart *c, bool alarm, const struct alarm *a)
{
	struct point p = { .time = a->time,
			   .value = a->value,
			   .pid = a->pid,
			   .keys = a->keys };

	memcpy(p.comm, a->comm, sizeof(p.comm));
	points_add(c->points, alarm, &p);
}

/**
 * report_alarm - take an alarm into the report
 * @r: the report
 * @c: its chart
 * @a: the alarm; its keys are copied
 *
 * Counts kept, overdue and all others; c->alarms counts verdicts on values.
 */
void report_alarm(struct report *r, struct chart *c, const struct alarm *a)
{
	if (a->rules & RULE_OVERDUE)
		c->overdue++;
	else
		c->alarms++;
	if (a->kept)
		c->kept++;
	if (a->suppressed)
		c->suppressed++;
	rank(r, c, a);
	/* a page has the points themselves */
	if (c->series && !c->points)
		series_add(c->series, a->time, a->value, true);
	if (c->points)
		add_point(c, true, a);
	if (r->format == FORMAT_CSV && !a->suppressed)
		csv_alarm(r, c, a);
}

/**
 * report_normal - take a value that is in control, or not judged, into the page
 * @c: its chart, whose points_due() it is
 * @a: the value, as if it were an alarm
 */
void report_normal(struct chart *c, const struct alarm *a)
{
	add_point(c, false, a);
}

/**
 * report_begin - before the first alarm
 * @r: the report
 */
void report_begin(struct report *r)
{
	if (r->format == FORMAT_CSV)
		csv_begin(r);
}

/**
 * report_end - after the last one
 * @r: the report
 */
void report_end(struct report *r)
{
	if (r->format == FORMAT_TEXT)
		text_report(r);
	else if (r->format == FORMAT_JSON)
		json_report(r);
	else if (r->format == FORMAT_SVG)
		svg_report(r);
	else if (r->format == FORMAT_HTML)
		html_report(r);
}

static void chart_free(struct chart *c)
{
	size_t i;

	for (i = 0; i < c->nr_worst; i++) {
		free((char *)c->worst[i].keys);
		around_free(c->worst[i].around);
	}
	free(c->worst);
	free(c->name);
	free(c->event);
	free(c->start);
	free(c->field);
	series_free(c->series);
	points_free(c->points);
	free(c);
}

/**
 * report_free - free the charts
 * @r: the report
 */
void report_free(struct report *r)
{
	size_t i;

	for (i = 0; i < r->nr_charts; i++)
		chart_free(r->chart[i]);
	free(r->chart);
	places_free(r->places);
}

/**
 * shape_name - what the values of Phase I look like
 * @shape: the shape
 *
 * Return: its name, or NULL if nothing speaks against a limit drawn from ranges.
 */
const char *shape_name(enum ctlchart_shape shape)
{
	static const char *const name[] = {
		[CTLCHART_SHAPE_PLAIN] = NULL,
		[CTLCHART_SHAPE_HEAVY] = "heavy-tailed",
		[CTLCHART_SHAPE_BIMODAL] = "bimodal",
	};

	return name[shape];
}

/**
 * format_rules - the rules that an alarm broke, by name
 * @buf:   where to put it, 80 characters at least
 * @size:  its size
 * @rules: RULE_*, and Nelson's
 *
 * Return: @buf, as "limit+rule2+below".
 */
const char *format_rules(char *buf, size_t size, u32 rules)
{
	static const struct {
		u32 bit;
		const char *name;
	} names[] = {
		{ RULE_LIMIT, "limit" }, { RULE_OVERDUE, "overdue" },
		{ RULE_FIRST, "rule1" }, { 0x02, "rule2" },
		{ 0x04, "rule3" },	 { 0x08, "rule4" },
		{ 0x10, "rule5" },	 { 0x20, "rule6" },
		{ 0x40, "rule7" },	 { 0x80, "rule8" },
		{ RULE_BELOW, "below" },
	};
	size_t i, len = 0;

	*buf = '\0';
	for (i = 0; i < sizeof(names) / sizeof(*names) && len < size; i++) {
		if (rules & names[i].bit)
			len += snprintf(buf + len, size - len, "%s%s",
					len ? "+" : "", names[i].name);
	}
	return buf;
}
