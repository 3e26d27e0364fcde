/* SPDX-License-Identifier: GPL-2.0 */
/* Reading of files into the model. */
#ifndef IOREQ_READ_H
#define IOREQ_READ_H

#include <event-parse.h>

#include "elffile.h"
#include "guard.h"
#include "model.h"
#include "records.h"

/* Maximum number of reasons for the end of a stack */
#define ENDS_MAX 16

/**
 * struct mapped_file - a file that code was executed from
 * @host:		number of the host
 * @dev:		device
 * @ino:		inode number
 * @path:		path
 * @build_id:		build id
 * @build_id_size:	bytes of @build_id; 0: unknown
 * @elf:		its symbols and lines, once they were looked up
 * @older:		the previous file with the same number, or NULL
 */
struct mapped_file {
	u32 host;
	u32 dev;
	u64 ino;
	char *path;
	u8 build_id[BUILD_ID_MAX];
	u32 build_id_size;
	struct elffile *elf;
	struct mapped_file *older;
};

/**
 * struct frame - a frame of a stack
 * @mapped_file:	the file, or NULL if there is none or it is unknown
 * @map:		number of the file; 0: memory of no file
 * @offset:		offset in the file, or address, of the instruction that is
 *			executed next
 * @source:		if it is an address: its function in perf maps, or NULL; without a
 *			name if they disagree
 */
struct frame {
	struct mapped_file *mapped_file;
	u32 map;
	u64 offset;
	struct elffile_source *source;
};

/**
 * struct perfmap_name - the function of an address
 * @addr:	address
 * @name:	name, or NULL if it is unknown
 * @before:	name of the function whose code was there before, or NULL
 */
struct perfmap_name {
	u64 addr;
	char *name;
	char *before;
};

/**
 * struct stack - a call stack
 * @host:	number of the host
 * @id:		number of the stack there
 * @end:	why there are no more frames, from the event; 0: the stack is whole
 * @end_name:	name of that reason
 * @guessed:	number of frames found by frame pointers, without an unwind table
 * @frame:	frames, innermost first
 * @nr:		number of frames
 */
struct stack {
	u32 host;
	u32 id;
	u32 end;
	char end_name[OP_SIZE];
	u32 guessed;
	struct frame *frame;
	u32 nr;
};

/**
 * struct stack_layout - where the fields of io_stack and io_map are in a file's records
 * @stack:		id of io_stack; -1: the file has none
 * @map:		id of io_map; -1: the file has none
 * @end_name:		names of the reasons for the end of a stack
 * @counts:		io_stack has @evicted and @refused; without them, it is that of the
 *			first version, in which numbers of files had 16 bits
 * @first_evicted:	@evicted of the first record that was read
 * @first_refused:	its @refused
 * @last_evicted:	@evicted of the last one
 * @last_refused:	its @refused
 * @found:		there is such a record
 *
 * The others are fields of the events.
 */
struct stack_layout {
	int stack, map;
	char end_name[ENDS_MAX][OP_SIZE];
	struct number common_type;
	struct number id, end, guessed;
	struct number map_id, ino, dev, build_id_size;
	struct tep_format_field *frames, *path, *build_id;
	bool counts;
	struct number evicted, refused;
	u32 first_evicted, first_refused, last_evicted, last_refused;
	bool found;
};

/* Key of a stack among those of all hosts; 0: the call has no stack */
static inline u64 stack_key(u32 host, u32 id)
{
	return id ? (host + 1ull) << 32 | id : 0;
}

/* read_iosys.c */
int model_read(struct guard *g, struct model *m, u32 host);
void symbols_find(char (*name)[OP_SIZE], u32 max, const struct tep_event *event,
		  const char *field);

/* read_stock.c */
bool stock_has(const struct records *r);
bool stock_read(struct model *m, u32 host, struct records *r);

/* read_stacks.c */
struct stacks *stacks_new(struct guard *g, const struct model *model,
			  const struct elffile_options *options,
			  const char *perf_maps);
void stacks_layout(struct stack_layout *l, const struct records *r);
bool stacks_record(struct stacks *s, u32 host, struct stack_layout *l, u64 type,
		   const struct record *rec);
struct stack *stacks_add(struct stacks *s, u32 host, u32 id, u32 nr);
bool stacks_map(struct stacks *s, u32 id, const struct mapped_file *file);
void stacks_call(struct stacks *s, u64 key, s32 tgid);
void stacks_note_counts(struct guard *g, const struct stack_layout *l);
void stacks_finish(struct stacks *s);
const struct stack *stacks_find(const struct stacks *s, u64 key);
u32 stacks_sources(struct stacks *s, const struct stack *stack, u32 i,
		   const struct elffile_source **source);
void stacks_note_problems(const struct stacks *s);
void stacks_free(struct stacks *s);

/* read_frames.c */
int frame_order(const struct frame *a, const struct frame *b);
const char *frame_name(char *buf, size_t size, const struct frame *f,
		       bool whole);
u32 stacks_caller(const struct stack *stack);
const char *source_name(char *buf, size_t size, const struct elffile_source *p);
const char *source_text(char *buf, size_t size, const struct elffile_source *p);

/* read_known.c */
int known_stacks_read(struct guard *g, struct model *m, u32 host);

/* read_perfmap.c */
const char *perfmap_read(const char *path, bool any_owner,
			 struct perfmap_name *at, u64 nr);

#endif
