// SPDX-License-Identifier: GPL-2.0
/* Charts that get no values. See silent.h. */
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "silent.h"

/**
 * silent_look - see whether a chart has had no value since the watch began
 * @done: false at first; set when there is nothing more to find out
 * @c: the chart
 * @waited: time since the watch began, ns
 *
 * Return: true once, if that is to be reported.
 */
bool silent_look(bool *done, const struct rig_chart *c, u64 waited)
{
	/* An operation that has not ended yet can have an alarm, too */
	bool silent = !c->learnt && !c->values && !c->alarms;

	/* Without a state, the kernel's file could not be read */
	if (*done || !*c->state ||
	    (silent && waited < SILENT_AFTER * 1000000000ull))
		return false;
	*done = true;
	return silent;
}

/* Libraries may make a system call whose name is longer instead */
static char *check_call(const char *name, bool (*has_event)(const char *system,
							    const char *event))
{
	static const struct {
		const char *before, *after;
	} longer[] = { { "clock_", "" }, { "", "at" }, { "new", "at" },
		       { "p", "" },	 { "p", "6" }, { "p", "64" },
		       { "", "1" },	 { "", "2" },  { "", "3" },
		       { "", "4" },	 { "", "64" } };
	char *text = xasprintf("check that a process calls %s", name);
	const char *before = ", and not ";
	char *call, *event, *more;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(longer); i++) {
		call = xasprintf("%s%s%s", longer[i].before, name,
				 longer[i].after);
		event = xasprintf("sys_exit_%s", call);
		if (has_event("syscalls", event)) {
			more = xasprintf("%s%s%s", text, before, call);
			free(text);
			text = more;
			before = " or ";
		}
		free(event);
		free(call);
	}
	return text;
}

/**
 * silent_advice - what to check if a chart gets no values
 * @c: the chart
 * @file: where the kernel shows its counts
 * @has_event: whether the kernel has an event
 *
 * Return: the advice, for free().
 */
char *silent_advice(const struct plan_chart *c, const char *file,
		    bool (*has_event)(const char *system, const char *event))
{
	const char *call = plan_call(c);

	if (call)
		return check_call(call, has_event);
	if (c->file)
		return xasprintf(
			"check that a process calls %s in %s, and has begun since that file was last installed",
			c->symbol, c->file);
	if (c->symbol)
		return xasprintf(
			"check that the kernel calls %s: the compiler may have inlined it into its callers",
			c->symbol);
	if (!c->system)
		return xstrdup(
			"check that a process answers at this port, and that the thread that receives a request sends the response");
	return xasprintf(
		"check that its events come, and pass the filter: their counts are in %s",
		file);
}
