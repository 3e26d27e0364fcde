// SPDX-License-Identifier: GPL-2.0
/* ctlchart sim: the results that other options would have had */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/kernel.h>

#include "traces.h"

/* Run "ctlchart sim" with --format=json on the trace, which is saved before */
static void sim(const char *arguments)
{
	char *output;
	int status;

	ck_assert(td_save(&td, trace));
	output = run(&status, "sim --format=json %s '%s'", arguments, trace);
	ck_assert_msg(!status, "%s: %s", arguments, message());
	json_object_put(result);
	result = json_tokener_parse(output);
	ck_assert_msg(result, "no JSON: %s", output);
}

static struct json_object *setting(size_t i)
{
	struct json_object *settings = member(result, "settings");

	ck_assert_uint_gt(json_object_array_length(settings), i);
	return json_object_array_get_idx(settings, i);
}

/* --- values from the kernel */

/* One of the chart of lat, 1 ms after the one before */
static void told(int *ms, const char *chart, uint64_t value, uint32_t order,
		 int studied, uint64_t limit)
{
	const struct sc_value_event v = {
		.time = SC_BASE + order * MSEC,
		.duration = value,
		.limit = limit,
		.order = order,
		.rules = limit && value > limit,
		.studied = studied,
		.kept = limit && value > limit,
		.chart = chart,
		.event = "synthetic:lat",
		.keys = "",
	};

	sc_value_event(&td, *ms % 2, SC_BASE + *ms * MSEC, &v);
	++*ms;
}

#define PAPER "limit=median, scale=linear, learn=0, samples=10"
static const int paper[] = { 10, 20, 30, 40, 50, 300, 500, 200, 400, 100 };

/*
 * Medians 30 and 300, ranges 40 and 400: 165 + 0.691 * 220 = 317.02. In the order
 * of the trace, which is the reverse, the groups are the same; so turn some more.
 */
START_TEST(values_in_order)
{
	static const int turned[] = { 10, 3, 9, 8, 1, 7, 6, 5, 2, 4 };
	int ms = 0, i;

	sc_formats(&td, false);
	sc_value_format(&td);
	for (i = 0; i < 10; i++)
		told(&ms, "lat.lat", paper[turned[i] - 1], turned[i], 1, 0);
	/* written before the kernel learnt, so was not judged, nor learnt from */
	told(&ms, "lat.lat", 1000, 10, 0, 0);
	told(&ms, "lat.lat", 317, 10, 0, 317);
	told(&ms, "lat.lat", 318, 10, 0, 317);
	/* Time stamps would tell another story, and so do other charts */
	told(&ms, "other", 999, 11, 1, 317);
	sc_lat(&td, 0, SC_BASE + 100 * MSEC, 5, 999);
	report("-e lat -f 'ctlchart(lat, " PAPER ")'");
	ck_assert_uint_eq(uint_at(chart(0), "limit"), 317);
	ck_assert_uint_eq(uint_at(chart(0), "center"), 165);
	ck_assert_uint_eq(uint_at(chart(0), "learnt"), 11);
	ck_assert_uint_eq(uint_at(chart(0), "values"), 2);
	ck_assert_uint_eq(uint_at(chart(0), "alarms"), 1);
	ck_assert_uint_eq(uint_at(chart(0), "kept"), 1);
	ck_assert_str_eq(message(), "");
}
END_TEST

/* Another setting judges the same values, and learns from those not studied */
START_TEST(values_of_other_settings)
{
	int ms = 0, i;

	sc_formats(&td, false);
	sc_value_format(&td);
	for (i = 0; i < 10; i++)
		told(&ms, "lat.lat", paper[i], 0, 0, 400);
	told(&ms, "lat.lat", 318, 0, 0, 400);
	sim("-e lat -f 'ctlchart(lat, " PAPER ")' --grid ucl=,40");
	ck_assert_uint_eq(uint_at(setting(0), "limit"), 317);
	ck_assert_uint_eq(uint_at(setting(0), "alarms"), 1);
	ck_assert_uint_eq(uint_at(setting(1), "limit"), 40);
	ck_assert_uint_eq(uint_at(setting(1), "values"), 11);
	ck_assert_uint_eq(uint_at(setting(1), "alarms"), 7);
	ck_assert_str_eq(string_at(setting(0), "values_from"),
			 "ctlchart_value");
	ck_assert_ptr_nonnull(strstr(
		message(), "lat.lat: the kernel had learnt its limit before"));
}
END_TEST

