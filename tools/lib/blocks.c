// SPDX-License-Identifier: GPL-2.0
/* The blocks of schedz in a file. See blocks.h. */
#include <event-parse.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "memory.h"
#include "order.h"
#include "text.h"

int tracecmd_cpus(struct tracecmd_input *handle); /* has no header */

/* The record of a block, on any machine: common fields, seq, events, data_loc */
enum { AT_LOC = 16, AT_BLOCK = 20 };

/* The kernel has no more */
#define CPUS_MAX 65536

/* Names that are added to a file's; the library moves all names for each */
#define NAMES_MAX 16384

/* What comes before a record in a queue */
struct entry {
	u64 ts;
	u32 len;
};

static const char *error_text(enum schedz_error error)
{
	switch (error) {
	case SCHEDZ_OTHER_VERSION:
		return "a block of another version; the schedz of the same release as the kernel reads it";
	case SCHEDZ_CHECKSUM:
		return "damaged: a block has a wrong checksum";
	case SCHEDZ_LENGTHS:
		return "damaged: a block's lengths are wrong";
	default:
		return "damaged: a block cannot be decoded";
	}
}

/* ---- finding them ---- */

/*
 * The block in a record, or NULL. trace-cmd record -e sched -O schedz does not save the
 * format of schedz_block, so a record without a format that looks like a block is one.
 */
static inline const u8 *find_block(const struct blocks *b,
				   const struct record *rec, u32 *len)
{
	const u8 *data = rec->data;
	u32 loc;

	if (rec->size < AT_BLOCK + SCHEDZ_HEADER ||
	    data[AT_BLOCK] != SCHEDZ_MAGIC_0 ||
	    data[AT_BLOCK + 1] != SCHEDZ_MAGIC_1)
		return NULL;
	loc = tep_read_number(b->tep, data + AT_LOC, 4);
	*len = loc >> 16;
	if ((loc & 0xffff) != AT_BLOCK || *len > rec->size - AT_BLOCK ||
	    *len < SCHEDZ_HEADER)
		return NULL;
	if ((int)number_in(&b->type, rec) != b->block_id &&
	    tep_find_event(b->tep, number_in(&b->type, rec)))
		return NULL;
	return data + AT_BLOCK;
}

static void skip_block(struct blocks *b, u32 cpu, u64 ts, u64 at,
		       const char *why)
{
	struct block_stream *s = cpu < b->cpus ? &b->stream[cpu] : NULL;

	if (b->strict) {
		b->status = guard_fail(b->guard, at, "%s", why);
		return;
	}
	if (!b->nr_bad) {
		b->first_bad = at;
		b->why = why;
	}
	GROW(b->bad, b->nr_bad, b->bad_room);
	b->bad[b->nr_bad++] = at;
	if (s && ts < s->bad_first)
		s->bad_first = ts;
	if (s && ts > s->bad_last)
		s->bad_last = ts;
}

static void keep_block(struct blocks *b, const struct record *rec)
{
	struct schedz_header h = { 0 };
	struct block_stream *s;
	struct block *block;
	u32 len;
	const u8 *data = find_block(b, rec, &len);
	enum schedz_error error = SCHEDZ_MAGIC;

	if (data)
		error = schedz_read_header(data, len, &h);
	if (!error && h.cpu >= b->cpus)
		error = SCHEDZ_DAMAGED;
	if (error) {
		skip_block(b, rec->cpu, rec->ts, rec->offset,
			   error_text(error));
		return;
	}
	s = &b->stream[h.cpu];
	GROW(s->block, s->nr, s->room);
	block = &s->block[s->nr++];
	*block = (struct block){
		.ts = rec->ts, .at = rec->offset, .header = h, .len = len
	};
	block->data = b->map ? b->map + rec->offset + (data - rec->data) :
			       memcpy(xzalloc(len), data, len);
	b->nr++;
	b->bytes += rec->stored;
}

/*
 * Without the format of schedz_block, the trace option schedz has made the blocks, which
 * replaces all scheduling events: where there is one of these first, there are no blocks.
 */
