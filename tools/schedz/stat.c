// SPDX-License-Identifier: GPL-2.0
/* schedz stat: statistics of the blocks of a trace. */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "schedz.h"
#include "text.h"

static const char *const names[SCHEDZ_KINDS] = {
	[SCHEDZ_SWITCH] = "sched_switch",
	[SCHEDZ_WAKING] = "sched_waking",
	[SCHEDZ_WAKEUP] = "sched_wakeup",
	[SCHEDZ_WAKEUP_NEW] = "sched_wakeup_new",
	[SCHEDZ_MIGRATE] = "sched_migrate_task",
	[SCHEDZ_FORK] = "sched_process_fork",
	[SCHEDZ_EXEC] = "sched_process_exec",
	[SCHEDZ_EXIT] = "sched_process_exit",
};

/* Bytes that ftrace would have written: a record and its header in the ring buffer */
static const unsigned int raw_bytes[SCHEDZ_KINDS] = {
	[SCHEDZ_SWITCH] = 68,	  [SCHEDZ_WAKING] = 40,	 [SCHEDZ_WAKEUP] = 40,
	[SCHEDZ_WAKEUP_NEW] = 40, [SCHEDZ_MIGRATE] = 44, [SCHEDZ_FORK] = 52,
	[SCHEDZ_EXEC] = 24,	  [SCHEDZ_EXIT] = 36,
};

/**
 * struct sums - statistics of a CPU, or of all
 * @kind: events of each kind
 * @events: events of all kinds
 * @raw: bytes that ftrace would have written
 * @bytes: bytes of blocks
 * @blocks: number of blocks
 * @lost: events lost between blocks
 * @first: time of the first event
 * @last: time of the last event
 */
struct sums {
	uint64_t kind[SCHEDZ_KINDS];
	uint64_t events;
	uint64_t raw;
	uint64_t bytes;
	uint64_t blocks;
	uint64_t lost;
	uint64_t first;
	uint64_t last;
};

static void count(const struct schedz_event *event, void *arg)
{
	struct sums *s = arg;

	if (!s->events || event->time < s->first)
		s->first = event->time;
	if (event->time > s->last)
		s->last = event->time;
	s->events++;
	s->kind[event->kind]++;
	s->raw += raw_bytes[event->kind];
	if (event->kind == SCHEDZ_EXEC)
		s->raw += (event->filename_len + 1 + 3) & ~3;
}

static int sum_cpu(struct trace *t, unsigned int cpu, struct sums *s)
{
	const struct block_stream *stream = &t->blocks->stream[cpu];
	int status = 0;
	size_t i;

	for (i = 0; i < stream->nr && !status; i++) {
		status = blocks_decode(t->blocks, &stream->block[i], count, s);
		s->blocks++;
		s->lost += blocks_gap(stream, i);
		/* 28: the record's header in the ring buffer, and its fields before the block */
		s->bytes += stream->block[i].len + 28;
	}
	return status;
}

static void add(struct sums *sum, const struct sums *s)
{
	unsigned int kind;

	if (!s->events)
		return;
	if (!sum->events || s->first < sum->first)
		sum->first = s->first;
	if (s->last > sum->last)
		sum->last = s->last;
	for (kind = 0; kind < SCHEDZ_KINDS; kind++)
		sum->kind[kind] += s->kind[kind];
	sum->events += s->events;
	sum->raw += s->raw;
	sum->bytes += s->bytes;
	sum->blocks += s->blocks;
	sum->lost += s->lost;
}

static double ratio(double a, double b)
{
	return b ? a / b : 0;
}

static void text_line(FILE *out, const char *name, const struct sums *s,
		      bool ticks)
{
	double seconds = (s->last - s->first) / 1e9;
	char rate[32] = "-";

	if (!ticks)
		snprintf(rate, sizeof(rate), "%.0f", ratio(s->events, seconds));
	fprintf(out, "%-6s %8llu %12llu %10s %12llu %8.3f %7.1f %8llu\n", name,
		(unsigned long long)s->blocks, (unsigned long long)s->events,
		rate, (unsigned long long)s->bytes, ratio(s->bytes, s->events),
		ratio(s->raw, s->bytes), (unsigned long long)s->lost);
}

static void print_text(FILE *out, const struct trace *t, const struct sums *cpu,
		       const struct sums *all)
{
	unsigned int i;
	char name[16];

	fprintf(out, "%s: %llu event%s in blocks, %llu other event%s, ",
		t->file, (unsigned long long)all->events, plural(all->events),
		(unsigned long long)t->blocks->others,
		plural(t->blocks->others));
	if (t->ticks)
		fprintf(out, "%" PRIu64 " ticks of %s\n\n",
			all->last - all->first, t->clock);
	else
		fprintf(out, "%.3f s\n\n", (all->last - all->first) / 1e9);
	fprintf(out, "%-6s %8s %12s %10s %12s %8s %7s %8s\n", "CPU", "blocks",
		"events", "per s", "bytes", "B/event", "smaller", "lost");
	for (i = 0; i < t->cpus; i++) {
		snprintf(name, sizeof(name), "%u", i);
		text_line(out, name, &cpu[i], t->ticks);
	}
	text_line(out, "all", all, t->ticks);
	fputc('\n', out);
	for (i = 0; i < SCHEDZ_KINDS; i++)
		fprintf(out, "%-20s %12llu\n", names[i],
			(unsigned long long)all->kind[i]);
}

