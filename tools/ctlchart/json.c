// SPDX-License-Identifier: GPL-2.0
/* The report for programs. All times are in ns; the man page lists the names. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "ctlchart.h"

static struct json_object *method_object(const struct call *call)
{
	struct json_object *o = json_object_new_object();

	json_string(o, "limit", limit_names[call->method.limit]);
	json_string(o, "scale",
		    call->method.scale == CTLCHART_LOG ? "log" : "linear");
	json_number(o, "group", call->method.group);
	json_number(o, "samples", ctlchart_method_samples(&call->method));
	json_number(o, "learn", call->learn);
	return o;
}

static struct json_object *accounts_object(const struct chart *c)
{
	struct json_object *o = json_object_new_object();

	json_number(o, "starts", c->accounts.starts);
	json_number(o, "paired", c->accounts.paired);
	json_number(o, "replaced", c->accounts.replaced);
	json_number(o, "evicted", c->accounts.evicted);
	json_number(o, "refused", c->accounts.refused);
	json_number(o, "in_flight", c->in_flight);
	json_number(o, "ends", c->accounts.ends);
	json_number(o, "unmatched", c->accounts.unmatched);
	return o;
}

static struct json_object *alarm_object(const struct alarm *a)
{
	struct json_object *o = json_object_new_object();
	char rules[96];

	json_number(o, "time", a->time);
	if (a->start)
		json_number(o, "start", a->start);
	json_number(o, "duration", a->value);
	if (a->limits.center)
		json_number(o, "center", a->limits.center);
	if (a->limits.ucl != U64_MAX)
		json_number(o, "limit", a->limits.ucl);
	json_string(o, "rules", format_rules(rules, sizeof(rules), a->rules));
	json_boolean(o, "kept", a->kept);
	json_signed(o, "pid", a->pid);
	json_string(o, "comm", a->comm);
	json_string(o, "keys", a->keys);
	if (strcmp(a->keys, a->raw_keys))
		json_string(o, "raw_keys", a->raw_keys);
	return o;
}

static struct json_object *chart_object(const struct chart *c)
{
	struct json_object *o = json_object_new_object();
	struct json_object *worst = json_object_new_array();
	size_t i;

	json_string(o, "name", c->name);
	json_string(o, "event", c->event);
	if (c->start)
		json_string(o, "start", c->start);
	if (c->field)
		json_string(o, "field", c->field);
	if (c->is_time)
		json_string(o, "unit", "ns");
	if (c->call)
		json_object_object_add(o, "method", method_object(c->call));
	json_number(o, "values", c->values);
	if (c->has_limit && c->has_center)
		json_number(o, "center", c->limits.center);
	if (c->has_limit)
		json_number(o, "limit", c->limits.ucl);
	if (c->call && c->call->relearn)
		json_number(o, "relearnt", c->relearnt);
	if (shape_name(c->shape))
		json_string(o, "shape", shape_name(c->shape));
	json_number(o, "alarms", c->alarms);
	json_number(o, "kept", c->kept);
	json_number(o, "overdue", c->overdue);
	if (c->call) {
		json_number(o, "learnt", c->learnt);
		json_number(o, "suppressed", c->suppressed);
		json_number(o, "uncharted", c->uncharted);
	}
	if (c->start) {
		json_number(o, "backwards", c->backwards);
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

	json_number(o, "events", r->log_events);
	json_number(o, "bytes", r->log_bytes);
	json_number(o, "kept_events", r->kept_events);
	json_number(o, "alarm_events", r->alarm_events);
	json_number(o, "kept_bytes", r->kept_bytes);
	return o;
}

/**
 * json_head - add facts about the trace
 * @o: the object
 * @r: the report
 */
void json_head(struct json_object *o, const struct report *r)
{
	json_string(o, "file", r->file);
	if (*r->instance)
		json_string(o, "instance", r->instance);
	json_number(o, "events", r->events);
	json_number(o, "first", r->first);
	json_number(o, "last", r->last);
	json_number(o, "gaps", r->gaps);
	json_number(o, "lost", r->lost);
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

	json_head(o, r);
	for (i = 0; i < r->nr_charts; i++) {
		if (report_wants(r, r->chart[i]->name))
			json_object_array_add(charts,
					      chart_object(r->chart[i]));
	}
	json_object_object_add(o, "charts", charts);
	if (r->log_events)
		json_object_object_add(o, "log", log_object(r));
	json_write(o, r->out);
}
