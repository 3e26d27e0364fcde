/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A made-up recording of an operation: events of threads, interrupts and requests to a disk,
 * put in any order, and written as a trace.dat that may lack some of them.
 */
#ifndef TESTS_RECORDING_H
#define TESTS_RECORDING_H

#include <stdint.h>

#include "graphdat.h"

/* Of THREAD is the operation */
enum { THREAD = 1000, HOG_PID = 88, HOLDER_PID = 77, OTHERS = 500 };
enum { HOME, HOME2, WAKERS, NOISE, CPUS };
#define DEV (254 << 20)
#define SECTORS 8

enum rec_what {
	SWITCH,
	WAKING,
	HARD,
	HARD_END,
	SOFT,
	SOFT_END,
	BIO,
	ISSUE,
	COMPLETE,
	VALUE,
	MARK, /* an event of the thread itself */
	WHATS
};

struct rec_event {
	uint64_t ts;
	unsigned int cpu, nr;
	enum rec_what what;
	int pid, next, flags;
	uint64_t a, b;
	const char *comm, *next_comm;
};

/* The kinds of events that the recording lacks, each after a comma; and records lost at its end */
extern char rec_lacks[200];
extern unsigned int rec_dropped;

struct rec_event *rec_put(enum rec_what what, unsigned int cpu, double ts,
			  int pid);
void rec_switch(unsigned int cpu, double ts, int prev, unsigned int how,
		int next);
void rec_waking(unsigned int cpu, double ts, int waker, int flags);
void rec_request(enum rec_what what, unsigned int cpu, double ts, int pid,
		 uint64_t sector);
void rec_run_tasks(void);
void rec_write(struct gd *gd, const char *path, int is_complete);
void rec_free(void);

#endif
