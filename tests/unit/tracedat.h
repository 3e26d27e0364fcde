/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes trace.dat files (version 6, trace-cmd.dat.v6(5)) without a kernel, so
 * that a test knows every event in them.
 */
#ifndef TESTS_TRACEDAT_H
#define TESTS_TRACEDAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TD_MAX_CPUS 8
#define TD_MAX_EVENTS 24
#define TD_MAX_BUFFERS 4

/* The fields that each format begins with */
#define TD_COMMON                                                                      \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

/* Formats as in Linux 6.12, with a shortened print format for the second */
#define TD_ID_WAKING 301
#define TD_ID_SWITCH 302
extern const char td_sched_waking[];
extern const char td_sched_switch[];

/* the layout of what is written */
struct td_layout {
	bool big_endian;
	bool long4; /* 32-bit longs */
	unsigned int page_size;
	const char *clock; /* such as "local"; NULL: not in the file */
};

struct td_page {
	uint8_t *data;
	size_t used;
	uint64_t last; /* time of its last event */
	bool missed; /* events were lost before this page */
	uint32_t missed_nr; /* number of these, 0 if unknown */
};

struct td_ring {
	struct td_page *page;
	size_t pages;
	bool missed;
	uint32_t missed_nr;
};

struct td_buffer {
	const char *name; /* "" for the main one */
	struct td_ring ring[TD_MAX_CPUS];
};

struct td {
	struct td_layout layout;
	unsigned int cpus;
	struct {
		const char *system;
		const char *format; /* contents of the format file */
	} event[TD_MAX_EVENTS];
	unsigned int events;
	struct td_buffer buffer[TD_MAX_BUFFERS];
	unsigned int buffers;
	const char *cmdlines; /* "PID COMM\n" lines */
	const char *kallsyms; /* contents of /proc/kallsyms, or NULL */
	FILE *stream; /* pages go here as they are full; see td_stream() */
	long table; /* where its table of CPUs stands in it */
	long pages_at; /* and the pages of the CPU at hand begin */
};

/* a record being put together, in the file's byte order */
struct td_record {
	const struct td_layout *layout;
	uint8_t data[4000];
	size_t len;
};

void td_init(struct td *td, const struct td_layout *layout, unsigned int cpus);
void td_add_event(struct td *td, const char *system, const char *format);
unsigned int td_add_buffer(struct td *td, const char *name);

void td_begin(struct td_record *r, const struct td *td, unsigned int id,
	      int pid, size_t fixed);
void td_put(struct td_record *r, size_t offset, uint64_t value, size_t size);
void td_put_bytes(struct td_record *r, size_t offset, const char *s,
		  size_t size);
void td_put_string(struct td_record *r, size_t offset, const char *s);

/* Events of one CPU must be written in order of time. */
void td_write(struct td *td, unsigned int buffer, unsigned int cpu, uint64_t ts,
	      const struct td_record *r);
/* What comes next on the CPU is marked as following lost events. */
void td_lose(struct td *td, unsigned int buffer, unsigned int cpu);
void td_lose_some(struct td *td, unsigned int buffer, unsigned int cpu,
		  uint32_t nr);

bool td_save(struct td *td, const char *path);
/* td_save() with a message if it fails, and td_free() */
bool td_finish(struct td *td, const char *path);

/*
 * Instead of td_save(), a file larger than memory: td_stream(), then for each CPU
 * in turn all of its td_write() and td_stream_cpu(), then td_stream_end(). Main
 * buffer only.
 */
bool td_stream(struct td *td, const char *path);
void td_stream_cpu(struct td *td, unsigned int cpu);
bool td_stream_end(struct td *td);
void td_free(struct td *td);

#endif