/* In an NMI that found the lock taken, a value is judged alone */
START_TEST(values_missed)
{
	int ms = 0, i;

	sc_formats(&td, false);
	sc_value_format(&td);
	for (i = 0; i < 10; i++) {
		told(&ms, "lat.lat", 1000000, i, 2, 0);
		told(&ms, "lat.lat", paper[i], i + 1, 1, 0);
	}
	report("-e lat -f 'ctlchart(lat, " PAPER ")'");
	ck_assert_uint_eq(uint_at(chart(0), "limit"), 317);
	ck_assert_uint_eq(uint_at(chart(0), "learnt"), 20);
	ck_assert_str_eq(message(), "");
}
END_TEST

/* Lost alarms are counted, and ctlchart does not wait for them forever */
START_TEST(values_lost)
{
	int ms = 0, i;

	sc_formats(&td, false);
	sc_value_format(&td);
	for (i = 0; i < 10000; i++) {
		if (i != 3 && i != 4)
			told(&ms, "lat.lat", 100 + i % 7, i + 1, 1, 0);
	}
	report("-e lat -f 'ctlchart(lat, " PAPER ")'");
	ck_assert_uint_eq(uint_at(chart(0), "learnt"), 10);
	ck_assert_uint_eq(uint_at(chart(0), "values"), 9988);
	ck_assert_ptr_nonnull(strstr(message(), " lat.lat: 2 values lost: "));
}
END_TEST

/* A chart for each value of a field, as the kernel reports; rate= is for all together */
START_TEST(values_by)
{
	static const int phase1[] = { 90,  95,	100, 105, 110,
				      110, 105, 100, 95,  90 };
	int ms = 0, i, k;

	sc_formats(&td, false);
	sc_value_format(&td);
	for (i = 0; i < 10; i++) {
		told(&ms, "lat.lat[x=1]", phase1[i], i + 1, 1, 0);
		told(&ms, "lat.lat[x=2]", 100 * phase1[i], i + 1, 1, 0);
		told(&ms, "lat.lat", 2 * phase1[i], i + 1, 1, 0);
	}
	for (k = 0; k < 2; k++) {
		told(&ms, "lat.lat[x=1]", 126, 10, 0, 125);
		told(&ms, "lat.lat[x=2]", 12580, 10, 0, 12579);
		told(&ms, "lat.lat", 252, 10, 0, 251);
	}
	report("-e lat -f 'ctlchart(lat, learn=0, samples=10, scale=linear, by=x, rate=1)'");
	ck_assert_uint_eq(json_object_array_length(member(result, "charts")),
			  3);
	ck_assert_uint_eq(uint_at(chart(0), "limit"), 251);
	ck_assert_str_eq(string_at(chart(1), "name"), "lat.lat[x=1]");
	ck_assert_uint_eq(uint_at(chart(1), "limit"), 125);
	ck_assert_uint_eq(uint_at(chart(2), "limit"), 12579);
	for (i = 0, k = 0; i < 3; i++) {
		ck_assert_uint_eq(uint_at(chart(i), "alarms"), 2);
		k += uint_at(chart(i), "suppressed");
	}
	ck_assert_int_eq(k, 5);
	sim("-e lat -f 'ctlchart(lat, learn=0, samples=10, scale=linear, by=x)'");
	ck_assert_uint_eq(uint_at(setting(0), "charts"), 2);
	ck_assert_uint_eq(uint_at(setting(0), "learnt"), 30);
	ck_assert_uint_eq(uint_at(setting(0), "values"), 6);
	ck_assert_uint_eq(uint_at(setting(0), "alarms"), 6);
}
END_TEST

