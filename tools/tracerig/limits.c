// SPDX-License-Identifier: GPL-2.0
/* Loads and saves the limits of a watch, by ctlchart load and ctlchart save. */
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "memory.h"
#include "output.h"
#include "tracerig.h"
#include "watch.h"

/* Run the ctlchart in this program's directory, or else the one in PATH */
static void exec_ctlchart(char **argv)
{
	char self[4096];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *path;

	if (len > 0) {
		self[len] = '\0';
		path = xasprintf("%s/ctlchart", dirname(self));
		execv(path, argv);
	}
	execvp("ctlchart", argv);
	complain("ctlchart: %s", strerror(errno));
	_exit(127);
}

static bool run(char **argv, bool quiet)
{
	pid_t pid = child_fork(false);
	int status = -1;

	if (!pid) {
		/*
		 * Standard output has only the watch's own lines, which say the limits that
		 * were loaded
		 */
		if (quiet && !freopen("/dev/null", "w", stdout))
			_exit(127);
		if (!quiet)
			dup2(STDERR_FILENO, STDOUT_FILENO);
		exec_ctlchart(argv);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return !status;
}

/**
 * limits_check_save - whether a file of limits can be made at the end of a watch
 * @path: the file
 *
 * Return: NULL, or what is wrong, for free().
 */
char *limits_check_save(const char *path)
{
	struct output o;
	struct stat st;
	FILE *f = NULL;
	bool there = !lstat(path, &st);

	/* To open a pipe may take until it has a reader, and a link's file would be made */
	if (there && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return NULL;
	if (there && S_ISDIR(st.st_mode))
		errno = EISDIR;
	else
		f = output_open(&o, path);
	if (!f)
		return xasprintf(
			"%s: %s: --save-limits needs a file that can be written",
			path, strerror(errno));
	fclose(f);
	output_finish(&o, PROGRAM " watch", EXIT_FAILURE);
	return NULL;
}

/**
 * limits_check_load - whether there is a file of limits, before it is needed
 * @file: the file
 *
 * Return: NULL, or what is wrong, for free().
 */
char *limits_check_load(const char *file)
{
	if (!strcmp(file, "-") || !access(file, R_OK))
		return NULL;
	return xasprintf(
		"%s: %s: --limits needs a file that --save-limits or ctlchart save has written",
		file, strerror(errno));
}

/* Standard input is read for each chart: keep it in memory, where it can be read again */
static bool keep_input(void)
{
	int fd = memfd_create("limits", MFD_CLOEXEC);
	char buf[65536];
	ssize_t n = -1;

	while (fd >= 0 && (n = read(STDIN_FILENO, buf, sizeof(buf))) > 0) {
		if (write(fd, buf, n) != n)
			break;
	}
	if (!n && dup2(fd, STDIN_FILENO) < 0)
		n = -1;
	if (n)
		complain("standard input: %s: name a file with --limits",
			 strerror(errno));
	if (fd >= 0)
		close(fd);
	return !n;
}

/**
 * limits_exchange - load or save the limits of a watch
 * @p: the watch
 * @instance: its trace instance
 * @file: the file of limits
 * @load: load them; otherwise save them
 *
 * Return: false if that failed, which is reported.
 */
bool limits_exchange(const struct plan *p, const char *instance,
		     const char *file, bool load)
{
	char *save[] = { "ctlchart",   "save",
			 "--instance", (char *)instance,
			 "-o",	       (char *)file,
			 NULL };
	bool good = true;
	size_t i;

	if (!load)
		return run(save, false);
	if (!strcmp(file, "-") && !keep_input())
		return false;
	for (i = 0; i < p->nr_charts && good; i++) {
		char *argv[] = {
			"ctlchart",	  "load",	    "--keep-filter",
			"--instance",	  (char *)instance, "--chart",
			p->chart[i].name, (char *)file,	    NULL
		};

		if (!strcmp(file, "-"))
			lseek(STDIN_FILENO, 0, SEEK_SET);
		good = run(argv, true);
	}
	return good;
}
