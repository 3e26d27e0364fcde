// SPDX-License-Identifier: GPL-2.0
/*
 * Perf maps: names of functions that a program has compiled at run time. Runtimes write
 * them for perf, to /tmp/perf-PID.map: a line START SIZE NAME for each function, in hex,
 * and another one when its code is moved or compiled again.
 *
 * Any user may write there. Names from maps are only printed, so the worst effect of a
 * false map is wrong names of frames of its process.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "order.h"
#include "read.h"
#include "text.h"

/* Maximum size of a map, in bytes, and of a name */
#define SIZE_MAX_MAP (1ll << 30)
#define NAME_MAX_LEN 1000

/* Two numbers, even with 0x, and a name */
#define LINE_ROOM (64 + NAME_MAX_LEN)

/* Maximum number of times that a function is that of an address: a line of a true map is
 * that of few addresses
 */
#define UPDATES_MAX (16 << 20)

/**
 * struct reader - what is left of a map
 * @file:	the map
 * @left:	bytes; without what the program has added since
 */
struct reader {
	FILE *file;
	u64 left;
};

/**
 * struct function - a line
 * @start:	address
 * @end:	address after the last byte
 * @name:	name
 */
struct function {
	u64 start;
	u64 end;
	char *name;
};

/* As perf, no other user's: it could be of anything */
static const char *check_file(int fd, bool any_owner, u64 *size)
{
	struct stat st;

	if (fstat(fd, &st))
		return strerror(errno);
	if (!S_ISREG(st.st_mode))
		return "not a regular file";
	if (!any_owner && st.st_uid && st.st_uid != geteuid())
		return "owned by another user (to use it, name its directory with --perf-maps)";
	if (st.st_size > SIZE_MAX_MAP)
		return "larger than 1 GiB";
	*size = st.st_size;
	return NULL;
}

/* A line without its end, if that is too long; none that the program has not finished */
static bool read_line(struct reader *r, char *line)
{
	u32 len = 0;
	int c;

	while (r->left && (c = getc_unlocked(r->file)) != EOF) {
		r->left--;
		if (c == '\n') {
			line[len] = '\0';
			return true;
		}
		if (len < LINE_ROOM - 1)
			line[len++] = c;
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

static bool parse_line(char *line, struct function *f)
{
	u64 size;

	if (!parse_number(&line, &f->start) || !parse_number(&line, &size) ||
	    !size || !*line || f->start > UINT64_MAX - size)
		return false;
	f->end = f->start + size;
	if (strlen(line) > NAME_MAX_LEN)
		line[NAME_MAX_LEN] = '\0';
	clean_text(line);
	f->name = line;
	return true;
}

static void set_name(struct perfmap_name *at, const char *name)
{
	if (at->name && !strcmp(at->name, name))
		return;
	free(at->before);
	at->before = at->name;
	at->name = xstrdup(name);
}

/* The first address that is not before a function */
static u64 first_from(const struct perfmap_name *at, u64 nr, u64 start)
{
	return FIRST(i, 0, nr, at[i].addr >= start);
}

static const char *read_lines(struct reader *r, struct perfmap_name *at, u64 nr)
{
	u64 updates = 0, functions = 0, i;
	char line[LINE_ROOM];
	struct function f;

	while (read_line(r, line)) {
		if (!parse_line(line, &f))
			continue;
		functions++;
		i = first_from(at, nr, f.start);
		for (; i < nr && at[i].addr < f.end; i++) {
			if (++updates > UPDATES_MAX)
				return "too many functions at the same addresses";
			set_name(&at[i], f.name);
		}
	}
	if (ferror(r->file))
		return strerror(errno);
	return functions ? NULL :
			   "no line with start, size and name of a function";
}

/**
 * perfmap_read - find the functions of addresses in a perf map
 * @path:	path
 * @any_owner:	use it whatever user owns it, and even if it is a symbolic link
 * @at:		addresses, sorted; their names are set if the map has them
 * @nr:		number of addresses
 *
 * Return: why the map cannot be used, or NULL, also if there is no such file. The names
 * are to be freed in any case.
 */
const char *perfmap_read(const char *path, bool any_owner,
			 struct perfmap_name *at, u64 nr)
{
	/* Opening a FIFO must not block */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC |
				    (any_owner ? 0 : O_NOFOLLOW));
	struct reader r = {};
	const char *trouble;

	if (fd < 0)
		return errno == ENOENT		    ? NULL :
		       errno == ELOOP && !any_owner ? "a symbolic link" :
						      strerror(errno);
	trouble = check_file(fd, any_owner, &r.left);
	if (trouble) {
		close(fd);
		return trouble;
	}
	r.file = fdopen(fd, "r");
	if (!r.file)
		memory_failed();
	trouble = read_lines(&r, at, nr);
	fclose(r.file);
	return trouble;
}