/* A pair's durations, whose start event the trace does not describe */
START_TEST(values_of_pairs)
{
	static const struct sc_value_event v = {
		.time = SC_BASE + 9 * MSEC,
		.start = SC_BASE + 2 * MSEC,
		.duration = 7 * MSEC,
		.limit = 5 * MSEC,
		.rules = 1,
		.chart = "some_start->lat",
		.event = "synthetic:lat",
		.keys = "pid=7",
	};

	sc_formats(&td, false);
	sc_value_format(&td);
	sc_value_event(&td, 0, SC_BASE + 9 * MSEC + 5000, &v);
	report("-e lat -f 'lat > 5 && ctlchart(system.some_start, pid, ucl=5ms) && lat < 9'");
	ck_assert_uint_eq(uint_at(chart(0), "alarms"), 1);
	ck_assert_uint_eq(uint_at(chart(0), "kept"), 0);
	ck_assert_uint_eq(uint_at(worst(0), "duration"), 7 * MSEC);
	ck_assert_uint_eq(uint_at(worst(0), "start"), SC_BASE + 2 * MSEC);
	ck_assert_uint_eq(uint_at(worst(0), "time"), SC_BASE + 9 * MSEC);
	ck_assert_str_eq(string_at(worst(0), "keys"), "pid=7");
	ck_assert_ptr_nonnull(strstr(message(), "terms beside ctlchart()"));
}
END_TEST

/*
 * rules=: a group is of values of one CPU. Those of CPU 0 are about 100, those of CPU 1 are 114:
 * above the line for points, 113.8, and in control. The medians of groups of all values as they
 * come are about 100.
 */
START_TEST(values_of_cpus)
{
	static const int phase1[] = { 90,  95,	100, 105, 110,
				      110, 105, 100, 95,  90 };
	/* Which CPU a value is of */
	static const int cpu[] = { 0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 1, 0 };
	int ms = 0, i;

	sc_formats(&td, false);
	sc_value_format(&td);
	for (i = 0; i < 10; i++)
		told(&ms, "lat.lat", phase1[i], i + 1, 1, 0);
	for (i = 0; i < (int)ARRAY_SIZE(cpu); i++) {
		ms += (ms ^ cpu[i]) & 1;
		told(&ms, "lat.lat", cpu[i] ? 114 : 99 + i % 3, 11 + i, 1, 125);
	}
	report("-e lat -f 'ctlchart(lat, learn=0, samples=10, scale=linear, rules=1)'");
	ck_assert_uint_eq(uint_at(chart(0), "limit"), 125);
	ck_assert_uint_eq(uint_at(chart(0), "values"), ARRAY_SIZE(cpu));
	ck_assert_uint_eq(uint_at(chart(0), "alarms"), 1);
	ck_assert_uint_eq(uint_at(worst(0), "duration"), 114);
	ck_assert_str_eq(string_at(worst(0), "rules"), "rule1");
	/* the fifth of CPU 1 */
	ck_assert_uint_eq(uint_at(worst(0), "time"), SC_BASE + 23 * MSEC);
	ck_assert_str_eq(message(), "");
}
END_TEST

/*
 * rules=2: nine points in a row are of one CPU. Those of CPU 0 are above the centre, in turns
 * with those of CPU 1, which are below it: each CPU has its own ninth.
 */
START_TEST(points_of_cpus)
{
	static const int phase1[] = { 90,  95,	100, 105, 110,
				      110, 105, 100, 95,  90 };
	int ms = 0, i, cpu;

	sc_formats(&td, false);
	sc_value_format(&td);
	for (i = 0; i < 10; i++)
		told(&ms, "lat.lat", phase1[i], i + 1, 1, 0);
	for (i = 0; i < 9 * 5 * 2; i++) {
		cpu = i / 5 % 2;
		ms += (ms ^ cpu) & 1;
		told(&ms, "lat.lat", cpu ? 99 : 101, 11 + i, 1, 125);
	}
	report("-e lat -f 'ctlchart(lat, learn=0, samples=10, scale=linear, rules=2)'");
	ck_assert_uint_eq(uint_at(chart(0), "values"), 90);
	ck_assert_uint_eq(uint_at(chart(0), "alarms"), 2);
	ck_assert_uint_eq(uint_at(worst(0), "duration"), 101);
	ck_assert_str_eq(string_at(worst(0), "rules"), "rule2");
	ck_assert_uint_eq(uint_at(worst(1), "duration"), 99);
	ck_assert_str_eq(string_at(worst(1), "rules"), "rule2+below");
	ck_assert_str_eq(message(), "");
}
END_TEST

