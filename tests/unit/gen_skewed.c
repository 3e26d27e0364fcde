// SPDX-License-Identifier: GPL-2.0
/*
 * gen_skewed IN FORMATS COMMS OUT OFFSET PPM [AT STEP]
 *
 * Writes the trace.dat of a host with another clock, from the pages of a buffer: IN.0,
 * IN.1 and so on are what trace_pipe_raw of each CPU has, FORMATS/SYSTEM/EVENT the formats
 * of all events, and COMMS the saved_cmdlines. Each time t becomes
 * t + OFFSET (ns) + t * PPM / 1000000 + max(t - AT, 0) * STEP / 1000000, each rounded
 * down: those of the records, and start and duration of the events.
 */
#include <glob.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <event-parse.h>
#include <kbuffer.h>

#include "tracedat.h"

/**
 * struct skew - converts times to another clock
 * @offset:	ns
 * @ppm:	rate, ns per millisecond
 * @at:		time at which the rate changes, ns
 * @step:	change of the rate, ns per millisecond
 */
struct skew {
	int64_t offset;
	int64_t ppm;
	uint64_t at;
	int64_t step;
};

#define PAGE 4096

static void die(const char *what, const char *why)
{
	fprintf(stderr, "gen_skewed: %s: %s\n", what, why);
	exit(1);
}

static int64_t drifted(uint64_t t, int64_t ppm)
{
	__int128 more = (__int128)t * ppm, million = 1000000;

	/* Division rounds towards zero */
	return (int64_t)(more / million - (more % million < 0));
}

static uint64_t skewed(const struct skew *k, uint64_t t)
{
	uint64_t since = t > k->at ? t - k->at : 0;

	return t + k->offset + drifted(t, k->ppm) + drifted(since, k->step);
}

static char *read_all(const char *path)
{
	const size_t room = 1 << 20;
	FILE *f = fopen(path, "r");
	char *text = calloc(1, room);

	if (!f || !text || !fread(text, 1, room - 1, f) || !feof(f))
		die(path, "cannot be read, or is too long");
	fclose(f);
	return text;
}

static void add_format(struct td *td, struct tep_handle *tep,
		       const char *system, const char *path)
{
	char *text = read_all(path);

	td_add_event(td, system, text);
	if (tep_parse_event(tep, text, strlen(text), system))
		die(path, "is no format");
}

static void add_formats(struct td *td, struct tep_handle *tep,
			const char *folder)
{
	char pattern[4096];
	glob_t found;
	size_t i;

	snprintf(pattern, sizeof(pattern), "%s/*/*", folder);
	if (glob(pattern, 0, NULL, &found))
		die(folder, "there are no formats");
	for (i = 0; i < found.gl_pathc; i++) {
		char *path = strdup(found.gl_pathv[i]), *system;

		/* The file keeps it */
		system = path ? basename(dirname(path)) : NULL;
		if (!system)
			die(folder, "out of memory");
		add_format(td, tep, system, found.gl_pathv[i]);
	}
	globfree(&found);
}

static void skew_fields(struct td_record *r, struct tep_event *event,
			const struct skew *k)
{
	struct tep_format_field *start = tep_find_field(event, "start");
	struct tep_format_field *duration = tep_find_field(event, "duration");
	uint64_t from, to;

	if (!start)
		return;
	memcpy(&from, r->data + start->offset, sizeof(from));
	td_put(r, start->offset, skewed(k, from), 8);
	if (!duration)
		return;
	memcpy(&to, r->data + duration->offset, sizeof(to));
	td_put(r, duration->offset, skewed(k, from + to) - skewed(k, from), 8);
}

static void copy_page(struct td *td, unsigned int cpu, struct tep_handle *tep,
		      struct kbuffer *k, const struct skew *skew)
{
	struct td_record r = { .layout = &td->layout };
	unsigned long long ts;
	void *data;

	if (kbuffer_missed_events(k))
		td_lose(td, 0, cpu);
	for (data = kbuffer_read_event(k, &ts); data;
	     data = kbuffer_next_event(k, &ts)) {
		struct tep_record record = { .data = data };
		struct tep_event *event;

		record.size = kbuffer_event_size(k);
		event = tep_find_event_by_record(tep, &record);
		if (!event)
			continue;
		r.len = record.size;
		if (r.len > sizeof(r.data))
			die("a record", "it is too long");
		memcpy(r.data, data, r.len);
		skew_fields(&r, event, skew);
		td_write(td, 0, cpu, skewed(skew, ts), &r);
	}
}

/* Return: whether this CPU exists */
static bool copy_cpu(struct td *td, unsigned int cpu, struct tep_handle *tep,
		     const char *in, const struct skew *skew)
{
	struct kbuffer *k =
		kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_LITTLE);
	char path[4096], page[PAGE];
	FILE *f;

	snprintf(path, sizeof(path), "%s.%u", in, cpu);
	f = fopen(path, "r");
	if (!f || !k) {
		kbuffer_free(k);
		return false;
	}
	if (cpu == TD_MAX_CPUS)
		die(path, "too many CPUs");
	td->cpus = cpu + 1;
	while (fread(page, PAGE, 1, f)) {
		if (kbuffer_load_subbuffer(k, page))
			die(path, "is damaged");
		copy_page(td, cpu, tep, k, skew);
	}
	fclose(f);
	kbuffer_free(k);
	return true;
}

int main(int argc, char **argv)
{
	const struct td_layout layout = { .page_size = PAGE, .clock = "mono" };
	struct tep_handle *tep = tep_alloc();
	struct skew skew = { 0 };
	struct td td;

	if ((argc != 7 && argc != 9) || !tep) {
		fprintf(stderr,
			"usage: gen_skewed IN FORMATS COMMS OUT OFFSET PPM [AT STEP]\n");
		return 2;
	}
	skew.offset = strtoll(argv[5], NULL, 10);
	skew.ppm = strtoll(argv[6], NULL, 10);
	if (argc == 9) {
		skew.at = strtoull(argv[7], NULL, 10);
		skew.step = strtoll(argv[8], NULL, 10);
	}
	td_init(&td, &layout, 0);
	add_formats(&td, tep, argv[2]);
	td.cmdlines = read_all(argv[3]);
	while (copy_cpu(&td, td.cpus, tep, argv[1], &skew))
		;
	if (!td.cpus)
		die(argv[1], "there are no pages of any CPU");
	if (!td_save(&td, argv[4]))
		die(argv[4], "cannot be written");
	td_free(&td);
	tep_free(tep);
	return 0;
}
