// SPDX-License-Identifier: GPL-2.0
/* The alarms of a window. See alarms.h. */
#include <linux/kernel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alarms.h"
#include "explain.h"
#include "keys.h"
#include "order.h"
#include "text.h"

static bool is_worse(const struct alarm *a, const struct alarm *b)
{
	bool unknown = a->start && !a->limit;

	/* The event that has the limit of a duration can be lost */
	if (unknown != (b->start && !b->limit))
		return !unknown;
	/* By multiplication: the limit of a number in an event can be 0 */
	return (double)a->value * (b->limit ? b->limit : 1) >
	       (double)b->value * (a->limit ? a->limit : 1);
}

/* Whether the full list has an alarm of a chart, other than @but */
static bool has_another(const struct alarm_list *l, const char *chart,
			const struct alarm *but)
{
	size_t i;

	for (i = 0; i < ALARMS_MAX; i++) {
		if (&l->alarm[i] != but && !strcmp(l->alarm[i].chart, chart))
			return true;
	}
	return false;
}

/*
 * Put an alarm into the full list. It takes the place of one that is not as bad, but not of the
 * only one of its chart: the case names each chart that had alarms. With one chart, that costs
 * no more than finding the least alarm.
 */
static void replace_least(struct alarm_list *l, const struct alarm *a)
{
	struct alarm *least = NULL;
	size_t i;

	for (i = 0; i < ALARMS_MAX; i++) {
		struct alarm *b = &l->alarm[i];

		if (least && !is_worse(least, b))
			continue;
		if (!strcmp(b->chart, a->chart) || has_another(l, b->chart, b))
			least = b;
	}
	if (least && (is_worse(a, least) || !has_another(l, a->chart, NULL)))
		*least = *a;
}

/**
 * alarm_list_add - add an alarm
 * @l: the list
 * @a: the alarm; if there are ALARMS_MAX, it takes the place of one that is not as bad
 */
void alarm_list_add(struct alarm_list *l, const struct alarm *a)
{
	u64 start = a->start ? a->start : a->ts;

	if (!l->nr || is_worse(a, &l->lead))
		l->lead = *a;
	if (!l->nr || start < l->earliest)
		l->earliest = start;
	if (l->nr++ < ALARMS_MAX) {
		l->alarm[l->nr - 1] = *a;
		return;
	}
	replace_least(l, a);
}

static int by_time(const void *a, const void *b)
{
	const struct alarm *x = a, *y = b;

	return ORDER(x->ts, y->ts);
}

/**
 * alarm_list_sort - sort the alarms by time
 * @l: the list
 *
 * Return: the number of alarms in @l->alarm.
 */
size_t alarm_list_sort(struct alarm_list *l)
{
	size_t n = l->nr < ALARMS_MAX ? l->nr : ALARMS_MAX;

	qsort(l->alarm, n, sizeof(*l->alarm), by_time);
	return n;
}

/**
 * chart_label - write the name of a part of a chart with by= as people do
 * @judged: the event that it judges, NULL if that is not known
 * @chart: the name, "disk[dev=266338320]", which becomes "disk[dev=254:16]"
 * @size: the room for it
 */
void chart_label(struct tep_event *judged, char *chart, size_t size)
{
	char *key = strchr(chart, '['), value[128], label[128];
	size_t len = key ? strlen(key) : 0;

	if (len < 2 || len > sizeof(value) || key[len - 1] != ']')
		return;
	snprintf(value, sizeof(value), "%.*s", (int)len - 2, key + 1);
	keys_text(judged, value, label, sizeof(label));
	snprintf(key, size - (key - chart), "[%s]", label);
}

/* Whether the key ends with a device, MAJOR:MINOR, or with its number */
static bool is_value(const char *s, bool device)
{
	size_t n = strspn(s, "0123456789");

	if (n && device) {
		s += n;
		n = *s == ':' ? strspn(++s, "0123456789") : 0;
	}
	return n && !strcmp(s + n, "]");
}

/* Whether the key ends with the function that an address is in */
static bool is_function(struct tep_handle *tep, const char *s,
			const char *address)
{
	char name[128];
	size_t n;

	/* As text, a key that is signed has a negative one */
	if (!key_function(tep, strtoull(address, NULL, 10), name, sizeof(name)))
		return false;
	n = strlen(name);
	return !strncmp(s, name, n) && !strcmp(s + n, "]");
}

