/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The blocks of schedz in a file, and their events as records of ordinary scheduling events.
 *
 * A block is written after its events, so that all blocks must be known before the first
 * record is read: the file is read once for them. Of each, some bytes are kept; it is
 * decoded when it is its turn, and one of each CPU is in memory.
 */
#ifndef LIB_BLOCKS_H
#define LIB_BLOCKS_H

#include <linux/types.h>

#include "codec.h"
#include "guard.h"
#include "hash.h"
#include "records.h"
#include "schedrecord.h"

/**
 * struct block - a block
 * @ts: time of its record
 * @at: offset of the record in the file
 * @header: its header
 * @data: the block
 * @len: length of @data
 */
struct block {
	u64 ts;
	u64 at;
	struct schedz_header header;
	const u8 *data;
	u32 len;
};

/**
 * struct block_stream - the blocks of a CPU
 * @block: in the order of their numbers
 * @nr: number of blocks
 * @room: allocated length of @block
 * @bad_first: time of the record of the first block that cannot be read
 * @bad_last: and of the last one, 0 if there is none
 * @next: the block that is decoded next
 * @noted: a record before it has been marked, since events are missing
 * @is_after_loss: mark the next event likewise
 * @missed: number of events that are missing before it
 * @queue: records of the block before, each after its struct entry
 * @len: length of @queue
 * @queue_room: allocated length of @queue
 * @at: offset of the next entry
 */
struct block_stream {
	struct block *block;
	size_t nr, room;
	u64 bad_first, bad_last;
	size_t next;
	bool noted, is_after_loss;
	u64 missed;
	u8 *queue;
	size_t len, queue_room, at;
};

/**
 * struct blocks - the blocks of a file
 * @guard: the guard
 * @tep: event descriptions of the file; blocks_layouts() adds those of missing events
 * @strict: a block that cannot be read is a failure; otherwise it is skipped
 * @map:	the file, where data of blocks stays, or NULL
 * @type: where a record has its type
 * @block_id: type of the event schedz_block, or -1
 * @stream: the blocks, by CPU
 * @cpus: number of CPUs
 * @nr: number of blocks
 * @bytes: size of their records
 * @others: number of other records
 * @max_id: the largest type in the file
 * @bad: offsets of the records of blocks that cannot be read, in order
 * @nr_bad: number of these
 * @bad_room: allocated length of @bad
 * @first_bad: the first one that was found
 * @why: what is wrong with that
 * @layouts: of the records
 * @names: struct schedz_task with the last name of each pid
 * @decoder: decodes a block
 * @status: 0, or EXIT_FAILURE after guard_fail()
 */
struct blocks {
	struct guard *guard;
	struct tep_handle *tep;
	bool strict;
	const u8 *map;
	struct number type;
	int block_id;
	struct block_stream *stream;
	u32 cpus;
	u64 nr;
	u64 bytes;
	u64 others;
	u32 max_id;
	u64 *bad;
	size_t nr_bad, bad_room;
	u64 first_bad;
	const char *why;
	struct layouts layouts;
	struct hash names;
	struct schedz_decoder *decoder;
	int status;
};

struct blocks *blocks_read(struct guard *g, struct records *r, bool strict);
void blocks_free(struct blocks *b);
const char *blocks_layouts(struct blocks *b, unsigned int long_size);
u64 blocks_gap(const struct block_stream *s, size_t i);
int blocks_decode(struct blocks *b, const struct block *block,
		  void (*put)(const struct schedz_event *event, void *arg),
		  void *arg);
bool blocks_has(const struct blocks *b, const struct record *rec);
void blocks_rewind(struct blocks *b, u32 cpu);
bool blocks_next(struct blocks *b, u32 cpu, u64 until, struct record *rec);

#endif
