// SPDX-License-Identifier: GPL-2.0
/* The charts of the running kernel: the files "ctlchart" and "filter" of events. */
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel.h"

static const char *top;

/**
 * kernel_tracefs - where kernel_check() found the tracefs
 */
const char *kernel_tracefs(void)
{
	return top;
}

/**
 * kernel_check - find the tracefs
 * @g: the guard
 * @dir: where it is, or NULL for where it is mounted
 *
 * Return: 0, or EXIT_FAILURE after guard_fail() if it cannot be used.
 */
int kernel_check(struct guard *g, const char *dir)
{
	char *events;
	int error;

	if (dir)
		tracefs_set_tracing_dir((char *)dir);
	else
		dir = tracefs_tracing_dir();
	top = dir;
	if (!dir)
		return guard_fail(
			g, GUARD_NOWHERE,
			"tracefs is not mounted: mount -t tracefs nodev /sys/kernel/tracing (as root)");
	events = xasprintf("%s/events", dir);
	error = access(events, R_OK | X_OK) ? errno : 0;
	free(events);
	if (error == EACCES || error == EPERM)
		return guard_fail(g, GUARD_NOWHERE, "%s: %s: run this as root",
				  dir, strerror(error));
	if (error)
		return guard_fail(g, GUARD_NOWHERE,
				  "%s is not a tracefs: it has no events", dir);
	return 0;
}

/*
 * libtracefs' own functions for this ignore tracefs_set_tracing_dir() (1.6.4).
 */
static bool is_there(char *path)
{
	bool there = path && !access(path, F_OK);

	tracefs_put_tracing_file(path);
	return there;
}

/**
 * kernel_has_instance - whether a trace instance exists
 * @name: its name
 */
bool kernel_has_instance(const char *name)
{
	char *path;
	bool there;

	path = xasprintf("instances/%s", name);
	there = is_there(tracefs_get_tracing_file(path));
	free(path);
	return there;
}

/**
 * kernel_has_file - whether an event has a file
 * @instance: the instance, or NULL
 * @system: of the event
 * @event: its name
 * @file: the file's name
 */
bool kernel_has_file(struct tracefs_instance *instance, const char *system,
		     const char *event, const char *file)
{
	return is_there(tracefs_event_get_file(instance, system, event, file));
}

/* "5000000 ns": a number, with or without a unit of time */
static u64 parse_value(const char *s, bool *is_time)
{
	char *end;
	u64 value = strtoull(s, &end, 10);

	*is_time = !strncmp(end, " ns", 3);
	return value;
}

static void parse_line(struct kernel_chart *c, char *word, char *value)
{
	const char *judged;

	if (!strcmp(word, "call")) {
		c->call = value;
	} else if (!strcmp(word, "state")) {
		c->state = value;
	} else if (!strcmp(word, "center")) {
		c->limits.center = parse_value(value, &c->is_time);
		c->has_center = true;
	} else if (!strcmp(word, "limit")) {
		c->limits.ucl = parse_value(value, &c->is_time);
		c->has_limit = true;
	} else if (!strcmp(word, "zones")) {
		c->zones = value;
	} else if (!strncmp(word, "by ", 3)) {
		c->by = true;
		c->values = 0;
		judged = strstr(value, "judged ");
		if (judged)
			c->values = strtoull(judged + 7, NULL, 10);
	} else if (!strcmp(word, c->part ? "part values" : "values")) {
		judged = strstr(value, "judged ");
		if (judged)
			c->values = strtoull(judged + 7, NULL, 10);
	}
}

/**
 * kernel_next_chart - parse the next chart of an event's file "ctlchart"
 * @text: the rest of the file, which is modified
 * @c: the chart, which refers to the text
 *
 * Unknown lines are skipped, since later kernels may have more.
 *
 * Return: false at the end.
 */
bool kernel_next_chart(char **text, struct kernel_chart *c)
{
	char *line, *value;

	memset(c, 0, sizeof(*c));
	while (*text && **text) {
		/* the next chart's name ends this one */
		if (c->name && (!strncmp(*text, "chart: ", 7) ||
				!strncmp(*text, "part: ", 6)))
			break;
		line = strsep(text, "\n");
		value = strstr(line, ": ");
		if (!value || *line == '#')
			continue;
		*value = '\0';
		value += 2;
		clean_text(value);
		if (!strcmp(line, "chart") || !strcmp(line, "part")) {
			c->name = value;
			c->part = *line == 'p';
		} else if (c->name) {
			parse_line(c, line, value);
		}
	}
	return c->name;
}

/**
 * kernel_filter - the filter of an event
 * @instance: the instance, or NULL
 * @system: of the event
 * @event: its name
 *
 * While it records, trace-cmd adds terms to the filter that exclude its own processes.
 * They are of no use elsewhere, and are removed.
 *
 * Return: the filter, for free(); NULL if it has none.
 */
char *kernel_filter(struct tracefs_instance *instance, const char *system,
		    const char *event)
{
	static const char own[] =
		"^\\(\\((.*)\\)\\)&&\\(((&&|\\|\\||\\(|\\)|common_pid(<|>|!=|==)[0-9]+)+)\\)$";
	char *filter = tracefs_event_file_read(instance, system, event,
					       "filter", NULL);
	regmatch_t match[2];
	regex_t regex;

	if (!filter)
		return NULL;
	filter[strcspn(filter, "\n")] = '\0';
	if (!strcmp(filter, "none")) {
		free(filter);
		return NULL;
	}
	if (regcomp(&regex, own, REG_EXTENDED))
		memory_failed();
	if (!regexec(&regex, filter, 2, match, 0)) {
		memmove(filter, filter + match[1].rm_so,
			match[1].rm_eo - match[1].rm_so);
		filter[match[1].rm_eo - match[1].rm_so] = '\0';
	}
	regfree(&regex);
	return filter;
}
