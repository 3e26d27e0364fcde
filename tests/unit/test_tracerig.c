// SPDX-License-Identifier: GPL-2.0
/* tracerig: plans, charts, windows, and the names of code. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/kernel.h>

#include "above.h"
#include "alarms.h"
#include "elfcopy.h"
#include "jitmaps.h"
#include "memory.h"
#include "paths.h"
#include "plan.h"
#include "reader.h"
#include "rig.h"
#include "silent.h"
#include "store.h"
#include "suite.h"
#include "unread.h"

/* ---- what --print prints ---- */

/* A kernel of another kind: one of the events is missing that the watch can do without */
static bool has_not_insert(const char *system, const char *event)
{
	return strcmp(system, "block") != 0 ||
	       strcmp(event, "block_rq_insert") != 0;
}

START_TEST(printed)
{
	struct plan p = { 0 };
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ck_assert_ptr_null(plan_preset(&p, "disk"));
	plan_print(&p, out, 1 << 20, _i ? has_not_insert : NULL);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "-e block:block_rq_issue"));
	ck_assert_int_eq(!strstr(text, "block_rq_insert"), _i);
	free(text);
	plan_free(&p);
}
END_TEST

/* ---- alarms that were not read ---- */

START_TEST(unread)
{
	const u64 minute = 60000000000ull, hour = 60 * minute;
	struct unread u = { 0 };

	/* 100 were written at the first minute; 98 of them are read a minute later */
	ck_assert_uint_eq(unread_look(&u, 100, 0, minute), 0);
	ck_assert_uint_eq(unread_look(&u, 150, 98, minute + 1), 0);
	ck_assert_uint_eq(unread_look(&u, 150, 98, 2 * minute), 2);
	/* More are lost: once an hour, and at the end */
	ck_assert_uint_eq(unread_look(&u, 200, 140, 3 * minute), 0);
	ck_assert_uint_eq(unread_look(&u, 200, 140, 2 * minute + hour), 60);
	ck_assert_uint_eq(unread_end(&u, 200, 140), 0);
	ck_assert_uint_eq(unread_end(&u, 201, 140), 61);
}
END_TEST

/* ---- filters ---- */

static const struct {
	const char *filter, *want, *name;
	u64 lead_in;
} filters[] = {
	{ "ctlchart(a, k)", "ctlchart(a, k, pre=100ms, post=5ms, name=ev)",
	  "ev", 100 },
	{ "ctlchart(a, k, name=x)",
	  "ctlchart(a, k, name=x, pre=100ms, post=5ms)", "x", 100 },
	{ "ctlchart(a,k,from=start)", "ctlchart(a,k,from=start, name=ev)", "ev",
	  0 },
	{ "ctlchart(a, k, post=1s)", "ctlchart(a, k, post=1s, name=ev)", "ev",
	  0 },
	/* A field's name is not an option */
	{ "ctlchart(a, mypre=2)",
	  "ctlchart(a, mypre=2, pre=100ms, post=5ms, name=ev)", "ev", 100 },
	{ "c == \"x\" && ctlchart(a) && (d == 1)",
	  "c == \"x\" && ctlchart(a, pre=100ms, post=5ms, name=ev) && (d == 1)",
	  "ev", 100 },
	{ "ctlchart(a, by=\"x)y\", pre=1ms)",
	  "ctlchart(a, by=\"x)y\", pre=1ms, name=ev)", "ev", 1 },
};

START_TEST(filter)
{
	struct plan p = { 0 };

	ck_assert_ptr_null(plan_filter(&p, "sys:ev", filters[_i].filter));
	ck_assert_uint_eq(p.nr_charts, 1);
	ck_assert_str_eq(p.chart[0].filter, filters[_i].want);
	ck_assert_str_eq(p.chart[0].name, filters[_i].name);
	ck_assert_str_eq(p.chart[0].system, "sys");
	ck_assert_str_eq(p.chart[0].event, "ev");
	ck_assert_uint_eq(p.lead_in, filters[_i].lead_in * 1000000);
	plan_free(&p);
}
END_TEST

