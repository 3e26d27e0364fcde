// SPDX-License-Identifier: GPL-2.0
/* Reports in JSON and CSV. */
#include <json-c/json.h>
#include <stdlib.h>

#include "lbrtime.h"
#include "text.h"

static const struct function *function_of(const struct timeline *t, u32 f)
{
	return symtab_function(t->symbols, f);
}

static void csv_functions(const struct timeline *t, const struct report *r)
{
	double unknown[METHODS];
	struct totals *totals = totals_new(t, unknown);
	u32 functions = symtab_functions(t->symbols), i;
	enum method m;
	u64 shown = 0;

	fprintf(r->out, "function,object,samples,visits");
	for (m = 0; m < METHODS; m++)
		fprintf(r->out, ",%s", method_name(m));
	fputc('\n', r->out);
	for (i = 0; i < functions && shown < r->top; i++) {
		u32 f = totals[i].function;

		if (!t->visits[f])
			continue;
		shown++;
		csv_string(r->out, function_of(t, f)->name);
		fputc(',', r->out);
		csv_string(r->out, function_of(t, f)->object);
		fprintf(r->out, ",%llu,%llu", t->sampled[f], t->visits[f]);
		for (m = 0; m < METHODS; m++) {
			if (method_there(t, m))
				fprintf(r->out, ",%.0f", totals[i].time[m]);
			else
				fputc(',', r->out);
		}
		fputc('\n', r->out);
	}
	free(totals);
}

static void csv_chain(FILE *out, const struct timeline *t,
		      const struct chain *c)
{
	char *text = NULL;
	size_t size;
	FILE *f = text_open(&text, &size);
	u32 i;

	for (i = c->len; i--;) {
		list_name(f, function_of(t, c->function[i])->name, ";");
		fputs(i ? ";" : "", f);
	}
	text_close(f);
	csv_string(out, text);
	free(text);
}

static void csv_visits(const struct timeline *t, const struct report *r)
{
	struct timed_visit timed_visit[MAX_BRANCHES + 1];
	struct walk *w = walk_new(t);
	u32 i, j, nr;

	fprintf(r->out,
		"time,cpu,tgid,pid,comm,state,interval,visit,function,start,duration,error,reliable,from,to,how,kind,cycles,chain\n");
	for (i = 0; i < t->nr; i++) {
		const struct sample *s = &t->sample[i];
		const struct chains *c = walk_next(w, i);

		nr = timed_visits(t, i, r->method, timed_visit);
		for (j = 0; j < nr; j++) {
			const struct branch *b = &t->branch[s->first + j];

			fprintf(r->out, "%llu,", s->ts);
			if (!t->by_thread)
				fprintf(r->out, "%u", s->cpu);
			fprintf(r->out, ",%d,%d,", s->tgid, s->pid);
			csv_string(r->out, t->comm[s->comm]);
			fprintf(r->out, ",%s,%llu,%u,", state_name(s->state),
				s->ts - s->start, j);
			csv_string(
				r->out,
				function_of(t, timed_visit[j].function)->name);
			fprintf(r->out, ",%llu,%llu,", timed_visit[j].start,
				timed_visit[j].end - timed_visit[j].start);
			if (reliability_available(r->method))
				fprintf(r->out, "%llu,%d,",
					timed_visit[j].error,
					timed_visit[j].reliable);
			else
				fputs(",,", r->out);
			if (j < s->nr)
				fprintf(r->out, "0x%llx,0x%llx,%s,%s,%u,",
					symtab_at(t->symbols, b->from)->addr,
					c->to[j], c->how[j],
					branch_kind_name(b->kind), b->cycles);
			else
				fprintf(r->out, "0x%llx,,,sample,,",
					symtab_at(t->symbols, s->ip)->addr);
			csv_chain(r->out, t, &c->visit[j]);
			fputc('\n', r->out);
		}
	}
	walk_free(w);
}

/**
 * lbrtime_write_csv - write functions or visits as CSV
 * @t:	timeline, after timeline_finish()
 * @r:	what to print
 */
void lbrtime_write_csv(const struct timeline *t, const struct report *r)
{
	if (r->visits)
		csv_visits(t, r);
	else
		csv_functions(t, r);
}

static struct json_object *json_states(const struct timeline *t)
{
	struct json_object *o = json_object_new_object(), *one;
	enum interval_state i;

	for (i = 0; i < STATES; i++) {
		one = json_object_new_object();
		json_number(one, "count", t->intervals[i]);
		json_number(one, "time", t->time[i]);
		json_object_object_add(o, state_name(i), one);
	}
	return o;
}

