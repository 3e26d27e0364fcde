/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of code that programs have compiled at run time, for the addresses of a case: of
 * each process's perf map (see lib/perfmap.h), the lines that these need, where ioreq looks
 * for them below the case's directory symbols.
 */
#ifndef TRACERIG_JITMAPS_H
#define TRACERIG_JITMAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "hash.h"

/* Limits of a case: processes, addresses, bytes of all copies, and of the maps that are read */
#define JITMAPS_PROCESSES 256
#define JITMAPS_ADDRESSES 65536
#define JITMAPS_BYTES (4u << 20)
#define JITMAPS_READ (256u << 20)

/**
 * struct jitmap - a process
 * @tgid:	its number
 * @addr:	addresses in its memory of no file
 * @nr:		number of these
 */
struct jitmap {
	s32 tgid;
	u64 *addr;
	size_t nr, room;
};

/**
 * struct jitmaps - the processes of a case
 * @process:	them
 * @nr:		number of them
 * @known:	the addresses of all of them
 * @left_out:	whether there were more than there is room for
 */
struct jitmaps {
	struct jitmap *process;
	size_t nr, room;
	struct hash known;
	bool left_out;
};

void jitmaps_add(struct jitmaps *j, s32 tgid, const u64 *addr, size_t nr);
bool jitmaps_copy(const struct jitmaps *j, const char *symbols);
void jitmaps_free(struct jitmaps *j);

#endif
