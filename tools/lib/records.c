// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the records of a trace.dat in order of time. See records.h.
 *
 * Each CPU's records are in order. The CPU with the earliest one is read until
 * its next record is later than that of the runner-up; records of the same time
 * come in order of their CPUs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <unistd.h>

#include <kbuffer.h>
#include <trace-cmd.h>

#include "blocks.h"
#include "instance.h"
#include "memory.h"
#include "records.h"
#include "tracefile.h"

#define ALIVE_RECORDS 65536

/* The kernel has no more */
#define MAX_CPU 65535

/* Bytes of a CPU's pages that are read at a time */
#define READ_BYTES (128u << 10)

/**
 * struct stream - the records of one CPU
 * @head:	the next one
 * @there:	@head is valid
 * @ring:	with blocks, the next record of the ring buffer
 * @ring_there:	@ring is valid
 * @expanded:	with blocks, @head is an event of one, not @ring
 * @cpu:	which CPU
 * @kbuf:	the current page
 * @loaded:	there is one
 * @page:	where the next one begins, in the file
 * @from:	where the CPU's pages begin, in the file
 * @end:	and end
 * @buffer:	pages that were read, or NULL
 * @buffered:	where they begin, in the file
 * @buffer_end:	and end
 * @last:	time of the last record
 * @record:	libtracecmd's record, or NULL
 * @rewound:	the next record is the CPU's first
 */
struct stream {
	struct record head;
	bool there;
	struct record ring;
	bool ring_there;
	bool expanded;
	u32 cpu;
	struct kbuffer *kbuf;
	bool loaded;
	u64 page;
	u64 from;
	u64 end;
	u8 *buffer;
	u64 buffered;
	u64 buffer_end;
	u64 last;
	struct tep_record *record;
	bool rewound;
};

/**
 * struct records - a file that is read
 * @guard:	the guard
 * @info:	its outline
 * @handle:	libtracecmd's
 * @instance:	libtracecmd's handle of a trace instance, or NULL
 * @fd:		the file
 * @map:	the file, for what stays until it is closed; or NULL: libtracecmd reads it
 * @blocks:	its blocks, or NULL
 * @expanding:	their events come in their place
 * @stream:	one for each CPU
 * @nr:		number of them
 * @now:	the one that is read
 * @until:	read it while its records are earlier than this,
 * @until_cpu:	or at the same time and its CPU number is less
 * @count:	records so far
 * @bytes:	pages read so far
 * @quiet:	progress is shown by the caller
 * @status:	0, or EXIT_FAILURE after guard_fail()
 */
struct records {
	struct guard *guard;
	struct tracefile_info info;
	struct tracecmd_input *handle;
	struct tracecmd_input *instance;
	int fd;
	u8 *map;
	struct blocks *blocks;
	bool expanding;
	struct stream *stream;
	u32 nr;
	struct stream *now;
	u64 until;
	u32 until_cpu;
	u64 count;
	u64 bytes;
	bool quiet;
	int status;
};

static void fail(struct records *r, u64 offset, const char *reason)
{
	r->status = guard_fail(r->guard, offset, "%s", reason);
}

/* Negative: their number is not known */
static void note_missed(struct stream *s, long long nr)
{
	s->head.lost |= nr != 0;
	s->head.missed += nr > 0 ? nr : 0;
}

/*
 * The page at @page, or NULL after a failure. Pages are read, not mapped: a page fault, or
 * that of a virtual machine's host, costs more than a copy into memory that is cached.
 */
static u8 *read_page(struct records *r, struct stream *s)
{
	u64 size = max_t(u64, READ_BYTES, r->info.page_size);
	u64 whole = min(size, s->end - s->page);
	ssize_t len;

	if (s->page < s->buffered ||
	    s->page + r->info.page_size > s->buffer_end) {
		if (!s->buffer)
			s->buffer = xzalloc(size);
		len = pread(r->fd, s->buffer, whole, s->page);
		if (len < (ssize_t)r->info.page_size) {
			fail(r, s->page,
			     len < 0 ?
				     strerror(errno) :
				     "damaged: the file is shorter than it was");
			return NULL;
		}
		s->buffered = s->page;
		s->buffer_end = s->page + len;
	}
	return s->buffer + (s->page - s->buffered);
}

