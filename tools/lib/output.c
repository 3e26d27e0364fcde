// SPDX-License-Identifier: GPL-2.0
/* Files that are replaced when they are complete. See output.h. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"
#include "output.h"

static const char *checker;
static bool unwritten;

/**
 * output_flush - write what standard output has, and report if that fails, once
 */
void output_flush(void)
{
	errno = 0;
	if ((!fflush(stdout) && !ferror(stdout)) || unwritten)
		return;
	unwritten = true;
	fprintf(stderr, "%s: standard output: cannot write the result%s%s\n",
		checker ? checker : program_invocation_short_name,
		errno ? ": " : "", errno ? strerror(errno) : "");
}

static void check_at_exit(void)
{
	output_flush();
	if (unwritten)
		_exit(EXIT_FAILURE);
}

/**
 * output_check - see to it that the program fails if standard output cannot be written
 * @program: name that the message begins with
 *
 * That is found when the program ends, whatever has written there: --help, too.
 */
void output_check(const char *program)
{
	if (!checker)
		atexit(check_at_exit);
	checker = program;
}

static void forget(struct output *o)
{
	if (o->fd >= 0)
		close(o->fd);
	free(o->temporary);
	free(o->path);
	*o = (struct output){ .fd = -1 };
}

/* A file without a name in the directory of o->path; it gets its name by /proc */
static int open_unnamed(struct output *o)
{
	char *copy = xstrdup(o->path);
	int fd = -1;

	if (!access("/proc/self/fd", X_OK))
		fd = open(dirname(copy), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
	free(copy);
	if (fd >= 0)
		o->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (fd >= 0 && o->fd < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static int open_named(struct output *o, mode_t mode)
{
	int fd;

	o->temporary = xasprintf("%s.XXXXXX", o->path);
	fd = mkostemp(o->temporary, O_CLOEXEC);
	if (fd >= 0)
		fchmod(fd, mode);
	return fd;
}

/* Tries to open a FIFO that has no reader, 100 ms apart */
#define FIFO_TRIES 100

/* Do not wait for ever for a reader: one that is about to come is enough */
static FILE *open_fifo(const char *path)
{
	struct timespec pause = { .tv_nsec = 100000000 };
	int fd = -1;
	unsigned int i;

	for (i = 0; i < FIFO_TRIES && fd < 0; i++) {
		if (i)
			nanosleep(&pause, NULL);
		fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0 && errno != ENXIO)
			break;
	}
	if (fd < 0)
		return NULL;
	fcntl(fd, F_SETFL, 0);
	return fdopen(fd, "w");
}

/**
 * output_error - why a result cannot be written, as of errno
 * @path: the file that output_open() could not open
 */
const char *output_error(const char *path)
{
	int error = errno;
	struct stat st;

	if (error == ENXIO && !stat(path, &st) && S_ISFIFO(st.st_mode))
		return "is a FIFO that no program reads: start that program first";
	return strerror(error);
}

/**
 * output_open - begin to write a result
 * @o: filled in; output_finish() is due if this succeeds
 * @path: the file, NULL for standard output
 *
 * Return: where to write it, for fclose(); NULL with errno set if that cannot be opened.
 */
FILE *output_open(struct output *o, const char *path)
{
	mode_t mask = umask(0);
	struct stat st;
	FILE *out;
	int fd;

	umask(mask);
	*o = (struct output){ .fd = -1 };
	if (!path)
		return fdopen(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), "w");
	/* Only a link that may be followed is: see fs.protected_symlinks in proc_sys_fs(5) */
	if (stat(path, &st)) {
		if (errno != ENOENT)
			return NULL;
	} else if (!S_ISREG(st.st_mode)) {
		return S_ISFIFO(st.st_mode) ? open_fifo(path) :
					      fopen(path, "we");
	}
	o->path = realpath(path, NULL);
	/* A link to a file that is not there yet stays one, too */
	if (!o->path && !lstat(path, &st))
		return fopen(path, "we");
	if (!o->path)
		o->path = xstrdup(path);
	fd = open_unnamed(o);
	if (fd < 0)
		fd = open_named(o, 0666 & ~mask);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out) {
		int error = errno;

		if (fd >= 0) {
			close(fd);
			if (o->temporary)
				unlink(o->temporary);
		}
		forget(o);
		errno = error;
	}
	return out;
}

/* Give the file without a name one in o->temporary */
static bool link_temporary(struct output *o)
{
	char *from = xasprintf("/proc/self/fd/%d", o->fd);
	unsigned int i;
	int failed = -1;

	for (i = 0; failed && i < 1000; i++) {
		free(o->temporary);
		o->temporary = xasprintf("%s.%d-%u", o->path, (int)getpid(), i);
		failed = linkat(AT_FDCWD, from, AT_FDCWD, o->temporary,
				AT_SYMLINK_FOLLOW);
		if (failed && errno != EEXIST)
			break;
	}
	free(from);
	if (failed) {
		/* A file of that name, if there is one, may be another program's */
		free(o->temporary);
		o->temporary = NULL;
	}
	return !failed;
}

/**
 * output_finish - put a result in its place, or drop it
 * @o: what output_open() filled in; what it returned is closed
 * @program: name that a message begins with
 * @status: 0 if the result is complete
 *
 * Return: @status, or EXIT_FAILURE after a message.
 */
int output_finish(struct output *o, const char *program, int status)
{
	bool named = o->temporary, placed = true;

	if (!status && o->fd >= 0)
		placed = named = link_temporary(o);
	if (!status && named)
		placed = !rename(o->temporary, o->path);
	if (!placed) {
		fprintf(stderr, "%s: %s: %s\n", program, o->path,
			strerror(errno));
		status = EXIT_FAILURE;
	}
	if (o->temporary && status)
		unlink(o->temporary);
	forget(o);
	return status;
}
