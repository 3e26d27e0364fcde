/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Chrome's trace event format, as ui.perfetto.dev reads it ("Trace Event Format", JSON
 * object format), written as it comes: an event's members, then its arguments.
 */
#ifndef LIB_CHROME_H
#define LIB_CHROME_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdio.h>

/**
 * struct chrome_file - state of the output
 * @out:	output
 * @events:	whether there is an event
 * @args:	whether the current event has arguments
 */
struct chrome_file {
	FILE *out;
	bool events;
	bool args;
};

void chrome_open(struct chrome_file *f, FILE *out, const char *tool,
		 const char *clocks);
void chrome_event(struct chrome_file *f, char phase, s64 pid, s64 tid,
		  const char *name);
void chrome_time(struct chrome_file *f, const char *key, u64 ns);
void chrome_slice(struct chrome_file *f, s64 pid, s64 tid, const char *name,
		  u64 at, u64 duration);
void chrome_arg(struct chrome_file *f, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void chrome_arg_text(struct chrome_file *f, const char *key, const char *text);
void chrome_end(struct chrome_file *f);
void chrome_name(struct chrome_file *f, const char *what, s64 pid, s64 tid,
		 const char *name);
void chrome_close(struct chrome_file *f);

#endif