static const struct {
	const char *event, *filter, *error;
} mistakes[] = {
	{ "ev", "ctlchart(a)", "-e ev: must be SYSTEM:EVENT" },
	{ ":ev", "ctlchart(a)", "-e :ev: must be SYSTEM:EVENT" },
	{ "a:b:c", "ctlchart(a)", "-e a:b:c: must be SYSTEM:EVENT" },
	{ "a:b", "d == 1", "-f d == 1: must have a ctlchart() call" },
	{ "a:b", "ctlchart(a", "-f ctlchart(a: a parenthesis is not closed" },
	{ "a:b", "ctlchart(a) || ctlchart(b)",
	  "-f ctlchart(a) || ctlchart(b): only one ctlchart() call is allowed" },
};

START_TEST(mistake)
{
	struct plan p = { 0 };
	char *error = plan_filter(&p, mistakes[_i].event, mistakes[_i].filter);

	ck_assert_ptr_nonnull(error);
	ck_assert_str_eq(error, mistakes[_i].error);
	ck_assert_uint_eq(p.nr_charts, 0);
	free(error);
	plan_free(&p);
}
END_TEST

START_TEST(same_event)
{
	struct plan p = { 0 };
	char *error;

	ck_assert_ptr_null(plan_preset(&p, "disk"));
	ck_assert_uint_eq(p.lead_in, 20000000);
	error = plan_filter(&p, "block:block_rq_complete", "ctlchart(a)");
	ck_assert_str_eq(
		error,
		"block_rq_complete has two filters: an event can have only one");
	free(error);
	error = plan_preset(&p, "disk");
	ck_assert_str_eq(
		error,
		"two charts are called disk: leave one out, or give the one of -f another name=");
	free(error);
	ck_assert_uint_eq(p.nr_charts, 1);
	plan_free(&p);
}
END_TEST

/* ---- limits that do not fit ---- */

#define SECOND 1000000000ull

/* Each second a number of values, some of which are alarms */
static unsigned int minutes(struct above *a, struct rig_chart *c, u64 *now,
			    unsigned int seconds, u64 values, u64 alarms)
{
	unsigned int reports = 0;
	u64 seen;

	for (; seconds; seconds--) {
		*now += SECOND;
		c->values += values;
		c->alarms += alarms;
		reports += above_look(a, c, *now, &seen) > 0;
	}
	return reports;
}

START_TEST(above_limit)
{
	struct rig_chart c = { .has_limit = true, .limit = 7 };
	struct above a = { 0 };
	u64 now = 5 * SECOND, values = 0;

	/* What came before the watch's first look does not count */
	c.values = c.alarms = 1000;
	ck_assert_uint_eq(minutes(&a, &c, &now, 300, 10, 5), 0);
	a = (struct above){ 0 };
	ck_assert_uint_eq(minutes(&a, &c, &now, 60, 10, 6), 0);
	ck_assert_uint_eq(minutes(&a, &c, &now, 1, 10, 6), 1);
	/* Too few values */
	a = (struct above){ 0 };
	ck_assert_uint_eq(minutes(&a, &c, &now, 1, 0, 0), 0);
	c.values += 49;
	c.alarms += 49;
	ck_assert_uint_eq(minutes(&a, &c, &now, 60, 0, 0), 0);
	/* Once, and again after an hour */
	ck_assert_uint_eq(minutes(&a, &c, &now, 3600, 10, 6), 1);
	ck_assert_uint_eq(minutes(&a, &c, &now, 3600, 10, 6), 1);
	ck_assert_uint_eq(minutes(&a, &c, &now, 7200, 10, 5), 0);
	/* How many, and of how many; never more than all */
	a = (struct above){ 0 };
	above_look(&a, &c, now, &values);
	c.values += 600;
	c.alarms += 500;
	ck_assert_uint_eq(above_look(&a, &c, now + 60 * SECOND, &values), 83);
	ck_assert_uint_eq(values, 600);
	a.next = 0;
	c.values += 60;
	c.alarms += 61;
	ck_assert_uint_eq(above_look(&a, &c, now + 120 * SECOND, &values), 100);
	/* Alarms of a limit that is gone do not count */
	a.next = 0;
	c.values += 600;
	c.alarms += 600;
	c.limit = 8;
	ck_assert_uint_eq(above_look(&a, &c, now + 180 * SECOND, &values), 0);
	ck_assert_uint_eq(minutes(&a, &c, &now, 240, 10, 1), 0);
	/* Nor those of a chart that began anew */
	c.values = c.alarms = 0;
	ck_assert_uint_eq(minutes(&a, &c, &now, 1, 0, 0), 0);
}
END_TEST

