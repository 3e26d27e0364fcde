// SPDX-License-Identifier: GPL-2.0
/*
 * ctlchart save: writes the limits of the running kernel's charts, or those in a trace,
 * to a file that ctlchart load reads.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "kernel.h"
#include "text.h"

/**
 * struct save - the command
 * @options:	the options that all commands have
 * @has_instance: --instance was given
 * @tracefs:	where tracefs is, or NULL
 * @file:	the limits to save
 * @from:	where and when they were learnt
 * @seen:	number of events that can have charts
 * @without:	parts (by=) of the current event's chart that have no limit
 */
struct save {
	struct options options;
	bool has_instance;
	const char *tracefs;
	struct limits_file file;
	char from[256];
	size_t seen;
	size_t without;
};

static const struct argp_option options[] = {
	{ "event", 'e', "EVENT", 0, HELP_EVENT, 1 },
	{ "filter", 'f', "FILTER", 0, HELP_FILTER, 1 },
	{ "chart", OPT_CHART, "NAME", 0, "Save the limits of this chart alone",
	  2 },
	{ "instance", OPT_INSTANCE, "NAME", 0,
	  "Save the limits of this trace instance, instead of all (with FILE, instead of the main one)",
	  2 },
	{ "tracefs", OPT_TRACEFS, "DIR", 0,
	  "Where tracefs is mounted, if not at the usual place", 2 },
	{ "output", 'o', "LIMITS", 0,
	  "Write to LIMITS, which is replaced only if there was no error", 3 },
	{ 0 }
};

static const char doc[] =
	"Save the limits of control charts for ctlchart load.\n\n"
	"Without FILE, save the limits in force in the running kernel, of all trace "
	"instances; this needs root. With FILE, a trace.dat, save the limits in its "
	"alarms, or with -e and -f limits that are learnt from its events. The "
	"result is text, which can be edited."
	"\v"
	"Examples:\n"
	"  # on a rig, while a good build is being traced\n"
	"  ctlchart save -o good.limits\n"
	"\n"
	"  # from a plain trace of a good build\n"
	"  ctlchart save -e block:block_rq_complete \\\n"
	"    -f 'ctlchart(block_bio_queue, dev, sector, name=reads)' \\\n"
	"    -o good.limits good.dat\n"
	"\n"
	"  # on the next rig\n"
	"  ctlchart load good.limits\n"
	"\n"
	"Exit status: 0 success, 1 failure, 2 usage error.\n";

/* NAME[], not NAME, is the chart of values that have no part of their own */
static char *chart_name(const char *name, bool by)
{
	return xasprintf("%s%s", name, by ? "[]" : "");
}

/* load could not name it to the kernel */
static bool is_cut(struct guard *g, const char *name)
{
	if (strlen(name) < CHART_NAME_LEN - 1)
		return false;
	guard_note(g, "not saved: the name of %s is cut", name);
	return true;
}

/* Where and when */
static void set_from(struct save *s, const char *where)
{
	char when[64];
	time_t now = time(NULL);
	struct tm tm;

	strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC",
		 gmtime_r(&now, &tm));
	snprintf(s->from, sizeof(s->from), "%s, %s", where, when);
	clean_text(s->from);
}

/* ---- from the kernel ---- */

/* The name of the disk or partition that has a chart of its own, for free(); or NULL */
static char *disk_of(const char *chart)
{
	char *path, link[256], *name;
	unsigned int dev;
	ssize_t len;
	int end = 0;

	chart += strcspn(chart, "[");
	if (sscanf(chart, DISK_KEY "%u]%n", &dev, &end) != 1 || !end)
		return NULL;
	path = xasprintf("/sys/dev/block/%u:%u", dev >> DISK_MINORBITS,
			 dev & ((1u << DISK_MINORBITS) - 1));
	len = readlink(path, link, sizeof(link) - 1);
	free(path);
	link[len > 0 ? len : 0] = '\0';
	name = strrchr(link, '/');
	return name ? xstrdup(name + 1) : NULL;
}