static struct json_object *json_functions(const struct timeline *t, u64 top,
					  double *unknown)
{
	struct totals *totals = totals_new(t, unknown);
	u32 functions = symtab_functions(t->symbols), i;
	struct json_object *all = json_object_new_array(), *o, *times;
	enum method m;
	u64 shown = 0;

	for (i = 0; i < functions && shown < top; i++) {
		u32 f = totals[i].function;

		if (!t->visits[f])
			continue;
		shown++;
		o = json_object_new_object();
		json_string(o, "function", function_of(t, f)->name);
		json_string(o, "object", function_of(t, f)->object);
		json_number(o, "samples", t->sampled[f]);
		json_number(o, "visits", t->visits[f]);
		times = json_object_new_object();
		for (m = 0; m < METHODS; m++) {
			if (method_there(t, m))
				json_number(times, method_name(m),
					    totals[i].time[m] + 0.5);
		}
		json_object_object_add(o, "time", times);
		json_object_array_add(all, o);
	}
	free(totals);
	return all;
}

/**
 * json_summary - everything but the visits
 * @t:	timeline, after timeline_finish()
 * @r:	what to print
 *
 * Return: an object.
 */
struct json_object *json_summary(const struct timeline *t,
				 const struct report *r)
{
	struct json_object *o = json_object_new_object(), *rest, *known;
	double unknown[METHODS], least, most;
	struct json_object *functions = json_functions(t, r->top, unknown);
	enum method m;

	json_string(o, "file", t->file);
	json_number(o, "samples", t->nr);
	json_number(o, "branches", t->branches);
	json_number(o, "depth", t->depth);
	json_number(o, "gaps", t->gaps);
	json_double(o, "resolution", resolution(t));
	json_double(o, "covered", covered(t));
	json_number(o, "time", timed(t));
	json_object_object_add(o, "intervals", json_states(t));
	if (t->inferred)
		json_double(o, "whole_by_chance", t->chance);
	json_double(o, "ns_per_cycle", t->ns_per_cycle);
	json_double(o, "ns_per_cycle_error",
		    t->ns_per_cycle > 0 ? t->ns_per_cycle * t->clock.error : 0);
	if (clock_range(t, &least, &most)) {
		json_double(o, "ns_per_cycle_least", least);
		json_double(o, "ns_per_cycle_most", most);
	}
	json_string(o, "method", method_name(r->method));
	rest = json_object_new_object();
	known = json_object_new_object();
	for (m = 0; m < METHODS; m++) {
		if (!method_there(t, m))
			continue;
		json_number(rest, method_name(m), unknown[m] + 0.5);
		if (reliability_available(m))
			json_double(known, method_name(m),
				    reliability_share(t, m));
	}
	json_object_object_add(o, "unknown", rest);
	if (method_there(t, METHOD_CYCLES))
		json_number(o, "unknown_held", unknown_held(t));
	json_object_object_add(o, "reliable", known);
	json_object_object_add(o, "functions", functions);
	return o;
}

static struct json_object *json_visits(const struct timeline *t,
				       const struct report *r)
{
	struct json_object *all = json_object_new_array(), *o, *visits, *v;
	struct timed_visit timed_visit[MAX_BRANCHES + 1];
	u32 i, j, nr;

	for (i = 0; i < t->nr; i++) {
		const struct sample *s = &t->sample[i];

		o = json_object_new_object();
		json_number(o, "time", s->ts);
		json_number(o, "interval", s->ts - s->start);
		if (t->by_thread)
			json_object_object_add(o, "cpu", NULL);
		else
			json_number(o, "cpu", s->cpu);
		json_signed(o, "pid", s->pid);
		json_string(o, "comm", t->comm[s->comm]);
		json_string(o, "state", state_name(s->state));
		visits = json_object_new_array();
		nr = timed_visits(t, i, r->method, timed_visit);
		for (j = 0; j < nr; j++) {
			v = json_object_new_object();
			json_string(
				v, "function",
				function_of(t, timed_visit[j].function)->name);
			json_number(v, "start", timed_visit[j].start);
			json_number(v, "duration",
				    timed_visit[j].end - timed_visit[j].start);
			if (reliability_available(r->method)) {
				json_number(v, "error", timed_visit[j].error);
				json_boolean(v, "reliable",
					     timed_visit[j].reliable);
			}
			json_object_array_add(visits, v);
		}
		json_object_object_add(o, "visits", visits);
		json_object_array_add(all, o);
	}
	return all;
}

/**
 * lbrtime_write_json - write functions, and visits if requested, as JSON
 * @t:	timeline, after timeline_finish()
 * @r:	what to print
 */
void lbrtime_write_json(const struct timeline *t, const struct report *r)
{
	struct json_object *o = json_summary(t, r);

	if (r->visits)
		json_object_object_add(o, "intervals_in_order",
				       json_visits(t, r));
	json_write(o, r->out);
}
