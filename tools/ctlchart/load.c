// SPDX-License-Identifier: GPL-2.0
/*
 * ctlchart load: puts the limits of a file into force in the running kernel.
 * Filters are written where their chart is not there yet, then the limits.
 * As many mistakes as possible are found before anything is written.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "command.h"
#include "kernel.h"
#include "text.h"

/* Limit of the length of a command for an event's file "ctlchart" */
#define COMMAND_LEN (CHART_NAME_LEN + ZONES_LEN + 128)

/**
 * struct load - the command
 * @path:	the file
 * @instance:	--instance, or NULL
 * @only:	--chart, or NULL
 * @tracefs:	where tracefs is, or NULL
 * @dry_run:	print what would be written
 * @keep_filter: --keep-filter
 * @file:	contents of the file
 * @out:	output
 */
struct load {
	const char *path;
	const char *instance;
	const char *only;
	const char *tracefs;
	bool dry_run;
	bool keep_filter;
	struct limits_file file;
	FILE *out;
};

static const struct argp_option options[] = {
	{ "chart", OPT_CHART, "NAME", 0, "Load the limits of this chart alone",
	  1 },
	{ "instance", OPT_INSTANCE, "NAME", 0,
	  "Load into this trace instance, not those in LIMITS", 1 },
	{ "tracefs", OPT_TRACEFS, "DIR", 0,
	  "Where tracefs is mounted, if not at the usual place", 1 },
	{ "keep-filter", OPT_KEEP_FILTER, NULL, 0,
	  "Fail, instead of writing a filter", 1 },
	{ "dry-run", 'n', NULL, 0,
	  "Print what would be written, as commands for a shell", 1 },
	{ 0 }
};

static const char doc[] =
	"Put limits that ctlchart save wrote into force, as root.\n\n"
	"If an event has no such chart yet, its filter is written as well. Events are "
	"not enabled; trace-cmd does that. trace-cmd record replaces filters when it "
	"starts: a chart with name= in its filter keeps its limits then, any other "
	"chart needs this command again while trace-cmd is running. LIMITS may be - "
	"for standard input."
	"\v"
	"Examples:\n"
	"  # judge this build by the limits of a good one\n"
	"  ctlchart load good.limits\n"
	"  trace-cmd record -e block:block_rq_complete \\\n"
	"    -f 'ctlchart(block_bio_queue, dev, sector, name=reads)' \\\n"
	"    -e ctlchart sleep 3600\n"
	"\n"
	"  # a rig without this tool\n"
	"  ctlchart load --dry-run good.limits | ssh root@rig sh -e\n"
	"\n"
	"Exit status: 0 success, 1 failure, 2 usage error.\n";

/* Split "system:event" */
static const char *event_of(const struct limits *l, char *system, size_t size)
{
	size_t len = strcspn(l->event, ":");

	snprintf(system, size, "%.*s", (int)len, l->event);
	return l->event + len + 1;
}

static const char *instance_of(const struct load *load, const struct limits *l)
{
	return load->instance ? load->instance : l->instance;
}

static bool wanted(const struct load *load, const struct limits *l)
{
	return !l->left_out && (!load->only || chart_is(l->chart, load->only));
}

static bool same_file(const struct load *load, const struct limits *a,
		      const struct limits *b)
{
	const char *x = instance_of(load, a), *y = instance_of(load, b);

	return !strcmp(a->event, b->event) && !x == !y && (!x || !strcmp(x, y));
}

/* The command for the event's file "ctlchart" */
static void print_command(char *buf, size_t size, const struct limits *l)
{
	const char *unit = l->is_time ? "ns" : "";
	char zones[ZONES_LEN] = "";

	if (l->has_zones)
		zones_print(zones, l->scale, &l->zones);
	if (l->has_center)
		snprintf(buf, size, "limits center=%llu%s ucl=%llu%s%s%s %s",
			 l->limits.center, unit, l->limits.ucl, unit,
			 l->has_zones ? " zones=" : "", zones, l->chart);
	else
		snprintf(buf, size, "ucl=%llu%s %s", l->limits.ucl, unit,
			 l->chart);
}

