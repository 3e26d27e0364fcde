// SPDX-License-Identifier: GPL-2.0
/*
 * gen_demo DIRECTORY [VARIANT]
 *
 * Writes to DIRECTORY what tests/demo/guest leaves there, for tests of what
 * tests/demo/compare makes of it.  Each read is known here, so what a VARIANT lacks
 * is known as well: see variants[].
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario.h"

#define SEC UINT64_C(1000000000)
#define MSEC UINT64_C(1000000)
#define READS 4000 /* ordinary ones of a recording, one each millisecond */
#define SLOW 40 /* of more than a second */
#define LATE 1500 /* of 300 ms: enough for a log that is only 3 times smaller */
#define LIMIT (100 * MSEC)
#define ID_BIO_QUEUE 1001
#define ID_RQ_COMPLETE 1003

enum flaw {
	NONE,
	MISSING, /* a slow read of the storm is not in the log */
	MISSING_CALM, /* one of the healthy load is not */
	STOOD_STILL, /* one is not, since the guest stood still */
	HALF_STILL, /* so, but the read took more than a second besides */
	NO_CPU, /* one is not, since its process waited for a CPU */
	LITTLE_CPU, /* so, but the read took more than a second besides */
	LATE_READS, /* the log of the storm is about 3 times smaller */
	ALARM, /* the account has one alarm more than the log */
	NORMAL, /* a fast read of the storm is in the log, and no alarm for it */
	UNWRITTEN, /* so, but the account says so */
	SUM, /* starts are not the sum of their parts */
	STARTS, /* fewer starts than reads */
	NOTHING_PLAIN, /* plain ftrace recorded nothing of the storm */
	NOTHING, /* neither plain ftrace nor the chart did */
	NO_STORM, /* no read took more than a second */
	LOST, /* events of the chart's log were overwritten */
	LOST_PLAIN, /* those of plain ftrace were */
	HIGH_LIMIT, /* a limit above a second, and a slow healthy load */
	WRONG_LIMIT, /* such a limit, and a fast one */
};

static const struct {
	const char *name;
	enum flaw flaw;
} variants[] = {
	{ "none", NONE },
	{ "missing", MISSING },
	{ "missing-calm", MISSING_CALM },
	{ "stood-still", STOOD_STILL },
	{ "half-still", HALF_STILL },
	{ "no-cpu", NO_CPU },
	{ "little-cpu", LITTLE_CPU },
	{ "late", LATE_READS },
	{ "alarm", ALARM },
	{ "normal", NORMAL },
	{ "unwritten", UNWRITTEN },
	{ "sum", SUM },
	{ "starts", STARTS },
	{ "nothing-plain", NOTHING_PLAIN },
	{ "nothing", NOTHING },
	{ "no-storm", NO_STORM },
	{ "lost", LOST },
	{ "lost-plain", LOST_PLAIN },
	{ "high-limit", HIGH_LIMIT },
	{ "wrong-limit", WRONG_LIMIT },
};

static const char *dir;
static enum flaw flaw;

struct one {
	uint64_t start;
	uint64_t end;
	uint64_t sector;
	uint64_t runnable;
};

/* The reads of a recording, and how many alarms the chart must give of them */
struct made {
	struct one read[READS + LATE + SLOW + 1];
	unsigned int nr;
	unsigned int alarms;
};

static void __attribute__((format(printf, 2, 3)))
write_text(const char *name, const char *format, ...)
{
	char path[4096];
	va_list ap;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	if (!file) {
		perror(path);
		exit(1);
	}
	va_start(ap, format);
	vfprintf(file, format, ap);
	va_end(ap);
	fclose(file);
}

static uint64_t limit(void)
{
	return flaw == HIGH_LIMIT || flaw == WRONG_LIMIT ? 1600 * MSEC : LIMIT;
}

static void add(struct made *made, uint64_t start, uint64_t duration)
{
	made->read[made->nr] =
		(struct one){ start, start + duration, 32 * made->nr, 0 };
	made->nr++;
	made->alarms += duration > limit();
}

static int by_end(const void *a, const void *b)
{
	const struct one *x = a, *y = b;

	return x->end < y->end ? -1 : x->end > y->end;
}

/* @storm: with slow reads */
static struct made *make_reads(bool storm)
{
	struct made *made = calloc(1, sizeof(*made));
	uint64_t fast = flaw == HIGH_LIMIT ? 600 * MSEC : 20 * MSEC;
	unsigned int i;

