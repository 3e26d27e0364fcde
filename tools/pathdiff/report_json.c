// SPDX-License-Identifier: GPL-2.0
/* The result for programs. All times are in ns; the man page lists the names. */
#include <json-c/json.h>
#include <stdlib.h>

#include "pathdiff.h"
#include "version.h"

/* Values of figure 8, and slow executions, that are given, at most */
#define MAX_VALUES 1000

static void add_ns(struct json_object *o, const char *key, double ns)
{
	json_number(o, key, ns > 0 ? ns + 0.5 : 0);
}

static struct json_object *source_object(const struct source *s)
{
	struct json_object *o = json_object_new_object();

	json_string(o, "file", s->file);
	json_number(o, "records", s->records);
	json_number(o, "first", s->first);
	json_number(o, "last", s->last);
	json_number(o, "executions", s->executions);
	json_number(o, "began_before", s->began);
	json_number(o, "not_ended", s->ended);
	json_number(o, "broken", s->broken);
	json_number(o, "cut_off", s->cut);
	json_number(o, "gaps", s->gaps);
	json_number(o, "cuts", s->cuts);
	json_number(o, "lost", s->lost);
	json_string(o, "sleep_time",
		    s->sleep_off ? "off" :
		    s->votes[0]	 ? "on" :
				   "unknown");
	return o;
}

static struct json_object *limit_object(const struct limit *l)
{
	struct json_object *o = json_object_new_object();

	json_number(o, "limit", l->ns);
	json_number(o, "center", l->center);
	json_boolean(o, "given", l->given);
	json_number(o, "learnt", l->learnt);
	json_number(o, "set_aside", l->set_aside);
	json_boolean(o, "floored", l->floored);
	json_boolean(o, "far", l->is_far);
	json_number(o, "normal", l->nr[0]);
	json_number(o, "slow", l->nr[1]);
	json_number(o, "longest", l->longest);
	json_boolean(o, "healthy", l->healthy);
	return o;
}

static struct json_object *numbers(const double *v, u32 nr)
{
	struct json_object *a = json_object_new_array();
	u32 i;

	for (i = 0; i < nr; i++)
		json_object_array_add(a, json_object_new_uint64(v[i] + 0.5));
	return a;
}

static struct json_object *functions_array(const struct result *r,
					   const struct cause *c)
{
	struct json_object *a = json_object_new_array(), *o;
	double n = c->executions > 2000 ? 2000 : c->executions;
	u32 nr = cause_shows(c), i;

	for (i = 0; i < nr && i < r->top; i++) {
		const struct slowed *s = &c->table[i];

		o = json_object_new_object();
		json_string(o, "function",
			    r->paths.functions.name[s->function]);
		add_ns(o, "self", s->self / n);
		add_ns(o, "normal_self", s->normal / n);
		json_double(o, "factor", factor_of(s->self, s->normal));
		json_boolean(o, "extra", s->extra);
		json_object_array_add(a, o);
	}
	return a;
}

/**
 * stack_array - the functions of a stack
 * @r:		result
 * @stack:	number of the stack
 */
struct json_object *stack_array(const struct result *r, u32 stack)
{
	const struct pattern *s = &r->paths.stacks.p[stack];
	struct json_object *a = json_object_new_array();
	u32 i;

	for (i = 0; i < s->len; i++)
		json_object_array_add(
			a, json_object_new_string(
				   r->paths.functions.name[s->function[i]]));
	return a;
}

static struct json_object *who_array(const struct result *r,
				     const struct cause *c)
{
	struct json_object *a = json_object_new_array(), *o;
	u32 i;

	for (i = 0; i < c->whos; i++) {
		const struct who *w = &c->who[i];

		if (w->name == NONE)
			continue;
		o = json_object_new_object();
		json_string(o, "name", r->paths.names.name[w->name]);
		add_ns(o, "time", w->time);
		json_number(o, "waits", w->nr);
		if (w->stack != NONE)
			json_object_object_add(o, "stack",
					       stack_array(r, w->stack));
		json_object_array_add(a, o);
	}
	return a;
}

