// SPDX-License-Identifier: GPL-2.0
/* Reads a perf.data: nobody but perf knows all of its formats, so it is asked to print it. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lbrtime.h"
#include "text.h"

extern char **environ;

/* Return: 0 or an error; @said: what perf complains of goes there */
static int start_perf(const char *file, int out, int said, pid_t *pid)
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
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, said,
							 STDERR_FILENO);
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

/* Why perf has not printed a sample: its own first words, or what the user can do */
static int explain(struct guard *g, int said)
{
	char text[1024];
	ssize_t n = pread(said, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	if (strstr(text, "CPU attribute"))
		return guard_fail(
			g, GUARD_NOWHERE,
			"its samples have no CPU (perf record --sample-cpu, or -a)");
	text[strcspn(text, "\n")] = '\0';
	clean_text(text);
	return guard_fail(g, GUARD_NOWHERE, "perf script failed%s%s",
			  *text ? ": " : "", text);
}

static int read_text(struct guard *g, struct timeline *t, FILE *in, int said,
		     pid_t pid)
{
	int status = perftext_read(g, t, in);

	fclose(in);
	if (end_perf(pid) || status)
		return status;
	return t->nr ? guard_fail(g, GUARD_NOWHERE,
				  "perf script failed before its end") :
		       explain(g, said);
}

/**
 * perfdata_read - read what perf record wrote
 * @g: the guard
 * @t: what becomes of it
 * @file: its name
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int perfdata_read(struct guard *g, struct timeline *t, const char *file)
{
	int said = memfd_create("perf", MFD_CLOEXEC), ends[2], error, status;
	FILE *in;
	pid_t pid;

	if (said < 0 || pipe2(ends, O_CLOEXEC))
		return guard_fail(g, GUARD_NOWHERE, "%s", strerror(errno));
	error = start_perf(file, ends[1], said, &pid);
	close(ends[1]);
	if (error) {
		close(said);
		close(ends[0]);
		return guard_fail(g, GUARD_NOWHERE,
				  "perf script, which is to print it: %s",
				  strerror(error));
	}
	in = fdopen(ends[0], "r");
	if (!in)
		abort();
	status = read_text(g, t, in, said, pid);
	close(said);
	return status;
}
