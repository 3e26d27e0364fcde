// SPDX-License-Identifier: GPL-2.0
/* tracerig watch: limits that do not fit, windows and alarms, alike cases, --on-alarm. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/kernel.h>

#include "above.h"
#include "alarms.h"
#include "memory.h"
#include "notify.h"
#include "reader.h"
#include "rig.h"
#include "store.h"
#include "suite.h"

/* ---- limits that do not fit ---- */

#define SECOND 1000000000ull

/* Add @values and @alarms in each second; return the number of reports */
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

	/* Values and alarms before the watch's first look do not count */
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
	/* The share in percent and the number of values; never more than 100 % */
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
	/* Alarms of a limit that was replaced do not count */
	a.next = 0;
	c.values += 600;
	c.alarms += 600;
	c.limit = 8;
	ck_assert_uint_eq(above_look(&a, &c, now + 180 * SECOND, &values), 0);
	ck_assert_uint_eq(minutes(&a, &c, &now, 240, 10, 1), 0);
	/* Nor do those of a chart that was restarted */
	c.values = c.alarms = 0;
	ck_assert_uint_eq(minutes(&a, &c, &now, 1, 0, 0), 0);
}
END_TEST

/* ---- windows ---- */

/* A case needs events of an earlier window from its lead-in before the earliest operation on */
START_TEST(needs)
{
	struct reader *r = xzalloc(sizeof(*r));

	r->lead_in = 100;
	r->past[1].nr = 1;
	r->past[1].end = 1000;
	r->alarms.earliest = 1099;
	ck_assert(reader_needs(r, 1));
	ck_assert(!reader_needs(r, 0));
	r->alarms.earliest = 1100;
	ck_assert(!reader_needs(r, 1));
	free(r);
}
END_TEST

/* Pages of 1 MiB in the window and in those before it, and those left in each after a reset */
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
}

/* All earlier windows together have 256 MiB at most: the oldest ones go */
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
		ck_assert_uint_eq(r->past[i].nr, bounds[_i].left[i]);
		ck_assert_uint_eq(r->past[i].end, bounds[_i].left[i]);
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
	{ 11, 499, 900, true }, /* its I/O may be slow until it ends */
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

/* ---- alike cases ---- */

static const struct {
	const char *chart, *comm, *keys, *want;
} groups[] = {
	{ "disk", "reader", "dev=254:0 sector=8", "disk reader dev=254:0" },
	{ "disk", "reader12", "dev=254:0 sector=9", "disk reader dev=254:0" },
	{ "disk", "kworker/0:1H", "dev=254:16 sector=9",
	  "disk kworker dev=254:16" },
	{ "wakeup", "pool-3", "pid=17", "wakeup pool" },
	{ "syscall.read", "42", "common_pid=3", "syscall.read 4" },
	{ "x", "", "", "x " },
	{ "x", "a", "sectors=3 s=4", "x a sectors=3 s=4" },
	{ "request.80", "httpd", "common_pid=3 id=77", "request.80 httpd" },
	{ "x", "a", "idx=3 xid=4", "x a idx=3 xid=4" },
};

START_TEST(alike)
{
	struct alarm a = { 0 };
	char got[100];

	snprintf(a.chart, sizeof(a.chart), "%s", groups[_i].chart);
	snprintf(a.comm, sizeof(a.comm), "%s", groups[_i].comm);
	snprintf(a.keys, sizeof(a.keys), "%s", groups[_i].keys);
	group_of(&a, got, sizeof(got));
	ck_assert_str_eq(got, groups[_i].want);
	/* It never writes beyond its buffer */
	memset(got, 'x', sizeof(got));
	group_of(&a, got, 5);
	ck_assert_uint_lt(strlen(got), 5);
	ck_assert_int_eq(got[5], 'x');
}
END_TEST

START_TEST(wants)
{
	struct store_group g = { 0 };
	unsigned int i;

	ck_assert(store_wants(&g, 50));
	/* The watch does this when it has written the case */
	g.first = g.worst = 1;
	g.value = 50;
	ck_assert(!store_wants(&g, 50));
	ck_assert(!store_wants(&g, 10));
	ck_assert(store_wants(&g, 51));
	g.value = 51;
	for (i = 5; i <= 40; i++)
		ck_assert_int_eq(store_wants(&g, 1), i % 10 == 0);
	ck_assert_uint_eq(g.count, 40);
}
END_TEST