/* Bytes of an event in the ring: its fields, and the word before them */
#define BIO_QUEUE_BYTES (56 + 4)
#define RQ_COMPLETE_BYTES (52 + 4)

/* Each of the loads with one setting: its result is the true one */
START_TEST(sim_load)
{
	const struct sc_load *load = &traces_load[_i].load;
	struct td_layout layout = { .big_endian = traces_load[_i].big_endian,
				    .long4 = traces_load[_i].long4,
				    .page_size = traces_load[_i].page_size };
	char arguments[256];
	uint64_t alarms;

	td_free(&td);
	td_init(&td, &layout, 4);
	sc_formats(&td, false);
	sc_block(&td, 0, load, &truth);
	snprintf(arguments, sizeof(arguments),
		 BLOCK "'ctlchart(block_bio_queue, dev, sector%s)'",
		 traces_load[_i].options);
	sim(arguments);
	ck_assert_uint_eq(json_object_array_length(member(result, "settings")),
			  1);
	ck_assert_str_eq(string_at(setting(0), "setting"), "");
	ck_assert_str_eq(string_at(setting(0), "unit"), "ns");
	check_line(uint_at(setting(0), "center"), truth.center, load->linear);
	check_line(uint_at(setting(0), "limit"), truth.ucl, load->linear);
	ck_assert_uint_eq(uint_at(setting(0), "taken"),
			  load->group * load->groups);
	ck_assert_uint_eq(uint_at(setting(0), "learnt"), truth.learnt);
	ck_assert_uint_eq(uint_at(setting(0), "values"),
			  truth.values - truth.learnt);
	ck_assert_uint_eq(uint_at(setting(0), "alarms"), truth.alarms);
	ck_assert_uint_eq(uint_at(setting(0), "kept_events"), truth.alarms);
	ck_assert_uint_eq(uint_at(setting(0), "alarm_events"), truth.alarms);
	ck_assert_uint_eq(uint_at(setting(0), "events"), 2 * truth.values);
	ck_assert_uint_eq(uint_at(setting(0), "bytes"),
			  truth.values * (BIO_QUEUE_BYTES + RQ_COMPLETE_BYTES));
	ck_assert_uint_eq(uint_at(result, "events"), 2 * truth.values);
	ck_assert_uint_eq(uint_at(result, "bytes"),
			  uint_at(setting(0), "bytes"));
	/* an alarm of two keys, and at least one limit event, at most one for each */
	alarms = uint_at(setting(0), "kept_bytes") -
		 truth.alarms * RQ_COMPLETE_BYTES;
	ck_assert_uint_ge(alarms, truth.alarms * 72);
	ck_assert_uint_le(alarms, truth.alarms * (72 + 124));
}
END_TEST

/*
 * A grid: each setting has the result that it has alone. Reads
 * that start twice tell dup=fifo from dup=last, and a filter's other terms,
 * tables of their own and overdue starts are mixed in.
 */
static const char *const grids[] = {
	"--grid limit=individuals,median --grid 'scale=log,linear'",
	"--grid dup=fifo,last --grid ucl=20ms,40ms,",
	"--grid overdue=,100ms --grid ucl=20ms,40ms",
	"--grid size=4,4096 --grid dup=last,fifo",
	"--grid rate=,1 --grid stale=1s,60s",
};

