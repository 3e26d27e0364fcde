// SPDX-License-Identifier: GPL-2.0
/* set_graph_function, which is global. See paths.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "paths.h"

#define FUNCTIONS "set_graph_function"

/* Content of the file without functions */
#define NO_FUNCTION "####"

#define GLOBAL                                                           \
	": the functions that it follows are global, and --paths would " \
	"change what another user records: end that, or echo "

static bool uses_tracer(struct tracefs_instance *instance)
{
	char *tracer =
		tracefs_instance_file_read(instance, "current_tracer", NULL);
	bool uses = tracer && !strcmp(tracer, PLAN_TRACER "\n");

	free(tracer);
	return uses;
}

/* The path of an instance, with a slash, that has the tracer, for free(); or NULL */
static char *find_user(void)
{
	char **names = tracefs_instances(NULL), *found = NULL;
	struct tracefs_instance *instance;
	int i;

	if (uses_tracer(NULL))
		found = xstrdup("");
	for (i = 0; names && names[i] && !found; i++) {
		instance = tracefs_instance_alloc(NULL, names[i]);
		if (instance && uses_tracer(instance))
			found = xasprintf("instances/%s/", names[i]);
		if (instance)
			tracefs_instance_free(instance);
	}
	tracefs_list_free(names);
	return found;
}

/**
 * paths_check - whether this watch can use the tracer
 *
 * Return: NULL, or what is wrong and what to do about it, for free().
 */
char *paths_check(void)
{
	char *functions = tracefs_instance_file_read(NULL, FUNCTIONS, NULL);
	const char *dir = tracefs_tracing_dir();
	char *user = find_user(), *error = NULL;

	if (!functions)
		error = xstrdup(
			"this kernel has no tracer " PLAN_TRACER
			", which --paths needs: build it with CONFIG_FUNCTION_GRAPH_TRACER=y");
	else if (user)
		error = xasprintf("the tracer " PLAN_TRACER " is in use" GLOBAL
				  "nop >%s/%scurrent_tracer",
				  dir, user);
	else if (*functions &&
		 strncmp(functions, NO_FUNCTION, strlen(NO_FUNCTION)) != 0)
		error = xasprintf(FUNCTIONS " has %.*s" GLOBAL ">%s/" FUNCTIONS,
				  (int)strcspn(functions, "\n"), functions,
				  dir);
	free(functions);
	free(user);
	return error;
}

/* The kernel acts at the end of the line */
static bool write_function(const char *sign, const char *function)
{
	char *line = xasprintf("%s%s\n", sign, function);
	bool written = tracefs_instance_file_append(NULL, FUNCTIONS, line) >= 0;
	int error = errno;

	free(line);
	errno = error;
	return written;
}

/**
 * paths_add - follow the functions of a plan
 * @p: the plan, whose probes are there
 * @added: where to put the number of its probes whose functions may be followed now
 *
 * Return: NULL, or what is wrong, for free().
 */
char *paths_add(const struct plan *p, size_t *added)
{
	for (*added = 0; *added < p->nr_probes; ++*added) {
		const struct plan_probe *e = &p->probe[*added];

		if (e->paths && !write_function("", e->function))
			return xasprintf(
				"%s cannot be followed: %s: see /sys/kernel/tracing/available_filter_functions",
				e->function, strerror(errno));
	}
	return NULL;
}

/**
 * paths_remove - follow the functions of a plan no longer
 * @p: the plan
 * @added: as set by paths_add()
 *
 * Functions that others have added meanwhile stay.
 */
void paths_remove(const struct plan *p, size_t added)
{
	size_t i;

	for (i = 0; i < added; i++) {
		if (p->probe[i].paths)
			write_function("!", p->probe[i].function);
	}
}

/**
 * paths_remove_left - follow a function no longer, if it is one that a killed watch followed
 * @probe: a probe
 * @system: system of the watch's probes
 */
void paths_remove_left(struct tracefs_dynevent *probe, const char *system)
{
	char *its = NULL, *event = NULL, *function = NULL;
	size_t len, end = strlen(PLAN_PATHS);

	if (tracefs_dynevent_info(probe, &its, &event, NULL, &function, NULL) !=
	    TRACEFS_DYNEVENT_KPROBE)
		goto out;
	len = event ? strlen(event) : 0;
	if (its && !strcmp(its, system) && function && len > end &&
	    !strcmp(event + len - end, PLAN_PATHS))
		write_function("!", function);
out:
	free(its);
	free(event);
	free(function);
}

/**
 * paths_follow - whether a function is followed
 * @functions: text of set_graph_function; a function of a module has its name after it
 * @function: the function
 */
bool paths_follow(const char *functions, const char *function)
{
	size_t len = strlen(function);

	for (; *functions; functions += strspn(functions, "\n")) {
		if (strcspn(functions, " \t\n") == len &&
		    !strncmp(functions, function, len))
			return true;
		functions += strcspn(functions, "\n");
	}
	return false;
}

/**
 * paths_lost - find a function of a plan that is no longer followed
 * @p: the plan, after paths_add()
 *
 * Without functions the tracer records all of them.
 *
 * Return: such a function of @p, or NULL.
 */
const char *paths_lost(const struct plan *p)
{
	char *functions;
	size_t i;

	if (!plan_has_paths(p))
		return NULL;
	functions = tracefs_instance_file_read(NULL, FUNCTIONS, NULL);
	/* A file that cannot be read now says nothing */
	if (!functions)
		return NULL;
	for (i = 0; i < p->nr_probes; i++) {
		if (p->probe[i].paths &&
		    !paths_follow(functions, p->probe[i].function))
			break;
	}
	free(functions);
	return i < p->nr_probes ? p->probe[i].function : NULL;
}

/**
 * paths_start - record paths
 * @instance: where
 *
 * Return: NULL, or what is wrong, for free().
 */
char *paths_start(struct tracefs_instance *instance)
{
	if (tracefs_instance_file_write(instance, "current_tracer",
					PLAN_TRACER) >= 0)
		return NULL;
	return xasprintf("tracer " PLAN_TRACER ": %s", strerror(errno));
}

/**
 * paths_stop - record paths no longer
 * @instance: where
 *
 * Return: false if the instance keeps the tracer: a program has its trace_pipe or
 * trace_pipe_raw open.
 */
bool paths_stop(struct tracefs_instance *instance)
{
	return !uses_tracer(instance) ||
	       tracefs_instance_file_write(instance, "current_tracer", "nop") >=
		       0;
}
