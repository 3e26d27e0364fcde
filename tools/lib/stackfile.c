// SPDX-License-Identifier: GPL-2.0
/* Lines of the kernel's file iosys_stacks. See stackfile.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "stackfile.h"

/* Skip a word that must be there */
static bool skip(const char **at, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(*at, word, len) != 0)
		return false;
	*at += len;
	return true;
}

static bool number(const char **at, int base, u64 most, u64 *n)
{
	char *end;

	if (!isxdigit((unsigned char)**at))
		return false;
	*n = strtoull(*at, &end, base);
	/* What is too large for 64 bits becomes the largest number */
	if (end == *at || *n > most || (*n == ~0ull && base == 10))
		return false;
	*at = end;
	return true;
}

static bool number32(const char **at, const char *word, u32 *n)
{
	u64 value;

	if (!skip(at, word) || !number(at, 10, U32_MAX, &value))
		return false;
	*n = value;
	return true;
}

static bool parse_frames(const char *at, struct stackfile_line *l)
{
	u64 map;

	if (*at == '\n')
		return true;
	for (l->nr = 0; l->nr < STACKFILE_FRAMES; at++) {
		if (!number(&at, 10, (1u << 31) - 1, &map) ||
		    !skip(&at, "+0x") ||
		    !number(&at, 16, map ? U32_MAX : ~0ull, &l->offset[l->nr]))
			return false;
		l->map[l->nr++] = map;
		if (*at != ',')
			return *at == '\n';
	}
	return false;
}

static bool parse_stack(const char *at, struct stackfile_line *l)
{
	size_t len;

	if (!number32(&at, "", &l->id) || !skip(&at, " end="))
		return false;
	len = strspn(at, "abcdefghijklmnopqrstuvwxyz_");
	if (!len || len >= sizeof(l->end))
		return false;
	memcpy(l->end, at, len);
	l->end[len] = '\0';
	at += len;
	return number32(&at, " guessed=", &l->guessed) &&
	       skip(&at, " frames=") && parse_frames(at, l);
}

static int digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : c - 'a' + 10;
}

static bool parse_build_id(const char **at, struct stackfile_line *l)
{
	size_t len, i;

	if (!skip(at, " build_id="))
		return false;
	len = strspn(*at, "0123456789abcdef");
	if (len % 2 || len / 2 > STACKFILE_ID)
		return false;
	l->build_id_size = len / 2;
	for (i = 0; i < len / 2; i++)
		l->build_id[i] = digit((*at)[2 * i]) << 4 |
				 digit((*at)[2 * i + 1]);
	*at += len;
	return true;
}

static bool is_octal(const char *s)
{
	return s[0] >= '0' && s[0] <= '3' && s[1] >= '0' && s[1] <= '7' &&
	       s[2] >= '0' && s[2] <= '7';
}

/* Some characters are escaped, as \012 */
static bool parse_path(const char *at, struct stackfile_line *l)
{
	size_t len = 0;

	while (*at && *at != '\n') {
		char c = *at++;

		if (c == '\\' && is_octal(at)) {
			c = (at[0] - '0') << 6 | (at[1] - '0') << 3 |
			    (at[2] - '0');
			at += 3;
		}
		if (!c || len + 1 == sizeof(l->path))
			return false;
		l->path[len++] = c;
	}
	l->path[len] = '\0';
	return *at == '\n';
}

static bool parse_map(const char *at, struct stackfile_line *l)
{
	u32 major, minor, n;
	u64 bytes;

	if (!number32(&at, "", &l->id) || !number32(&at, " dev=", &major) ||
	    !number32(&at, ":", &minor) || !skip(&at, " ino=") ||
	    !number(&at, 10, ~0ull - 1, &l->ino) || !parse_build_id(&at, l) ||
	    !number32(&at, " rows=", &n) || !skip(&at, " bytes=") ||
	    !number(&at, 10, ~0ull - 1, &bytes) || !skip(&at, " path="))
		return false;
	if (major >= 1 << 12 || minor >= 1 << 20)
		return false;
	l->dev = major << 20 | minor;
	return parse_path(at, l);
}

/**
 * stackfile_parse - read a line
 * @text: the line with its end
 * @l: set to what it has, if that is a stack or a file
 *
 * Return: what it is.
 */
enum stackfile_kind stackfile_parse(const char *text, struct stackfile_line *l)
{
	l->nr = 0;
	if (*text == '#')
		return STACKFILE_COMMENT;
	if (skip(&text, "stack "))
		return parse_stack(text, l) && l->id ? STACKFILE_STACK :
						       STACKFILE_DAMAGED;
	if (skip(&text, "map "))
		return parse_map(text, l) && l->id ? STACKFILE_MAP :
						     STACKFILE_DAMAGED;
	return STACKFILE_DAMAGED;
}