/* ---- charts without values ---- */

static bool looks_silent(struct rig_chart c, unsigned int seconds)
{
	bool done = false;

	strcpy(c.state, "learning 0 of 100 values");
	return silent_look(&done, &c, seconds * SECOND);
}

START_TEST(silent)
{
	struct rig_chart c = { .state = "learning 0 of 100 values" };
	bool done = false;
	unsigned int i, reports = 0;

	for (i = 0; i < 60; i++)
		ck_assert(!silent_look(&done, &c, i * SECOND));
	for (; i < 1000; i++)
		reports += silent_look(&done, &c, i * SECOND);
	ck_assert_uint_eq(reports, 1);
	/* One value, learnt, judged or of an operation that has not ended, is enough */
	ck_assert(looks_silent((struct rig_chart){ 0 }, 60));
	ck_assert(!looks_silent((struct rig_chart){ .learnt = 1 }, 60));
	ck_assert(!looks_silent((struct rig_chart){ .values = 1 }, 60));
	ck_assert(!looks_silent((struct rig_chart){ .alarms = 1 }, 60));
	/* It stays enough if the kernel starts its counts again */
	done = false;
	c.learnt = 1;
	ck_assert(!silent_look(&done, &c, 5 * SECOND));
	c.learnt = 0;
	ck_assert(!silent_look(&done, &c, 100 * SECOND));
	/* The kernel's file could not be read */
	done = false;
	*c.state = '\0';
	ck_assert(!silent_look(&done, &c, 100 * SECOND));
}
END_TEST

static bool is_traced(const char *system, const char *event)
{
	static const char *const calls[] = { "clock_nanosleep", "dup2", "dup3",
					     "pread64", "read" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		if (!strcmp(system, "syscalls") &&
		    !strncmp(event, "sys_exit_", 9) &&
		    !strcmp(event + 9, calls[i]))
			return true;
	}
	return false;
}

static const struct {
	const char *preset, *want;
} advices[] = {
	{ "syscall:nanosleep",
	  "check that a process calls nanosleep, and not clock_nanosleep" },
	{ "syscall:dup",
	  "check that a process calls dup, and not dup2 or dup3" },
	{ "syscall:futex", "check that a process calls futex" },
	{ "function:vfs_read",
	  "check that the kernel calls vfs_read: the compiler may have inlined it into its callers" },
	{ "request:80",
	  "check that a process answers at this port, and that the thread that receives a request sends the response" },
	{ "disk",
	  "check that its events come, and pass the filter: their counts are in FILE" },
};

START_TEST(advice)
{
	struct plan p = { 0 };
	char *got;

	ck_assert_ptr_null(plan_preset(&p, advices[_i].preset));
	got = silent_advice(&p.chart[0], "FILE", is_traced);
	ck_assert_str_eq(got, advices[_i].want);
	free(got);
	plan_free(&p);
}
END_TEST

START_TEST(advice_file)
{
	struct plan_chart c = { .symbol = (char *)"f",
				.file = (char *)"/bin/x",
				.event = (char *)"f_return" };
	char *got = silent_advice(&c, "FILE", is_traced);

	ck_assert_str_eq(
		got,
		"check that a process calls f in /bin/x, and has begun since that file was last installed");
	free(got);
}
END_TEST

/* ---- windows ---- */

/* Events of an earlier window belong to a case from so long before its operations on */
START_TEST(needs)
{
	struct reader *r = xzalloc(sizeof(*r));

	r->lead_in = 100;
	r->past[1].end = 1000;
	r->alarms.earliest = 1099;
	ck_assert(reader_needs(r, 1));
	ck_assert(!reader_needs(r, 0));
	r->alarms.earliest = 1100;
	ck_assert(!reader_needs(r, 1));
	free(r);
}
END_TEST

