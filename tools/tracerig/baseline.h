/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Normal executions of the functions whose paths are recorded, from an instance without
 * charts, in a file that the cases share. The windows of slow operations may lack them.
 */
#ifndef TRACERIG_BASELINE_H
#define TRACERIG_BASELINE_H

#include <stdbool.h>
#include <sys/types.h>
#include <linux/types.h>

#include "rig.h"

/* In the directory of the cases, as long as the watch runs; a case has a link to it */
#define BASELINE_SHARED ".baseline"

/**
 * struct baseline - the child that records it
 * @pid:	a child, 0: none
 * @next:	when to record it again, ns of CLOCK_MONOTONIC
 */
struct baseline {
	pid_t pid;
	u64 next;
};

/**
 * struct baseline_job - what the child needs
 * @rig:	the part of the kernel
 * @dir:	directory of the cases
 * @head:	what window_head() returned
 * @page_size:	bytes of a page of the ring buffer
 * @cpus:	number of CPUs
 */
struct baseline_job {
	const struct rig *rig;
	const char *dir;
	int head;
	unsigned int page_size;
	unsigned int cpus;
};

void baseline_record(struct baseline *b, const struct baseline_job *job,
		     u64 now);
void baseline_ended(struct baseline *b, int status, u64 now);
void baseline_close(struct baseline *b, const char *dir);

#endif
