// SPDX-License-Identifier: GPL-2.0
/* Reads a perf.data: nobody but perf knows all of its formats, so it is asked to print it. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lbrtime.h"

extern char **environ;

/* Return: 0 or an error; what perf says goes where ours does */
static int start_perf(const char *file, int out, pid_t *pid)
{
	char *argv[] = { "perf",
			 "script",
			 "--ns",
			 "--show-mmap-events",
			 "--show-task-events",
			 "--show-switch-events",
			 "--show-lost-events",
			 "--hide-call-graph",
			 "-F",
			 "comm,pid,tid,cpu,time,ip,sym,brstack",
			 "-i",
			 (char *)file,
			 NULL };
	posix_spawn_file_actions_t actions;
	struct rlimit ours, free_of_it;
	int error;

	error = posix_spawn_file_actions_init(&actions);
	if (error)
		return error;
	error = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	/* The guard's limit is for us alone */
	getrlimit(RLIMIT_CPU, &ours);
	free_of_it = ours;
	free_of_it.rlim_cur = ours.rlim_max;
	setrlimit(RLIMIT_CPU, &free_of_it);
	if (!error)
		error = posix_spawnp(pid, *argv, &actions, NULL, argv, environ);
	setrlimit(RLIMIT_CPU, &ours);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

/* Whether it has printed all there is */
static bool end_perf(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return false;
	}
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static int read_text(struct guard *g, struct timeline *t, FILE *in, pid_t pid)
{
	int status = perftext_read(g, t, in);

	fclose(in);
	if (end_perf(pid) || status)
		return status;
	/* Without a sample, what perf said is all there is to say */
	return t->nr ? guard_fail(g, GUARD_NOWHERE,
				  "perf script failed before its end") :
		       EXIT_FAILURE;
}

/**
 * perfdata_read - read what perf record wrote
 * @g: the guard
 * @t: what becomes of it
 * @file: its name
 *
 * Return: 0, or EXIT_FAILURE after guard_fail(), or after perf has said why.
 */
int perfdata_read(struct guard *g, struct timeline *t, const char *file)
{
	int ends[2], error;
	FILE *in;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return guard_fail(g, GUARD_NOWHERE, "%s", strerror(errno));
	error = start_perf(file, ends[1], &pid);
	close(ends[1]);
	if (error) {
		close(ends[0]);
		return guard_fail(g, GUARD_NOWHERE,
				  "perf script, which is to print it: %s",
				  strerror(error));
	}
	in = fdopen(ends[0], "r");
	if (!in)
		abort();
	return read_text(g, t, in, pid);
}
