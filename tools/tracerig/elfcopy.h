/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The symbols of programs and libraries that addresses in a case need: in its directory
 * symbols, which ioreq and lbrtime use with --symfs, copies of the files without code and
 * data, and what perf maps say of other addresses.
 */
#ifndef TRACERIG_ELFCOPY_H
#define TRACERIG_ELFCOPY_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "jitmaps.h"

#define SYMBOLS_DIR "symbols"

/* Files of a case, and bytes of a build-id, as in the kernel */
#define ELFCOPY_FILES 200
#define ELFCOPY_ID 20

/**
 * struct elfcopy_file - a program or library that was mapped
 * @path:	its path
 * @id:		its build-id
 * @id_size:	bytes of that; 0 if it is not known
 */
struct elfcopy_file {
	char *path;
	u8 id[ELFCOPY_ID];
	u32 id_size;
};

/**
 * struct elfcopy - the files of a case
 * @file:	the files
 * @nr:		number of these
 * @left_out:	whether there were more, or ones that are not known
 * @code:	addresses in memory of no file
 */
struct elfcopy {
	struct elfcopy_file *file;
	size_t nr, room;
	bool left_out;
	struct jitmaps code;
};

bool elfcopy_is_below(const char *path);
void elfcopy_add(struct elfcopy *s, const char *path, const u8 *id,
		 u32 id_size);
bool elfcopy_collect(const struct elfcopy *s, const char *dir, int *helper);
void elfcopy_free(struct elfcopy *s);

#endif