/* The next page with a record in it */
static void *load_page(struct records *r, struct stream *s,
		       unsigned long long *ts)
{
	u32 head = 8 + r->info.long_size;
	void *data = NULL;

	while (!data && s->end - s->page >= r->info.page_size) {
		u8 *page = read_page(r, s);
		struct number commit = { .offset = 8,
					 .size = r->info.long_size,
					 .swap = r->info.big_endian !=
						 (__BYTE_ORDER ==
						  __BIG_ENDIAN) };
		struct record whole = { .data = page };

		if (!page)
			return NULL;
		/* higher bits are flags */
		if ((number_get(&commit, &whole) & 0xfffffff) >
		    r->info.page_size - head) {
			fail(r, s->page + 8,
			     "damaged: a page holds more than its size");
			return NULL;
		}
		kbuffer_load_subbuffer(s->kbuf, page);
		s->loaded = true;
		data = kbuffer_read_event(s->kbuf, ts);
		s->page += r->info.page_size;
		r->bytes += r->info.page_size;
		if (data)
			note_missed(s, kbuffer_missed_events(s->kbuf));
	}
	return data;
}

static void advance_pages(struct records *r, struct stream *s)
{
	unsigned long long ts = 0;
	u64 page_at, in_page;
	u8 *data;

	s->head.lost = false;
	s->head.missed = 0;
	data = s->loaded ? kbuffer_next_event(s->kbuf, &ts) : NULL;
	if (!data)
		data = load_page(r, s, &ts);
	s->there = data;
	if (!data)
		return;
	page_at = s->page - r->info.page_size;
	in_page = data - s->buffer - (page_at - s->buffered);
	s->head.data = data;
	s->head.size = kbuffer_event_size(s->kbuf);
	s->head.stored = kbuffer_curr_size(s->kbuf);
	s->head.offset = page_at + in_page;
	s->head.ts = ts;
	if (in_page > r->info.page_size ||
	    s->head.size > r->info.page_size - in_page)
		fail(r, page_at, "damaged: a record leaves its page");
	else if (ts < s->last)
		fail(r, s->head.offset,
		     "its clock is not monotonic: a record is older than the one before it");
	s->last = ts;
}

/*
 * libtracecmd does not check the size in a record's header. Pages are at multiples of
 * their size in the file, and a record's offset is that of its header.
 */
static bool leaves_page(const struct records *r, const struct tep_record *rec)
{
	int page = r->info.page_size;

	return rec->size > rec->record_size ||
	       rec->record_size > page - (int)(rec->offset % page);
}

static void advance_library(struct records *r, struct stream *s)
{
	struct tracecmd_input *from = r->instance ? r->instance : r->handle;
	bool first = s->rewound;

	s->rewound = false;
	if (s->record)
		tracecmd_free_record(s->record);
	s->record = first ? tracecmd_read_cpu_first(from, s->cpu) :
			    tracecmd_read_data(from, s->cpu);
	s->there = s->record;
	if (!s->record)
		return;
	s->head.data = s->record->data;
	s->head.size = s->record->size < 0 ? 0 : s->record->size;
	s->head.stored = s->record->record_size;
	s->head.lost = false;
	s->head.missed = 0;
	note_missed(s, s->record->missed_events);
	s->head.offset = s->record->offset;
	s->head.ts = s->record->ts;
	r->bytes += s->record->record_size;
	if (s->head.size >= 8 && leaves_page(r, s->record))
		fail(r, s->head.offset, "damaged: a record leaves its page");
	else if (s->head.ts < s->last)
		fail(r, s->head.offset,
		     "its clock is not monotonic: a record is older than the one before it");
	s->last = s->head.ts;
}

static void advance_ring(struct records *r, struct stream *s)
{
	if (r->map)
		advance_pages(r, s);
	else
		advance_library(r, s);
}

/* The next record that is not a block whose events are read; other records may be lost, too */
static void advance_others(struct records *r, struct stream *s)
{
	bool lost = false;

	advance_ring(r, s);
	while (s->there && !r->status && blocks_has(r->blocks, &s->head)) {
		lost |= s->head.lost && !r->blocks->strict;
		advance_ring(r, s);
	}
	s->head.lost |= lost;
}

