// SPDX-License-Identifier: GPL-2.0
/* Loads and saves the limits of a watch, by ctlchart load and ctlchart save. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "memory.h"
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

static bool run(char **argv)
{
	pid_t pid = child_fork(false);
	int status = -1;

	if (!pid) {
		/* Standard output has only the watch's own lines, which say the limits */
		if (!freopen("/dev/null", "w", stdout))
			_exit(127);
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
	int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT) {
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd >= 0)
			unlink(path);
	}
	if (fd < 0)
		return xasprintf(
			"%s: %s: --save-limits needs a file that can be written",
			path, strerror(errno));
	close(fd);
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
	if (!access(file, R_OK))
		return NULL;
	return xasprintf(
		"%s: %s: --limits needs a file that --save-limits or ctlchart save has written",
		file, strerror(errno));
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
		return run(save);
	for (i = 0; i < p->nr_charts && good; i++) {
		char *argv[] = { "ctlchart",	   "load",    "--instance",
				 (char *)instance, "--chart", p->chart[i].name,
				 (char *)file,	   NULL };

		good = run(argv);
	}
	return good;
}
