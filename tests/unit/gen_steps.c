// SPDX-License-Identifier: GPL-2.0
/*
 * gen_steps DIR <STEPS
 *
 * Writes the case that STEPS describe to DIR: an operation of the thread 1000, "reader", and
 * events, a line each, in any order. Times are in us.
 *
 *	op START END		the operation; it usually takes 100 us, and 200 at most
 *	begin TIME		when the window begins (0)
 *	overdue			the operation has not ended yet
 *	dropped NUMBER		of events that the watch had no room for
 *	sector NUMBER		it is this request
 *	center TIME		the usual duration (100); 0: the limit is fixed
 *	limit TIME		(200)
 *	judged NUMBER		of values (100)
 *	values NUMBER TIME	of values in the case, all of that length (none)
 *	switch CPU TIME FROM STATE TO
 *	wakes CPU TIME BY FLAGS		the thread is woken
 *	irq CPU TIME IN, irq_end, softirq, softirq_end	in which thread
 *	value CPU TIME IN DURATION	an execution of the thread ends; in a switch
 *	mark CPU TIME IN		any other event
 *	bio CPU TIME IN SECTOR, issue, complete	of a request to the disk
 *	loss CPU TIME			records are lost before this time
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphdat.h"
#include "recording.h"

#define US 1000ull
#define VALUES 1000

static struct rec_case alarm_of = { .begin = GD_BASE,
				    .center = 100 * US,
				    .limit = 200 * US,
				    .judged = 100,
				    .rules = 1 };
static double values[VALUES];

static const struct {
	const char *word;
	enum rec_what what;
} events[] = {
	{ "irq", HARD },     { "irq_end", HARD_END },
	{ "softirq", SOFT }, { "softirq_end", SOFT_END },
	{ "value", VALUE },  { "mark", MARK },
	{ "loss", LOSS },    { "bio", BIO },
	{ "issue", ISSUE },  { "complete", COMPLETE },
};

static uint64_t at(double us)
{
	return GD_BASE + us * US;
}

static int put_event(const char *word, const double *n)
{
	struct rec_event *e;
	size_t i;

	for (i = 0; i < sizeof(events) / sizeof(*events); i++) {
		if (strcmp(word, events[i].word) != 0)
			continue;
		if (events[i].what >= BIO && events[i].what <= COMPLETE) {
			rec_request(events[i].what, n[0], at(n[1]), n[2], n[3]);
			return 1;
		}
		e = rec_put(events[i].what, n[0], at(n[1]), n[2]);
		if (e->what == VALUE) {
			e->a = e->ts - n[3] * US;
			e->b = alarm_of.limit;
			e->flags = GD_IRQS_OFF;
		} else if (e->what == SOFT || e->what == SOFT_END) {
			e->a = 1;
		}
		return 1;
	}
	return 0;
}

static int put_step(const char *word, const double *n)
{
	if (!strcmp(word, "op")) {
		alarm_of.start = at(n[0]);
		alarm_of.end = at(n[1]);
	} else if (!strcmp(word, "begin")) {
		alarm_of.begin = at(n[0]);
	} else if (!strcmp(word, "overdue")) {
		alarm_of.rules = 0x100;
	} else if (!strcmp(word, "dropped")) {
		rec_dropped = n[0];
	} else if (!strcmp(word, "sector")) {
		alarm_of.sector = n[0];
	} else if (!strcmp(word, "center")) {
		alarm_of.center = n[0] * US;
	} else if (!strcmp(word, "limit")) {
		alarm_of.limit = n[0] * US;
	} else if (!strcmp(word, "judged")) {
		alarm_of.judged = n[0];
	} else if (!strcmp(word, "values")) {
		for (; alarm_of.values < n[0] && alarm_of.values < VALUES;)
			values[alarm_of.values++] = n[1] * US;
	} else if (!strcmp(word, "switch")) {
		rec_switch(n[0], at(n[1]), n[2], n[3], n[4]);
	} else if (!strcmp(word, "wakes")) {
		rec_waking(n[0], at(n[1]), n[2], n[3]);
	} else {
		return put_event(word, n);
	}
	return 1;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { NULL };
	struct td_layout layout = { .page_size = 4096, .clock = "mono" };
	char line[200], word[20], path[4096];
	struct td td;
	struct gd gd;

	if (argc != 2) {
		fprintf(stderr, "usage: gen_steps DIR <STEPS\n");
		return 2;
	}
	alarm_of.value = values;
	while (fgets(line, sizeof(line), stdin)) {
		double n[5] = { 0 };

		if (sscanf(line, "%19s %lf %lf %lf %lf %lf", word, &n[0], &n[1],
			   &n[2], &n[3], &n[4]) < 1)
			continue;
		if (!put_step(word, n)) {
			fprintf(stderr, "gen_steps: not a step: %s", line);
			return 1;
		}
	}
	td_init(&td, &layout, CPUS);
	gd_init(&gd, &td, names, 1);
	snprintf(path, sizeof(path), "%s/trace.dat", argv[1]);
	rec_write(&gd, path, 1);
	td_free(&td);
	rec_write_json(argv[1], &alarm_of);
	rec_free();
	return 0;
}