static int plain_id(const struct blocks *b, const char *name)
{
	struct tep_event *event = tep_find_event_by_name(b->tep, "sched", name);

	return event && !b->strict && b->block_id < 0 ? event->id : -1;
}

static void read_records(struct blocks *b, struct records *r)
{
	int id, switches = plain_id(b, "sched_switch");
	int wakings = plain_id(b, "sched_waking");
	struct record rec;
	u32 len;

	while (!b->status && records_next(r, &rec)) {
		id = number_in(&b->type, &rec);
		if (id > (int)b->max_id)
			b->max_id = id;
		if (id == b->block_id || find_block(b, &rec, &len))
			keep_block(b, &rec);
		else
			b->others++;
		if ((id == switches || id == wakings) && !b->nr && !b->nr_bad)
			break;
	}
	if (!b->status)
		b->status = records_status(r);
}

/* trace-cmd saves the formats of the events that the option is for */
static bool can_have_blocks(const struct blocks *b)
{
	int i;

	for (i = 0; i < tep_get_events_count(b->tep); i++) {
		if (!strcmp(tep_get_event(b->tep, i)->system, "sched"))
			return true;
	}
	return b->strict || b->block_id >= 0;
}

static int by_number(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	return ORDER(x->header.before, y->header.before);
}

/**
 * blocks_gap - number of events that are lost before a block
 * @s: the CPU's blocks
 * @i: index of the block; 0 events before the first one are not counted
 */
u64 blocks_gap(const struct block_stream *s, size_t i)
{
	const struct schedz_header *h = &s->block[i].header;
	u64 end;

	if (!i)
		return 0;
	end = s->block[i - 1].header.before + s->block[i - 1].header.events;
	return h->before > end ? h->before - end : 0;
}

/**
 * blocks_decode - decode a block
 * @b: the blocks
 * @block: one of them
 * @put: called for each event
 * @arg: passed to @put
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int blocks_decode(struct blocks *b, const struct block *block,
		  void (*put)(const struct schedz_event *event, void *arg),
		  void *arg)
{
	enum schedz_error error =
		schedz_decode(b->decoder, block->data, block->len, put, arg);

	guard_alive(b->guard, block->at);
	if (error)
		b->status = guard_fail(b->guard, block->at, "%s",
				       error_text(error));
	return b->status;
}

/* ---- names of tasks: trace-cmd saves only those of tasks with records ---- */

static void keep_name(struct hash *names, const struct schedz_task *task)
{
	u64 hash = hash_u64(task->pid);
	struct schedz_task *t;

	/* trace-cmd itself names pid 0, which is each CPU's idle task */
	if (task->pid <= 0 || !*(const char *)task->name)
		return;
	hash_for_each_possible_entry(names, hash, t) {
		if (t->pid == task->pid)
			break;
	}
	if (!t)
		t = hash_new(names, hash, sizeof(*t));
	*t = *task;
}

static void keep_names(struct hash *n, const struct schedz_event *event)
{
	if (event->kind == SCHEDZ_EXEC)
		return;
	keep_name(n, &event->task);
	if (event->kind == SCHEDZ_SWITCH || event->kind == SCHEDZ_FORK)
		keep_name(n, &event->other);
}

static void add_names(struct blocks *b)
{
	const struct schedz_task *task;
	char name[SCHEDZ_COMM_LEN + 1];
	u32 i, nr = 0;

	hash_for_each(&b->names, i, task) {
		snprintf(name, sizeof(name), "%.*s", SCHEDZ_COMM_LEN,
			 (const char *)task->name);
		if (nr == NAMES_MAX || tep_is_pid_registered(b->tep, task->pid))
			continue;
		tep_register_comm(b->tep, name, task->pid);
		nr++;
	}
}

/* ---- skipping those that cannot be read ---- */

struct check {
	struct blocks *b;
	u64 last;
	bool is_unordered;
};

static void check_event(const struct schedz_event *event, void *arg)
{
	struct check *c = arg;

	c->is_unordered |= event->time < c->last;
	c->last = event->time;
	keep_names(&c->b->names, event);
}