START_TEST(sim_grid)
{
	struct json_object *all, *s;
	char filter[512], arguments[1024];
	size_t i, n;

	sc_formats(&td, false);
	sc_block(&td, 0, &traces_load[1].load, &truth);
	for (i = 0; i < 40; i++) {
		queue_bio(100000 + 50 * i, 1, 8);
		queue_bio(100010 + 50 * i, 1, 8);
		complete_bio(100030 + 50 * i, 1, 8);
	}
	snprintf(
		arguments, sizeof(arguments),
		BLOCK
		"'nr_sector > 0 && ctlchart(block_bio_queue, dev, sector, learn=0) && dev != 7' " BLOCK
		"'ctlchart(block_bio_queue, dev, sector, learn=0, ucl=1ms, name=x)' %s",
		grids[_i]);
	sim(arguments);
	all = result;
	result = NULL;
	n = json_object_array_length(member(all, "settings"));
	ck_assert_uint_ge(n, 8);
	for (i = 0; i < n; i++) {
		s = json_object_array_get_idx(member(all, "settings"), i);
		snprintf(filter, sizeof(filter), "%s", string_at(s, "filter"));
		snprintf(arguments, sizeof(arguments), BLOCK "'%s'", filter);
		report(arguments);
		ck_assert_msg(
			uint_at(s, "values") == uint_at(chart(0), "values") &&
				uint_at(s, "alarms") ==
					uint_at(chart(0), "alarms") &&
				uint_at(s, "overdue") ==
					uint_at(chart(0), "overdue") &&
				uint_at(s, "kept_events") ==
					uint_at(member(result, "log"),
						"kept_events") &&
				uint_at(s, "alarm_events") ==
					uint_at(member(result, "log"),
						"alarm_events") &&
				uint_at(s, "kept_bytes") ==
					uint_at(member(result, "log"),
						"kept_bytes") &&
				uint_at(s, "bytes") ==
					uint_at(member(result, "log"), "bytes"),
			"%s: not what it says alone", filter);
	}
	json_object_put(all);
}
END_TEST

/* The settings are those of the grids, in their order. */
START_TEST(sim_settings)
{
	static const char *const want[][2] = {
		{ "ucl=5 rate=1", "ctlchart(lat ,name=a, ucl=5, rate=1)" },
		{ "ucl=5 no rate", "ctlchart(lat ,name=a, ucl=5)" },
		{ "no ucl rate=1", "ctlchart(lat ,name=a, rate=1)" },
		{ "no ucl no rate", "ctlchart(lat ,name=a)" },
	};
	char *output;
	int status;
	size_t i;

	sc_formats(&td, false);
	for (i = 0; i < 10; i++)
		sc_lat(&td, 0, SC_BASE + i * MSEC, 5, i);
	sim("-e lat -f 'ctlchart(lat , ucl = 3,name=a,rate=2)' --grid ucl=5, --grid rate=1,");
	for (i = 0; i < 4; i++) {
		ck_assert_str_eq(string_at(setting(i), "setting"), want[i][0]);
		ck_assert_str_eq(string_at(setting(i), "filter"), want[i][1]);
		ck_assert_str_eq(string_at(setting(i), "event"),
				 "synthetic:lat");
	}
	ck_assert_uint_eq(uint_at(setting(0), "alarms"), 4);
	ck_assert_uint_eq(uint_at(setting(0), "alarm_events"), 1);
	ck_assert_uint_eq(uint_at(setting(1), "alarm_events"), 4);
	ck_assert_uint_eq(uint_at(setting(2), "taken"), 1);
	output = run(
		&status,
		"sim --format=csv -e lat -f 'ctlchart(lat)' --grid ucl=5, '%s'",
		trace);
	ck_assert_str_eq(
		output,
		"event,filter,setting,center,limit,taken,learnt,values,alarms,overdue,kept_events,alarm_events,kept_bytes,events,bytes\n"
		"synthetic:lat,\"ctlchart(lat, ucl=5)\",ucl=5,,5,0,0,10,4,0,4,4,384,10,200\n"
		"synthetic:lat,ctlchart(lat),no ucl,,,1,10,0,0,0,0,0,0,10,200\n");
	output = run(&status,
		     "sim -e lat -f 'ctlchart(lat)' --grid ucl=5, '%s'", trace);
	ck_assert_msg(
		strstr(output,
		       "  ucl=5         -         5      10       4  40     4  384 bytes  0.5208 x\n"),
		"%s", output);
	ck_assert_ptr_nonnull(strstr(output, "  no ucl        -  1 of 100 "));
	ck_assert_ptr_nonnull(strstr(output, "  \"N of M\": no limit"));
}
END_TEST

