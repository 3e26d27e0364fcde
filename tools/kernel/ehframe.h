/* SPDX-License-Identifier: GPL-2.0 */
/*
 * iosys: makes a table for unwinding of an object's .eh_frame. See ehframe.c.
 */
#ifndef _IOSYS_EHFRAME_H
#define _IOSYS_EHFRAME_H

#include <linux/types.h>

#include "unwind.h"

/* Rules of a table at most: rows have 16 bits for them */
#define EHFRAME_RULES_MAX 65536

/* Bytes of a build ID at most */
#define EHFRAME_BUILD_ID_MAX 20

/* Steps from one pause to the next */
#define EHFRAME_PAUSE 4096

/**
 * struct ehframe_source - an object, as it is in its file; nothing of it is trusted
 * @read: reads bytes that are all before @size; may sleep. Returns 0 or a negative
 *	error, which ends the work on this object.
 * @pause: called every EHFRAME_PAUSE steps; may sleep. Returns as @read. NULL: not.
 * @hold: called before memory is allocated for the work, with how many bytes, and with
 *	less than 0 when it is freed. Returns as @read: an error for memory that is not to
 *	be allocated. NULL: not.
 * @size: bytes of the file
 * @arg: passed to these
 */
struct ehframe_source {
	int (*read)(void *arg, u64 offset, void *to, u32 len);
	int (*pause)(void *arg);
	int (*hold)(void *arg, long bytes);
	u64 size;
	void *arg;
};

/**
 * struct ehframe_caps - how much is done for an object before it is given up
 * @functions: frame descriptions
 * @rows: rows of the table
 * @rules: different rules, EHFRAME_RULES_MAX or less; where there are more,
 *	addresses have USTACK_ODD
 * @work: steps
 * @base: steps for any file, however small
 * @bytes: of the file, for each of which there is another step; 0: only @work counts
 *
 * A step is an instruction of .eh_frame, or as much work that is not one: a rule that is
 * compared with another one, a note, 64 bytes that are read or moved.
 */
struct ehframe_caps {
	u32 functions;
	u32 rows;
	u32 rules;
	u64 work;
	u64 base;
	u32 bytes;
};

/**
 * struct ehframe_report - what was made of it
 * @functions: frame descriptions that were compiled
 * @outside: those that were not, because they are not of executable code
 * @odd: rows that cannot be represented
 * @work: steps
 * @build_id: its build ID, also if there is no table
 * @build_id_size: bytes of it; 0: none was found
 * @reason: of an error
 * @offset: where in the file it is
 */
struct ehframe_report {
	u32 functions;
	u32 outside;
	u32 odd;
	u64 work;
	u8 build_id[EHFRAME_BUILD_ID_MAX];
	u32 build_id_size;
	const char *reason;
	u64 offset;
};

extern const struct ehframe_caps ehframe_caps_default;

int ehframe_build(const struct ehframe_source *source,
		  const struct ehframe_caps *caps, struct ustack_table **table,
		  struct ehframe_report *report);
void ehframe_free(struct ustack_table *table);

#endif
