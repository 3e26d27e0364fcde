/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tables for unwinding of the objects that a process has mapped, for tests: of their
 * files, and of the vdso from the process's memory.
 */
#ifndef TESTS_OBJECTS_H
#define TESTS_OBJECTS_H

#include <sys/types.h>

#include "ehframe.h"

/**
 * struct mapped - something mapped executable
 * @start: its first address
 * @end: the first address after it
 * @offset: of the first one in its file
 * @dev: device of the file, as in /proc/PID/maps
 * @inode: of the file; 0: not a file
 * @path: of the file, or what stands in its place
 * @table: NULL: it has none
 */
struct mapped {
	u64 start;
	u64 end;
	u64 offset;
	u64 dev;
	u64 inode;
	char path[256];
	const struct ustack_table *table;
};

#define MAPPED_MAX 512

/**
 * struct process - a process, stopped while it is examined
 * @pid: its id
 * @mem: descriptor of its memory
 * @maps: its executable mappings
 * @nr: how much that is
 * @version: another number whenever @maps has become another one
 * @seen: return addresses that were met
 */
struct process {
	pid_t pid;
	int mem;
	struct mapped maps[MAPPED_MAX];
	int nr;
	u32 version;
	struct ustack_seen seen[USTACK_SEEN];
};

/* Table of a file; NULL and a line on stderr, or only NULL, if it has none */
struct ustack_table *file_table(const char *path, struct ehframe_report *report,
				int *error);

/* Open a process, and read its mappings; false: it has ended */
bool process_open(struct process *process, pid_t pid);
void process_close(struct process *process);
bool process_maps(struct process *process);
const struct mapped *process_at(const struct process *process, u64 address);

/* The stack of a thread of it */
void process_walk(struct process *process, const struct ustack_regs *regs,
		  u64 *frames, u32 max, struct ustack_result *result);
/* In words */
const char *end_name(enum ustack_end end);
/* Free all tables */
void objects_free(void);

#endif