static void save_chart(struct guard *g, struct save *s, const char *instance,
		       const char *event, const char *filter,
		       const struct kernel_chart *c)
{
	struct limits *l;

	if (!report_wants(&s->options.report, c->name))
		return;
	/* Of values that each have a chart there are many without a limit yet */
	if (!c->has_limit && (c->part || c->by)) {
		s->without += c->part;
		return;
	}
	if (!c->has_limit) {
		guard_note(g, "not saved: %s of %s has no limit yet (%s)",
			   c->name, event, c->state ? c->state : "no state");
		return;
	}
	if (is_cut(g, c->name))
		return;
	l = limits_add(&s->file);
	l->instance = xstrdup(instance);
	l->event = xstrdup(event);
	l->filter = xstrdup(filter);
	l->chart = chart_name(c->name, c->by);
	l->disk = c->part ? disk_of(c->name) : NULL;
	l->from = xstrdup(s->from);
	l->limits = c->limits;
	l->is_time = c->is_time;
	l->has_center = c->has_center;
	l->has_zones = c->zones && zones_parse(c->zones, &l->scale, &l->zones);
	l->values = c->values;
}

static void save_event(struct guard *g, struct save *s,
		       struct tracefs_instance *instance, const char *system,
		       const char *event)
{
	char *text = tracefs_event_file_read(instance, system, event,
					     "ctlchart", NULL);
	char *rest = text, *filter, name[256];
	struct kernel_chart chart;

	if (!text)
		return;
	s->seen++;
	s->without = 0;
	filter = NULL;
	snprintf(name, sizeof(name), "%s:%s", system, event);
	while (kernel_next_chart(&rest, &chart)) {
		if (!filter)
			filter = kernel_filter(instance, system, event);
		save_chart(g, s, tracefs_instance_get_name(instance), name,
			   filter, &chart);
	}
	if (s->without)
		guard_note(
			g,
			"not saved: %zu chart%s of by= of %s without a limit yet",
			s->without, plural(s->without), name);
	free(filter);
	free(text);
}

static void save_instance(struct guard *g, struct save *s,
			  struct tracefs_instance *instance)
{
	char *dir = instance ? tracefs_instance_get_dir(instance) :
			       xstrdup(kernel_tracefs());
	char **systems = tracefs_event_systems(dir), **events;
	int i, k;

	for (i = 0; systems && systems[i]; i++) {
		events = tracefs_system_events(dir, systems[i]);
		for (k = 0; events && events[k]; k++)
			save_event(g, s, instance, systems[i], events[k]);
		tracefs_list_free(events);
	}
	tracefs_list_free(systems);
	tracefs_put_tracing_file(dir);
}

/* An instance that has gone meanwhile has no charts to save */
static void save_named(struct guard *g, struct save *s, const char *name)
{
	struct tracefs_instance *instance;

	if (!kernel_has_instance(name))
		return;
	instance = tracefs_instance_alloc(s->tracefs, name);
	if (!instance)
		memory_failed();
	save_instance(g, s, instance);
	tracefs_instance_free(instance);
}

static int save_kernel(struct guard *g, struct save *s)
{
	struct utsname u;
	char where[200];
	char **names;
	int i, status;

	status = kernel_check(g, s->tracefs);
	if (status)
		return status;
	uname(&u);
	snprintf(where, sizeof(where), "Linux %s on %s", u.release, u.nodename);
	set_from(s, where);
	if (s->has_instance) {
		save_named(g, s, s->options.report.instance);
		if (!kernel_has_instance(s->options.report.instance))
			status = guard_fail(g, GUARD_NOWHERE,
					    "no trace instance %s",
					    s->options.report.instance);
	} else {
		save_instance(g, s, NULL);
		names = tracefs_instances(NULL);
		for (i = 0; names && names[i]; i++)
			save_named(g, s, names[i]);
		tracefs_list_free(names);
	}
	if (!status && !s->seen)
		status = guard_fail(
			g, GUARD_NOWHERE,
			"this kernel has no ctlchart filter (no event has a file \"ctlchart\")");
	if (!status && !s->file.nr)
		status = guard_fail(
			g, GUARD_NOWHERE, "no chart%s%s has a limit to save",
			s->options.report.only ? " " : "",
			s->options.report.only ? s->options.report.only : "");
	return status;
}