/* Pages of 1 MiB in the window, in those before it, and what is left of all of them */
static const struct {
	size_t window, past[PAST], left[PAST];
} bounds[] = {
	{ 60, { 100, 90, 6, 200 }, { 60, 100, 90, 6 } },
	{ 60, { 100, 90, 7, 200 }, { 60, 100, 90, 0 } },
	{ 60, { 100, 97, 1, 0 }, { 60, 100, 0, 0 } },
	{ 256, { 0, 1, 2, 3 }, { 256, 0, 0, 0 } },
	{ 256, { 256, 0, 0, 0 }, { 256, 0, 0, 0 } },
	{ 0, { 256, 0, 0, 256 }, { 0, 256, 0, 0 } },
};

static void fill_spool(struct spool *s, size_t nr)
{
	*s = (struct spool){ .page_size = 1 << 20, .file = -1, .nr = nr };
	s->end = nr;
	s->events = 10 * nr;
	s->dropped_events = 1;
}

/*
 * All earlier windows together have 256 MiB at most: the oldest ones go. What a case of them
 * lacks is known.
 */
START_TEST(bound_past)
{
	struct reader *r = xzalloc(sizeof(*r));
	unsigned int i;

	r->dir = "/tmp";
	fill_spool(&r->spool, bounds[_i].window);
	for (i = 0; i < PAST; i++)
		fill_spool(&r->past[i], bounds[_i].past[i]);
	reader_reset(r);
	ck_assert_uint_eq(r->spool.nr, 0);
	ck_assert_int_ge(r->spool.file, 0);
	for (i = 0; i < PAST; i++) {
		size_t had = i ? bounds[_i].past[i - 1] : bounds[_i].window;
		size_t gone = had - bounds[_i].left[i];

		ck_assert_uint_eq(r->past[i].nr, bounds[_i].left[i]);
		ck_assert_uint_eq(r->past[i].end, had);
		ck_assert_uint_eq(r->past[i].dropped_events, 10 * gone + 1);
	}
	reader_close(r);
	free(r);
}
END_TEST

/* A child's number can be another process's from the moment on that it was reaped */
static const struct {
	int pid;
	u64 start, ts;
	bool own;
} processes[] = {
	{ 11, 100, 900, true }, /* the writer, which was reaped at 500 */
	{ 11, 499, 900, true }, /* its I/O may be slow to the end */
	{ 11, 500, 900, false }, /* another process */
	{ 11, 0, 499, true }, /* a value that is no time */
	{ 11, 0, 500, false },
	{ 12, 100, 900, true }, /* its helper */
	{ 12, 500, 900, false },
	{ 13, 800, 900, true }, /* the baseline's child lives */
	{ 14, 100, 900, false }, /* another process */
	{ 0, 100, 900, false }, /* the idle task */
};

START_TEST(own_alarms)
{
	struct reader *r = xzalloc(sizeof(*r));
	int helper = 12;
	struct alarm a = {
		.pid = processes[_i].pid,
		.start = processes[_i].start,
		.ts = processes[_i].ts,
	};

	r->helper = &helper;
	r->writer = (struct own){ .pid = 11, .ended = 500 };
	r->baseline = (struct own){ .pid = 13 };
	ck_assert_int_eq(reader_is_own(r, &a), processes[_i].own);
	helper = 0;
	r->writer = r->baseline = (struct own){ 0 };
	ck_assert(!reader_is_own(r, &a));
	a.pid = getpid();
	ck_assert(reader_is_own(r, &a));
	free(r);
}
END_TEST

/* ---- requests ---- */