static void advance(struct records *r, struct stream *s)
{
	if (!r->expanding) {
		advance_ring(r, s);
		return;
	}
	if (!s->expanded) {
		advance_others(r, s);
		s->ring = s->head;
		s->ring_there = s->there;
	}
	s->head = s->ring;
	s->expanded = blocks_next(r->blocks, s->cpu,
				  s->ring_there ? s->ring.ts : U64_MAX,
				  &s->head);
	s->there = s->ring_there || s->expanded;
	if (r->blocks->status)
		r->status = r->blocks->status;
}

static bool is_before(const struct stream *a, const struct stream *b)
{
	return a->head.ts < b->head.ts ||
	       (a->head.ts == b->head.ts && a->cpu < b->cpu);
}

/* Find the earliest stream, and until when it is the earliest */
static void choose(struct records *r)
{
	struct stream *first = NULL, *second = NULL, *s;

	for (s = r->stream; s < r->stream + r->nr; s++) {
		if (!s->there)
			continue;
		if (!first || is_before(s, first)) {
			second = first;
			first = s;
		} else if (!second || is_before(s, second)) {
			second = s;
		}
	}
	r->now = first;
	r->until = second ? second->head.ts : U64_MAX;
	r->until_cpu = second ? second->cpu : U32_MAX;
}

/**
 * records_next - read a record
 * @r: the file
 * @rec: where to put it; its data is there until the next call
 *
 * Return: false if there is none, or after a failure: see records_status().
 */
bool records_next(struct records *r, struct record *rec)
{
	struct stream *s = r->now;

	if (s) {
		advance(r, s);
		if (!s->there || s->head.ts > r->until ||
		    (s->head.ts == r->until && s->cpu > r->until_cpu))
			s = NULL;
	}
	if (!s) {
		choose(r);
		s = r->now;
	}
	if (!s || r->status)
		return false;
	*rec = s->head;
	if (++r->count % ALIVE_RECORDS == 0) {
		guard_alive(r->guard, rec->offset);
		if (!r->quiet)
			guard_progress(r->guard, "%.1f M records, %.0f %%",
				       r->count / 1e6,
				       r->info.data ?
					       100.0 * r->bytes / r->info.data :
					       100);
	}
	return true;
}

/**
 * records_status - whether reading has failed
 * @r: the file
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int records_status(const struct records *r)
{
	return r->status;
}

static void rewind_stream(struct records *r, struct stream *s)
{
	s->page = s->from;
	s->loaded = false;
	s->last = 0;
	s->rewound = true;
	s->expanded = false;
	if (r->expanding)
		blocks_rewind(r->blocks, s->cpu);
	advance(r, s);
}

/**
 * records_rewind - begin again with the first record
 * @r: the file
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int records_rewind(struct records *r)
{
	struct stream *s;

	r->bytes = 0;
	r->count = 0;
	for (s = r->stream; s < r->stream + r->nr; s++)
		rewind_stream(r, s);
	r->now = NULL;
	return r->status;
}

/**
 * records_only - begin again with the first record of a CPU, and read no other CPU's
 * @r: the file
 * @cpu: the CPU
 */
void records_only(struct records *r, u32 cpu)
{
	struct stream *s;

	for (s = r->stream; s < r->stream + r->nr; s++) {
		s->there = false;
		if (s->cpu == cpu)
			rewind_stream(r, s);
	}
	r->now = NULL;
}

/**
 * records_quiet - leave it to the caller to show progress
 * @r: the file
 */
void records_quiet(struct records *r)
{
	r->quiet = true;
}

/**
 * records_go_after - continue elsewhere in the records of a CPU
 * @r: the file
 * @cpu: the CPU
 * @offset: where a record of it is, as struct record has it: the next one is read next;
 *	0: the first record is. Not after records_expand()
 */
void records_go_after(struct records *r, u32 cpu, u64 offset)
{
	struct stream *s = r->stream;

	while (s < r->stream + r->nr && s->cpu != cpu)
		s++;
	r->now = NULL;
	if (s == r->stream + r->nr || r->status)
		return;
	s->last = 0;
	s->rewound = !offset;
	s->page = s->from;
	s->loaded = false;
	if (offset && r->map)
		s->page = offset - (offset - s->from) % r->info.page_size;
	if (s->record)
		tracecmd_free_record(s->record);
	s->record = NULL;
	if (offset && !r->map)
		tracecmd_free_record(tracecmd_read_at(
			r->instance ? r->instance : r->handle, offset, NULL));
	do {
		advance(r, s);
	} while (r->map && s->there && !r->status && s->head.offset <= offset);
}