/* Kinds beyond the limit are counted together */
START_TEST(many_groups)
{
	struct store s = { .lock = -1 };
	char name[32];
	unsigned int i;

	for (i = 0; i < GROUPS_MAX + 100; i++) {
		snprintf(name, sizeof(name), "kind %u", i);
		store_group(&s, name)->count++;
	}
	ck_assert_uint_eq(s.nr_groups, GROUPS_MAX + 1);
	ck_assert_uint_eq(store_group(&s, "others")->count, 100);
	ck_assert_uint_eq(store_group(&s, "kind 3")->count, 1);
	store_close(&s);
}
END_TEST

/* The first case that still exists: --keep may have removed earlier ones */
START_TEST(first)
{
	static char reader[] = "disk reader", writer[] = "disk writer";
	static struct store_case kept[] = { { .number = 4, .group = writer },
					    { .number = 7, .group = reader },
					    { .number = 9, .group = reader } };
	const struct store s = { .c = kept, .nr = ARRAY_SIZE(kept) };
	const struct store_group g = { .name = reader, .first = 2 };

	ck_assert_uint_eq(store_first(&s, &g), 7);
	ck_assert_uint_eq(store_first(&(struct store){ 0 }, &g), 0);
}
END_TEST

/* ---- messages ---- */

static const struct {
	u64 number, like, alike;
	const char *want;
} messages[] = {
	{ 3, 3, 1,
	  "case 3: disk took 226.0 ms, limit 43.00 ms, k=1, process a-12" },
	{ 3, 1, 7,
	  "case 3: disk took 226.0 ms, limit 43.00 ms, k=1, process a-12 (7 alike)" },
	{ 0, 1, 7,
	  "like case 1: disk took 226.0 ms, limit 43.00 ms, k=1, process a-12 (7 alike)" },
	/* A full disk: no like case exists */
	{ 0, 0, 1,
	  "not kept: disk took 226.0 ms, limit 43.00 ms, k=1, process a-12" },
	{ 0, 0, 2,
	  "not kept: disk took 226.0 ms, limit 43.00 ms, k=1, process a-12 (2 alike)" },
};

START_TEST(message)
{
	const struct notice n = { .number = messages[_i].number,
				  .like = messages[_i].like,
				  .alike = messages[_i].alike,
				  .chart = "disk",
				  .value = 226000000,
				  .limit = 43000000,
				  .is_time = true,
				  .pid = 12,
				  .comm = "a",
				  .keys = "k=1" };
	char *got = notice_message(&n);

	ck_assert_str_eq(got, messages[_i].want);
	free(got);
}
END_TEST

/* ---- the command ---- */

static const struct notice notice = {
	.number = 3,
	.like = 1,
	.alike = 7,
	.dir = "/cases/3",
	.group = "disk reader",
	.chart = "disk",
	.value = 226,
	.limit = 43,
	.is_time = true,
	.pid = 12,
	.comm = "a 'b'; exit 9",
	.keys = "dev=254:0",
	.nr_alarms = 2,
	.message = "it took long",
};

static int end_command(struct command *c)
{
	int status;

	ck_assert_int_eq(waitpid(c->pid, &status, 0), c->pid);
	command_ended(c, status);
	return WEXITSTATUS(status);
}

START_TEST(command)
{
	struct command c = {
		.text = "test \"$TRACERIG_CASE $TRACERIG_LIKE $TRACERIG_ALIKE "
			"$TRACERIG_DIR $TRACERIG_GROUP $TRACERIG_CHART $TRACERIG_VALUE "
			"$TRACERIG_LIMIT $TRACERIG_UNIT $TRACERIG_PID $TRACERIG_COMM "
			"$TRACERIG_KEYS $TRACERIG_ALARMS $TRACERIG_SKIPPED $TRACERIG_MESSAGE\" "
			"= \"3 1 7 /cases/3 disk reader disk 226 43 ns 12 a 'b'; exit 9 "
			"dev=254:0 2 $WANT_SKIPPED it took long\"",
		.interval = 100,
	};

	setenv("WANT_SKIPPED", "0", 1);
	ck_assert(command_start(&c, &notice, 1000));
	/* One at a time, even if the interval is over */
	ck_assert(!command_start(&c, &notice, 5000));
	ck_assert_int_eq(end_command(&c), 0);
	/* And not before its interval is over */
	ck_assert(!command_start(&c, &notice, 1099));
	ck_assert_uint_eq(c.skipped, 2);
	setenv("WANT_SKIPPED", "2", 1);
	ck_assert(command_start(&c, &notice, 1100));
	ck_assert_uint_eq(c.skipped, 0);
	ck_assert_int_eq(end_command(&c), 0);
	ck_assert_uint_eq(c.failed, 0);
}
END_TEST