START_TEST(request)
{
	static const char *const wrong[] = { "request:", "request:0",
					     "request:65536", "request:80x",
					     "request:-1" };
	struct plan p = { 0 };
	char *error;
	size_t i;

	ck_assert_ptr_null(plan_preset(&p, "request:8080"));
	ck_assert_uint_eq(p.nr_probes, 2);
	for (i = 0; i < 2; i++) {
		ck_assert_str_eq(p.probe[i].of, "iosys/io_syscall");
		ck_assert_ptr_nonnull(
			strstr(p.probe[i].args, "name ~ \"*:8080->*\""));
	}
	ck_assert_uint_eq(p.nr_charts, 1);
	ck_assert_str_eq(p.chart[0].name, "request.8080");
	ck_assert_str_eq(p.chart[0].event, p.probe[1].event);
	ck_assert_ptr_nonnull(
		strstr(p.chart[0].filter,
		       "ctlchart(request_8080_receive, common_pid, id, "));
	ck_assert_ptr_null(plan_preset(&p, "request:0443"));
	for (i = 2; i < 4; i++)
		ck_assert_ptr_nonnull(
			strstr(p.probe[i].args, "name ~ \"*:443->*\""));
	error = plan_preset(&p, "request:8080");
	ck_assert_str_eq(
		error,
		"two charts are called request.8080: leave one out, or give the one of -f another name=");
	free(error);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		error = plan_preset(&p, wrong[i]);
		ck_assert_ptr_nonnull(error);
		ck_assert_ptr_nonnull(
			strstr(error, "must be a port from 1 to 65535"));
		free(error);
	}
	plan_free(&p);
}
END_TEST

/* The kernel's file with a chart for each disk, as far as they have learnt, and another chart */
#define BY(state1, state2)                                                                     \
	"chart: x\nnumber: 1\ncall: ctlchart(a, k, by=dev)\nstate: learning 0 of 100 values\n" \
	"values: learnt 150, judged 900, not charted 0\n"                                      \
	"alarms: 7, kept 7, not written 2\n"                                                   \
	"by dev: 2 of 64 charts, shared by the rest: learnt 0, judged 0\n\n"                   \
	"part: x[dev=8:0]\nnumber: 2\n" state1                                                 \
	"part values: learnt 100, judged 900, alarms 7, kept 7\n\n"                            \
	"part: x[dev=8:16]\nnumber: 3\n" state2                                                \
	"part values: learnt 50, judged 3, alarms 0, kept 0\n\n"                               \
	"chart: y\nnumber: 4\nstate: judging\ncenter: 5\nlimit: 9\nvalues: learnt 100, judged 11\n"
/* More values than it has room for */
#define BY_SHARED                                                              \
	"chart: x\ncall: ctlchart(a, k, by=dev, charts=1)\n" JUDGING           \
	"values: learnt 200, judged 30, not charted 0\n"                       \
	"alarms: 0, kept 0, not written 0\n"                                   \
	"by dev: 1 of 1 charts, shared by the rest: learnt 100, judged 10\n\n" \
	"part: x[dev=8:0]\nstate: judging\ncenter: 50 ns\nlimit: 90 ns\n"      \
	"part values: learnt 100, judged 20, alarms 0, kept 0\n"
/* With ucl=, before its first values and later */
#define BY_FIXED                                                             \
	"chart: x\ncall: ctlchart(a, k, by=dev, ucl=20ms)\nstate: judging\n" \
	"limit: 20000000 ns\nvalues: learnt 0, judged 0, not charted 0\n"    \
	"alarms: 0, kept 0, not written 0\n"                                 \
	"by dev: 0 of 64 charts, shared by the rest: learnt 0, judged 0\n"
#define FIXED_PART                                                 \
	"\npart: x[dev=8:0]\nstate: judging\nlimit: 20000000 ns\n" \
	"part values: learnt 0, judged 3, alarms 0, kept 0\n"
#define LEARNING "state: learning 50 of 100 values\n"
#define JUDGING "state: judging\ncenter: 1000 ns\nlimit: 2000 ns\n"

