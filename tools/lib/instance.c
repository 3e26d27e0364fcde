// SPDX-License-Identifier: GPL-2.0
/* Trace instances of a trace.dat. See instance.h. */
#include <stdio.h>
#include <string.h>

#include <trace-cmd.h>

#include "guard.h"
#include "instance.h"
#include "text.h"

#define NAMES_SIZE 256

/**
 * instance_names - list the instances of a file
 * @file: the file
 * @buf: where to
 * @size: its size; a list that is longer is cut off
 *
 * Return: @buf, "" if it has none.
 */
const char *instance_names(struct tracecmd_input *file, char *buf, size_t size)
{
	int i, n = tracecmd_buffer_instances(file);
	size_t len = 0;

	*buf = '\0';
	for (i = 0; i < n && len < size; i++) {
		const char *name = tracecmd_buffer_instance_name(file, i);

		if (name)
			len += snprintf(buf + len, size - len, "%s%s",
					len ? ", " : "", name);
	}
	clean_text(buf);
	return buf;
}

/**
 * instance_open - open an instance
 * @g: the guard
 * @file: its file
 * @name: its name
 *
 * Return: the instance, to be closed before @file, or NULL after guard_fail().
 */
struct tracecmd_input *
instance_open(struct guard *g, struct tracecmd_input *file, const char *name)
{
	int i, n = tracecmd_buffer_instances(file);
	struct tracecmd_input *instance = NULL;
	char names[NAMES_SIZE];

	for (i = 0; i < n; i++) {
		const char *other = tracecmd_buffer_instance_name(file, i);

		if (other && !strcmp(other, name))
			break;
	}
	if (i < n) {
		instance = tracecmd_buffer_instance_handle(file, i);
		if (!instance)
			guard_fail(g, GUARD_NOWHERE,
				   "damaged: instance %s cannot be read", name);
		return instance;
	}
	instance_names(file, names, sizeof(names));
	guard_fail(g, GUARD_NOWHERE, "has no instance %s, %s%s", name,
		   *names ? "but: " : "nor any", names);
	return NULL;
}

/**
 * instance_note - name the instances that are not read, if the file has any
 * @g: the guard
 * @file: the file, of which the main instance is read
 */
void instance_note(struct guard *g, struct tracecmd_input *file)
{
	char names[NAMES_SIZE];

	if (*instance_names(file, names, sizeof(names)))
		guard_note(
			g,
			"only the main instance is read; --instance chooses another: %s",
			names);
}
