/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Perf maps: names of functions that a program has compiled at run time. Runtimes write
 * them for perf, to /tmp/perf-PID.map: a line START SIZE NAME for each function, in hex,
 * and another one when its code is moved or compiled again.
 *
 * Any user may write there. Names from maps are only printed, so the worst effect of a
 * false map is wrong names of frames of its process.
 */
#ifndef LIB_PERFMAP_H
#define LIB_PERFMAP_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <linux/types.h>

/* Bytes of a name, and of a line: two numbers, even with 0x, and a name */
#define PERFMAP_NAME 1000
#define PERFMAP_LINE (64 + PERFMAP_NAME)

/* Instead of an owner: any user, and symbolic links, too */
#define PERFMAP_ANY ((uid_t)-1)

/**
 * struct perfmap - a map that is being read
 * @file:	the map, or NULL
 * @left:	bytes that are left of it; without what the program has added since
 * @functions:	number of functions that were read
 * @line:	room for a line
 */
struct perfmap {
	FILE *file;
	u64 left;
	u64 functions;
	char line[PERFMAP_LINE];
};

/**
 * struct perfmap_function - a line of a map
 * @start:	address
 * @end:	address after the last byte
 * @name:	name, until the next line is read
 */
struct perfmap_function {
	u64 start;
	u64 end;
	const char *name;
};

const char *perfmap_open(struct perfmap *m, const char *path, uid_t owner);
bool perfmap_next(struct perfmap *m, struct perfmap_function *f);
const char *perfmap_close(struct perfmap *m);

#endif
