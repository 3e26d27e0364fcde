// SPDX-License-Identifier: GPL-2.0
/* Opens regular files only. See regular.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"
#include "regular.h"

/**
 * open_regular - open a file for reading if it is a regular one
 * @path:	path
 * @trouble:	set to the reason on error
 *
 * Nothing else is opened: merely to open a device may act, and a FIFO may block.
 *
 * Return: a descriptor, or -1.
 */
int open_regular(const char *path, const char **trouble)
{
	int at = open(path, O_PATH | O_CLOEXEC), fd = -1;
	struct stat st;
	char *name;

	if (at < 0) {
		*trouble = strerror(errno);
	} else if (fstat(at, &st) || !S_ISREG(st.st_mode)) {
		*trouble = "not a regular file";
	} else {
		name = xasprintf("/proc/self/fd/%d", at);
		fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			*trouble = strerror(errno);
		free(name);
	}
	if (at >= 0)
		close(at);
	return fd;
}
