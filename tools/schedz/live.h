/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes a trace.dat that can be read at any time while it grows: version 6, with
 * a region per CPU, whose unused part is a hole and needs no disk space. Pages are
 * written first, and then their number.
 */
#ifndef SCHEDZ_LIVE_H
#define SCHEDZ_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct live;

/* Bytes of memory for a CPU, without its page, at most */
#define LIVE_CPU_SIZE 128

/*
 * Bytes of pages between two calls of live_sync(), but for three: more than 65535 records of
 * 128 bytes need, which a datagram can have at most, in pages of any size, if their times
 * do not decrease.
 */
#define LIVE_FULL_MAX (10 << 20)

/* Bytes in a page of an event with @len bytes, at most */
#define live_size(len) ((len) + 20)

/**
 * struct live_format - an event
 * @system: its system
 * @text: contents of its format file
 * @len: length of @text
 */
struct live_format {
	const char *system;
	const char *text;
	size_t len;
};

/**
 * struct live_head - contents of the file's head
 * @big_endian: byte order of the traced machine
 * @long_size: size of its long
 * @page_size: size of a page of its ring buffer
 * @cpus: number of CPUs
 * @header_page: text of events/header_page
 * @header_event: text of events/header_event
 * @clock: trace clock
 * @format: events; live_open() sorts them
 * @nr_formats: number of @format
 */
struct live_head {
	bool big_endian;
	unsigned int long_size;
	unsigned int page_size;
	unsigned int cpus;
	const char *header_page;
	const char *header_event;
	const char *clock;
	struct live_format *format;
	size_t nr_formats;
};

struct live *live_open(const char *path, const struct live_head *head,
		       uint64_t size);
size_t live_needs(const struct live *l, unsigned int cpu, size_t bytes);
bool live_prepare(struct live *l, unsigned int cpu, size_t bytes);
bool live_record(struct live *l, unsigned int cpu, uint64_t ts,
		 const void *data, unsigned int len);
void live_lost(struct live *l, unsigned int cpu, uint64_t events);
void live_name(struct live *l, int32_t pid, const uint8_t *comm);
bool live_sync(struct live *l);
bool live_due(const struct live *l);
bool live_full(const struct live *l);
bool live_close(struct live *l);

#endif