static const struct {
	const char *arguments;
	const char *says;
	int status;
} sim_mistakes[] = {
	{ "", "missing -e EVENT -f", 2 },
	{ "-e lat", "-e lat has no -f", 2 },
	{ "-e lat -f 'ctlchart(lat'", "Expecting ',' or ')'", 2 },
	{ "-e lat -f 'lat > 5'", "No ctlchart() in this filter", 2 },
	{ "-e lat -f 'ctlchart(devil)'", "Field not found in this event", 1 },
	{ "-e lat -f 'ctlchart(lat)' --grid ucl",
	  "--grid=ucl is not OPTION=VALUE", 2 },
	{ "-e lat -f 'ctlchart(lat)' --grid =5",
	  "--grid==5 is not OPTION=VALUE", 2 },
	{ "-e lat -f 'ctlchart(lat)' --grid 'ucl=5) && (1'",
	  "is not OPTION=VALUE", 2 },
	{ "-e lat -f 'ctlchart(lat)' --grid ucl=5 --grid ucl=6",
	  "--grid=ucl=... given twice", 2 },
	{ "-e lat -f 'ctlchart(lat)' --grid lcu=5",
	  "Unknown ctlchart option\n  ctlchart(lat, lcu=5)\n                ^\n",
	  2 },
	{ "-e lat -f 'ctlchart(lat)' --grid ucl=5,x",
	  "Bad value for this option\n  ctlchart(lat, ucl=x)\n                    ^ a time, such as 20ms, or in ctlchart(FIELD) a number\n",
	  2 },
	{ "-e lat -f 'ctlchart(lat)' --grid size=5",
	  "Option needs a start event", 2 },
	{ "-e lat -f 'ctlchart(lat)' --grid ucl=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17 --grid samples=10,20,30,40,50,60,70,80,90,100,110,120,130,140,150,160",
	  "more than 256 settings", 2 },
	{ "-e lat -f 'ctlchart(lat)' --format=svg",
	  "--format=svg: must be text, csv or json", 2 },
	{ "-e lat -f 'ctlchart(lat)' another.dat", "one FILE at a time", 2 },
};

START_TEST(sim_errors)
{
	char *output;
	int status;

	sc_formats(&td, false);
	sc_lat(&td, 0, SC_BASE, 5, 1);
	ck_assert(td_save(&td, trace));
	output = run(&status, "sim %s '%s'", sim_mistakes[_i].arguments, trace);
	ck_assert_msg(status == sim_mistakes[_i].status, "%s: %d",
		      sim_mistakes[_i].arguments, status);
	ck_assert_str_eq(output, "");
	ck_assert_msg(strstr(message(), sim_mistakes[_i].says), "%s: %s",
		      sim_mistakes[_i].arguments, message());
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sim");
	TCase *tc = tcase_create("sim");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, sim_load, 0, TRACES_LOADS);
	tcase_add_loop_test(tc, sim_grid, 0, sizeof(grids) / sizeof(*grids));
	tcase_add_test(tc, sim_settings);
	tcase_add_loop_test(tc, sim_errors, 0,
			    sizeof(sim_mistakes) / sizeof(*sim_mistakes));
	tcase_add_test(tc, values_in_order);
	tcase_add_test(tc, values_of_other_settings);
	tcase_add_test(tc, values_missed);
	tcase_add_test(tc, values_lost);
	tcase_add_test(tc, values_by);
	tcase_add_test(tc, values_of_cpus);
	tcase_add_test(tc, points_of_cpus);
	tcase_add_test(tc, values_of_pairs);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