static void add_stream(struct records *r, u32 cpu, u64 offset, u64 size)
{
	struct stream *s = &r->stream[r->nr++];

	s->cpu = s->head.cpu = cpu;
	s->from = offset;
	s->end = offset + size;
	if (r->map)
		s->kbuf = kbuffer_alloc(
			r->info.long_size == 8 ? KBUFFER_LSIZE_8 :
						 KBUFFER_LSIZE_4,
			r->info.big_endian ? KBUFFER_ENDIAN_BIG :
					     KBUFFER_ENDIAN_LITTLE);
	if (r->map && !s->kbuf)
		memory_failed();
}

static int start(struct records *r)
{
	bool plain = !r->info.compressed && !r->info.tsc && !r->info.shifted &&
		     r->info.cpus;
	u32 cpus, i;

	if (plain) {
		r->map = mmap(NULL, r->info.size, PROT_READ, MAP_PRIVATE, r->fd,
			      0);
		if (r->map == MAP_FAILED && errno == ENOMEM)
			memory_failed();
		if (r->map == MAP_FAILED) {
			r->map = NULL;
			return guard_fail(r->guard, GUARD_NOWHERE, "%s",
					  strerror(errno));
		}
	}
	cpus = plain ? r->info.cpus :
		       (u32)tep_get_cpus(tracecmd_get_tep(r->handle));
	r->stream = xcalloc(cpus + 1, sizeof(*r->stream));
	for (i = 0; i < cpus; i++) {
		if (plain && r->info.pages[i].cpu > MAX_CPU)
			return guard_fail(r->guard, GUARD_NOWHERE,
					  "damaged: there is no CPU %u",
					  r->info.pages[i].cpu);
		if (plain)
			add_stream(r, r->info.pages[i].cpu,
				   r->info.pages[i].offset,
				   r->info.pages[i].size);
		else
			add_stream(r, i, 0, 0);
	}
	return records_rewind(r);
}

static struct records *open_file(struct guard *g, const char *file,
				 const char *instance, bool any_clock)
{
	struct records *r = xzalloc(sizeof(*r));
	struct tracefile_error error;

	r->guard = g;
	r->fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (r->fd < 0) {
		guard_fail(g, GUARD_NOWHERE, "%s", strerror(errno));
		free(r);
		return NULL;
	}
	if (!tracefile_check(r->fd, instance ? instance : "", &r->info,
			     &error) ||
	    (!any_clock && !tracefile_clock(&r->info, &error))) {
		guard_fail(g, error.offset, "%s", error.reason);
	} else {
		r->handle = tracecmd_open(file, TRACECMD_FL_LOAD_NO_PLUGINS);
		if (r->handle && instance && *instance)
			r->instance = instance_open(g, r->handle, instance);
		if (r->handle && !r->instance == !(instance && *instance) &&
		    !start(r)) {
			if (!instance)
				instance_note(g, r->handle);
			return r;
		}
	}
	records_close(r);
	return NULL;
}

/**
 * records_open - open a file
 * @g: the guard
 * @file: its name
 * @instance: the trace instance to read; "" for the main one; NULL also, with a note
 *	that lists the others
 *
 * Plugins are not loaded: their output is not used, and they might not withstand hostile
 * records.
 *
 * Return: the file, positioned before its first record, or NULL after
 * guard_fail(), or after a message of libtracecmd.
 */
struct records *records_open(struct guard *g, const char *file,
			     const char *instance)
{
	return open_file(g, file, instance, false);
}

/**
 * records_open_clock - open a file whose time stamps need not be ns
 * @g: the guard
 * @file: its name
 * @instance: as for records_open()
 *
 * Return: as records_open().
 */
struct records *records_open_clock(struct guard *g, const char *file,
				   const char *instance)
{
	return open_file(g, file, instance, true);
}

static bool has_stream(const struct records *r, u32 cpu)
{
	u32 i;

	for (i = 0; i < r->nr; i++) {
		if (r->stream[i].cpu == cpu)
			return true;
	}
	return false;
}

