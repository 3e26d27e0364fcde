// SPDX-License-Identifier: GPL-2.0
/* tracerig: the alarms of a window, alike cases, and how cases are reported. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <linux/kernel.h>

#include "alarms.h"
#include "memory.h"
#include "notify.h"
#include "store.h"
#include "suite.h"

/* ---- alike cases ---- */

static const struct {
	const char *chart, *comm, *keys, *want;
} groups[] = {
	{ "disk", "reader", "dev=254:0 sector=8", "disk reader dev=254:0" },
	{ "disk", "reader12", "dev=254:0 sector=9", "disk reader dev=254:0" },
	{ "disk", "kworker/0:1H", "dev=254:16 sector=9",
	  "disk kworker dev=254:16" },
	/* A part of a chart: its key is said once */
	{ "disk[dev=254:16]", "reader", "dev=254:16 sector=9",
	  "disk reader dev=254:16" },
	{ "disk[dev=254:16]", "reader", "sector=9 dev=254:160",
	  "disk[dev=254:16] reader dev=254:160" },
	{ "disk[prio=3]", "reader", "dev=254:16",
	  "disk[prio=3] reader dev=254:16" },
	{ "disk[dev=", "reader", "dev=", "disk[dev= reader dev=" },
	{ "disk[]", "reader", "dev=1", "disk[] reader dev=1" },
	{ "wakeup", "pool-3", "pid=17", "wakeup pool" },
	{ "syscall.read", "42", "common_pid=3", "syscall.read 4" },
	{ "x", "", "", "x " },
	{ "x", "a", "sectors=3 s=4", "x a sectors=3 s=4" },
	{ "request.80", "httpd", "common_pid=3 id=77", "request.80 httpd" },
	{ "x", "a", "idx=3 xid=4", "x a idx=3 xid=4" },
	/* Addresses differ each time; functions and results of calls do not */
	{ "xmit", "a", "skbaddr=0xffff888012345678 name=eth0",
	  "xmit a name=eth0" },
	{ "x", "a", "daddr=3232235777 uaddr=4096", "x a daddr=3232235777" },
	{ "x", "a", "rq=18446612686396416000", "x a" },
	{ "x", "a", "uaddr=140737488355328 ret=18446744073709551611",
	  "x a ret=18446744073709551611" },
	{ "x", "a", "fn=0xffffffff81234567", "x a fn=0xffffffff81234567" },
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
	struct store_group *g;
	char name[32];
	unsigned int i;

	for (i = 0; i < GROUPS_MAX + 100; i++) {
		snprintf(name, sizeof(name), "kind %u", i);
		g = store_group(&s, name);
		g->count++;
		g->first = i + 1;
	}
	ck_assert_uint_eq(s.nr_groups, GROUPS_MAX + 1);
	ck_assert_uint_eq(store_group(&s, "others")->count, 100);
	ck_assert_uint_eq(store_group(&s, "kind 3")->count, 1);
	/* Those without a case make room */
	store_group(&s, "kind 3")->first = 0;
	ck_assert_uint_eq(store_group(&s, "new")->count, 0);
	/* The sum of all counts stays: metrics are counters */
	ck_assert_uint_eq(store_group(&s, "others")->count, 101);
	store_group(&s, "new")->count++;
	ck_assert_uint_eq(s.nr_groups, GROUPS_MAX + 1);
	ck_assert_uint_eq(store_group(&s, "new")->count, 1);
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
	/* Those of an earlier watch do not count */
	ck_assert_uint_eq(store_since(&s, 1), 3);
	ck_assert_uint_eq(store_since(&s, 7), 2);
	ck_assert_uint_eq(store_since(&s, 10), 0);
}
END_TEST

/* ---- messages ---- */