	if (!made)
		exit(1);
	for (i = 0; i < READS; i++)
		add(made, SC_BASE + i * MSEC, fast);
	for (i = 0; storm && flaw == LATE_READS && i < LATE; i++)
		add(made, SC_BASE + i * MSEC + 100000, 300 * MSEC);
	for (i = 0; storm && flaw != NO_STORM && i < SLOW; i++)
		add(made, SC_BASE + i * MSEC + 200000, 1500 * MSEC + i * MSEC);
	if (!storm && flaw == MISSING_CALM)
		add(made, SC_BASE + 300000, 1200 * MSEC);
	/* In the log a read of 20 ms; it began when the guest stood still. */
	if (storm && (flaw == STOOD_STILL || flaw == HALF_STILL))
		add(made, SC_BASE + 7 * SEC,
		    (flaw == HALF_STILL ? 3 : 2) * SEC + 20 * MSEC);
	if (storm && (flaw == NO_CPU || flaw == LITTLE_CPU)) {
		add(made, SC_BASE + 7 * SEC,
		    (flaw == LITTLE_CPU ? 3 : 2) * SEC + 20 * MSEC);
		made->read[made->nr - 1].runnable = 2 * SEC;
	}
	qsort(made->read, made->nr, sizeof(*made->read), by_end);
	return made;
}

static void bio_queue(struct td *td, unsigned int buffer, const struct one *r)
{
	struct td_record rec;

	td_begin(&rec, td, ID_BIO_QUEUE, 1, 56);
	td_put(&rec, 8, SC_BLOCK_DEV, 4);
	td_put(&rec, 16, r->sector, 8);
	td_write(td, buffer, 0, r->start, &rec);
}

static void rq_complete(struct td *td, unsigned int buffer, unsigned int cpu,
			uint64_t ts, const struct one *r)
{
	struct td_record rec;

	td_begin(&rec, td, ID_RQ_COMPLETE, 1, 48);
	td_put(&rec, 8, SC_BLOCK_DEV, 4);
	td_put(&rec, 16, r->sector, 8);
	td_put_string(&rec, 44, "");
	td_write(td, buffer, cpu, ts, &rec);
}

/* Begun on CPU 0 and completed on CPU 1, so that each CPU's events are in order */
static void write_plain(struct td *td, unsigned int buffer,
			const struct made *made)
{
	struct one *begun = calloc(made->nr, sizeof(*begun));
	unsigned int i, j;

	if (!begun)
		exit(1);
	/* by start: insertion sort, since they are nearly sorted */
	for (i = 0; i < made->nr; i++) {
		for (j = i; j && begun[j - 1].start > made->read[i].start; j--)
			begun[j] = begun[j - 1];
		begun[j] = made->read[i];
	}
	for (i = 0; i < made->nr; i++) {
		bio_queue(td, buffer, &begun[i]);
		rq_complete(td, buffer, 1, made->read[i].end, &made->read[i]);
	}
	free(begun);
}

/* The events that the chart keeps; @drop: all but one read of more than a second. */
static void write_chart(struct td *td, const struct made *made, bool drop)
{
	bool normal = flaw == NORMAL;
	unsigned int i;

	for (i = 0; i < made->nr; i++) {
		const struct one *r = &made->read[i];
		struct sc_alarm_event a = {
			.start = r->start,
			.duration = r->end - r->start,
			.center = 20 * MSEC,
			.limit = limit(),
			.pid = 1,
			.comm = "readers",
			.kept = true,
			.chart = "whole",
			.event = SC_BLOCK_EVENT,
			.keys = "",
		};

		if (a.duration <= limit()) {
			if (normal)
				rq_complete(td, 0, 1, r->end - 1000, r);
			normal = false;
			continue;
		}
		if (drop && a.duration > SEC) {
			drop = false;
			continue;
		}
		rq_complete(td, 0, 1, r->end - 1000, r);
		sc_alarm_event(td, 1, r->end - 900, &a);
	}
}

static void save(struct td *td, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s.dat", dir, name);
	if (!td_finish(td, path))
		exit(1);
}

static void begin(struct td *td)
{
	static const struct td_layout layout = { .page_size = 4096,
						 .clock = "mono" };

	td_init(td, &layout, 2);
	td->cmdlines = "1 readers\n";
	sc_formats(td, true);
}

