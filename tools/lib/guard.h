/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads untrusted files in a child process.
 *
 * libtracecmd and libtraceevent were written for files that trace-cmd wrote: on
 * damaged ones they may crash, loop, or print messages that mean nothing to the user.
 * The work is therefore done in a child; in any case the user sees the result, or one
 * line that says what is wrong and where.
 */
#ifndef LIB_GUARD_H
#define LIB_GUARD_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct guard;

/**
 * struct guard_job - the work
 * @program:	name that diagnostics begin with
 * @file:	the file that is read, for diagnostics
 * @output:	path to write to, NULL for standard output. It is replaced only on success
 * @idle_cpu:	CPU seconds that may pass between two calls of guard_alive()
 * @work:	does it; returns 0, or EXIT_FAILURE after guard_fail()
 * @without:	NULL, or a function that is called after the work has crashed while it read
 *		a file, with the reason that was printed: returns whether to repeat the
 *		work without that file, which @arg must then say
 * @arg:	passed to @work and @without
 */
struct guard_job {
	const char *program;
	const char *file;
	const char *output;
	unsigned int idle_cpu;
	int (*work)(struct guard *g, FILE *out, void *arg);
	bool (*without)(const char *file, const char *reason, void *arg);
	void *arg;
};

bool is_same_file(const char *a, const char *b);
bool guard_check_output(const char *program, const char *file,
			const char *output);
int guard_run(const struct guard_job *job);

/* For the work: */
#define GUARD_NOWHERE UINT64_MAX

int guard_fail(struct guard *g, uint64_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
const char *guard_go_on(struct guard *g);
int guard_fail_usage(struct guard *g, const char *text);
void guard_note(struct guard *g, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void guard_alive(struct guard *g, uint64_t offset);
void guard_file(struct guard *g, const char *file);
void guard_progress(struct guard *g, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
