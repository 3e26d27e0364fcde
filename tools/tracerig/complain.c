// SPDX-License-Identifier: GPL-2.0
/* Messages on standard error. */
#include <stdarg.h>
#include <stdio.h>

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
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "%s: ", speaker);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
}
