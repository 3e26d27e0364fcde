// SPDX-License-Identifier: GPL-2.0
/* What a watch reports about its charts while it waits. See watch_charts.h. */
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "memory.h"
#include "silent.h"
#include "text.h"
#include "tracerig.h"
#include "watch_charts.h"

/* Least time between two reports of how many charts of a chart with by= have limits, ns */
#define BY_INTERVAL 60000000000ull

/* Charts of a chart with by= whose lines are printed */
#define BY_NAMED 4

/* Append "; dev=8:0 centre 1 ms, limit 2 ms" */
static void add_part(char **text, const char *before, const struct rig_part *p,
		     const char *key, bool is_time)
{
	char center[32], limit[32], *longer;

	longer = xasprintf(
		"%s%s %.*s centre %s, limit %s", *text, before,
		(int)strcspn(key, "]"), key,
		format_value(center, sizeof(center), p->center, is_time),
		format_value(limit, sizeof(limit), p->limit, is_time));
	free(*text);
	*text = longer;
}

/* ": dev=8:0 centre 1 ms, limit 2 ms; ..." of the first charts that have limits, for free() */
static char *parts_text(const struct rig_chart *k)
{
	char *text = xstrdup(""), *longer;
	unsigned int i, named = 0;

	for (i = 0; i < k->charts && i < RIG_PARTS && named < BY_NAMED; i++) {
		const struct rig_part *p = &k->part[i];
		const char *key = strchr(p->name, '[');

		if (p->has_limit && key)
			add_part(&text, named++ ? ";" : ":", p, key + 1,
				 k->is_time);
	}
	if (named < k->limits) {
		longer = xasprintf("%s; and %u more", text, k->limits - named);
		free(text);
		text = longer;
	}
	if (k->shared.has_limit)
		add_part(&text, *text ? ";" : ":", &k->shared, "all others",
			 k->is_time);
	return text;
}

static void say_limit(const struct plan_chart *c, const struct rig_chart *k,
		      const struct seen *s)
{
	const char *how = !s->said && s->loaded ? "loaded" :
			  s->said		? "learnt again" :
						  "learnt";
	char center[32], limit[32], of[32] = "", *parts;

	if (k->by && k->has_center) {
		parts = parts_text(k);
		if (k->limits < k->charts)
			snprintf(of, sizeof(of), "%u of ", k->limits);
		say("%s: %s: limit%s of %s%u chart%s%s", c->name,
		    s->loaded && !s->said ? how : "learnt", plural(k->limits),
		    of, k->charts, plural(k->charts), parts);
		free(parts);
		return;
	}
	format_value(limit, sizeof(limit), k->limit, k->is_time);
	if (k->has_center)
		say("%s: %s: centre %s, limit %s", c->name, how,
		    format_value(center, sizeof(center), k->center, k->is_time),
		    limit);
	else
		say("%s: limit %s (fixed)", c->name, limit);
}

/* One line, at intervals: the watch continues, and does not relearn */
static void warn_above(const struct rig *rig, const struct plan_chart *c,
		       const struct rig_chart *k, struct seen *s)
{
	char *file = rig_chart_file(rig, c);
	char limit[32], *of;
	unsigned int share;
	u64 values;

	format_value(limit, sizeof(limit), k->limit, k->is_time);
	of = k->by && k->has_center ? xstrdup("their limits") :
				      xasprintf("the limit of %s", limit);
	share = above_look(&s->above, k, now_ns(), &values);
	if (share)
		complain(
			"%s: %u %% of the %llu values of the last minute are above %s: if this is the usual load, %s >%s",
			c->name, share, values, of,
			k->has_center ? "learn again: echo relearn" :
					"set a higher one: echo ucl=VALUE",
			file);
	free(of);
	free(file);
}

static void warn_silent(const struct rig *rig, const struct plan_chart *c,
			const struct rig_chart *k, struct seen *s, u64 waited)
{
	char *file, *advice;

	if (!silent_look(&s->silent, k, waited))
		return;
	file = rig_chart_file(rig, c);
	advice = silent_advice(c, file, rig_has_event);
	complain("%s: no value in %d s: %s", c->name, SILENT_AFTER, advice);
	free(advice);
	free(file);
}

/* The rig whose limits were loaded may not have had a disk */
static void warn_unloaded(const struct plan_chart *c, const struct rig_chart *k,
			  struct seen *s)
{
	unsigned int i;

	if (!s->loaded || !k->by || !k->has_center)
		return;
	for (i = s->charts; s->charts && i < k->charts && i < RIG_PARTS; i++) {
		complain(
			"%s: --limits has no limit for %s: this watch learns one",
			c->name, k->part[i].name);
		s->unloaded = true;
	}
	s->charts = k->charts;
}

/**
 * chart_look - read a chart, and report what is new
 * @rig: the rig
 * @c: the chart
 * @k: filled in with its state
 * @s: what has been reported of it
 * @waited: time since the watch began, ns
 *
 * Return: false if the kernel does not have the chart any more.
 */
bool chart_look(const struct rig *rig, const struct plan_chart *c,
		struct rig_chart *k, struct seen *s, u64 waited)
{
	struct rig_chart now;
	u64 limit;

	if (!rig_chart(rig, c, &now))
		/* Too little memory is no reason to end the watch */
		return !rig_has_lost(rig, c);
	*k = now;
	warn_silent(rig, c, k, s, waited);
	if (!k->has_limit)
		return true;
	limit = k->by && k->has_center ? k->limits + k->shared.has_limit :
					 k->limit;
	if ((!s->said || s->limit != limit) && now_ns() >= s->next) {
		say_limit(c, k, s);
		s->said = true;
		s->limit = limit;
		/* With by=, charts come and go */
		s->next = now_ns() + (k->by ? BY_INTERVAL : 0);
	}
	warn_above(rig, c, k, s);
	warn_unloaded(c, k, s);
	return true;
}