/* A CPU's blocks may be in the ring buffer of another one, and its own be empty */
static void add_streams(struct records *r)
{
	u32 cpu;

	for (cpu = 0; cpu < r->blocks->cpus; cpu++) {
		if (!r->blocks->stream[cpu].nr || has_stream(r, cpu))
			continue;
		r->stream =
			xreallocarray(r->stream, r->nr + 1, sizeof(*r->stream));
		memset(&r->stream[r->nr], 0, sizeof(*r->stream));
		add_stream(r, cpu, 0, 0);
	}
}

/**
 * records_expand - read the events of schedz's blocks as ordinary records
 * @r: the file, just opened; the events' descriptions are added to it if it has none
 * @strict: a block that cannot be read is a failure; otherwise a note says so, and the
 *	record after it is one after lost records
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int records_expand(struct records *r, bool strict)
{
	struct blocks *b;
	const char *wrong;
	char why[200];

	r->blocks = b = blocks_read(r->guard, r, strict);
	if (b->status)
		return b->status;
	if (!b->nr && !b->nr_bad)
		return records_rewind(r);
	if (r->info.tsc || r->info.shifted) {
		snprintf(
			why, sizeof(why),
			"has times that were converted from those of its clock, but the times in blocks were not: record with another clock");
	} else if ((wrong = blocks_layouts(b, r->info.long_size))) {
		snprintf(why, sizeof(why),
			 "has events %s with other fields than Linux 6.12",
			 wrong);
	} else {
		add_streams(r);
		r->expanding = true;
		return records_rewind(r);
	}
	if (strict)
		return guard_fail(r->guard, GUARD_NOWHERE, "%s", why);
	guard_note(r->guard, "%s; its blocks are not read", why);
	return records_rewind(r);
}

/**
 * records_open_expanded - open a file, whose blocks of schedz are read as their events
 * @g: the guard
 * @file: its name
 * @instance: as for records_open()
 *
 * Return: as records_open().
 */
struct records *records_open_expanded(struct guard *g, const char *file,
				      const char *instance)
{
	struct records *r = records_open(g, file, instance);

	if (r && records_expand(r, false)) {
		records_close(r);
		return NULL;
	}
	return r;
}

/**
 * records_close - close a file
 * @r: the file, or NULL
 */
void records_close(struct records *r)
{
	u32 i;

	if (!r)
		return;
	for (i = 0; i < r->nr; i++) {
		kbuffer_free(r->stream[i].kbuf);
		free(r->stream[i].buffer);
		if (r->stream[i].record)
			tracecmd_free_record(r->stream[i].record);
	}
	if (r->map)
		munmap(r->map, r->info.size);
	if (r->instance)
		tracecmd_close(r->instance);
	if (r->handle)
		tracecmd_close(r->handle);
	close(r->fd);
	tracefile_free(&r->info);
	blocks_free(r->blocks);
	free(r->stream);
	free(r);
}

/**
 * records_outline - the outline of a file
 * @r: the file
 */
const struct tracefile_info *records_outline(const struct records *r)
{
	return &r->info;
}

/**
 * records_handle - libtracecmd's handle of a file
 * @r: the file
 */
struct tracecmd_input *records_handle(const struct records *r)
{
	return r->handle;
}

/**
 * records_tep - the event formats of a file
 * @r: the file
 */
struct tep_handle *records_tep(const struct records *r)
{
	return tracecmd_get_tep(r->handle);
}

/**
 * records_cpus - number of CPUs of a file
 * @r: the file
 *
 * Return: one more than the highest number of a CPU.
 */
u32 records_cpus(const struct records *r)
{
	u32 i, cpus = 0;

	for (i = 0; i < r->nr; i++) {
		if (r->stream[i].cpu >= cpus)
			cpus = r->stream[i].cpu + 1;
	}
	return cpus;
}

/**
 * records_map - the mapped file
 * @r: the file
 *
 * Return: what is at struct record's @offset of it stays until records_close(); NULL if pages
 *	are compressed or times are converted.
 */
const u8 *records_map(const struct records *r)
{
	return r->map;
}

/**
 * records_blocks - the blocks of a file
 * @r: the file, after records_expand()
 */
struct blocks *records_blocks(const struct records *r)
{
	return r->blocks;
}