static void add_wait(struct json_object *o, const struct result *r,
		     const struct cause *c)
{
	struct json_object *w = json_object_new_object();
	const struct strings *names = &r->paths.names;

	if (c->known) {
		json_string(w, "kind", wait_name(c->wait_kind));
		if (c->lock != NONE)
			json_string(w, "lock", names->name[c->lock]);
		if (c->device != NONE)
			json_string(w, "device", names->name[c->device]);
		add_ns(w, "time", c->wait_time);
		add_ns(w, "queued", c->queued);
	}
	json_object_object_add(w, "who", who_array(r, c));
	json_object_object_add(o, "wait", w);
}

static struct json_object *worst_object(const struct result *r,
					const struct cause *c)
{
	const struct paths *p = &r->paths;
	const struct exec *e = &p->exec[c->worst];
	const struct pattern *q = &p->patterns.p[e->pattern];
	struct json_object *o = json_object_new_object();
	char chain[1024];

	json_number(o, "start", e->start);
	json_number(o, "duration", e->duration);
	if (e->pid < UNKNOWN_PID)
		json_signed(o, "pid", e->pid);
	if (e->comm != NONE)
		json_string(o, "comm", p->names.name[e->comm]);
	exec_chain(r, e, c->worst_pos, chain, sizeof(chain));
	json_string(o, "path", chain);
	json_number(o, "length", q->len);
	json_number(o, "common", q->common);
	json_number(o, "nearest_executions", p->patterns.p[q->near].nr[0]);
	add_ns(o, "nearest_duration", p->patterns.p[q->near].duration);
	return o;
}

static struct json_object *cause_object(const struct result *r,
					const struct cause *c, bool named)
{
	struct json_object *o = json_object_new_object();
	double n = c->executions;
	struct figure8 f;
	char text[1024];

	cause_headline(r, c, text, sizeof(text));
	json_string(o, "headline", text);
	json_boolean(o, "named", named);
	json_string(o, "kind", c->waits ? "wait" : cause_kind_name(c->kind));
	json_boolean(o, "extra",
		     c->kind == CAUSE_EXTRA || c->kind == CAUSE_EXTRA_CALLS);
	json_string(o, "function", cause_function(r, c));
	if (c->caller != NONE)
		json_string(o, "caller", r->paths.functions.name[c->caller]);
	json_number(o, "executions", c->executions);
	json_number(o, "patterns", c->patterns);
	add_ns(o, "self", c->self / n);
	add_ns(o, "normal_self", c->normal_self / n);
	add_ns(o, "inclusive", c->incl / n);
	add_ns(o, "normal_inclusive", c->normal_incl / n);
	json_double(o, "factor", factor_of(c->self, c->normal_self));
	json_double(o, "share", c->duration > 0 ? c->self / c->duration : 0);
	json_double(o, "delay_share",
		    r->ranking.excess > 0 ? c->excess / r->ranking.excess : 0);
	add_ns(o, "preempted", c->preempted / n);
	json_double(o, "explained", c->explained);
	json_double(o, "confidence", c->confidence);
	json_boolean(o, "overhead", cause_is_overhead(r, c));
	if (c->waits || c->known)
		add_wait(o, r, c);
	json_object_object_add(o, "worst", worst_object(r, c));
	json_object_object_add(o, "functions", functions_array(r, c));
	if (!named)
		return o;
	figure_cause(r, c, MAX_VALUES, &f);
	json_object_object_add(o, "self_slow", numbers(f.abnormal, f.nr[1]));
	json_object_object_add(o, "self_normal", numbers(f.normal, f.nr[0]));
	figure_cause_free(&f);
	return o;
}

static void add_table(struct json_object *o, const char *key, const u32 *table)
{
	struct json_object *a = json_object_new_array();
	int i;

	for (i = 0; i < SIMILARITIES; i++)
		json_object_array_add(a, json_object_new_uint64(table[i]));
	json_object_object_add(o, key, a);
}

static struct json_object *patterns_object(const struct nearest *n)
{
	struct json_object *o = json_object_new_object();