/**
 * alarm_is_of - whether an event is of a chart
 * @tep: has the symbols by which chart_label() named functions
 * @label: the chart's name, as chart_label() makes it
 * @chart: the name in the event, as the kernel writes it
 */
bool alarm_is_of(struct tep_handle *tep, const char *label, const char *chart)
{
	const char *key = strchr(label, '[');
	size_t len = key ? strcspn(label, "=") + 1 : 0;

	if (!strcmp(label, chart))
		return true;
	if (!key || strlen(label) <= len || strncmp(label, chart, len) != 0)
		return false;
	chart += len;
	label += len;
	if (is_value(label, true))
		return is_value(chart, false) &&
		       explain_device(label) == explain_device(chart);
	return is_value(chart + (*chart == '-'), false) &&
	       is_function(tep, label, chart);
}

/**
 * chart_brief - the length of a chart's name without a part that the keys say as well
 * @chart: the name: "disk[dev=254:16]"
 * @keys: the keys of its alarm: "dev=254:16 sector=8"
 */
int chart_brief(const char *chart, const char *keys)
{
	const char *part = strchr(chart, '[');
	size_t len = part ? strlen(part + 1) : 0, n;

	for (; len && *keys; keys += n + strspn(keys + n, " ")) {
		n = strcspn(keys, " ");
		if (n == len - 1 && part[len] == ']' &&
		    !strncmp(part + 1, keys, n))
			return part - chart;
	}
	return strlen(chart);
}

/**
 * chart_names_add - add the name of a chart
 * @names: an array of names
 * @name: the name, which is added if it is not there
 */
void chart_names_add(struct json_object *names, const char *name)
{
	size_t i;

	for (i = 0; i < json_object_array_length(names); i++) {
		struct json_object *s = json_object_array_get_idx(names, i);

		if (!strcmp(json_object_get_string(s), name))
			return;
	}
	json_object_array_add(names, json_object_new_string(name));
}

/**
 * alarm_list_charts - the charts that had alarms
 * @l: the list
 *
 * Return: an array of their names, that of the worst alarm first, for json_object_put().
 */
struct json_object *alarm_list_charts(const struct alarm_list *l)
{
	struct json_object *names = json_object_new_array();
	size_t i;

	chart_names_add(names, l->lead.chart);
	for (i = 0; i < l->nr && i < ALARMS_MAX; i++)
		chart_names_add(names, l->alarm[i].chart);
	return names;
}

/**
 * alarm_list_most - the highest value of a chart's alarms
 * @l: the list
 * @chart: one of alarm_list_charts()
 */
u64 alarm_list_most(const struct alarm_list *l, const char *chart)
{
	u64 most = strcmp(l->lead.chart, chart) ? 0 : l->lead.value;
	size_t i;

	for (i = 0; i < l->nr && i < ALARMS_MAX; i++) {
		if (!strcmp(l->alarm[i].chart, chart))
			most = max(most, l->alarm[i].value);
	}
	return most;
}

/* The names of charts in a message */
#define NAMES_MAX 3

/**
 * alarms_text - say how many alarms a window has, and of which charts
 * @buf: where to put it: "3 alarms; also of chart x", or "" for one alarm
 * @size: its size
 * @nr: number of alarms
 * @names: the charts that had them, that of the worst alarm first
 *
 * Return: @buf.
 */
char *alarms_text(char *buf, size_t size, u64 nr, struct json_object *names)
{
	char count[32];
	size_t n, i, len;

	*buf = '\0';
	if (nr <= 1)
		return buf;
	n = json_object_array_length(names);
	len = snprintf(buf, size, "%s alarms%s",
		       format_count(count, sizeof(count), nr),
		       n < 2  ? "" :
		       n == 2 ? "; also of chart " :
				"; also of charts ");
	for (i = 1; i < n && i <= NAMES_MAX && len < size; i++)
		len += snprintf(buf + len, size - len, "%s%s",
				i > 1 ? ", " : "",
				json_object_get_string(
					json_object_array_get_idx(names, i)));
	if (i < n && len < size)
		snprintf(buf + len, size - len, " and %zu more", n - i);
	return buf;
}
