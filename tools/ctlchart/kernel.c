// SPDX-License-Identifier: GPL-2.0
/* The running kernel: its tracefs, and the filters of events. */
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

/**
 * kernel_filter - the filter of an event
 * @instance: the instance, or NULL
 * @system: of the event
 * @event: its name
 *
 * While it records, trace-cmd adds terms to the filter that exclude its own processes.
 * They are useless elsewhere, and are removed.
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
