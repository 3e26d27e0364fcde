// SPDX-License-Identifier: GPL-2.0
/* schedz expand: a trace.dat with ordinary events in the place of blocks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hash.h"
#include "schedz.h"
#include "text.h"

/* Room for names of tasks in the first attempt; a name has about 25 bytes */
#define NAMES_MIN 4096
#define NAMES_MAX (1 << 20)

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

		if (tep_is_pid_registered(t->tep, task->pid) ||
		    strpbrk(name, "\n") ||
		    strnlen(name, SCHEDZ_COMM_LEN) == SCHEDZ_COMM_LEN)
			continue;
		fprintf(out, "%d %s\n", task->pid, name);
	}
	text_close(out);
	return text;
}

struct expansion {
	struct trace trace;
	struct datfile *file;
};

static int begin(struct expansion *x, FILE *out, size_t names_room)
{
	struct datfile_format format[SCHEDZ_KINDS];
	struct trace *t = &x->trace;
	const struct layouts *l = &t->blocks->layouts;
	struct datfile_extra extra = { .format = format,
				       .names_room = names_room,
				       .clock = t->clock };
	unsigned int kind;

	for (kind = 0; kind < SCHEDZ_KINDS; kind++) {
		if (!l->missing[kind])
			continue;
		format[extra.nr_formats].system = "sched";
		format[extra.nr_formats++].text = l->format[kind];
	}
	x->file = datfile_begin(t->handle, out, &extra);
	if (!x->file)
		return guard_fail(t->guard, GUARD_NOWHERE,
				  "damaged: its head cannot be read");
	return 0;
}

static int expand_cpu(struct expansion *x, unsigned int cpu)
{
	struct trace *t = &x->trace;
	struct record rec;

	datfile_cpu(x->file, cpu);
	records_only(t->records, cpu);
	while (records_next(t->records, &rec)) {
		if (rec.lost)
			datfile_lost(x->file, rec.missed);
		datfile_event(x->file, rec.ts, rec.data, rec.size);
	}
	return records_status(t->records);
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
	names = cmdlines(t, &t->blocks->names);
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
	size_t names_room = t->blocks->bytes / 64;
	int status;

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
	struct expansion x = { 0 };
	int status;

	status = trace_open(&x.trace, g, file, instance);
	if (!status)
		status = run(&x, out);
	if (!status && !x.trace.blocks->nr)
		guard_note(g, "has no blocks of schedz; its events are copied");
	if (!status && x.trace.lost)
		guard_note(g, "%llu event%s lost between blocks",
			   (unsigned long long)x.trace.lost,
			   plural(x.trace.lost));
	trace_close(&x.trace);
	return status;
}
