/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SCHEDZ_TOOL_H
#define SCHEDZ_TOOL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <event-parse.h>
#include <trace-cmd.h>

#include "codec.h"
#include "datfile.h"
#include "guard.h"
#include "memory.h"
#include "records.h"

#define PROGRAM "schedz"

/* Size limit of a record, with the file name of an exec */
#define RECORD_MAX 1536

/**
 * struct layout - layout of an event's record
 * @id: its common_type
 * @size: size of the fields, without a string that follows them
 * @offset: offsets of the fields, in the order of record_fields(); -1 for none
 * @width: sizes of the fields
 */
struct layout {
	unsigned int id;
	unsigned int size;
	int offset[16];
	unsigned int width[16];
};

/**
 * struct layouts - the scheduling events of a file
 * @big_endian: byte order of records
 * @kind: the layouts
 * @missing: the file has no format of it
 * @format: a format to replace a missing one
 */
struct layouts {
	bool big_endian;
	struct layout kind[SCHEDZ_KINDS];
	bool missing[SCHEDZ_KINDS];
	char *format[SCHEDZ_KINDS];
};

const char *layouts_init(struct layouts *l, struct tep_handle *tep,
			 unsigned int free_id, unsigned int long_size);
void layouts_free(struct layouts *l);
unsigned int record_make(const struct layouts *l, uint8_t *record,
			 const struct schedz_event *event);

/**
 * struct block - a block of a trace
 * @ts: time of its record
 * @at: offset of the record in the file
 * @header: its header
 * @data: a copy of the block
 * @len: length of @data
 */
struct block {
	uint64_t ts;
	uint64_t at;
	struct schedz_header header;
	uint8_t *data;
	uint32_t len;
};

/**
 * struct stream - the blocks of a CPU
 * @block: in the order of their numbers
 * @nr: number of blocks
 * @room: allocated length of @block
 */
struct stream {
	struct block *block;
	size_t nr;
	size_t room;
};

/**
 * struct trace - a trace with blocks
 * @guard: the guard
 * @file: its path
 * @records: its records
 * @handle: libtracecmd's
 * @tep: its event descriptions
 * @clock: its trace clock, or ""
 * @ticks: @clock does not count ns
 * @cpus: number of CPUs
 * @stream: the blocks, by CPU
 * @blocks: number of blocks
 * @block_bytes: size of their records
 * @events: number of events in blocks
 * @others: number of other events
 * @lost: number of events that are lost between blocks
 * @max_id: the largest common_type in the file
 */
struct trace {
	struct guard *guard;
	const char *file;
	struct records *records;
	struct tracecmd_input *handle;
	struct tep_handle *tep;
	char clock[32];
	bool ticks;
	unsigned int cpus;
	struct stream *stream;
	uint64_t blocks;
	uint64_t block_bytes;
	uint64_t events;
	uint64_t others;
	uint64_t lost;
	unsigned int max_id;
};

int trace_open(struct trace *t, struct guard *g, const char *file,
	       const char *instance);
void trace_close(struct trace *t);
bool trace_is_block(const struct trace *t, const struct record *rec);
uint64_t trace_gap(const struct stream *s, size_t i);
int trace_decode(struct trace *t, struct schedz_decoder *decoder,
		 const struct block *b,
		 void (*put)(const struct schedz_event *event, void *arg),
		 void *arg);

int expand(struct guard *g, FILE *out, const char *file, const char *instance);
int collect_main(int argc, char **argv);
int stat_print(struct guard *g, FILE *out, const char *file,
	       const char *instance, bool json);

enum decode_format { DECODE_FTRACE, DECODE_JSON, DECODE_DAT, DECODE_CHROME };

int decode(struct guard *g, FILE *out, const char *file, const char *instance,
	   enum decode_format format);

#endif
