// SPDX-License-Identifier: GPL-2.0
/* Messages */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "output.h"
#include "text.h"
#include "tracerig.h"

static const char *speaker = PROGRAM;

/**
 * complain_as - set what messages begin with
 * @name: name of the program and the command
 */
void complain_as(const char *name)
{
	speaker = name;
}

/**
 * complain - print a message on standard error
 * @format: one line, without the name of the program
 */
void complain(const char *format, ...)
{
	char *text, *line, *end;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		memory_failed();
	va_end(ap);
	/* Names can come from a hostile case; the kernel's reasons have several lines */
	for (line = text; line; line = end ? end + 1 : NULL) {
		end = strchr(line, '\n');
		if (end)
			*end = '\0';
		clean_text(line);
		if (end)
			*end = '\n';
	}
	output_flush();
	fprintf(stderr, "%s: %s\n", speaker, text);
	free(text);
}

/**
 * complained - print what is wrong, if anything is
 * @error: that, which is freed; or NULL
 *
 * Return: true if it was printed.
 */
bool complained(char *error)
{
	if (!error)
		return false;
	complain("%s", error);
	free(error);
	return true;
}

/**
 * say - print a message on standard output, at once
 * @format: one line
 */
void say(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	putchar('\n');
	output_flush();
}
