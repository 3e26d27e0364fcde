// SPDX-License-Identifier: GPL-2.0
/* Reads a perf.data by running perf script: only perf knows all of its formats. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
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

/* Return: 0 or an error; @said: descriptor for messages of perf */
static int start_perf(const char *file, bool cpu, int out, int said, pid_t *pid)
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
			 cpu ? "comm,pid,tid,cpu,time,ip,sym,brstack" :
			       "comm,pid,tid,time,ip,sym,brstack",
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
	/* The guard's limit is not for perf */
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

/* Whether it succeeded */
static bool end_perf(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return false;
	}
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* Report why perf printed no sample: its first message, or what the user can do */
static int explain(struct guard *g, int said)
{
	char text[1024];
	ssize_t n = pread(said, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	if (strstr(text, "BRANCH_STACK attribute"))
		return guard_fail(
			g, GUARD_NOWHERE,
			"its samples have no branches (perf record -b, or -j any_call,any_ret)");
	text[strcspn(text, "\n")] = '\0';
	clean_text(text);
	return guard_fail(g, GUARD_NOWHERE, "perf script failed%s%s",
			  *text ? ": " : "", text);
}

/* Samples of a plain perf record -b PROGRAM have no CPU */
static bool lacks_cpu(int said)
{
	char text[1024];
	ssize_t n = pread(said, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return strstr(text, "CPU attribute");
}

/*
 * The attributes of the events, as in linux/perf_event.h, are in the file's header:
 * size of the file header, size of an attribute, and where they are. Damage is reported
 * by perf.
 */
static bool has_call_stacks(const char *file)
{
	struct {
		char magic[8];
		u64 size, attr_size, offset, length;
	} header;
	struct perf_event_attr attr;
	u64 i;
	FILE *in = fopen(file, "re");
	bool found = false;

	if (!in)
		return false;
	if (fread(&header, sizeof(header), 1, in) == 1 &&
	    header.attr_size >= PERF_ATTR_SIZE_VER2 && header.attr_size < 4096)
		for (i = 0;
		     i < header.length / header.attr_size && i < 4096 && !found;
		     i++) {
			memset(&attr, 0, sizeof(attr));
			if (fseek(in, header.offset + i * header.attr_size,
				  SEEK_SET) ||
			    fread(&attr, PERF_ATTR_SIZE_VER2, 1, in) != 1)
				break;
			found = attr.sample_type & PERF_SAMPLE_BRANCH_STACK &&
				attr.branch_sample_type &
					PERF_SAMPLE_BRANCH_CALL_STACK;
		}
	fclose(in);
	return found;
}

/* Return: as perfdata_read(), or -1 if the samples have no CPU */
static int read_text(struct guard *g, struct timeline *t, FILE *in, int said,
		     pid_t pid)
{
	int status = perftext_read(g, t, in);

	fclose(in);
	if (end_perf(pid) || status)
		return status;
	if (!t->nr && !t->by_thread && lacks_cpu(said))
		return -1;
	return t->nr ? guard_fail(g, GUARD_NOWHERE,
				  "perf script failed before its end") :
		       explain(g, said);
}

static int ask_perf(struct guard *g, struct timeline *t, const char *file)
{
	int said = memfd_create("perf", MFD_CLOEXEC), ends[2], error, status;
	FILE *in;
	pid_t pid;

	if (said < 0 || pipe2(ends, O_CLOEXEC))
		return guard_fail(g, GUARD_NOWHERE, "%s", strerror(errno));
	error = start_perf(file, !t->by_thread, ends[1], said, &pid);
	close(ends[1]);
	if (error) {
		close(said);
		close(ends[0]);
		return guard_fail(g, GUARD_NOWHERE,
				  "cannot run perf script to read it: %s",
				  strerror(error));
	}
	in = fdopen(ends[0], "r");
	if (!in)
		memory_failed();
	status = read_text(g, t, in, said, pid);
	close(said);
	return status;
}

/**
 * perfdata_read - read a file of perf record
 * @g:		guard
 * @t:		timeline to add to
 * @file:	file
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int perfdata_read(struct guard *g, struct timeline *t, const char *file)
{
	int status;

	if (has_call_stacks(file))
		return guard_fail(g, GUARD_NOWHERE, "%s", CALL_STACKS);
	status = ask_perf(g, t, file);
	if (status >= 0)
		return status;
	t->by_thread = true;
	return ask_perf(g, t, file);
}