/* Is it the first chart of its event that has the filter? */
static bool makes_filter(const struct load *load, size_t i)
{
	const struct limits *l = &load->file.entry[i], *other;

	for (other = load->file.entry; other < l; other++) {
		if (wanted(load, other) && other->filter &&
		    same_file(load, l, other))
			return false;
	}
	return l->filter;
}

/* An event has one filter, and a chart one stanza */
static int check_filters(struct guard *g, const struct load *load, size_t i)
{
	const struct limits *l = &load->file.entry[i], *other;

	if (!wanted(load, l))
		return 0;
	for (other = load->file.entry; other < l; other++) {
		if (!wanted(load, other) || !same_file(load, l, other))
			continue;
		if (!strcmp(l->chart, other->chart))
			return guard_fail(g, l->line,
					  "line %u has limits of %s as well",
					  other->line, l->chart);
		if (l->filter && other->filter &&
		    strcmp(l->filter, other->filter))
			return guard_fail(
				g, l->line,
				"line %u has another filter for %s: an event can have only one",
				other->line, l->event);
	}
	return 0;
}

/* ---- --dry-run ---- */

static void print_write(struct load *load, const struct limits *l,
			const char *text, const char *file)
{
	const char *instance = instance_of(load, l), *event;
	char system[256], *path;

	event = event_of(l, system, sizeof(system));
	path = xasprintf("%s%s%s/events/%s/%s/%s",
			 load->tracefs ? load->tracefs : "/sys/kernel/tracing",
			 instance ? "/instances/" : "",
			 instance ? instance : "", system, event, file);
	/* not echo, which interprets backslashes in some shells */
	fputs("printf '%s\\n' ", load->out);
	shell_string(load->out, text);
	fputs(" > ", load->out);
	if (path[strspn(path,
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			"0123456789/._-")])
		shell_string(load->out, path);
	else
		fputs(path, load->out);
	fputc('\n', load->out);
	free(path);
}

static void print_all(struct load *load)
{
	char command[COMMAND_LEN];
	size_t i;

	for (i = 0; i < load->file.nr; i++) {
		const struct limits *l = &load->file.entry[i];

		if (!wanted(load, l))
			continue;
		if (makes_filter(load, i))
			print_write(load, l, l->filter, "filter");
		print_command(command, sizeof(command), l);
		print_write(load, l, command, "ctlchart");
	}
}

/* ---- into the kernel ---- */

/* Without white space: as the kernel shows calls, outside of quotes */
static void squeeze(char *s)
{
	char *to = s, quote = 0;

	for (; *s; s++) {
		if (quote ? *s == quote : *s == '"' || *s == '\'')
			quote = quote ? 0 : *s;
		if (quote || !isspace((unsigned char)*s))
			*to++ = *s;
	}
	*to = '\0';
}

/* Has the event this chart, with the call that the file says? */
static bool has_chart(struct tracefs_instance *instance, const char *system,
		      const char *event, const struct limits *l)
{
	char *text = tracefs_event_file_read(instance, system, event,
					     "ctlchart", NULL);
	char *rest = text, *filter = xstrdup(l->filter);
	size_t base = strcspn(l->chart, "[");
	struct kernel_chart c;
	bool found = false;

	if (filter)
		squeeze(filter);
	while (!found && kernel_next_chart(&rest, &c)) {
		found = !c.part && strlen(c.name) == base &&
			!strncmp(c.name, l->chart, base) &&
			(!filter || (c.call && strstr(filter, c.call)));
	}
	free(filter);
	free(text);
	return found;
}

static int fail_write(struct guard *g, const struct limits *l, const char *file,
		      int error)
{
	return guard_fail(
		g, l->line, "%s: its file \"%s\": %s%s", l->event, file,
		strerror(error),
		error == EACCES || error == EPERM ? ": run this as root" : "");
}

