/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a result goes: to a temporary file that takes the place of a regular one when
 * it is complete, or straight into a file of another kind, such as a device or a FIFO.
 * The temporary file has no name, so that nothing is left of a killed program; only on a
 * file system without such files does it have one.
 */
#ifndef LIB_OUTPUT_H
#define LIB_OUTPUT_H

#include <stdio.h>

/**
 * struct output - a result that is being written
 * @path:	the file that is replaced, NULL if none is
 * @temporary:	name of its temporary file, NULL if that has none
 * @fd:		the temporary file if it has no name, otherwise -1
 */
struct output {
	char *path;
	char *temporary;
	int fd;
};

void output_check(const char *program);
void output_flush(void);
const char *output_error(const char *path);
FILE *output_open(struct output *o, const char *path);
int output_finish(struct output *o, const char *program, int status);

#endif
