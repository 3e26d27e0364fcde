// SPDX-License-Identifier: GPL-2.0
/* Runs another program for its output. See analyzer.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/kernel.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer.h"
#include "clock.h"
#include "memory.h"
#include "text.h"

enum { OUT, ERR, STREAMS };

/* @fd: its output and messages, -1 when they have ended */
struct child {
	pid_t pid;
	int fd[STREAMS];
	char *out;
	size_t len, room;
	char message[512];
	size_t message_len;
};

/**
 * analyzer_find - find a program as a user expects: next to this one, then in PATH
 * @name: its name
 *
 * Return: its path, for free(); NULL if it is not installed.
 */
char *analyzer_find(const char *name)
{
	char self[PATH_MAX], *dirs, *rest, *dir, *path = NULL, *slash;
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *list = getenv("PATH");

	self[max(len, (ssize_t)0)] = '\0';
	slash = strrchr(self, '/');
	rest = dirs = xasprintf("%.*s:%s", slash ? (int)(slash - self) : 0,
				self, list ? list : "");
	while ((dir = strsep(&rest, ":")) != NULL) {
		path = xasprintf("%s/%s", dir, name);
		if (*dir && !access(path, X_OK))
			break;
		free(path);
	}
	free(dirs);
	return dir ? path : NULL;
}

/* In the child: the program inherits nothing of this one but its limits */
static void become(const char *path, const char *const *argv, const int *fd)
{
	struct rlimit cpu;
	int null = open("/dev/null", O_RDONLY);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The soft limit is that of the time without progress in this process */
	if (!getrlimit(RLIMIT_CPU, &cpu)) {
		cpu.rlim_cur = cpu.rlim_max;
		setrlimit(RLIMIT_CPU, &cpu);
	}
	signal(SIGXFSZ, SIG_DFL);
	dup2(null, STDIN_FILENO);
	dup2(fd[OUT], STDOUT_FILENO);
	dup2(fd[ERR], STDERR_FILENO);
	close_range(STDERR_FILENO + 1, ~0u, 0);
	execv(path, (char *const *)argv);
	dprintf(STDERR_FILENO, "%s: %s\n", path, strerror(errno));
	_exit(127);
}

static bool start(struct child *c, const char *path, const char *const *argv)
{
	int pipes[STREAMS][2] = { { -1, -1 }, { -1, -1 } }, i;
	int to[STREAMS];

	c->pid = -1;
	if (!pipe2(pipes[OUT], O_CLOEXEC) && !pipe2(pipes[ERR], O_CLOEXEC)) {
		fflush(NULL);
		c->pid = fork();
	}
	for (i = 0; i < STREAMS; i++) {
		c->fd[i] = pipes[i][0];
		to[i] = pipes[i][1];
	}
	if (!c->pid)
		become(path, argv, to);
	for (i = 0; i < STREAMS; i++) {
		if (to[i] >= 0)
			close(to[i]);
	}
	if (c->pid > 0)
		setpgid(c->pid, c->pid); /* whichever comes first */
	return c->pid > 0;
}

/* Read what a stream has; false when it has ended */
static bool receive(struct child *c, int stream)
{
	char buf[65536];
	ssize_t n = read(c->fd[stream], buf, sizeof(buf));

	if (n <= 0)
		return n < 0 && errno == EINTR;
	if (stream == ERR) {
		n = min((size_t)n, sizeof(c->message) - 1 - c->message_len);
		memcpy(c->message + c->message_len, buf, n);
		c->message_len += n;
		return true;
	}
	while (c->room < c->len + n + 1) {
		c->room = c->room ? 2 * c->room : sizeof(buf) + 1;
		c->out = xreallocarray(c->out, c->room, 1);
	}
	memcpy(c->out + c->len, buf, n);
	c->len += n;
	return true;
}

static char *too_late(u64 timeout)
{
	char text[32];

	return xasprintf("it did not end within %s: see --timeout",
			 format_value(text, sizeof(text), timeout, true));
}

static char *listen_to(struct child *c, u64 begin, u64 timeout, size_t most)
{
	struct pollfd p[STREAMS];
	u64 gone;
	int i;

	while (c->fd[OUT] >= 0 || c->fd[ERR] >= 0) {
		gone = now_ns() - begin;
		if (gone >= timeout)
			return too_late(timeout);
		for (i = 0; i < STREAMS; i++)
			p[i] = (struct pollfd){ c->fd[i], POLLIN, 0 };
		if (poll(p, STREAMS,
			 min((timeout - gone) / 1000000 + 1, (u64)1000)) <= 0)
			continue;
		for (i = 0; i < STREAMS; i++) {
			if (p[i].revents && !receive(c, i)) {
				close(c->fd[i]);
				c->fd[i] = -1;
			}
		}
		if (c->len > most)
			return xasprintf("its output is larger than %zu MiB",
					 most >> 20);
	}
	return NULL;
}

/* The first line of its message about its failure */
static char *failure(struct child *c, int status)
{
	char *line = c->message;

	if (WIFSIGNALED(status))
		return xasprintf("it crashed (%s)",
				 strsignal(WTERMSIG(status)));
	if (!WEXITSTATUS(status))
		return NULL;
	line[c->message_len] = '\0';
	line += strspn(line, "\n ");
	line[strcspn(line, "\n")] = '\0';
	clean_text(line);
	return *line ? xstrdup(line) :
		       xasprintf("it ended with status %d",
				 WEXITSTATUS(status));
}

static char *conclude(struct child *c, u64 begin, u64 timeout)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(c->pid, &status, WNOHANG)) == 0) {
		if (now_ns() - begin >= timeout)
			return too_late(timeout);
		poll(NULL, 0, 2);
	}
	if (pid < 0)
		return xstrdup(strerror(errno));
	c->pid = -1;
	return failure(c, status);
}

/**
 * analyzer_run - run a program
 * @path: the program
 * @argv: its arguments, up to NULL
 * @timeout: ns that it may take
 * @most: bytes that it may write
 * @out: what it wrote, a string for free(); NULL on failure
 *
 * Return: NULL, or in a line why there is no result, for free().
 */
char *analyzer_run(const char *path, const char *const *argv, u64 timeout,
		   size_t most, char **out)
{
	struct child c = { 0 };
	u64 begin = now_ns();
	char *error;
	int i;

	*out = NULL;
	if (!start(&c, path, argv))
		error = xasprintf("%s: %s", path, strerror(errno));
	else
		error = listen_to(&c, begin, timeout, most);
	if (!error)
		error = conclude(&c, begin, timeout);
	if (c.pid > 0) {
		/* Processes that it started are in its process group, too */
		kill(-c.pid, SIGKILL);
		while (waitpid(c.pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	for (i = 0; i < STREAMS; i++) {
		if (c.fd[i] >= 0)
			close(c.fd[i]);
	}
	if (error || !c.out) {
		free(c.out);
		return error ? error : xstrdup("it wrote nothing");
	}
	c.out[c.len] = '\0';
	*out = c.out;
	return NULL;
}
