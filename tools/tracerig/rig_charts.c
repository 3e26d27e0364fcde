// SPDX-License-Identifier: GPL-2.0
/* Reads the charts and the losses of a watch from the kernel. See rig.h. */
#include <linux/kernel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alarms.h"
#include "kernelchart.h"
#include "memory.h"
#include "rig.h"

/**
 * rig_chart_file - where an event's charts are shown and steered
 * @r: the rig
 * @c: the chart
 *
 * Return: the path of the event's file "ctlchart", for free().
 */
char *rig_chart_file(const struct rig *r, const struct plan_chart *c)
{
	char *name =
		xasprintf("events/%s/%s/ctlchart", rig_system(r, c), c->event);
	char *file = tracefs_instance_get_file(r->instance, name);
	char *path = xstrdup(file);

	tracefs_put_tracing_file(file);
	free(name);
	return path;
}

/**
 * rig_chart_text - what the kernel says about an event's charts
 * @r: the rig
 * @c: the chart
 *
 * Return: the event's file "ctlchart", for free(); NULL if it cannot be read.
 */
char *rig_chart_text(const struct rig *r, const struct plan_chart *c)
{
	return tracefs_event_file_read(r->instance, rig_system(r, c), c->event,
				       "ctlchart", NULL);
}

/**
 * rig_missed - the number of hits that a probe of the kernel missed
 * @probes: the file kprobe_events
 * @profile: the file kprobe_profile, which has the same probes in the same order, but
 *	not the systems of their events
 * @system: system of the probe's event
 * @event: the event
 *
 * Return: the number; 0 if the two files do not fit together, or do not have the probe.
 */
u64 rig_missed(const char *probes, const char *profile, const char *system,
	       const char *event)
{
	char *name = xasprintf(":%s/%s ", system, event);
	unsigned long long missed = 0;
	char found[128] = "";
	size_t len;

	for (; *probes && *profile; profile += strcspn(profile, "\n")) {
		probes += strspn(probes, "\n");
		profile += strspn(profile, "\n");
		len = strcspn(probes, "\n");
		if (memmem(probes, min(len, strcspn(probes, " ") + 1), name,
			   strlen(name))) {
			if (sscanf(profile, "%127s %*u %llu", found, &missed) !=
				    2 ||
			    strcmp(found, event) != 0)
				missed = 0;
			break;
		}
		probes += len;
	}
	free(name);
	return missed;
}

/* Of both probes of a function: a call that either of them misses has no duration */
static u64 missed_calls(const struct rig *r, const struct plan_chart *c)
{
	char *probes, *profile;
	u64 missed = 0;
	size_t i;

	if (!c->symbol || c->file)
		return 0;
	probes = tracefs_instance_file_read(NULL, "kprobe_events", NULL);
	profile = tracefs_instance_file_read(NULL, "kprobe_profile", NULL);
	for (i = 0; probes && profile && i < r->plan->nr_probes; i++) {
		const struct plan_probe *p = &r->plan->probe[i];

		if (p->function && !strcmp(p->function, c->symbol))
			missed += rig_missed(probes, profile, r->system,
					     p->event);
	}
	free(probes);
	free(profile);
	return missed;
}

static void set_part(struct rig_part *part, const struct kernel_chart *k,
		     const char *suffix)
{
	snprintf(part->name, sizeof(part->name), "%s%s", k->name, suffix);
	part->has_limit = k->has_limit;
	part->center = k->limits.center;
	part->limit = k->limits.ucl;
}

static void add_part(struct rig_chart *chart, const struct kernel_chart *k)
{
	if (chart->charts < RIG_PARTS)
		set_part(&chart->part[chart->charts], k, "");
	chart->charts++;
	chart->limits += k->has_limit;
	chart->has_limit |= k->has_limit;
	chart->has_center |= k->has_center;
	chart->is_time |= k->is_time;
	chart->learnt += k->learnt;
	chart->values += k->values;
}

/**
 * rig_parse_chart - parse a chart's lines and counts
 * @text: the event's file "ctlchart", which is modified
 * @name: the chart
 * @chart: filled in, but for @missed
 *
 * Return: false if the chart is not there.
 */
bool rig_parse_chart(char *text, const char *name, struct rig_chart *chart)
{
	struct kernel_chart k;
	bool found = false;
	char *line;

	*chart = (struct rig_chart){ 0 };
	line = strstr(text, "\nalarms: ");
	if (line)
		sscanf(line, "\nalarms: %llu, kept %*u, not written %llu",
		       &chart->alarms, &chart->not_written);
	while (kernel_next_chart(&text, &k)) {
		if (found && !k.part)
			break;
		if (found)
			add_part(chart, &k);
		if (found || k.part || strcmp(k.name, name) != 0)
			continue;
		found = true;
		snprintf(chart->state, sizeof(chart->state), "%s",
			 k.state ? k.state : "");
		chart->has_limit = k.has_limit;
		chart->has_center = k.has_center;
		chart->by = k.by;
		chart->learnt = k.learnt;
		chart->values = k.values;
		chart->is_time = k.is_time;
		chart->center = k.limits.center;
		chart->limit = k.limits.ucl;
		if (k.by && k.has_center)
			set_part(&chart->shared, &k, "[]");
	}
	/* What one of them has learnt is not the limit of the others */
	if (chart->by && chart->has_center)
		chart->center = chart->limit = 0;
	return found;
}

/**
 * rig_chart - read a chart's lines and counts
 * @r: the rig
 * @c: the chart
 * @chart: filled in
 *
 * Return: false if the kernel does not have the chart.
 */
bool rig_chart(const struct rig *r, const struct plan_chart *c,
	       struct rig_chart *chart)
{
	char *text = rig_chart_text(r, c);
	bool found = text && rig_parse_chart(text, c->name, chart);
	unsigned int i;

	if (!text)
		*chart = (struct rig_chart){ 0 };
	for (i = 0; i < chart->charts && i < RIG_PARTS && r->tep; i++)
		chart_label(tep_find_event_by_name(r->tep, rig_system(r, c),
						   c->event),
			    chart->part[i].name, sizeof(chart->part[i].name));
	chart->missed = missed_calls(r, c);
	free(text);
	return found;
}

/**
 * rig_has_lost - whether a chart is gone, after rig_chart() has not found it
 * @r: the rig
 * @c: the chart
 *
 * Return: false if what the kernel has cannot be read now.
 */
bool rig_has_lost(const struct rig *r, const struct plan_chart *c)
{
	char *text = rig_chart_text(r, c), *filter = NULL;
	struct rig_chart chart;
	bool lost;

	/* Without any chart, the file is empty, which libtracefs does not tell from an error */
	if (!text)
		filter = tracefs_event_file_read(r->instance, rig_system(r, c),
						 c->event, "filter", NULL);
	lost = text ? !rig_parse_chart(text, c->name, &chart) :
		      filter && !strstr(filter, "ctlchart");
	free(text);
	free(filter);
	return lost;
}

/**
 * rig_overwritten - number of events that the ring buffer has overwritten
 * @r: the rig
 * @cpus: number of CPUs
 *
 * With windows, most of these events were outside every window, and are not losses.
 */
u64 rig_overwritten(const struct rig *r, unsigned int cpus)
{
	unsigned long long n;
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < cpus; i++) {
		char *name = xasprintf("per_cpu/cpu%u/stats", i), *line;
		char *text =
			tracefs_instance_file_read(r->instance, name, NULL);

		line = text ? strstr(text, "overrun: ") : NULL;
		if (line && sscanf(line, "overrun: %llu", &n) == 1)
			sum += n;
		free(text);
		free(name);
	}
	return sum;
}
