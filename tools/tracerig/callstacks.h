/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stacks of a window. The kernel writes the definition of a stack's number, and of
 * the files of its frames, once a second while it is in use: a window may have only the
 * numbers. The kernel's file iosys_stacks still has the definitions; a case has a copy of
 * the ones for its window.
 */
#ifndef TRACERIG_CALLSTACKS_H
#define TRACERIG_CALLSTACKS_H

#include <json-c/json.h>
#include <stdbool.h>

#include "elfcopy.h"
#include "hash.h"

#define STACKS_FILE "iosys_stacks"

/**
 * struct callstacks - the stacks of a window: defined in it, and used by its calls
 * @stacks:	numbers of stacks that its calls have
 * @callers:	processes with calls that have them
 * @maps:	numbers of files that frames are in
 * @left_out:	calls whose stacks have no room in @stacks
 * @addresses:	number of frames in memory of no file
 */
struct callstacks {
	struct hash stacks;
	struct hash callers;
	struct hash maps;
	u64 left_out;
	size_t addresses;
};

void callstacks_called(struct callstacks *s, u32 id, s32 tgid);
void callstacks_defined(struct callstacks *s, u32 id, const u64 *frame,
			size_t nr);
void callstacks_mapped(struct callstacks *s, u32 id);
bool callstacks_write(struct callstacks *s, const char *known, const char *dir,
		      struct elfcopy *symbols, struct json_object *missing);
void callstacks_free(struct callstacks *s);

#endif