static const struct {
	const char *text, *name;
	struct rig_chart want;
} charts[] = {
	{ BY(LEARNING, LEARNING),
	  "x",
	  { .state = "learning 0 of 100 values",
	    .learnt = 150,
	    .values = 903,
	    .alarms = 7,
	    .not_written = 2,
	    .by = true,
	    .charts = 2,
	    .part = { { .name = "x[dev=8:0]" }, { .name = "x[dev=8:16]" } } } },
	{ BY(LEARNING, JUDGING),
	  "x",
	  { .state = "learning 0 of 100 values",
	    .has_limit = true,
	    .has_center = true,
	    .is_time = true,
	    .learnt = 150,
	    .values = 903,
	    .alarms = 7,
	    .not_written = 2,
	    .by = true,
	    .charts = 2,
	    .limits = 1,
	    .part = { { .name = "x[dev=8:0]" },
		      { .name = "x[dev=8:16]",
			.has_limit = true,
			.center = 1000,
			.limit = 2000 } } } },
	{ BY_SHARED,
	  "x",
	  { .state = "judging",
	    .has_limit = true,
	    .has_center = true,
	    .is_time = true,
	    .learnt = 200,
	    .values = 30,
	    .by = true,
	    .charts = 1,
	    .limits = 1,
	    .part = { { .name = "x[dev=8:0]",
			.has_limit = true,
			.center = 50,
			.limit = 90 } },
	    .shared = { .name = "x[]",
			.has_limit = true,
			.center = 1000,
			.limit = 2000 } } },
	{ BY_FIXED,
	  "x",
	  { .state = "judging",
	    .has_limit = true,
	    .is_time = true,
	    .limit = 20000000,
	    .by = true } },
	{ BY_FIXED FIXED_PART,
	  "x",
	  { .state = "judging",
	    .has_limit = true,
	    .is_time = true,
	    .limit = 20000000,
	    .values = 3,
	    .by = true,
	    .charts = 1,
	    .limits = 1,
	    .part = { { .name = "x[dev=8:0]",
			.has_limit = true,
			.limit = 20000000 } } } },
	{ BY(JUDGING, JUDGING),
	  "y",
	  { .state = "judging",
	    .has_limit = true,
	    .has_center = true,
	    .center = 5,
	    .limit = 9,
	    .learnt = 100,
	    .values = 11,
	    .alarms = 7,
	    .not_written = 2 } },
};

static void check_part(const struct rig_part *got, const struct rig_part *want)
{
	ck_assert_str_eq(got->name, want->name);
	ck_assert_int_eq(got->has_limit, want->has_limit);
	ck_assert_uint_eq(got->center, want->center);
	ck_assert_uint_eq(got->limit, want->limit);
}

START_TEST(chart_text)
{
	char *text = xstrdup(charts[_i].text);
	const struct rig_chart *w = &charts[_i].want;
	struct rig_chart got;
	size_t i;

	ck_assert(rig_parse_chart(text, charts[_i].name, &got));
	ck_assert_str_eq(got.state, w->state);
	ck_assert_int_eq(got.has_limit, w->has_limit);
	ck_assert_int_eq(got.has_center, w->has_center);
	ck_assert_int_eq(got.is_time, w->is_time);
	ck_assert_uint_eq(got.center, w->center);
	ck_assert_uint_eq(got.limit, w->limit);
	ck_assert_uint_eq(got.learnt, w->learnt);
	ck_assert_uint_eq(got.values, w->values);
	ck_assert_uint_eq(got.alarms, w->alarms);
	ck_assert_uint_eq(got.not_written, w->not_written);
	ck_assert_int_eq(got.by, w->by);
	ck_assert_uint_eq(got.charts, w->charts);
	ck_assert_uint_eq(got.limits, w->limits);
	for (i = 0; i < ARRAY_SIZE(got.part); i++)
		check_part(&got.part[i], &w->part[i]);
	check_part(&got.shared, &w->shared);
	free(text);
	text = xstrdup(charts[_i].text);
	ck_assert(!rig_parse_chart(text, "z", &got));
	free(text);
}
END_TEST

