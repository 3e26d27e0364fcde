// SPDX-License-Identifier: GPL-2.0
/* Files that are replaced when they are complete. See output.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"
#include "output.h"

static void forget(struct output *o)
{
	free(o->temporary);
	free(o->path);
	memset(o, 0, sizeof(*o));
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
	memset(o, 0, sizeof(*o));
	if (!path)
		return fdopen(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), "w");
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return fopen(path, "we");
	o->path = realpath(path, NULL);
	/* A link to a file that is not there yet stays one, too */
	if (!o->path && !lstat(path, &st))
		return fopen(path, "we");
	if (!o->path)
		o->path = xstrdup(path);
	o->temporary = xasprintf("%s.XXXXXX", o->path);
	fd = mkostemp(o->temporary, O_CLOEXEC);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (out) {
		fchmod(fd, 0666 & ~mask);
	} else {
		int error = errno;

		if (fd >= 0) {
			close(fd);
			unlink(o->temporary);
		}
		forget(o);
		errno = error;
	}
	return out;
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
	if (o->temporary && !status && rename(o->temporary, o->path)) {
		fprintf(stderr, "%s: %s: %s\n", program, o->path,
			strerror(errno));
		status = EXIT_FAILURE;
	}
	if (o->temporary && status)
		unlink(o->temporary);
	forget(o);
	return status;
}
