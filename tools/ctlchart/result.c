// SPDX-License-Identifier: GPL-2.0
/* The results of charts, and what all output formats have in common. */
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>

#include "ctlchart.h"
#include "keys.h"

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
	struct chart *c = xzalloc(sizeof(*c));

	r->chart = xreallocarray(r->chart, r->nr_charts + 1, sizeof(*r->chart));
	r->chart[r->nr_charts++] = c;
	c->name = xstrdup(name);
	if ((r->format == FORMAT_SVG || r->format == FORMAT_HTML) &&
	    r->nr_charts <= MAX_PANELS)
		c->series = series_new();
	if (c->series && r->format == FORMAT_HTML)
		c->points = points_new();
	return c;
}

static void free_keys(struct alarm *a)
{
	free((char *)a->keys);
	free((char *)a->raw_keys);
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
		c->worst = xreallocarray(c->worst, c->max_worst + 1,
					 sizeof(*c->worst));
	}
	while (i > 0 && c->worst[i - 1].value < a->value)
		i--;
	memmove(&c->worst[i + 1], &c->worst[i],
		(c->nr_worst - i) * sizeof(*c->worst));
	c->worst[i] = *a;
	c->worst[i].keys = xstrdup(a->keys);
	c->worst[i].raw_keys = xstrdup(a->raw_keys);
	if (c->nr_worst == r->max_worst)
		free_keys(&c->worst[c->nr_worst]);
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
 * show_keys - keys as people write them
 * @event: the event that has them, or NULL
 * @keys: as numbers
 * @buf: where to put them
 */
void show_keys(struct tep_event *event, const char *keys, char buf[SHOWN_KEYS])
{
	keys_text(event, keys, buf, SHOWN_KEYS);
	clean_text(buf);
}

/**
 * report_alarm - add an alarm to the report
 * @r: the report
 * @c: its chart
 * @alarm: the alarm; its keys are copied
 *
 * Overdue alarms are counted apart from c->alarms, which are about values.
 */
void report_alarm(struct report *r, struct chart *c, const struct alarm *alarm)
{
	struct alarm shown = *alarm, *a = &shown;
	char keys[SHOWN_KEYS];

	show_keys(a->keys_of, a->keys, keys);
	shown.raw_keys = a->keys;
	shown.keys = keys;
	shown.keys_of = NULL;
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
 * report_normal - add a value that is in control, or not judged, to the page
 * @c: its chart; points_due() has selected the value
 * @a: the value, as if it were an alarm
 */
void report_normal(struct chart *c, const struct alarm *a)
{
	struct alarm shown = *a;
	char keys[SHOWN_KEYS];

	show_keys(a->keys_of, a->keys, keys);
	shown.keys = keys;
	add_point(c, false, &shown);
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
		free_keys(&c->worst[i]);
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
 * shape_name - name the shape of the distribution of Phase I's values
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
	for (i = 0; i < ARRAY_SIZE(names) && len < size; i++) {
		if (rules & names[i].bit)
			len += snprintf(buf + len, size - len, "%s%s",
					len ? "+" : "", names[i].name);
	}
	return buf;
}