/* The kernel's two files, whose lines belong together by their order alone */
START_TEST(missed)
{
	static const char probes[] =
		"r4096:tracerig_2/f_return f\np:a/f_entry f\n"
		"p:tracerig_1/f_entry f\nr4096:tracerig_1/f_return f a=:b/c d\n";
	static const char profile[] =
		"  f_return        1               11\n  f_entry   2  12\n"
		"  f_entry         3               13\n  f_return  4  18446744073709551615\n";

	ck_assert_uint_eq(rig_missed(probes, profile, "tracerig_2", "f_return"),
			  11);
	ck_assert_uint_eq(rig_missed(probes, profile, "tracerig_1", "f_entry"),
			  13);
	ck_assert_uint_eq(rig_missed(probes, profile, "tracerig_1", "f_return"),
			  UINT64_MAX);
	ck_assert_uint_eq(rig_missed(probes, profile, "a", "f_entry"), 12);
	/* No probe has this name, which is only part of one, or in the arguments */
	ck_assert_uint_eq(rig_missed(probes, profile, "tracerig_1", "f"), 0);
	ck_assert_uint_eq(rig_missed(probes, profile, "rig_1", "f_entry"), 0);
	ck_assert_uint_eq(rig_missed(probes, profile, "b", "c"), 0);
	/* A probe that was added between the two readings */
	ck_assert_uint_eq(rig_missed(probes, strchr(profile, '\n'),
				     "tracerig_1", "f_entry"),
			  0);
	ck_assert_uint_eq(rig_missed(probes, "", "tracerig_2", "f_return"), 0);
	ck_assert_uint_eq(rig_missed("", profile, "tracerig_2", "f_return"), 0);
	ck_assert_uint_eq(rig_missed(probes, "  f_return 1", "tracerig_2",
				     "f_return"),
			  0);
}
END_TEST

/* ---- symbols ---- */

START_TEST(too_many_files)
{
	u8 id[ELFCOPY_ID] = { 1 };
	struct elfcopy s = { 0 };
	char *path;
	int i;

	for (i = 0; i <= ELFCOPY_FILES; i++) {
		ck_assert(!s.left_out);
		path = xasprintf("/nosuch/%d", i);
		elfcopy_add(&s, path, id, sizeof(id));
		/* No file more */
		elfcopy_add(&s, "/nosuch/0", id, sizeof(id));
		free(path);
	}
	ck_assert_uint_eq(s.nr, ELFCOPY_FILES);
	ck_assert(s.left_out);
	elfcopy_free(&s);
}
END_TEST

static const struct {
	const char *path;
	bool is_below;
} paths[] = {
	{ "usr/bin/x", true }, { "..data/x", true },   { "a/...", true },
	{ ".x", true },	       { "a/\303\244", true }, { "", false },
	{ ".", false },	       { "..", false },	       { "a/../b", false },
	{ "../a", false },     { "a/..", false },      { "a/./b", false },
	{ "a//b", false },     { "a/", false },	       { "/a", false },
	{ "a\n", false },      { "a\344/b", false },   { "\177", false },
};

START_TEST(below)
{
	ck_assert_msg(elfcopy_is_below(paths[_i].path) == paths[_i].is_below,
		      "%s", paths[_i].path);
}
END_TEST

/* ---- functions that the tracer follows ---- */

START_TEST(followed)
{
	const char *functions = "vfs_read\nfn_in [module]\ndo_futex\n";

	ck_assert(paths_follow(functions, "vfs_read"));
	ck_assert(paths_follow(functions, "fn_in"));
	ck_assert(paths_follow(functions, "do_futex"));
	ck_assert(paths_follow("do_futex", "do_futex"));
	ck_assert(!paths_follow(functions, "do_fute"));
	ck_assert(!paths_follow(functions, "futex"));
	ck_assert(!paths_follow(functions, "module"));
	ck_assert(!paths_follow("", "do_futex"));
	ck_assert(!paths_follow("#### all functions enabled ####\n", "all"));
}
END_TEST

/* ---- names of code ---- */

#define MAPS 4

/* A map of a process that cannot exist: its number is too large */
static s32 make_map(unsigned int i, off_t size)
{
	s32 tgid = (1 << 30) + MAPS * getpid() + i;
	char *path = xasprintf("/tmp/perf-%d.map", tgid);
	FILE *f = fopen(path, "wx");

	ck_assert_ptr_nonnull(f);
	fprintf(f, "1000 10 name\n");
	ck_assert(!fflush(f) && !ftruncate(fileno(f), size));
	fclose(f);
	free(path);
	return tgid;
}

