// SPDX-License-Identifier: GPL-2.0
/* The text files of a case for its page. See open.h. */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"
#include "open.h"
#include "page.h"
#include "text.h"

/* Files, and bytes of each, on the page; of one whose characters need escapes it is less */
#define FILES_MAX 16
#define BYTES_MAX (48 << 10)
#define ROOM_MAX (2 * BYTES_MAX)

/* Lines and tabs stay */
static void clean_lines(char *s, size_t len)
{
	size_t n;
	char end;

	for (n = 0; n < len; n++)
		s[n] = s[n] ? s[n] : '?';
	for (; *s; s += n + 1) {
		n = strcspn(s, "\n\t");
		end = s[n];
		s[n] = '\0';
		clean_text(s);
		s[n] = end;
		if (!end)
			break;
	}
}

static bool fits(const char *text)
{
	return page_room(text) <= ROOM_MAX;
}

/* By repeated halving */
static char *shorten(char *text, bool is_log, size_t *left)
{
	size_t len = strlen(text), cut;

	while (!fits(text)) {
		cut = len / 2;
		*left += cut;
		len -= cut;
		if (is_log)
			memmove(text, text + cut, len);
		text[len] = '\0';
	}
	/* Not half a character */
	clean_lines(text, len);
	return text;
}

/* The last part of the kernel's log, the first one of other files, in whole lines */
static char *read_part(int fd, const struct stat *st, bool is_log, size_t *left)
{
	size_t size = st->st_size, len = 0;
	char *text = xzalloc(BYTES_MAX + 1), *cut;
	ssize_t n = 1;

	*left = size > BYTES_MAX ? size - BYTES_MAX : 0;
	if (is_log && *left)
		lseek(fd, *left, SEEK_SET);
	while (len < BYTES_MAX && n > 0) {
		n = read(fd, text + len, BYTES_MAX - len);
		len += n > 0 ? n : 0;
	}
	cut = *left ? is_log ? memchr(text, '\n', len) :
			       memrchr(text, '\n', len) :
		      NULL;
	if (cut && is_log) {
		*left += cut + 1 - text;
		len -= cut + 1 - text;
		memmove(text, cut + 1, len);
	} else if (cut) {
		*left += text + len - cut - 1;
		len = cut + 1 - text;
	}
	text[len] = '\0';
	clean_lines(text, len);
	return fits(text) ? text : shorten(text, is_log, left);
}

static struct json_object *file_object(const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name), *text = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct json_object *o = json_object_new_object();
	struct stat st;
	size_t left = 0;

	memory_doing("reading %s", path);
	json_string(o, "name", name);
	if (fd < 0 || fstat(fd, &st))
		json_string(o, "trouble", strerror(errno));
	else if (!S_ISREG(st.st_mode))
		json_string(o, "trouble", "is not a regular file");
	else
		text = read_part(fd, &st, !strcmp(name, "dmesg.txt"), &left);
	/* json_string() leaves no line ends */
	json_object_object_add(o, "text",
			       json_object_new_string(text ? text : ""));
	json_number(o, "left", left);
	if (fd >= 0)
		close(fd);
	free(text);
	free(path);
	return o;
}

/**
 * open_state - read the state of the system at the alarm
 * @dir: the case
 * @files: the files in its case.json
 *
 * Return: an array with the text files.
 */
struct json_object *open_state(const char *dir, struct json_object *files)
{
	struct json_object *a = json_object_new_array(), *v;
	size_t i;

	for (i = 0; i < json_object_array_length(files); i++) {
		const char *name, *dot;

		json_object_object_get_ex(json_object_array_get_idx(files, i),
					  "name", &v);
		name = json_object_get_string(v);
		dot = strrchr(name, '.');
		/* A directory below the case could be a link to anywhere */
		if (dot && !strcmp(dot, ".txt") && !strchr(name, '/') &&
		    json_object_array_length(a) < FILES_MAX)
			json_object_array_add(a, file_object(dir, name));
	}
	return a;
}
