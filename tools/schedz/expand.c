// SPDX-License-Identifier: GPL-2.0
/* schedz expand: a trace.dat with ordinary events in the place of blocks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hash.h"
#include "schedz.h"

/* Room for names of tasks in the first attempt; a name has about 25 bytes */
#define NAMES_MIN 4096
#define NAMES_MAX (1 << 20)

int tracecmd_long_size(struct tracecmd_input *handle); /* has no header */

/* ---- names of tasks: trace-cmd saves only those of tasks with records ---- */

static void keep_name(struct hash *names, const struct schedz_task *task)
{
	u64 hash = hash_u64(task->pid);
	struct schedz_task *t;

	/* trace-cmd itself names pid 0, which is each CPU's idle task */
	if (task->pid <= 0)
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

/* Lines "PID NAME" for tasks whose names the file lacks */
static char *cmdlines(struct trace *t, const struct hash *names)
{
	const struct schedz_task *task;
	char *text = NULL;
	size_t len;
	u32 i;
	FILE *out = text_open(&text, &len);

	hash_for_each(names, i, task) {
		const char *name = (const char *)task->name;

		if (tep_is_pid_registered(t->tep, task->pid) || !*name ||
		    strpbrk(name, "\n") ||
		    strnlen(name, SCHEDZ_COMM_LEN) == SCHEDZ_COMM_LEN)
			continue;
		fprintf(out, "%d %s\n", task->pid, name);
	}
	text_close(out);
	return text;
}

/* ---- */

/**
 * struct queue - a block's events as records, to be merged with others
 * @layouts: layouts of the records
 * @names: struct schedz_task with the name of each pid
 * @data: the records, each after its struct entry
 * @len: length of @data
 * @room: allocated length of @data
 * @at: offset of the next entry
 */
struct queue {
	const struct layouts *layouts;
	struct hash *names;
	uint8_t *data;
	size_t len;
	size_t room;
	size_t at;
};

struct entry {
	uint64_t ts;
	uint32_t len;
};

static void put_record(const struct schedz_event *event, void *arg)
{
	struct queue *q = arg;
	struct entry e = { .ts = event->time };

	if (q->len + sizeof(e) + RECORD_MAX > q->room) {
		q->room = 2 * q->room + sizeof(e) + RECORD_MAX;
		q->data = xreallocarray(q->data, q->room, 1);
	}
	keep_names(q->names, event);
	e.len = record_make(q->layouts, q->data + q->len + sizeof(e), event);
	memcpy(q->data + q->len, &e, sizeof(e));
	q->len += sizeof(e) + e.len;
}

struct expansion {
	struct trace trace;
	struct layouts layouts;
	struct datfile *file;
	struct schedz_decoder *decoder;
	struct queue queue;
	struct hash names;
};

static int begin(struct expansion *x, FILE *out, size_t names_room)
{
	struct datfile_format format[SCHEDZ_KINDS];
	struct trace *t = &x->trace;
	struct datfile_extra extra = { .format = format,
				       .names_room = names_room,
				       .clock = t->clock };
	unsigned int kind;

	for (kind = 0; kind < SCHEDZ_KINDS; kind++) {
		if (!x->layouts.missing[kind])
			continue;
		format[extra.nr_formats].system = "sched";
		format[extra.nr_formats++].text = x->layouts.format[kind];
	}
	x->file = datfile_begin(t->handle, out, &extra);
	if (!x->file)
		return guard_fail(t->guard, GUARD_NOWHERE,
				  "damaged: its head cannot be read");
	return 0;
}

/* Write the events of blocks up to a time */
static int put_until(struct expansion *x, const struct stream *s, size_t *next,
		     uint64_t ts)
{
	struct queue *q = &x->queue;
	struct entry e;
	int status;

	for (;;) {
		if (q->at == q->len) {
			if (*next == s->nr || s->block[*next].header.time > ts)
				return 0;
			if (trace_gap(s, *next))
				datfile_lost(x->file, trace_gap(s, *next));
			q->at = q->len = 0;
			status = trace_decode(&x->trace, x->decoder,
					      &s->block[(*next)++], put_record,
					      q);
			if (status)
				return status;
		}
		memcpy(&e, q->data + q->at, sizeof(e));
		if (e.ts > ts)
			return 0;
		datfile_event(x->file, e.ts, q->data + q->at + sizeof(e),
			      e.len);
		q->at += sizeof(e) + e.len;
	}
}

static int expand_cpu(struct expansion *x, unsigned int cpu)
{
	struct trace *t = &x->trace;
	const struct stream *s = &t->stream[cpu];
	struct record rec;
	size_t next = 0;
	int status;

	datfile_cpu(x->file, cpu);
	x->queue.at = x->queue.len = 0;
	records_only(t->records, cpu);
	while (records_next(t->records, &rec)) {
		if (trace_is_block(t, &rec))
			continue;
		status = put_until(x, s, &next, rec.ts);
		if (status)
			return status;
		if (rec.lost)
			datfile_lost(x->file, rec.missed);
		datfile_event(x->file, rec.ts, rec.data, rec.size);
	}
	status = records_status(t->records);
	return status ? status : put_until(x, s, &next, UINT64_MAX);
}

/* *@names_room is 0 afterwards, or the room that the names need if that is more */
static int write_file(struct expansion *x, FILE *out, size_t *names_room)
{
	struct trace *t = &x->trace;
	unsigned int cpu;
	int status = begin(x, out, *names_room);
	char *names;

	for (cpu = 0; cpu < t->cpus && !status; cpu++) {
		guard_progress(t->guard, "CPU %u of %u", cpu, t->cpus);
		status = expand_cpu(x, cpu);
	}
	guard_progress(t->guard, NULL);
	names = cmdlines(t, &x->names);
	*names_room = 0;
	if (x->file && !datfile_names(x->file, names))
		*names_room = strlen(names);
	free(names);
	if (x->file && !datfile_end(x->file) && !status)
		status = guard_fail(t->guard, GUARD_NOWHERE,
				    "the result could not be written");
	x->file = NULL;
	return status;
}

/* Names precede events in a file but are known last: it may have to be written twice */
static int run(struct expansion *x, FILE *out)
{
	struct trace *t = &x->trace;
	size_t names_room = t->block_bytes / 64;
	const char *wrong;
	int status;

	wrong = layouts_init(&x->layouts, t->tep, t->max_id + 1,
			     tracecmd_long_size(t->handle) == 4 ? 4 : 8);
	if (wrong)
		return guard_fail(
			t->guard, GUARD_NOWHERE,
			"has events %s with other fields than Linux 6.12",
			wrong);
	x->queue.layouts = &x->layouts;
	x->queue.names = &x->names;
	if (names_room < NAMES_MIN)
		names_room = NAMES_MIN;
	if (names_room > NAMES_MAX)
		names_room = NAMES_MAX;
	status = write_file(x, out, &names_room);
	if (status || !names_room)
		return status;
	rewind(out);
	if (ftruncate(fileno(out), 0))
		return guard_fail(t->guard, GUARD_NOWHERE,
				  "the result could not be written: %s",
				  strerror(errno));
	return write_file(x, out, &names_room);
}

/**
 * expand - write a trace with ordinary events
 * @g: the guard
 * @out: output, seekable
 * @file: a trace with blocks
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int expand(struct guard *g, FILE *out, const char *file, const char *instance)
{
	struct expansion x = { .decoder = xzalloc(schedz_decoder_size()) };
	int status;

	status = trace_open(&x.trace, g, file, instance);
	if (!status)
		status = run(&x, out);
	if (!status && !x.trace.blocks)
		guard_note(g, "has no blocks of schedz; its events are copied");
	if (!status && x.trace.lost)
		guard_note(g, "%llu events were lost between blocks",
			   (unsigned long long)x.trace.lost);
	trace_close(&x.trace);
	layouts_free(&x.layouts);
	hash_free(&x.names);
	free(x.queue.data);
	free(x.decoder);
	return status;
}