	json_number(o, "normal", n->normal);
	json_number(o, "slow", n->abnormal);
	json_number(o, "compared", n->compared);
	json_number(o, "pruned", n->pruned);
	add_table(o, "normal_to_normal", n->table2);
	add_table(o, "slow_to_normal", n->table3);
	return o;
}

static void add_cdf(struct json_object *o, const struct result *r,
		    enum side side, const char *key)
{
	struct json_object *a = json_object_new_array();
	u64 ns[CDF_POINTS];
	int i;

	if (figure_cdf(r, side, ns)) {
		for (i = 0; i < CDF_POINTS; i++)
			json_object_array_add(a, json_object_new_uint64(ns[i]));
	}
	json_object_object_add(o, key, a);
}

/* Causes in JSON, the named ones and some more */
#define MORE_CAUSES 20

/**
 * result_object - the result as an object
 * @r: the result
 */
struct json_object *result_object(const struct result *r)
{
	struct json_object *o = json_object_new_object();
	struct json_object *a = json_object_new_array();
	const struct ranking *k = &r->ranking;
	char text[2048];
	u32 i;

	json_string(o, "tool", PROGRAM " " TRACERIG_VERSION);
	json_string(o, "entry", r->paths.functions.name[r->paths.entry]);
	json_object_object_add(o, "trace",
			       source_object(&r->source[SIDE_TRACE]));
	if (r->has_baseline)
		json_object_object_add(
			o, "baseline",
			source_object(&r->source[SIDE_BASELINE]));
	json_object_object_add(o, "limit", limit_object(&r->limit));
	for (i = 0; i < k->nr && i < k->named + MORE_CAUSES; i++)
		json_object_array_add(a, cause_object(r, &k->cause[i],
						      i < k->named));
	json_object_object_add(o, "causes", a);
	json_number(o, "unmatched", k->unmatched);
	json_number(o, "throughout", k->throughout);
	json_boolean(o, "undecided", k->undecided);
	json_boolean(o, "spread", k->spread);
	if (result_verdict(r, text, sizeof(text)))
		json_string(o, "verdict", text);
	json_number(o, "causes_found", k->nr);
	json_object_object_add(o, "patterns", patterns_object(&r->nearest));
	add_cdf(o, r, SIDE_TRACE, "cdf");
	if (r->has_baseline)
		add_cdf(o, r, SIDE_BASELINE, "baseline_cdf");
	return o;
}

static struct json_object *slow_object(struct result *r, u32 exec, u32 causes)
{
	const struct exec *e = &r->paths.exec[exec];
	struct json_object *o = json_object_new_object();
	struct verdict v;

	json_number(o, "start", e->start);
	json_number(o, "duration", e->duration);
	if (e->pid < UNKNOWN_PID)
		json_signed(o, "pid", e->pid);
	if (r->ranking.of[exec] >= causes)
		return o;
	rank_one(&r->paths, e, r->common, &v);
	json_number(o, "cause", r->ranking.of[exec]);
	add_ns(o, "self", v.self);
	add_ns(o, "normal_self", v.normal_self);
	add_ns(o, "excess", v.excess);
	return o;
}

/* @causes: number of causes in the result */
static struct json_object *slow_array(struct result *r, u32 causes)
{
	struct json_object *a = json_object_new_array();
	const struct exec *e = r->paths.exec;
	u32 i, nr = 0;

	for (i = 0; i < r->paths.nr && nr < MAX_VALUES; i++) {
		if (!e[i].abnormal || e[i].side != SIDE_TRACE)
			continue;
		json_object_array_add(a, slow_object(r, i, causes));
		nr++;
	}
	return a;
}

/**
 * result_json - write the result as one JSON object
 * @r: the result
 */
void result_json(struct result *r)
{
	struct json_object *o = result_object(r);
	struct json_object *causes = json_object_object_get(o, "causes");

	json_object_object_add(o, "slow",
			       slow_array(r, json_object_array_length(causes)));
	json_write(o, r->out);
}
