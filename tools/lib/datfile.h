/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes a trace.dat (version 6, trace-cmd.dat.v6(5)) with all that another one, or the
 * running kernel, has except its events, which the caller provides.
 */
#ifndef LIB_DATFILE_H
#define LIB_DATFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct tracecmd_input;
struct datfile;

/**
 * struct datfile_format - an additional event format of the new file
 * @system: its system
 * @text: its format, as in tracefs
 */
struct datfile_format {
	const char *system;
	const char *text;
};

/**
 * struct datfile_extra - additional contents of the new file
 * @format: event formats, those of a system next to each other
 * @nr_formats: number of these
 * @names_room: bytes that datfile_names() may write
 * @clock: trace clock, or ""
 */
struct datfile_extra {
	const struct datfile_format *format;
	unsigned int nr_formats;
	size_t names_room;
	const char *clock;
};

struct datfile *datfile_begin(struct tracecmd_input *from, FILE *out,
			      const struct datfile_extra *extra);
struct datfile *datfile_resume(FILE *out, unsigned int cpus,
			       unsigned int page_size, const char *names,
			       const char *clock);
void datfile_cpu(struct datfile *d, unsigned int cpu);
void datfile_page(struct datfile *d, const void *page);
void datfile_event(struct datfile *d, uint64_t ts, const void *data,
		   unsigned int len);
void datfile_lost(struct datfile *d, uint64_t events);
bool datfile_names(struct datfile *d, const char *lines);
bool datfile_end(struct datfile *d);

#endif