static const struct {
	u64 number, like, alike, alarms;
	const char *charts, *want;
	u64 removed;
	const char *why;
} messages[] = {
	{ 3, 3, 1, 1, "disk",
	  "case 3: disk took 226.0 ms, limit 43.00 ms, k=1, process a-12", 0,
	  "" },
	{ 3, 1, 7, 1, "disk",
	  "case 3: disk took 226.0 ms, limit 43.00 ms, k=1, process a-12 (7 alike)",
	  0, "" },
	{ 0, 1, 7, 1, "disk",
	  "like case 1: disk took 226.0 ms, limit 43.00 ms, k=1, process a-12 (7 alike)",
	  0, "" },
	/* A full disk: there is no case that it is like */
	{ 0, 0, 1, 1, "disk",
	  "not kept: disk took 226.0 ms, limit 43.00 ms, k=1, process a-12", 0,
	  "" },
	{ 0, 0, 2, 1, "disk",
	  "not kept: disk took 226.0 ms, limit 43.00 ms, k=1, process a-12 (2 alike)",
	  0, "" },
	/* One that could not be written is not said to be only alike */
	{ 0, 1, 3, 1, "disk",
	  "not kept: disk took 226.0 ms, limit 43.00 ms, k=1, process a-12 (3 alike)",
	  0, "no room" },
	/* More alarms in the window, and of other charts */
	{ 3, 3, 1, 1234, "disk",
	  "case 3: disk took 226.0 ms, limit 43.00 ms, k=1, process a-12 (1,234 alarms)",
	  0, "" },
	{ 3, 3, 1, 2, "disk x",
	  "case 3: disk took 226.0 ms, limit 43.00 ms, k=1, process a-12 (2 alarms; also of chart x)",
	  0, "" },
	{ 3, 1, 2, 4, "disk x y",
	  "case 3: disk took 226.0 ms, limit 43.00 ms, k=1, process a-12 (4 alarms; also of charts x, y; 2 alike)",
	  0, "" },
	{ 3, 3, 1, 9, "disk a b c d e",
	  "case 3: disk took 226.0 ms, limit 43.00 ms, k=1, process a-12 (9 alarms; also of charts a, b, c and 2 more)",
	  0, "" },
	/* A worse case than the worst one before */
	{ 3, 1, 2, 1, "disk",
	  "case 3: disk took 226.0 ms, limit 43.00 ms, k=1, process a-12 (2 alike; replaces case 2)",
	  2, "" },
};