/* Decode all blocks of a CPU, so that nothing can be wrong with them later */
static void check_stream(struct blocks *b, u32 cpu)
{
	struct block_stream *s = &b->stream[cpu];
	size_t i, good = 0;
	u64 last = 0;

	for (i = 0; i < s->nr; i++) {
		struct block *block = &s->block[i];
		struct check c = { .b = b, .last = last };
		enum schedz_error error = schedz_decode(
			b->decoder, block->data, block->len, check_event, &c);

		guard_alive(b->guard, block->at);
		if (!error && !c.is_unordered) {
			last = c.last;
			s->block[good++] = *block;
			continue;
		}
		skip_block(
			b, cpu, block->ts, block->at,
			error ? error_text(error) :
				"damaged: the events of blocks are not in order of time");
		if (!b->map)
			free((void *)block->data);
		b->nr--;
	}
	s->nr = good;
}

static int by_offset(const void *a, const void *b)
{
	return ORDER(*(const u64 *)a, *(const u64 *)b);
}

static void check_blocks(struct blocks *b)
{
	u64 found = b->nr + b->nr_bad;
	u32 cpu;

	for (cpu = 0; cpu < b->cpus; cpu++)
		check_stream(b, cpu);
	add_names(b);
	if (!b->nr_bad)
		return;
	qsort(b->bad, b->nr_bad, sizeof(*b->bad), by_offset);
	guard_note(b->guard, "%llu: %s; of %llu block%s, %zu cannot be read",
		   (unsigned long long)b->first_bad, b->why,
		   (unsigned long long)found, plural(found), b->nr_bad);
}

/**
 * blocks_read - find the blocks of a file
 * @g: the guard
 * @r: the file, positioned before its first record; it may be read to its end
 * @strict: as in struct blocks
 *
 * Return: the blocks, with a @status, for blocks_free().
 */
struct blocks *blocks_read(struct guard *g, struct records *r, bool strict)
{
	struct blocks *b = xzalloc(sizeof(*b));
	struct tep_event *event;
	int cpus, i;
	u32 cpu;

	b->guard = g;
	b->tep = records_tep(r);
	b->strict = strict;
	b->map = records_map(r);
	cpus = tracecmd_cpus(records_handle(r));
	b->cpus = max(records_cpus(r),
		      cpus < 0 || cpus > CPUS_MAX ? 0 : (u32)cpus);
	b->stream = xcalloc(b->cpus + 1, sizeof(*b->stream));
	b->decoder = xzalloc(schedz_decoder_size());
	b->block_id = -1;
	b->type = (struct number){ .size = 2,
				   .swap = tep_is_file_bigendian(b->tep) !=
					   tep_is_local_bigendian(b->tep) };
	for (cpu = 0; cpu < b->cpus; cpu++)
		b->stream[cpu].bad_first = U64_MAX;
	for (i = 0; i < tep_get_events_count(b->tep); i++) {
		event = tep_get_event(b->tep, i);
		if (event && event->id > (int)b->max_id)
			b->max_id = event->id;
	}
	event = tep_find_event_by_name(b->tep, "schedz", "schedz_block");
	if (event)
		b->block_id = event->id;
	if (can_have_blocks(b))
		read_records(b, r);
	for (cpu = 0; cpu < b->cpus; cpu++) {
		if (b->stream[cpu].nr)
			qsort(b->stream[cpu].block, b->stream[cpu].nr,
			      sizeof(struct block), by_number);
	}
	if (!b->status && !strict)
		check_blocks(b);
	return b;
}

/**
 * blocks_free - free what blocks_read() has returned
 * @b: it, or NULL
 */
void blocks_free(struct blocks *b)
{
	u32 cpu;

	if (!b)
		return;
	for (cpu = 0; cpu < b->cpus; cpu++) {
		struct block_stream *s = &b->stream[cpu];

		while (s->nr && !b->map)
			free((void *)s->block[--s->nr].data);
		free(s->block);
		free(s->queue);
	}
	free(b->stream);
	free(b->bad);
	free(b->decoder);
	layouts_free(&b->layouts);
	hash_free(&b->names);
	free(b);
}

