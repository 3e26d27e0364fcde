// SPDX-License-Identifier: GPL-2.0
/* The report for programs. All times are in ns; the man page lists the names. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "ctlchart.h"

static void add_number(struct json_object *o, const char *key, u64 n)
{
	json_object_object_add(o, key, json_object_new_uint64(n));
}

static void add_string(struct json_object *o, const char *key, const char *s)
{
	char *clean = strdup(s);

	if (!clean)
		abort();
	clean_text(clean); /* the name of a file can be anything */
	json_object_object_add(o, key, json_object_new_string(clean));
	free(clean);
}

static struct json_object *method_object(const struct call *call)
{
	struct json_object *o = json_object_new_object();

	add_string(o, "limit", limit_names[call->method.limit]);
	add_string(o, "scale",
		   call->method.scale == CTLCHART_LOG ? "log" : "linear");
	add_number(o, "group", call->method.group);
	add_number(o, "samples", ctlchart_method_samples(&call->method));
	add_number(o, "learn", call->learn);
	return o;
}

static struct json_object *accounts_object(const struct chart *c)
{
	struct json_object *o = json_object_new_object();

	add_number(o, "starts", c->accounts.starts);
	add_number(o, "paired", c->accounts.paired);
	add_number(o, "replaced", c->accounts.replaced);
	add_number(o, "evicted", c->accounts.evicted);
	add_number(o, "refused", c->accounts.refused);
	add_number(o, "in_flight", c->in_flight);
	add_number(o, "ends", c->accounts.ends);
	add_number(o, "unmatched", c->accounts.unmatched);
	return o;
}

static struct json_object *alarm_object(const struct alarm *a)
{
	struct json_object *o = json_object_new_object();
	char rules[96];

	add_number(o, "time", a->time);
	if (a->start)
		add_number(o, "start", a->start);
	add_number(o, "duration", a->value);
	if (a->limits.center)
		add_number(o, "center", a->limits.center);
	if (a->limits.ucl != U64_MAX)
		add_number(o, "limit", a->limits.ucl);
	add_string(o, "rules", format_rules(rules, sizeof(rules), a->rules));
	json_object_object_add(o, "kept", json_object_new_boolean(a->kept));
	json_object_object_add(o, "pid", json_object_new_int(a->pid));
	add_string(o, "comm", a->comm);
	add_string(o, "keys", a->keys);
	return o;
}

static struct json_object *chart_object(const struct chart *c)
{
	struct json_object *o = json_object_new_object();
	struct json_object *worst = json_object_new_array();
	size_t i;

	add_string(o, "name", c->name);
	add_string(o, "event", c->event);
	if (c->start)
		add_string(o, "start", c->start);
	if (c->field)
		add_string(o, "field", c->field);
	if (c->is_time)
		add_string(o, "unit", "ns");
	if (c->call)
		json_object_object_add(o, "method", method_object(c->call));
	add_number(o, "values", c->values);
	if (c->has_limit && c->has_center)
		add_number(o, "center", c->limits.center);
	if (c->has_limit)
		add_number(o, "limit", c->limits.ucl);
	if (c->call && c->call->relearn)
		add_number(o, "relearnt", c->relearnt);
	if (shape_name(c->shape))
		add_string(o, "shape", shape_name(c->shape));
	add_number(o, "alarms", c->alarms);
	add_number(o, "kept", c->kept);
	add_number(o, "overdue", c->overdue);
	if (c->call) {
		add_number(o, "learnt", c->learnt);
		add_number(o, "suppressed", c->suppressed);
		add_number(o, "uncharted", c->uncharted);
	}
	if (c->start) {
		add_number(o, "backwards", c->backwards);
		json_object_object_add(o, "accounts", accounts_object(c));
	}
	for (i = 0; i < c->nr_worst; i++)
		json_object_array_add(worst, alarm_object(&c->worst[i]));
	json_object_object_add(o, "worst", worst);
	return o;
}

static struct json_object *log_object(const struct report *r)
{
	struct json_object *o = json_object_new_object();

	add_number(o, "events", r->log_events);
	add_number(o, "bytes", r->log_bytes);
	add_number(o, "kept_events", r->kept_events);
	add_number(o, "alarm_events", r->alarm_events);
	add_number(o, "kept_bytes", r->kept_bytes);
	return o;
}

/**
 * json_report - write the report as one JSON object
 * @r: the report
 */
void json_report(struct report *r)
{
	struct json_object *o = json_object_new_object();
	struct json_object *charts = json_object_new_array();
	size_t i;

	add_string(o, "file", r->file);
	if (*r->instance)
		add_string(o, "instance", r->instance);
	add_number(o, "events", r->events);
	add_number(o, "first", r->first);
	add_number(o, "last", r->last);
	add_number(o, "gaps", r->gaps);
	add_number(o, "lost", r->lost);
	for (i = 0; i < r->nr_charts; i++) {
		if (report_wants(r, r->chart[i]->name))
			json_object_array_add(charts,
					      chart_object(r->chart[i]));
	}
	json_object_object_add(o, "charts", charts);
	if (r->log_events)
		json_object_object_add(o, "log", log_object(r));
	fprintf(r->out, "%s\n",
		json_object_to_json_string_ext(
			o, JSON_C_TO_STRING_PRETTY |
				   JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
}