/* The readers' log, and their parent's: with a gap where the guest stood still. */
static void write_truth(const char *name, const struct made *made)
{
	uint64_t at, still = flaw == STOOD_STILL || flaw == HALF_STILL ? 2 : 0;
	char path[4096];
	unsigned int i;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.reads", dir, name);
	file = fopen(path, "w");
	if (!file) {
		perror(path);
		exit(1);
	}
	for (i = 0; i < made->nr; i++)
		fprintf(file,
			"%d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			1, made->read[i].start, made->read[i].end,
			made->read[i].sector, made->read[i].runnable);
	fclose(file);
	snprintf(path, sizeof(path), "%s/%s.cpu", dir, name);
	file = fopen(path, "w");
	if (!file) {
		perror(path);
		exit(1);
	}
	for (at = 0; at <= 12 * SEC; at += SEC / 2) {
		if (still && at > 7 * SEC && at < (7 + still) * SEC)
			continue;
		fprintf(file, "%" PRIu64 " 1 0 9 %" PRIu64 " 50 0 0 0\n",
			(uint64_t)SC_BASE + at, 100 + at / 10000000);
	}
	fclose(file);
}

/* What the charts say: @reads are theirs, @alarms in the main one */
static void write_accounts(const char *name, unsigned int reads,
			   unsigned int alarms, bool storm)
{
	unsigned int starts = reads, paired = reads, unwritten = 0;
	char file[100];

	if (storm && flaw == SUM)
		paired--;
	if (storm && flaw == STARTS)
		starts = --paired;
	if (storm && (flaw == ALARM || flaw == UNWRITTEN))
		alarms++;
	if (storm && flaw == UNWRITTEN)
		unwritten++;
	snprintf(file, sizeof(file), "%s.whole", name);
	write_text(
		file,
		"chart: whole\nlimit: %" PRIu64 " ns\n"
		"starts: %u = paired %u + replaced 0 + evicted 0 + refused 0 + missed 0 + in flight 0\n"
		"ends: %u = paired %u + unmatched 0 + missed 0\n"
		"alarms: %u, kept %u, not written %u\n",
		(uint64_t)limit(), starts, paired, paired, paired, alarms,
		alarms, unwritten);
	snprintf(file, sizeof(file), "%s.paper", name);
	write_text(
		file,
		"chart: device\nlimit: 30000000 ns\n"
		"starts: %u = paired %u + replaced 0 + evicted 0 + refused 0 + missed 0 + in flight 0\n"
		"ends: %u = paired %u + unmatched 0 + missed 0\n"
		"alarms: 0, kept 0, not written 0\n",
		reads, reads, reads, reads);
}

static void write_calm(void)
{
	struct made *made = make_reads(false);
	struct td td;

	begin(&td);
	td_add_buffer(&td, "paper");
	write_plain(&td, td_add_buffer(&td, "plain"), made);
	save(&td, "calm");
	write_truth("calm", made);
	/* It is not among the alarms either: those two agree. */
	write_accounts("calm", made->nr, 0, false);
	free(made);
}

static void write_storm(void)
{
	struct made *made = make_reads(true);
	bool drop = flaw == MISSING;
	struct td td;

	begin(&td);
	if (flaw == LOST_PLAIN)
		td_lose(&td, 0, 0);
	if (flaw != NOTHING_PLAIN)
		write_plain(&td, 0, made);
	save(&td, "plain");
	write_truth("plain", made);

	begin(&td);
	td_add_buffer(&td, "paper");
	if (flaw == LOST)
		td_lose(&td, 0, 1);
	if (flaw == STOOD_STILL || flaw == HALF_STILL || flaw == NO_CPU ||
	    flaw == LITTLE_CPU) {
		/* The last read to end is the one that the disk had for 20 ms. */
		made->nr--;
		write_chart(&td, made, false);
		made->nr++;
		made->alarms--;
	} else if (flaw != NOTHING) {
		write_chart(&td, made, drop);
	}
	save(&td, "ctlchart");
	write_truth("ctlchart", made);
	write_accounts("ctlchart", made->nr,
		       flaw == NOTHING ? 0 : made->alarms - drop, true);
	free(made);
}

int main(int argc, char **argv)
{
	const char *name = argc == 3 ? argv[2] : "none";
	size_t i, nr = sizeof(variants) / sizeof(*variants);

	for (i = 0; i < nr && strcmp(name, variants[i].name); i++)
		;
	if (argc < 2 || argc > 3 || i == nr) {
		fprintf(stderr, "usage: gen_demo DIRECTORY [VARIANT]\n");
		return 2;
	}
	dir = argv[1];
	flaw = variants[i].flaw;
	write_calm();
	write_storm();
	write_text(
		"load",
		"disk: 1000 reads/s\nhealthy readers: 60\nstorm readers: 320\nunlimited: 4000 reads/s\n");
	return 0;
}