/* ---- from a trace ---- */

/* Does it have parts (by=)? */
static bool has_parts(const struct report *r, const struct chart *c)
{
	size_t i, len = strlen(c->name);

	for (i = 0; i < r->nr_charts && !c->parts; i++) {
		if (!strncmp(r->chart[i]->name, c->name, len) &&
		    r->chart[i]->name[len] == '[')
			return true;
	}
	return c->parts;
}

static int save_trace(struct guard *g, struct save *s)
{
	struct options *o = &s->options;
	struct report *r = &o->report;
	size_t i;
	int status;

	set_from(s, r->file);
	if (o->nr_calls)
		status = desk_report(g, r, o->call, o->nr_calls);
	else
		status = alarms_report(g, r);
	guard_progress(g, NULL);
	for (i = 0; i < r->nr_charts && !status; i++) {
		const struct chart *c = r->chart[i];
		struct limits *l;

		if (!report_wants(r, c->name))
			continue;
		if (!c->has_limit && has_parts(r, c))
			continue;
		if (!c->has_limit) {
			guard_note(
				g,
				"not saved: %s has no limit: its sample has only %u value%s",
				c->name, c->phase1_taken,
				plural(c->phase1_taken));
			continue;
		}
		if (!strchr(c->event, ':')) {
			guard_note(
				g,
				"not saved: the trace does not describe the event of %s (%s)",
				c->name, c->event);
			continue;
		}
		if (is_cut(g, c->name))
			continue;
		l = limits_add(&s->file);
		l->instance = *r->instance ? xstrdup(r->instance) : NULL;
		l->event = xstrdup(c->event);
		l->filter = c->call ? xstrdup(c->call->filter) : NULL;
		l->chart = chart_name(c->name, has_parts(r, c));
		l->has_zones = c->has_zones && c->has_center;
		l->scale = c->call ? c->call->method.scale : CTLCHART_LOG;
		l->zones = c->zones;
		l->from = xstrdup(s->from);
		l->limits = c->limits;
		l->is_time = c->is_time;
		l->has_center = c->has_center;
		l->values = c->values;
	}
	if (!status && !s->file.nr)
		status = guard_fail(g, GUARD_NOWHERE,
				    "no chart%s%s in it has a limit to save",
				    r->only ? " " : "", r->only ? r->only : "");
	report_free(r);
	return status;
}

static int work(struct guard *g, FILE *out, void *arg)
{
	struct save *s = arg;
	int status;

	if (s->options.report.file)
		status = save_trace(g, s);
	else
		status = save_kernel(g, s);
	if (!status)
		limits_write(out, &s->file);
	limits_free(&s->file);
	return status;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct save *s = state->input;
	struct options *o = &s->options;

	switch (key) {
	case OPT_TRACEFS:
		s->tracefs = arg;
		return 0;
	case OPT_CHART:
		o->report.only = arg;
		return 0;
	case OPT_INSTANCE:
		s->has_instance = true;
		break;
	case ARGP_KEY_END:
		if (o->nr_calls && !o->report.file)
			argp_error(state, "missing FILE operand for -e and -f");
		break;
	}
	return options_parse(key, arg, state, o);
}

/**
 * save_main - the command save
 * @argc: as of main()
 * @argv: the same, the first one a name for messages
 *
 * Return: the exit status.
 */
int save_main(int argc, char **argv)
{
	static const struct argp argp = { options, parse, "[FILE]", doc,
					  NULL,	   NULL,  NULL };
	struct save s = { .options.report.instance = "" };
	struct guard_job job = { .program = PROGRAM,
				 .idle_cpu = IDLE_CPU,
				 .work = work,
				 .arg = &s };
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &s);
	job.file = s.options.report.file;
	if (!job.file)
		job.file = s.tracefs ? s.tracefs : "tracefs";
	job.output = s.options.output;
	status = guard_run(&job);
	options_free(&s.options);
	return status;
}
