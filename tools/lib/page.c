// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "page.h"

PAGE_TEXT(page_frame, "lib/page.html");
PAGE_TEXT(page_script, "lib/page.js");

/* Write the frame from a place in it to the next placeholder; returns the place after it */
static const char *write_to(FILE *out, const char *from,
			    const char *placeholder)
{
	const char *to = strstr(from, placeholder);

	fwrite(from, 1, to - from, out);
	return to + strlen(placeholder);
}

void page_open(FILE *out, const char *style)
{
	const char *rest = write_to(out, page_frame, "@STYLE@\n");

	fputs(style, out);
	write_to(out, rest, "@DATA@");
}

size_t page_room(const char *s)
{
	size_t room = 2;

	for (; *s; s++)
		room += (unsigned char)*s < ' ' || strchr("<>&", *s) ? 6 :
			strchr("\"\\/", *s)			     ? 2 :
								       1;
	return room;
}

void page_json(FILE *out, struct json_object *o)
{
	const char *c;

	/* these occur only within strings */
	for (c = json_object_to_json_string_ext(o, 0); *c; c++) {
		if (*c == '<' || *c == '>' || *c == '&')
			fprintf(out, "\\u%04x", (unsigned char)*c);
		else
			fputc(*c, out);
	}
}

void page_close(FILE *out, const char *script)
{
	const char *rest = strstr(page_frame, "@DATA@") + strlen("@DATA@");

	rest = write_to(out, rest, "@SCRIPT@\n");
	fputs(page_script, out);
	fputs(script, out);
	fputs(rest, out);
}