static struct json_object *object(const struct sums *s)
{
	struct json_object *o = json_object_new_object();
	struct json_object *kinds = json_object_new_object();
	unsigned int i;

#define NUMBER(key) json_number(o, #key, s->key)
	NUMBER(blocks);
	NUMBER(events);
	NUMBER(bytes);
	NUMBER(raw);
	NUMBER(lost);
	NUMBER(first);
	NUMBER(last);
	for (i = 0; i < SCHEDZ_KINDS; i++)
		json_number(kinds, names[i], s->kind[i]);
	json_object_object_add(o, "kinds", kinds);
	return o;
}

static void print_json(FILE *out, const struct trace *t, const struct sums *cpu,
		       const struct sums *all, struct json_object *ledger)
{
	struct json_object *o = object(all);
	struct json_object *list = json_object_new_array();
	unsigned int i;

	json_number(o, "others", t->blocks->others);
	json_string(o, "clock", t->clock);
	for (i = 0; i < t->cpus; i++)
		json_object_array_add(list, object(&cpu[i]));
	json_object_object_add(o, "cpus", list);
	if (ledger)
		json_object_object_add(o, "ledger", json_object_get(ledger));
	fprintf(out, "%s\n",
		json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY));
	json_object_put(o);
}

/* ---- the ledger of schedz collect, beside its files ---- */

/* DIR/HOST-SESSION.ledger of DIR/HOST-SESSION.NUMBER.dat; NULL if there is none */
static struct json_object *read_ledger(const char *file)
{
	struct json_object *o;
	char *path, *dot;

	path = xasprintf("%s.ledger", file);
	/* Replace .NUMBER.dat.ledger, which is longer */
	dot = path + strlen(file);
	if (dot - path > 4 && !strncmp(dot - 4, ".dat", 4)) {
		for (dot -= 5; dot > path && *dot >= '0' && *dot <= '9'; dot--)
			;
		if (*dot == '.')
			strcpy(dot, ".ledger");
	}
	o = access(path, R_OK) ? NULL : json_object_from_file(path);
	free(path);
	if (o && !json_object_is_type(o, json_type_object)) {
		json_object_put(o);
		o = NULL;
	}
	return o;
}

static uint64_t member(struct json_object *o, const char *key)
{
	return json_object_get_uint64(json_object_object_get(o, key));
}

static void print_ledger(FILE *out, struct json_object *o)
{
	struct json_object *state = json_object_object_get(o, "state");
	char earlier[64] = "";

	if (member(o, "earlier"))
		snprintf(earlier, sizeof(earlier),
			 "before this collector %" PRIu64 " + ",
			 member(o, "earlier"));
	fprintf(out, "\nledger of records, state %s:\n",
		state ? json_object_get_string(state) : "unknown");
	fprintf(out,
		"generated %" PRIu64 " = %sdelivered %" PRIu64
		" + lost in the ring %" PRIu64 " + lost on the wire %" PRIu64
		" + in flight %" PRIu64 "\n",
		member(o, "generated"), earlier, member(o, "delivered"),
		member(o, "lost_in_ring"), member(o, "lost_on_wire"),
		member(o, "awaited"));
	fprintf(out, "not sent yet: %" PRIu64 "\n", member(o, "behind"));
	if (member(o, "unknown_cpus"))
		fprintf(out,
			"unknown: records of %" PRIu64
			" CPUs that stopped in the panic\n",
			member(o, "unknown_cpus"));
}

/**
 * stat_print - print statistics
 * @g: the guard
 * @out: output
 * @file: a trace
 * @instance: the trace instance, or NULL
 * @json: as JSON, not as text
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int stat_print(struct guard *g, FILE *out, const char *file,
	       const char *instance, bool json)
{
	struct json_object *ledger = read_ledger(file);
	struct sums all = { 0 }, *cpu = NULL;
	struct trace t;
	unsigned int i;
	int status = trace_open(&t, g, file, instance);

	if (!status && !t.blocks->nr && !ledger)
		status =
			guard_fail(g, GUARD_NOWHERE, "has no blocks of schedz");
	if (!status)
		cpu = xcalloc(t.cpus, sizeof(*cpu));
	for (i = 0; i < t.cpus && !status; i++) {
		status = sum_cpu(&t, i, &cpu[i]);
		add(&all, &cpu[i]);
	}
	if (!status && json) {
		print_json(out, &t, cpu, &all, ledger);
	} else if (!status) {
		print_text(out, &t, cpu, &all);
		if (ledger)
			print_ledger(out, ledger);
	}
	json_object_put(ledger);
	free(cpu);
	trace_close(&t);
	return status;
}
