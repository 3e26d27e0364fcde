/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks the outline of a trace.dat before libtracecmd reads it: every size and
 * offset must lie within the file.
 */
#ifndef LIB_TRACEFILE_H
#define LIB_TRACEFILE_H

#include <stdbool.h>
#include <stdint.h>

#define TRACEFILE_NOWHERE UINT64_MAX

/**
 * struct tracefile_pages - the ring buffer pages of one CPU
 * @cpu:	which
 * @offset:	where they begin in the file
 * @size:	their size, in bytes
 */
struct tracefile_pages {
	unsigned int cpu;
	uint64_t offset;
	uint64_t size;
};

/**
 * struct tracefile_info - the outline of a file
 * @version:	6 or 7
 * @size:	of the file, in bytes
 * @data:	bytes of ring buffer pages, as stored
 * @clock:	trace clock of the instance, "" if the file does not have it
 * @tsc:	the file has the factors that convert the clock's ticks into ns
 * @shifted:	the file has an offset for the events' time stamps
 * @compressed:	the pages are compressed
 * @page_size:	size of a page, in bytes
 * @big_endian:	byte order of the file
 * @long_size:	size of a long, in bytes
 * @pages:	pages of the instance; freed by tracefile_free()
 * @cpus:	number of these
 */
struct tracefile_info {
	int version;
	uint64_t size;
	uint64_t data;
	char clock[32];
	bool tsc;
	bool shifted;
	bool compressed;
	unsigned int page_size;
	bool big_endian;
	unsigned int long_size;
	struct tracefile_pages *pages;
	unsigned int cpus;
};

/**
 * struct tracefile_error - what is wrong with a file
 * @offset:	where, or TRACEFILE_NOWHERE
 * @reason:	what, one line
 */
struct tracefile_error {
	uint64_t offset;
	char reason[200];
};

bool tracefile_check(int fd, const char *instance, struct tracefile_info *info,
		     struct tracefile_error *error);
bool tracefile_clock(const struct tracefile_info *info,
		     struct tracefile_error *error);
void tracefile_free(struct tracefile_info *info);

#endif