static int write_filter(struct guard *g, struct tracefs_instance *instance,
			const char *system, const char *event,
			const struct limits *l)
{
	char *old = kernel_filter(instance, system, event), *why, *text;
	int status;

	if (tracefs_event_file_write(instance, system, event, "filter",
				     l->filter) >= 0) {
		if (old && strcmp(old, l->filter))
			guard_note(g, "%s had another filter: %s", l->event,
				   old);
		free(old);
		return 0;
	}
	free(old);
	if (errno != EINVAL)
		return fail_write(g, l, "filter", errno);
	why = tracefs_error_last(instance);
	if (why && *why && why[strlen(why) - 1] == '\n')
		why[strlen(why) - 1] = '\0';
	text = xasprintf("line %u: the kernel refuses the filter of %s%s%s",
			 l->line, l->event, why ? ":\n" : "", why ? why : "");
	status = guard_fail_usage(g, text);
	free(text);
	free(why);
	return status;
}

static int write_limits(struct guard *g, struct tracefs_instance *instance,
			const char *system, const char *event,
			const struct limits *l)
{
	char command[COMMAND_LEN];

	print_command(command, sizeof(command), l);
	if (tracefs_event_file_write(instance, system, event, "ctlchart",
				     command) >= 0)
		return 0;
	if (errno == ENOENT)
		return guard_fail(g, l->line, "%s has no chart %s", l->event,
				  l->chart);
	if (errno == EINVAL)
		return guard_fail(
			g, l->line,
			"the kernel refuses \"%s\" (times have a unit, values of a field none)",
			command);
	if (errno == EOPNOTSUPP)
		return guard_fail(
			g, l->line,
			"%s has rules=, which need zones: here; save from a kernel or from a trace's events has them",
			l->chart);
	if (errno == ENOSPC)
		return guard_fail(
			g, l->line,
			"no chart is left for %s: charts= in its filter must be larger",
			l->chart);
	if (errno == EDOM)
		return guard_fail(
			g, l->line,
			"no value of the field here is written as in %s",
			l->chart);
	return fail_write(g, l, "ctlchart", errno);
}

static int check_event(struct guard *g, struct load *load,
		       const struct limits *l)
{
	const char *name = instance_of(load, l), *event;
	struct tracefs_instance *instance = NULL;
	char system[256];
	int status = 0;

	event = event_of(l, system, sizeof(system));
	if (name && !kernel_has_instance(name))
		return guard_fail(
			g, l->line,
			"no trace instance %s: mkdir %s/instances/%s makes it",
			name, kernel_tracefs(), name);
	if (name)
		instance = tracefs_instance_alloc(load->tracefs, name);
	if (!kernel_has_file(instance, system, event, "filter"))
		status = guard_fail(g, l->line, "this kernel has no event %s",
				    l->event);
	else if (!kernel_has_file(instance, system, event, "ctlchart"))
		status = guard_fail(
			g, l->line,
			"this kernel has no ctlchart filter (%s has no file \"ctlchart\")",
			l->event);
	else if (l->filter && load->keep_filter &&
		 !has_chart(instance, system, event, l))
		status = guard_fail(
			g, l->line,
			"the limits of %s are of another filter than %s has: learn them again, with this one",
			l->chart, l->event);
	else if (!l->filter && !has_chart(instance, system, event, l))
		status = guard_fail(
			g, l->line,
			"%s has no chart %s, and no filter: line says how to make it",
			l->event, l->chart);
	tracefs_instance_free(instance);
	return status;
}

static int load_event(struct guard *g, struct load *load,
		      const struct limits *l)
{
	const char *name = instance_of(load, l), *event;
	struct tracefs_instance *instance = NULL;
	char system[256], limit[32];
	int status = 0;

	event = event_of(l, system, sizeof(system));
	if (name)
		instance = tracefs_instance_alloc(load->tracefs, name);
	if (l->filter && !has_chart(instance, system, event, l))
		status = write_filter(g, instance, system, event, l);
	if (!status)
		status = write_limits(g, instance, system, event, l);
	if (!status)
		fprintf(load->out, "%s%s%s  %s: limit %s\n", name ? name : "",
			name ? "/" : "", l->event, l->chart,
			format_value(limit, sizeof(limit), l->limits.ucl,
				     l->is_time));
	tracefs_instance_free(instance);
	return status;
}

