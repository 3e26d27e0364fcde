/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SCHEDZ_TOOL_H
#define SCHEDZ_TOOL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <event-parse.h>
#include <trace-cmd.h>

#include "blocks.h"
#include "datfile.h"
#include "guard.h"
#include "memory.h"
#include "records.h"

#define PROGRAM "schedz"

/**
 * struct trace - a trace with blocks
 * @guard: the guard
 * @file: its path
 * @records: its records, which include the blocks' events
 * @blocks: its blocks
 * @handle: libtracecmd's
 * @tep: its event descriptions
 * @clock: its trace clock, or ""
 * @ticks: @clock does not count ns
 * @cpus: number of CPUs
 * @lost: number of events that are lost between blocks
 */
struct trace {
	struct guard *guard;
	const char *file;
	struct records *records;
	struct blocks *blocks;
	struct tracecmd_input *handle;
	struct tep_handle *tep;
	char clock[32];
	bool ticks;
	unsigned int cpus;
	uint64_t lost;
};

int trace_open(struct trace *t, struct guard *g, const char *file,
	       const char *instance);
void trace_close(struct trace *t);

int expand(struct guard *g, FILE *out, const char *file, const char *instance);
int collect_main(int argc, char **argv);
int stat_print(struct guard *g, FILE *out, const char *file,
	       const char *instance, bool json);

enum decode_format { DECODE_FTRACE, DECODE_JSON, DECODE_DAT, DECODE_CHROME };

int decode(struct guard *g, FILE *out, const char *file, const char *instance,
	   enum decode_format format);

#endif