START_TEST(command_fails)
{
	struct command c = { .text = "exit 5" }, none = { 0 };

	ck_assert(command_start(&c, &notice, 1));
	ck_assert_int_eq(end_command(&c), 5);
	ck_assert_uint_eq(c.failed, 1);
	ck_assert_int_eq(c.pid, 0);
	ck_assert(!command_start(&none, &notice, 1));
	ck_assert_uint_eq(none.skipped, 0);
}
END_TEST

/* ---- the alarms of a window ---- */

static int by_ratio(const void *a, const void *b)
{
	const struct alarm *x = a, *y = b;
	double p = (double)x->value / x->limit, q = (double)y->value / y->limit;

	return p > q ? -1 : p < q;
}

/* The worst alarms are listed, in any order of arrival; all values are different */
START_TEST(worst)
{
	const size_t n = 10 * ALARMS_MAX;
	struct alarm *all = xcalloc(n, sizeof(*all));
	struct alarm_list *l = xzalloc(sizeof(*l));
	size_t i, k;

	for (i = 0; i < n; i++) {
		all[i] = (struct alarm){ .ts = 5000 - i,
					 .start = 1 + i,
					 .value = 1 + i * 7 % n,
					 .limit = 3 + i % 2 };
		alarm_list_add(l, &all[i]);
	}
	qsort(all, n, sizeof(*all), by_ratio);
	ck_assert_uint_eq(l->nr, n);
	ck_assert_uint_eq(l->earliest, 1);
	ck_assert_uint_eq(l->lead.ts, all[0].ts);
	ck_assert_uint_eq(alarm_list_sort(l), ALARMS_MAX);
	for (i = 1; i < ALARMS_MAX; i++)
		ck_assert_uint_lt(l->alarm[i - 1].ts, l->alarm[i].ts);
	for (i = 0; i < ALARMS_MAX; i++) {
		for (k = 0; k < ALARMS_MAX && l->alarm[k].ts != all[i].ts; k++)
			;
		ck_assert_uint_lt(k, ALARMS_MAX);
	}
	free(l);
	free(all);
}
END_TEST

/* A duration whose limit was lost is not the worst; a number above a limit of 0 is */
START_TEST(without_limit)
{
	struct alarm known = { .ts = 1, .start = 9, .value = 50, .limit = 40 };
	struct alarm lost = { .ts = 2, .start = 5, .value = 1000 };
	struct alarm number = { .ts = 3, .value = 2 };
	struct alarm_list *l = xzalloc(sizeof(*l));

	alarm_list_add(l, &lost);
	alarm_list_add(l, &known);
	ck_assert_uint_eq(l->lead.ts, known.ts);
	alarm_list_add(l, &lost);
	ck_assert_uint_eq(l->lead.ts, known.ts);
	alarm_list_add(l, &number);
	ck_assert_uint_eq(l->lead.ts, number.ts);
	ck_assert_uint_eq(l->earliest, number.ts);
	ck_assert_uint_eq(alarm_list_sort(l), 4);
	free(l);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("watch");
	TCase *t = tcase_create("alarms");

	tcase_add_test(t, above_limit);
	tcase_add_test(t, needs);
	tcase_add_loop_test(t, bound_past, 0, ARRAY_SIZE(bounds));
	tcase_add_loop_test(t, own_alarms, 0, ARRAY_SIZE(processes));
	tcase_add_test(t, worst);
	tcase_add_test(t, without_limit);
	suite_add_tcase(s, t);
	t = tcase_create("alike");
	tcase_add_loop_test(t, alike, 0, ARRAY_SIZE(groups));
	tcase_add_test(t, wants);
	tcase_add_test(t, many_groups);
	tcase_add_test(t, first);
	suite_add_tcase(s, t);
	t = tcase_create("notify");
	tcase_add_loop_test(t, message, 0, ARRAY_SIZE(messages));
	tcase_add_test(t, command);
	tcase_add_test(t, command_fails);
	suite_add_tcase(s, t);
	return run_suite(s);
}