static int load_all(struct guard *g, struct load *load)
{
	size_t i;
	int status = kernel_check(g, load->tracefs);

	for (i = 0; i < load->file.nr && !status; i++) {
		if (wanted(load, &load->file.entry[i]))
			status = check_event(g, load, &load->file.entry[i]);
	}
	for (i = 0; i < load->file.nr && !status; i++) {
		if (wanted(load, &load->file.entry[i]))
			status = load_event(g, load, &load->file.entry[i]);
	}
	return status;
}

/* Give the chart of a disk the number that this disk has here; false if there is none */
static bool find_disk(struct limits *l)
{
	char *path = xasprintf("/sys/class/block/%s/dev", l->disk);
	FILE *f = fopen(path, "re");
	unsigned int major, minor;
	bool found = f && fscanf(f, "%u:%u", &major, &minor) == 2;
	char *chart;

	if (found) {
		chart = xasprintf("%.*s" DISK_KEY "%u]",
				  (int)strcspn(l->chart, "["), l->chart,
				  major << DISK_MINORBITS | minor);
		free(l->chart);
		l->chart = chart;
	}
	if (f)
		fclose(f);
	free(path);
	return found;
}

static int find_disks(struct guard *g, struct load *load)
{
	bool any = false, missing = false;
	size_t i;

	for (i = 0; i < load->file.nr; i++) {
		struct limits *l = &load->file.entry[i];

		if (!wanted(load, l))
			continue;
		if (l->disk && strstr(l->chart, DISK_KEY) && !find_disk(l)) {
			guard_note(g, "not loaded: this machine has no disk %s",
				   l->disk);
			l->left_out = missing = true;
		}
		any |= !l->left_out;
	}
	if (any || !missing)
		return 0;
	return guard_fail(
		g, GUARD_NOWHERE,
		"this machine has none of its disks: learn limits here, or edit the disk: lines");
}

static int check_file(struct guard *g, const struct load *load)
{
	bool any = false;
	size_t i;

	for (i = 0; i < load->file.nr; i++) {
		any |= wanted(load, &load->file.entry[i]);
		if (check_filters(g, load, i))
			return EXIT_FAILURE;
	}
	if (any)
		return 0;
	return guard_fail(g, GUARD_NOWHERE, "has no chart %s", load->only);
}

static int work(struct guard *g, FILE *out, void *arg)
{
	struct load *load = arg;
	int status;

	load->out = out;
	status = limits_read(g, load->path, &load->file);
	/* What --dry-run prints may be for another machine */
	if (!status && !load->dry_run)
		status = find_disks(g, load);
	if (!status)
		status = check_file(g, load);
	if (!status && load->dry_run)
		print_all(load);
	else if (!status)
		status = load_all(g, load);
	limits_free(&load->file);
	return status;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct load *load = state->input;

	switch (key) {
	case OPT_CHART:
		load->only = arg;
		break;
	case OPT_INSTANCE:
		load->instance = arg;
		break;
	case OPT_TRACEFS:
		load->tracefs = arg;
		break;
	case 'n':
		load->dry_run = true;
		break;
	case OPT_KEEP_FILTER:
		load->keep_filter = true;
		break;
	case ARGP_KEY_ARG:
	case ARGP_KEY_END:
		cli_operand(state, "LIMITS", &load->path, arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/**
 * load_main - the command load
 * @argc: as of main()
 * @argv: the same, the first one a name for messages
 *
 * Return: the exit status.
 */
int load_main(int argc, char **argv)
{
	static const struct argp argp = { options, parse, "LIMITS", doc,
					  NULL,	   NULL,  NULL };
	struct load load = { 0 };
	struct guard_job job = { .program = PROGRAM,
				 .idle_cpu = IDLE_CPU,
				 .work = work,
				 .arg = &load };

	argp_parse(&argp, argc, argv, 0, NULL, &load);
	job.file = load.path;
	return guard_run(&job);
}