/* ---- reading them ---- */

/**
 * blocks_layouts - prepare for making records
 * @b: the blocks
 * @long_size: bytes of a long in the file
 *
 * Return: NULL, or the name of an event whose fields are not those of Linux 6.12.
 */
const char *blocks_layouts(struct blocks *b, unsigned int long_size)
{
	return layouts_init(&b->layouts, b->tep, b->max_id + 1, long_size);
}

/**
 * blocks_has - whether the events of a record come from blocks_next() in its place
 * @b: the blocks
 * @rec: the record
 */
bool blocks_has(const struct blocks *b, const struct record *rec)
{
	u32 len;

	return find_block(b, rec, &len) &&
	       !(b->nr_bad && bsearch(&rec->offset, b->bad, b->nr_bad,
				      sizeof(*b->bad), by_offset));
}

/**
 * blocks_rewind - begin again with the first event of a CPU
 * @b: the blocks
 * @cpu: the CPU
 */
void blocks_rewind(struct blocks *b, u32 cpu)
{
	struct block_stream *s = &b->stream[cpu];

	s->next = s->len = s->at = 0;
	s->noted = false;
}

struct queueing {
	struct blocks *b;
	struct block_stream *s;
};

static void put_record(const struct schedz_event *event, void *arg)
{
	struct queueing *q = arg;
	struct block_stream *s = q->s;
	struct entry e = { .ts = event->time };

	if (s->len + sizeof(e) + RECORD_MAX > s->queue_room) {
		s->queue_room = 2 * s->queue_room + sizeof(e) + RECORD_MAX;
		s->queue = xreallocarray(s->queue, s->queue_room, 1);
	}
	if (q->b->strict)
		keep_names(&q->b->names, event);
	e.len = record_make(&q->b->layouts, s->queue + s->len + sizeof(e),
			    event);
	memcpy(s->queue + s->len, &e, sizeof(e));
	s->len += sizeof(e) + e.len;
}

/* Whether events are missing between the last one that was read and the next block's */
static bool is_in_gap(const struct block_stream *s)
{
	if (s->at < s->len)
		return false;
	if (s->next == s->nr)
		return s->bad_last > (s->nr ? s->block[s->nr - 1].ts : 0);
	return s->next ? blocks_gap(s, s->next) : s->bad_first < s->block[0].ts;
}

/**
 * blocks_next - the next event of a CPU, as a record
 * @b: the blocks
 * @cpu: the CPU
 * @until: only up to this time: that of the CPU's next record
 * @rec: where to put it; its data is there until the next call for the CPU. If there is
 *	no event, it is the CPU's next record, which comes after lost records if events
 *	before it are missing and the record before it does not say so
 *
 * Return: false if there is none, or after a failure: see @b->status.
 */
bool blocks_next(struct blocks *b, u32 cpu, u64 until, struct record *rec)
{
	struct block_stream *s = &b->stream[cpu];
	struct queueing q = { b, s };
	struct entry e = { 0 };

	while (s->at == s->len) {
		if (s->next == s->nr || s->block[s->next].header.time > until)
			break;
		s->missed = blocks_gap(s, s->next);
		s->is_after_loss = is_in_gap(s);
		s->at = s->len = 0;
		s->noted = false;
		if (blocks_decode(b, &s->block[s->next++], put_record, &q))
			return false;
	}
	if (s->at < s->len)
		memcpy(&e, s->queue + s->at, sizeof(e));
	if (s->at == s->len || e.ts > until) {
		if (!b->strict && !s->noted && is_in_gap(s))
			rec->lost = s->noted = true;
		return false;
	}
	*rec = (struct record){ .ts = e.ts,
				.data = s->queue + s->at + sizeof(e),
				.size = e.len,
				.cpu = cpu,
				.lost = s->is_after_loss,
				.missed = s->missed,
				.offset = s->block[s->next - 1].at };
	s->at += sizeof(e) + e.len;
	s->is_after_loss = false;
	s->missed = 0;
	return true;
}
