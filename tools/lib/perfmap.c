// SPDX-License-Identifier: GPL-2.0
/* Reads perf maps. See perfmap.h. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"
#include "perfmap.h"
#include "text.h"

/* Maximum size of a map, in bytes */
#define SIZE_MAX_MAP (1ll << 30)

static const char *check_file(int fd, uid_t owner, u64 *size)
{
	struct stat st;

	if (fstat(fd, &st))
		return strerror(errno);
	if (!S_ISREG(st.st_mode))
		return "not a regular file";
	if (owner != PERFMAP_ANY && st.st_uid && st.st_uid != owner)
		return "owned by another user (to use it, name its directory with --perf-maps)";
	if (st.st_size > SIZE_MAX_MAP)
		return "larger than 1 GiB";
	*size = st.st_size;
	return NULL;
}

/**
 * perfmap_open - begin to read a perf map
 * @m: filled in; perfmap_close() is due even on error
 * @path: path
 * @owner: as perf, use no map but those of this user and of root: it could be of anything;
 *	or %PERFMAP_ANY
 *
 * Return: why the map cannot be used, or NULL, also if there is no such file, and so no
 * function in it.
 */
const char *perfmap_open(struct perfmap *m, const char *path, uid_t owner)
{
	/* Opening a FIFO must not block */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC |
				    (owner == PERFMAP_ANY ? 0 : O_NOFOLLOW));
	const char *trouble;

	m->file = NULL;
	m->left = m->functions = 0;
	if (fd < 0 && errno == ENOENT)
		return NULL;
	if (fd < 0)
		return errno == ELOOP && owner != PERFMAP_ANY ?
			       "a symbolic link" :
			       strerror(errno);
	trouble = check_file(fd, owner, &m->left);
	if (trouble) {
		close(fd);
		return trouble;
	}
	m->file = fdopen(fd, "r");
	if (!m->file)
		memory_failed();
	return NULL;
}

/* A line without its end, if that is too long; none that the program has not finished */
static bool read_line(struct perfmap *m)
{
	u32 len = 0;
	int c;

	while (m->left && (c = getc_unlocked(m->file)) != EOF) {
		m->left--;
		if (c == '\n') {
			m->line[len] = '\0';
			return true;
		}
		if (len < PERFMAP_LINE - 1)
			m->line[len++] = c;
	}
	return false;
}

static bool parse_number(char **at, u64 *value)
{
	if (!isxdigit((unsigned char)**at))
		return false;
	errno = 0;
	*value = strtoull(*at, at, 16);
	return !errno && *(*at)++ == ' ';
}

static bool parse_line(char *line, struct perfmap_function *f)
{
	u64 size;

	if (!parse_number(&line, &f->start) || !parse_number(&line, &size) ||
	    !size || !*line || f->start > ~0ull - size)
		return false;
	f->end = f->start + size;
	if (strlen(line) > PERFMAP_NAME)
		line[PERFMAP_NAME] = '\0';
	clean_text(line);
	f->name = line;
	return true;
}

/**
 * perfmap_next - read the next function; what is no line of a function is skipped
 * @m: the map
 * @f: filled in
 *
 * Return: false at the end.
 */
bool perfmap_next(struct perfmap *m, struct perfmap_function *f)
{
	while (m->file && read_line(m)) {
		if (!parse_line(m->line, f))
			continue;
		m->functions++;
		return true;
	}
	return false;
}

/**
 * perfmap_close - end reading
 * @m: the map
 *
 * Return: why the map is of no use, after it was read to its end, or NULL.
 */
const char *perfmap_close(struct perfmap *m)
{
	bool damaged = m->file && ferror(m->file);
	int error = errno;

	if (!m->file)
		return NULL;
	fclose(m->file);
	m->file = NULL;
	if (damaged)
		return strerror(error);
	return m->functions ? NULL :
			      "no line with start, size and name of a function";
}
