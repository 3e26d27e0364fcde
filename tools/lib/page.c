// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "page.h"

#define PLACEHOLDER "@DATA@"

/* page.html itself; the Makefile knows that this file depends on it */
__asm__(".pushsection .rodata\n"
	"page_head:\n"
	".incbin \"lib/page.html\"\n"
	".byte 0\n"
	".popsection\n");
extern const char page_head[];

void page_open(FILE *out)
{
	fwrite(page_head, 1, strstr(page_head, PLACEHOLDER) - page_head, out);
}

void page_json(FILE *out, struct json_object *o)
{
	const char *c;

	/* these are within strings, if they are there */
	for (c = json_object_to_json_string_ext(o, 0); *c; c++) {
		if (*c == '<' || *c == '>' || *c == '&')
			fprintf(out, "\\u%04x", (unsigned char)*c);
		else
			fputc(*c, out);
	}
}

void page_close_data(FILE *out)
{
	fputs(strstr(page_head, PLACEHOLDER) + strlen(PLACEHOLDER), out);
}