START_TEST(message)
{
	struct json_object *names = json_object_new_array();
	char *charts = xstrdup(messages[_i].charts), *name, *save;
	const struct notice n = { .number = messages[_i].number,
				  .like = messages[_i].like,
				  .alike = messages[_i].alike,
				  .chart = "disk",
				  .value = 226000000,
				  .limit = 43000000,
				  .is_time = true,
				  .pid = 12,
				  .comm = "a",
				  .keys = "k=1",
				  .nr_alarms = messages[_i].alarms,
				  .removed = messages[_i].removed,
				  .why = messages[_i].why,
				  .charts = names };
	char *got;

	for (name = strtok_r(charts, " ", &save); name;
	     name = strtok_r(NULL, " ", &save))
		chart_names_add(names, name);
	got = notice_message(&n);
	ck_assert_str_eq(got, messages[_i].want);
	free(got);
	free(charts);
	json_object_put(names);
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
	.why = "no room",
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
			"$TRACERIG_KEYS $TRACERIG_ALARMS $TRACERIG_SKIPPED $TRACERIG_ERROR $TRACERIG_MESSAGE\" "
			"= \"3 1 7 /cases/3 disk reader disk 226 43 ns 12 a 'b'; exit 9 "
			"dev=254:0 2 $WANT_SKIPPED no room it took long\"",
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

/* The end of a watch is not that of its last command, whose failure is seen, too */
START_TEST(command_last)
{
	struct command c = { .text = "sleep 0.3; exit 6" };

	ck_assert(command_start(&c, &notice, 1));
	command_wait(&c);
	ck_assert_int_eq(c.pid, 0);
	ck_assert_uint_eq(c.failed, 1);
	command_wait(&c);
	ck_assert_uint_eq(c.failed, 1);
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

/* Any chart with alarms is listed, however small its alarms are, and however many others there are */
START_TEST(each_chart)
{
	struct alarm_list *l = xzalloc(sizeof(*l));
	struct json_object *names;
	const char *text;
	size_t i;

	for (i = 1; i <= 10 * ALARMS_MAX; i++) {
		struct alarm a = { .ts = i, .value = 1000 + i, .limit = 3 };

		if (i == 5 || i == 5 * ALARMS_MAX)
			a.value = 4;
		snprintf(a.chart, sizeof(a.chart), "%s",
			 i == 5		     ? "early" :
			 i == 5 * ALARMS_MAX ? "late" :
					       "usual");
		alarm_list_add(l, &a);
	}
	alarm_list_sort(l);
	names = alarm_list_charts(l);
	text = json_object_to_json_string_ext(names, JSON_C_TO_STRING_PLAIN);
	ck_assert_str_eq(text, "[\"usual\",\"early\",\"late\"]");
	ck_assert_uint_eq(l->lead.ts, 10 * ALARMS_MAX);
	json_object_put(names);
	/* Each chart has one: nothing can be replaced but by a worse one of the same chart */
	l->nr = 0;
	for (i = 0; i <= ALARMS_MAX; i++) {
		struct alarm a = { .ts = i, .value = 9 + i, .limit = 3 };

		snprintf(a.chart, sizeof(a.chart), "%zu", i % ALARMS_MAX);
		alarm_list_add(l, &a);
	}
	for (i = 0; i < ALARMS_MAX; i++)
		ck_assert_uint_eq(l->alarm[i].ts, i ? i : ALARMS_MAX);
	free(l);
}
END_TEST

/* A part of a chart: the kernel has the number of a device, people its two parts */
static const struct {
	const char *kernel, *label;
} parts[] = {
	{ "disk", "disk" },
	{ "disk[dev=266338320]", "disk[dev=254:16]" },
	{ "disk[sector=266338320]", "disk[sector=266338320]" },
	{ "disk[comm=dev=1]", "disk[comm=dev=1]" },
	{ "disk[comm=kworker/0:1]", "disk[comm=kworker/0:1]" },
	{ "disk[comm=bash]", "disk[comm=bash]" },
	{ "disk[fn=18446744071579881472]", "disk[fn=vfs_read]" },
	{ "disk[fn=18446744071579881500]", "disk[fn=vfs_read+0x1c]" },
	{ "disk[fn=18446744071579885568]", "disk[fn=vfs_write]" },
	{ "disk[ip=-2129666048]", "disk[ip=vfs_write]" },
	{ "disk[fn=4096]", "disk[fn=4096]" },
	{ "disk[comm=0]", "disk[comm=0]" },
	{ "disk[dev=", "disk[dev=" },
	{ "disk[]", "disk[]" },
};

START_TEST(part_label)
{
	static const char format[] =
		"name: ev\nID: 5\nformat:\n"
		"\tfield:u16 common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
		"\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"
		"\tfield:u32 sector;\toffset:12;\tsize:4;\tsigned:0;\n"
		"\tfield:char comm[16];\toffset:16;\tsize:16;\tsigned:0;\n"
		"\tfield:void * fn;\toffset:32;\tsize:8;\tsigned:0;\n"
		"\tfield:long ip;\toffset:40;\tsize:8;\tsigned:1;\n"
		"\nprint fmt: \"%pS %pS\", REC->fn, (void *)REC->ip\n";
	struct tep_handle *tep = tep_alloc();
	char chart[128];
	size_t i;

	ck_assert(!tep_parse_event(tep, format, strlen(format), "x"));
	ck_assert(!tep_register_function(tep, (char *)"vfs_read",
					 18446744071579881472ull, NULL));
	ck_assert(!tep_register_function(tep, (char *)"vfs_write",
					 18446744071579885568ull, NULL));
	snprintf(chart, sizeof(chart), "%s", parts[_i].kernel);
	chart_label(tep_find_event(tep, 5), chart, sizeof(chart));
	ck_assert_str_eq(chart, parts[_i].label);
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		ck_assert_int_eq(alarm_is_of(tep, chart, parts[i].kernel),
				 i == (size_t)_i);
	ck_assert(!alarm_is_of(tep, chart, "disk[dev=266338321]"));
	ck_assert(!alarm_is_of(tep, chart, "disk[dev"));
	/* An event that is not known */
	snprintf(chart, sizeof(chart), "%s", parts[_i].kernel);
	chart_label(NULL, chart, sizeof(chart));
	ck_assert_str_eq(chart, parts[_i].kernel);
	tep_free(tep);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tracerig_alarms");
	TCase *t = tcase_create("alarms");

	tcase_add_test(t, worst);
	tcase_add_test(t, without_limit);
	tcase_add_test(t, each_chart);
	tcase_add_loop_test(t, part_label, 0, ARRAY_SIZE(parts));
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
	tcase_add_test(t, command_last);
	suite_add_tcase(s, t);
	return run_suite(s);
}