static bool has_copy(const char *dir, s32 tgid)
{
	char *path = xasprintf("%s/tmp/perf-%d.map", dir, tgid);
	bool has = !access(path, F_OK);

	free(path);
	return has;
}

/* A map that exceeds the room with those before it is skipped; smaller ones after it are not */
START_TEST(large_maps)
{
	static const off_t sizes[MAPS] = { 1 << 20, JITMAPS_READ, 100,
					   JITMAPS_READ + 1 };
	static const u64 address = 0x1008;
	char dir[DIRECTORY_SIZE];
	struct jitmaps j = { 0 };
	bool has[MAPS], good;
	s32 tgid[MAPS];
	char *path;
	int i;

	make_directory(dir);
	for (i = 0; i < MAPS; i++) {
		tgid[i] = make_map(i, sizes[i]);
		jitmaps_add(&j, tgid[i], &address, 1);
	}
	good = jitmaps_copy(&j, dir);
	for (i = 0; i < MAPS; i++) {
		has[i] = has_copy(dir, tgid[i]);
		path = xasprintf("/tmp/perf-%d.map", tgid[i]);
		unlink(path);
		free(path);
	}
	store_remove(dir);
	jitmaps_free(&j);
	ck_assert(!good);
	ck_assert(has[0] && !has[1] && has[2] && !has[3]);
}
END_TEST

/* An address is stored once, however many stacks have it */
START_TEST(same_addresses)
{
	static const u64 addr[] = { 5, 7, 5, 6 };
	struct jitmaps j = { 0 };
	u64 i;

	for (i = 0; i < JITMAPS_ADDRESSES; i++)
		jitmaps_add(&j, 1, addr, ARRAY_SIZE(addr));
	jitmaps_add(&j, 2, addr, 2);
	ck_assert(!j.left_out);
	ck_assert_uint_eq(j.nr, 2);
	ck_assert_uint_eq(j.process[0].nr, 3);
	ck_assert_uint_eq(j.process[1].nr, 2);
	/* Until no room is left */
	for (i = 0; i < JITMAPS_ADDRESSES - 5; i++) {
		u64 other = 1000 + i;

		jitmaps_add(&j, 2, &other, 1);
	}
	jitmaps_add(&j, 1, addr, ARRAY_SIZE(addr));
	ck_assert(!j.left_out);
	i = 8;
	jitmaps_add(&j, 1, &i, 1);
	ck_assert(j.left_out);
	ck_assert_uint_eq(j.process[0].nr, 3);
	ck_assert_uint_eq(j.process[1].nr, JITMAPS_ADDRESSES - 3);
	jitmaps_free(&j);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tracerig");
	TCase *t = tcase_create("plan");

	tcase_add_loop_test(t, filter, 0, ARRAY_SIZE(filters));
	tcase_add_loop_test(t, mistake, 0, ARRAY_SIZE(mistakes));
	tcase_add_test(t, same_event);
	tcase_add_test(t, request);
	tcase_add_test(t, missed);
	tcase_add_loop_test(t, chart_text, 0, ARRAY_SIZE(charts));
	tcase_add_test(t, followed);
	suite_add_tcase(s, t);
	t = tcase_create("windows");
	tcase_add_test(t, above_limit);
	tcase_add_test(t, silent);
	tcase_add_loop_test(t, advice, 0, ARRAY_SIZE(advices));
	tcase_add_test(t, advice_file);
	tcase_add_test(t, needs);
	tcase_add_loop_test(t, bound_past, 0, ARRAY_SIZE(bounds));
	tcase_add_loop_test(t, own_alarms, 0, ARRAY_SIZE(processes));
	suite_add_tcase(s, t);
	t = tcase_create("symbols");
	tcase_add_loop_test(t, printed, 0, 2);
	tcase_add_test(t, unread);
	tcase_add_test(t, too_many_files);
	tcase_add_loop_test(t, below, 0, ARRAY_SIZE(paths));
	tcase_add_test(t, large_maps);
	tcase_add_test(t, same_addresses);
	suite_add_tcase(s, t);
	return run_suite(s);
}
