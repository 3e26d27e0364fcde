// SPDX-License-Identifier: GPL-2.0
/* Files of a case. See part.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "memory.h"
#include "part.h"

/**
 * part_open - create a file of a case
 * @dir: the case
 * @name: name of the file, which must not exist
 *
 * Return: the file, for part_close(); NULL with errno set.
 */
FILE *part_open(const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "wxe");

	free(path);
	return f;
}

/**
 * part_anew - create a file that is renamed to another when it is whole
 * @path: the file; what an attempt before has left there is removed, and no link followed
 *
 * Return: the file; NULL with errno set.
 */
FILE *part_anew(const char *path)
{
	unlink(path);
	return fopen(path, "wxe");
}

/**
 * part_copy - copy all of another file into a file of a case
 * @f: the file
 * @from: descriptor of the other one, whose position stays
 *
 * Return: false, with errno set, if it could not be read or written.
 */
bool part_copy(FILE *f, int from)
{
	char buf[65536];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(from, buf, sizeof(buf), at)) > 0) {
		if (fwrite(buf, 1, n, f) != (size_t)n)
			return false;
		at += n;
	}
	return !n;
}

/**
 * part_close - close a file of a case when all of it is on the disk
 * @f: the file
 * @good: whether all was written so far; if not, errno says why
 *
 * Return: whether it is whole; if not, errno says why.
 */
bool part_close(FILE *f, bool good)
{
	int error;

	good = good && !ferror(f) && !fflush(f) && !fsync(fileno(f));
	error = errno;
	if (fclose(f) && good) {
		good = false;
		error = errno;
	}
	errno = error;
	return good;
}

/**
 * part_unnamed - create a file that has no name and goes when it is closed
 * @dir: a directory of the file system where it takes room
 *
 * Return: its descriptor, for reading and writing; -1 with errno set.
 */
int part_unnamed(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char *path;

	if (fd >= 0)
		return fd;
	/* Not all file systems have O_TMPFILE */
	path = xasprintf("%s/.tracerig-XXXXXX", dir);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	free(path);
	return fd;
}
