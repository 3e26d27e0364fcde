/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes function_graph traces without a kernel: calls and returns of functions
 * that a test knows, on a clock that it moves.
 */
#ifndef TESTS_GRAPHDAT_H
#define TESTS_GRAPHDAT_H

#include <stdio.h>

#include "tracedat.h"

#define GD_BASE 1000000000000ULL /* when all traces begin, ns */
#define GD_MAX_FUNCTIONS 4096
#define GD_MAX_DEPTH 64

enum gd_flags {
	GD_IRQS_OFF = 0x01,
	GD_HARDIRQ = 0x08,
	GD_SOFTIRQ = 0x10,
	GD_NMI = 0x40,
};

/* the file being written; the test may change now, cpu, pid and flags */
struct gd {
	struct td *td;
	uint64_t now;
	unsigned int cpu;
	int pid;
	unsigned int flags;
	uint64_t asleep; /* time that sleep-time=off takes from durations */
	uint64_t returned; /* when the next one to leave has, if before now */
	struct gd_frame {
		uint32_t function;
		uint64_t entry;
		uint64_t asleep;
	} frame[GD_MAX_DEPTH];
	int depth;
	bool exits_only;
	const char *prev_comm, *next_comm; /* of the next switch, or NULL */
};

/* Formats and @count functions: those of @names, which ends with NULL, then f0, f1, ... */
void gd_init(struct gd *gd, struct td *td, const char *const *names,
	     uint32_t count);
uint32_t gd_function(const char *name);

void gd_enter(struct gd *gd, uint32_t function);
void gd_leave(struct gd *gd);
/* enter, spend @self ns, leave */
void gd_call(struct gd *gd, uint32_t function, uint64_t self);

void gd_switch(struct gd *gd, int prev, unsigned int state, int next);
void gd_exec(struct gd *gd, const char *file);
void gd_rename(struct gd *gd, const char *comm);
void gd_fork(struct gd *gd, const char *comm, int child);
void gd_waking(struct gd *gd, int pid);
void gd_stack(struct gd *gd, const uint32_t *function, int nr);
void gd_irq(struct gd *gd, const char *name, bool begin);
void gd_softirq(struct gd *gd, unsigned int vec, bool begin);
void gd_lock(struct gd *gd, uint32_t lock, bool begin);

/* Events of requests to disks; not among the formats of gd_init() */
enum gd_block { GD_BIO_QUEUE = 900, GD_RQ_ISSUE, GD_RQ_COMPLETE };
void gd_add_blocks(struct td *td);
void gd_block(struct gd *gd, enum gd_block what, uint32_t dev, uint64_t sector,
	      uint32_t sectors, const char *comm);
FILE *gd_create(const char *dir, const char *name);
void gd_close(FILE *f);

#endif
