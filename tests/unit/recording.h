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
	LOSS, /* records are lost before the next one of the CPU */
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

/**
 * struct rec_case - the alarm of a case, and its chart
 * @begin:	when the window begins
 * @start:	when the operation began
 * @end:	when it ended
 * @center:	centre line of the chart; 0: it has none
 * @limit:	its limit
 * @judged:	how many values it has judged
 * @rules:	which rules the alarm is of
 * @sector:	the request that is the operation; 0: it is a call of THREAD
 * @value:	values of the chart
 * @values:	number of these
 */
struct rec_case {
	uint64_t begin;
	uint64_t start;
	uint64_t end;
	double center;
	double limit;
	uint64_t judged;
	unsigned int rules;
	uint64_t sector;
	const double *value;
	int values;
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
void rec_write_json(const char *dir, const struct rec_case *c);
void rec_free(void);

#endif
