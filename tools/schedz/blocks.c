// SPDX-License-Identifier: GPL-2.0
/* The blocks of a trace. */
#include <stdlib.h>
#include <string.h>

#include "order.h"
#include "schedz.h"
#include "tracefile.h"

int tracecmd_cpus(struct tracecmd_input *handle); /* has no header */

/* The record of a block, on any machine: common fields, seq, events, data_loc */
enum { AT_LOC = 16, AT_BLOCK = 20 };

static const char *error_text(enum schedz_error error)
{
	switch (error) {
	case SCHEDZ_OTHER_VERSION:
		return "a block of another version; a newer schedz may read it";
	case SCHEDZ_CHECKSUM:
		return "damaged: a block has a wrong checksum";
	case SCHEDZ_LENGTHS:
		return "damaged: a block's lengths are wrong";
	default:
		return "damaged: a block cannot be decoded";
	}
}

/**
 * trace_is_block - is a record one of a block?
 * @t: the trace
 * @rec: the record
 *
 * trace-cmd record -e sched -O schedz does not save the format of schedz_block,
 * so a record without a format that looks like a block counts as one.
 */
bool trace_is_block(const struct trace *t, const struct record *rec)
{
	const uint8_t *data = rec->data;
	struct tep_event *event;
	uint32_t loc;

	if (rec->size < AT_BLOCK + SCHEDZ_HEADER)
		return false;
	loc = tep_read_number(t->tep, data + AT_LOC, 4);
	if ((loc & 0xffff) != AT_BLOCK || loc >> 16 > rec->size - AT_BLOCK ||
	    loc >> 16 < SCHEDZ_HEADER || data[AT_BLOCK] != SCHEDZ_MAGIC_0 ||
	    data[AT_BLOCK + 1] != SCHEDZ_MAGIC_1)
		return false;
	event = tep_find_event(t->tep, tep_read_number(t->tep, data, 2));
	return !event || !strcmp(event->name, "schedz_block");
}

static struct block *add_block(struct stream *s)
{
	if (s->nr == s->room) {
		s->room = 2 * s->room + 64;
		s->block = xreallocarray(s->block, s->room, sizeof(*s->block));
	}
	return &s->block[s->nr++];
}

static int keep_block(struct trace *t, const struct record *rec)
{
	const uint8_t *data = rec->data;
	uint32_t len = tep_read_number(t->tep, data + AT_LOC, 4) >> 16;
	struct schedz_header h;
	enum schedz_error error = schedz_read_header(data + AT_BLOCK, len, &h);
	struct block *b;

	if (!error && h.cpu >= t->cpus)
		error = SCHEDZ_DAMAGED;
	if (error)
		return guard_fail(t->guard, rec->offset, "%s",
				  error_text(error));
	b = add_block(&t->stream[h.cpu]);
	b->ts = rec->ts;
	b->at = rec->offset;
	b->header = h;
	b->len = len;
	b->data = xzalloc(len);
	memcpy(b->data, data + AT_BLOCK, len);
	t->blocks++;
	t->block_bytes += rec->stored;
	t->events += h.events;
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	return ORDER(x->header.before, y->header.before);
}

/**
 * trace_gap - number of events that are lost before a block
 * @s: the CPU's blocks
 * @i: index of the block; 0 events before the first one are not counted
 */
uint64_t trace_gap(const struct stream *s, size_t i)
{
	const struct schedz_header *h = &s->block[i].header;
	uint64_t end;

	if (!i)
		return 0;
	end = s->block[i - 1].header.before + s->block[i - 1].header.events;
	return h->before > end ? h->before - end : 0;
}

static int read_records(struct trace *t)
{
	struct record rec;
	int status = 0;

	while (!status && records_next(t->records, &rec)) {
		unsigned int id = 0;

		if (rec.size >= 2)
			id = tep_read_number(t->tep, rec.data, 2);
		if (id > t->max_id)
			t->max_id = id;
		if (trace_is_block(t, &rec))
			status = keep_block(t, &rec);
		else
			t->others++;
	}
	return status ? status : records_status(t->records);
}

static int read_blocks(struct trace *t)
{
	unsigned int cpu;
	int i, status;
	size_t n;

	for (i = 0; i < tep_get_events_count(t->tep); i++) {
		struct tep_event *event = tep_get_event(t->tep, i);

		if (event && event->id > (int)t->max_id)
			t->max_id = event->id;
	}
	status = read_records(t);
	for (cpu = 0; cpu < t->cpus; cpu++) {
		struct stream *s = &t->stream[cpu];

		if (s->nr)
			qsort(s->block, s->nr, sizeof(*s->block), by_number);
		for (n = 1; n < s->nr; n++)
			t->lost += trace_gap(s, n);
	}
	return status;
}

/**
 * trace_open - read a trace's blocks
 * @t: filled in; trace_close() is needed in any case
 * @g: the guard
 * @file: its path
 * @instance: the trace instance to read; NULL for the main one, and a note then lists
 *	the others
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int trace_open(struct trace *t, struct guard *g, const char *file,
	       const char *instance)
{
	const struct tracefile_info *info;
	struct tracefile_error error;
	int cpus;

	memset(t, 0, sizeof(*t));
	t->guard = g;
	t->file = file;
	t->records = records_open_clock(g, file, instance);
	if (!t->records)
		return EXIT_FAILURE;
	records_quiet(t->records);
	info = records_outline(t->records);
	if (info->tsc)
		return guard_fail(
			g, GUARD_NOWHERE,
			"has times that were converted from a counter's, but the times in blocks were not: record with another clock");
	snprintf(t->clock, sizeof(t->clock), "%s", info->clock);
	t->ticks = !tracefile_clock(info, &error);
	t->handle = records_handle(t->records);
	t->tep = records_tep(t->records);
	cpus = tracecmd_cpus(t->handle);
	if (cpus < 1 || cpus > 65536)
		return guard_fail(g, GUARD_NOWHERE, "damaged: %d CPUs", cpus);
	t->cpus = cpus;
	t->stream = xcalloc(t->cpus, sizeof(*t->stream));
	return read_blocks(t);
}

void trace_close(struct trace *t)
{
	unsigned int cpu;
	size_t i;

	for (cpu = 0; t->stream && cpu < t->cpus; cpu++) {
		for (i = 0; i < t->stream[cpu].nr; i++)
			free(t->stream[cpu].block[i].data);
		free(t->stream[cpu].block);
	}
	free(t->stream);
	records_close(t->records);
}

/**
 * trace_decode - decode a block
 * @t: its trace
 * @decoder: any
 * @b: the block
 * @put: called for each event
 * @arg: passed to @put
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int trace_decode(struct trace *t, struct schedz_decoder *decoder,
		 const struct block *b,
		 void (*put)(const struct schedz_event *event, void *arg),
		 void *arg)
{
	enum schedz_error error =
		schedz_decode(decoder, b->data, b->len, put, arg);

	guard_alive(t->guard, b->at);
	if (error)
		return guard_fail(t->guard, b->at, "%s", error_text(error));
	return 0;
}
