// SPDX-License-Identifier: GPL-2.0
/* ctlchart: charts of ordinary events and of the kernel's alarms */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "traces.h"

START_TEST(load)
{
	struct td_layout layout = { .big_endian = traces_load[_i].big_endian,
				    .long4 = traces_load[_i].long4,
				    .page_size = traces_load[_i].page_size };
	char arguments[256];

	td_free(&td);
	td_init(&td, &layout, 4);
	name_readers();
	sc_formats(&td, false);
	sc_block(&td, 0, &traces_load[_i].load, &truth);
	snprintf(arguments, sizeof(arguments),
		 BLOCK "'ctlchart(block_bio_queue, dev, sector%s)'",
		 traces_load[_i].options);
	report(arguments);
	check_load(&traces_load[_i].load);
}
END_TEST

/* The same trace in version 7, as trace-cmd itself writes it, compressed too */
START_TEST(version7)
{
	const char *compression = _i ? "any" : "none";
	char command[512], *output;
	int status;

	name_readers();
	sc_formats(&td, false);
	sc_block(&td, 0, &sc_default_load, &truth);
	ck_assert(td_save(&td, trace));
	snprintf(
		command, sizeof(command),
		"trace-cmd convert --file-version 7 --compression %s -i '%s' -o '%s.7' >/dev/null 2>&1 && mv '%s.7' '%s'",
		compression, trace, trace, trace, trace);
	ck_assert_int_eq(system(command), 0);
	output = run(&status,
		     "--format=json " BLOCK
		     "'ctlchart(block_bio_queue, dev, sector)' '%s'",
		     trace);
	ck_assert_msg(!status, "%s", message());
	result = json_tokener_parse(output);
	ck_assert_ptr_nonnull(result);
	check_load(&sc_default_load);
}
END_TEST

START_TEST(instance)
{
	int status;

	name_readers();
	sc_formats(&td, false);
	sc_block(&td, td_add_buffer(&td, "disk"), &sc_default_load, &truth);
	report("--instance=disk " BLOCK
	       "'ctlchart(block_bio_queue, dev, sector)'");
	check_load(&sc_default_load);
	ck_assert_str_eq(string_at(result, "instance"), "disk");
	report(BLOCK "'ctlchart(block_bio_queue, dev, sector)'");
	ck_assert_uint_eq(uint_at(chart(0), "learnt"), 0);
	ck_assert_ptr_nonnull(
		strstr(message(), "--instance chooses another: disk\n"));
	run(&status, "--instance=disc " BLOCK "'ctlchart(pid)' '%s'", trace);
	ck_assert_int_eq(status, 1);
	ck_assert_ptr_nonnull(
		strstr(message(), "has no instance disc, but: disk\n"));
}
END_TEST

START_TEST(alarms)
{
	unsigned int i;

	name_readers();
	sc_formats(&td, true);
	sc_alarms(&td, &sc_default_load, &truth);
	report("");
	ck_assert_str_eq(string_at(chart(0), "name"), SC_BLOCK_CHART);
	ck_assert_str_eq(string_at(chart(0), "event"), SC_BLOCK_EVENT);
	ck_assert_uint_eq(uint_at(chart(0), "alarms"), truth.alarms);
	ck_assert_uint_eq(uint_at(chart(0), "kept"), truth.alarms);
	ck_assert_uint_eq(uint_at(chart(0), "overdue"), 0);
	ck_assert_uint_eq(uint_at(chart(0), "center"), (uint64_t)truth.center);
	ck_assert_uint_eq(uint_at(chart(0), "limit"), (uint64_t)truth.ucl);
	check_worst();
	/* all of them, sorted */
	report("--worst=1000");
	ck_assert_uint_eq(json_object_array_length(member(chart(0), "worst")),
			  truth.alarms);
	for (i = 0; i < truth.alarms; i++)
		ck_assert_uint_eq(uint_at(worst(i), "duration"),
				  truth.alarm[i].duration);
}
END_TEST

/* For a plain trace the desk reports the same alarms as the kernel. */
START_TEST(two_charts)
{
	const struct sc_alarm_event a = {
		.duration = 900, .limit = 500, .values = 42, .rules = 1,
		.pid = 7, .comm = "seven", .kept = false, .chart = "lat.lat",
		.event = "synthetic:lat", .keys = "",
	}, b = {
		.start = SC_BASE, .duration = 4 * SEC, .center = MSEC,
		.limit = 2 * MSEC, .values = 99, .rules = 0x100, .pid = 8,
		.comm = "eight", .chart = "mine", .event = "#77",
		.keys = "k=-1",
	};
	int status;

	sc_formats(&td, true);
	sc_alarm_event(&td, 0, SC_BASE + SEC, &a);
	sc_alarm_event(&td, 1, SC_BASE + 4 * SEC, &b);
	report("");
	ck_assert_str_eq(string_at(chart(0), "name"), "lat.lat");
	ck_assert_uint_eq(uint_at(chart(0), "values"), 42);
	ck_assert_uint_eq(uint_at(chart(0), "alarms"), 1);
	ck_assert_uint_eq(uint_at(chart(0), "kept"), 0);
	ck_assert(!json_object_object_get_ex(chart(0), "center", NULL));
	ck_assert(!json_object_object_get_ex(chart(0), "unit", NULL));
	ck_assert_str_eq(string_at(chart(1), "name"), "mine");
	ck_assert_uint_eq(uint_at(chart(1), "alarms"), 0);
	ck_assert_uint_eq(uint_at(chart(1), "overdue"), 1);
	ck_assert_str_eq(string_at(chart(1), "unit"), "ns");
	report("--chart=mine");
	ck_assert_uint_eq(json_object_array_length(member(result, "charts")),
			  1);
	ck_assert_str_eq(string_at(worst(0), "keys"), "k=-1");
	ck_assert_str_eq(string_at(worst(0), "rules"), "overdue");
	run(&status, "--chart=yours '%s'", trace);
	ck_assert_int_eq(status, 1);
}
END_TEST

/*
 * Alarms that the trace explains later, or not at all: chart 1 is known before chart
 * 2, which never is.
 */
START_TEST(limit_events)
{
	static const struct sc_alarm_event kinds[] = {
		{ .start = SC_BASE,
		  .duration = 10,
		  .limit = 5,
		  .values = 40,
		  .rules = 1,
		  .pid = 7,
		  .comm = "seven",
		  .chart = "late",
		  .event = SC_BLOCK_EVENT,
		  .keys = "dev=8388609 sector=24" },
		{ .start = SC_BASE,
		  .duration = 20,
		  .limit = 6,
		  .rules = 1,
		  .pid = 8,
		  .comm = "eight",
		  .chart = "lost",
		  .event = "#77",
		  .keys = "comm=a-b" },
	};
	struct sc_alarm_event a;
	unsigned int i;
	int status;
	char *csv;

	sc_formats(&td, true);
	/* the first ones without a limit event, up to 4 s before it */
	for (i = 0; i < 6; i++) {
		a = kinds[i == 1];
		a.silent = i < 4;
		a.duration += i;
		a.values += i;
		sc_alarm_event(&td, i % 2, SC_BASE + i * SEC, &a);
	}
	/* a limit whose event is lost: the alarm is the chart's all the same */
	a = kinds[0];
	a.silent = true;
	a.limit = 4;
	a.duration = 16;
	sc_alarm_event(&td, 0, SC_BASE + 6 * SEC, &a);
	report("");
	ck_assert_uint_eq(json_object_array_length(member(result, "charts")),
			  2);
	ck_assert_str_eq(string_at(chart(0), "name"), "late");
	ck_assert_str_eq(string_at(chart(0), "event"), SC_BLOCK_EVENT);
	ck_assert_uint_eq(uint_at(chart(0), "alarms"), 6);
	ck_assert_uint_eq(uint_at(chart(0), "limit"), 5);
	ck_assert_uint_eq(uint_at(chart(0), "values"), 44);
	ck_assert(!json_object_object_get_ex(worst(0), "limit", NULL));
	ck_assert_uint_eq(uint_at(worst(1), "limit"), 5);
	ck_assert_uint_eq(uint_at(worst(5), "limit"), 5);
	ck_assert_str_eq(string_at(worst(5), "keys"), "dev=8:1 sector=24");
	ck_assert_str_eq(string_at(chart(1), "name"), "chart #2");
	ck_assert_str_eq(string_at(chart(1), "event"), "unknown");
	ck_assert(!json_object_object_get_ex(chart(1), "limit", NULL));
	ck_assert_ptr_nonnull(strstr(
		message(), "1 alarm with only the number of the chart:"));
	/* in the order of time, although the first ones had to wait */
	csv = run(&status, "--format=csv '%s' | cut -d, -f1,5,7", trace);
	ck_assert_str_eq(
		csv, "chart,duration,limit\nlate,10,5\nchart #2,21,\n"
		     "late,12,5\nlate,13,5\nlate,14,5\nlate,15,5\nlate,16,\n");
}
END_TEST

/*
 * An alarm whose limit event does not come makes later ones wait for 5 s, in which their
 * chart has 20 more limits: each alarm has its own.
 */
START_TEST(many_limits)
{
	struct sc_alarm_event a = { .start = SC_BASE,
				    .rules = 1,
				    .comm = "c",
				    .chart = "often",
				    .event = SC_BLOCK_EVENT,
				    .keys = "dev=8388609 sector=24" };
	char *csv, want[400] = "duration,limit\n";
	unsigned int i;
	int status;

	sc_formats(&td, true);
	for (i = 0; i < 21; i++) {
		a.silent = !i;
		a.limit = 500 + i;
		a.duration = 1000 + i;
		sc_alarm_event(&td, 0, SC_BASE + i * SEC / 10, &a);
		snprintf(want + strlen(want), sizeof(want) - strlen(want),
			 i ? "%lu,%lu\n" : "%lu,\n", a.duration, a.limit);
	}
	report("");
	csv = run(&status, "--format=csv '%s' | cut -d, -f5,7", trace);
	ck_assert_str_eq(csv, want);
}
END_TEST

/* A key in flight twice: first in, first out, or the last one alone */
START_TEST(duplicates)
{
	sc_formats(&td, false);
	queue_bio(0, 1, 8);
	queue_bio(10, 1, 8);
	queue_bio(11, 2, 8); /* another key */
	complete_bio(30, 1, 8);
	complete_bio(50, 1, 8);
	complete_bio(51, 1, 8); /* no start */
	report(BLOCK "'ctlchart(block_bio_queue, dev, sector, ucl=1ms)'");
	ck_assert_uint_eq(uint_at(chart(0), "alarms"), 2);
	ck_assert_uint_eq(uint_at(worst(0), "duration"), 40 * MSEC);
	ck_assert_uint_eq(uint_at(worst(1), "duration"), 30 * MSEC);
	ck_assert_uint_eq(account("unmatched"), 1);
	ck_assert_uint_eq(account("in_flight"), 1);
	report(BLOCK
	       "'ctlchart(block_bio_queue, dev, sector, ucl=1ms, dup=last)'");
	ck_assert_uint_eq(uint_at(chart(0), "alarms"), 1);
	ck_assert_uint_eq(uint_at(worst(0), "duration"), 20 * MSEC);
	ck_assert_uint_eq(account("replaced"), 1);
	ck_assert_uint_eq(account("unmatched"), 2);
}
END_TEST

/* START by its bare name, with . or with :, and keys of different names */
START_TEST(names)
{
	static const char *const calls[] = {
		"ctlchart(sched_waking, pid:next_pid, ucl=1ms, dup=last)",
		"ctlchart(sched.sched_waking, pid:next_pid, ucl=1ms, dup=last)",
		"ctlchart(sched:sched_waking, comm:next_comm, ucl=1ms, dup=last)",
		"ctlchart(sched_waking,pid:next_pid,comm:next_comm,ucl=1ms,dup=last)",
		"ctlchart(sched_waking,target_cpu:cpu,pid:next_pid,ucl=1ms,dup=last)",
	};
	char arguments[256];

	sc_formats(&td, false);
	td.cmdlines = "5 waker\n6 wakee\n";
	sc_waking(&td, 1, SC_BASE, 5, "wakee", 6);
	sc_waking(&td, 1, SC_BASE + 1000, 5, "wakee", 6);
	sc_switch(&td, 1, SC_BASE + 5 * MSEC + 1000, 4, "wakee", 6);
	sc_switch(&td, 1, SC_BASE + 6 * MSEC, 6, "other", 4);
	snprintf(arguments, sizeof(arguments), "-e sched:sched_switch -f '%s'",
		 calls[_i]);
	report(arguments);
	ck_assert_uint_eq(uint_at(chart(0), "alarms"), 1);
	ck_assert_uint_eq(uint_at(worst(0), "duration"), 5 * MSEC);
	ck_assert_str_eq(string_at(worst(0), "comm"), "waker");
	ck_assert_uint_eq(account("replaced"), 1);
	ck_assert_uint_eq(account("unmatched"), 1);
	if (_i == 2)
		ck_assert_str_eq(string_at(worst(0), "keys"),
				 "next_comm=wakee");
	if (_i == 3)
		ck_assert_str_eq(string_at(worst(0), "keys"),
				 "next_pid=6 next_comm=wakee");
}
END_TEST

START_TEST(field)
{
	int i;

	sc_formats(&td, false);
	td.cmdlines = "5 five\n";
	for (i = 0; i < 100; i++)
		sc_lat(&td, i % 2, SC_BASE + i * MSEC, 5, 100);
	sc_lat(&td, 0, SC_BASE + 200 * MSEC, 5, 101);
	sc_lat(&td, 0, SC_BASE + 201 * MSEC, 5, -5); /* counts as 0 */
	sc_lat(&td, 0, SC_BASE + 202 * MSEC, 5, 7000);
	report("-e synthetic:lat -f 'ctlchart(lat, learn=0)'");
	ck_assert_str_eq(string_at(chart(0), "name"), "lat.lat");
	ck_assert_str_eq(string_at(chart(0), "field"), "lat");
	ck_assert_uint_eq(uint_at(chart(0), "center"), 100);
	ck_assert_uint_eq(uint_at(chart(0), "limit"), 100);
	ck_assert_uint_eq(uint_at(chart(0), "values"), 3);
	ck_assert_uint_eq(uint_at(chart(0), "alarms"), 2);
	ck_assert_uint_eq(uint_at(worst(0), "duration"), 7000);
	ck_assert_uint_eq(uint_at(worst(1), "duration"), 101);
	ck_assert_str_eq(string_at(worst(0), "comm"), "five");
	ck_assert_str_eq(string_at(worst(0), "keys"), "");
}
END_TEST

/* A tenth of the values differs in kind, and the report says so. */
START_TEST(shape)
{
	char *text;
	int i, status;

	sc_formats(&td, false);
	for (i = 0; i < 100; i++)
		sc_lat(&td, 0, SC_BASE + i * MSEC, 5,
		       (95 + i * 7 % 11) * (i * 13 % 10 ? 1 : 100));
	report("-e lat -f 'ctlchart(lat, learn=0)'");
	ck_assert_str_eq(string_at(chart(0), "shape"), "bimodal");
	text = run(&status, "-e lat -f 'ctlchart(lat, learn=0)' '%s'", trace);
	ck_assert_int_eq(status, 0);
	ck_assert_ptr_nonnull(strstr(text, "bimodal: many false alarms"));
	for (; i < 3100; i++)
		sc_lat(&td, 0, SC_BASE + i * MSEC, 5, 100 + i * 7 % 3000);
	report("-e lat -f 'ctlchart(lat, learn=0)'");
	ck_assert_str_eq(string_at(chart(0), "shape"), "bimodal");
}
END_TEST

/* Groups of five around these medians, one value a millisecond */
static void groups(int *at, const int *median, int n)
{
	static const int around[] = { 1, -1, 0, 2, -2 };
	int i;

	for (i = 0; i < 5 * n; i++)
		sc_lat(&td, 0, SC_BASE + (*at)++ * MSEC, 5,
		       median[i / 5] + around[i % 5]);
}

/* Centre 100, limit 125.8, sigma of medians 4.61, all by hand */
START_TEST(rules)
{
	static const int phase1[] = { 90,  95,	100, 105, 110,
				      110, 105, 100, 95,  90 };
	static const int beyond[] = { 115, 110, 100, 85 };
	static const int run[] = { 101, 102, 101, 103, 101, 102, 103, 101, 102 };
	int i, at = 0;

	sc_formats(&td, false);
	for (i = 0; i < 10; i++)
		sc_lat(&td, 0, SC_BASE + at++ * MSEC, 5, phase1[i]);
	groups(&at, beyond, 4);
	groups(&at, run, 9);
	report("-e lat -f 'ctlchart(lat, learn=0, samples=10, scale=linear, rules=1,2,5)'");
	ck_assert_uint_eq(uint_at(chart(0), "center"), 100);
	ck_assert_uint_eq(uint_at(chart(0), "limit"), 125);
	ck_assert_uint_eq(uint_at(chart(0), "alarms"), 4);
	ck_assert_str_eq(string_at(worst(0), "rules"), "rule1");
	ck_assert_uint_eq(uint_at(worst(0), "duration"), 113);
	ck_assert_str_eq(string_at(worst(1), "rules"), "rule5");
	ck_assert_str_eq(string_at(worst(2), "rules"), "rule2");
	ck_assert_str_eq(string_at(worst(3), "rules"), "rule1+below");
	report("-e lat -f 'ctlchart(lat, learn=0, samples=10, scale=linear)'");
	ck_assert_uint_eq(uint_at(chart(0), "alarms"), 0);
}
END_TEST

/* A shift alarms for ever, or until it is learnt */
START_TEST(relearn)
{
	static const int median[] = { 100, 100 };
	int shifted[80], i, at = 0;

	for (i = 0; i < 80; i++)
		shifted[i] = 1000;
	sc_formats(&td, false);
	groups(&at, median, 2);
	groups(&at, shifted, 80);
	report("-e lat -f 'ctlchart(lat, learn=0, samples=10, relearn=130)'");
	ck_assert_uint_ge(uint_at(chart(0), "center"), 999);
	ck_assert_uint_le(uint_at(chart(0), "center"), 1001);
	/*
	 * The 101st shows that it is a shift, and is the first of ten, of
	 * which there is one in each thirteen
	 */
	ck_assert_uint_ge(uint_at(chart(0), "alarms"), 101 + 8 * 13);
	ck_assert_uint_le(uint_at(chart(0), "alarms"), 101 + 10 * 13);
	ck_assert_uint_ge(uint_at(chart(0), "relearnt"), 2);
	report("-e lat -f 'ctlchart(lat, learn=0, samples=10)'");
	ck_assert_uint_eq(uint_at(chart(0), "center"), 100);
	ck_assert_uint_eq(uint_at(chart(0), "alarms"), 400);
}
END_TEST

static void lat_of(int *ms, int pid, const int *value, int n, int times)
{
	int i;

	for (i = 0; i < n; i++)
		sc_lat(&td, 0, SC_BASE + (*ms)++ * MSEC, pid, value[i] * times);
}

/* A chart for each process, and one for the third and fourth */
START_TEST(by)
{
	static const int phase1[] = { 90,  95,	100, 105, 110,
				      110, 105, 100, 95,  90 };
	static const int over[] = { 125, 126 };
	int ms = 0;

	sc_formats(&td, false);
	lat_of(&ms, 1, phase1, 10, 1);
	lat_of(&ms, 2, phase1, 10, 100);
	lat_of(&ms, 3, phase1, 5, 2);
	lat_of(&ms, 4, phase1 + 5, 5, 2);
	lat_of(&ms, 1, over, 2, 1);
	lat_of(&ms, 2, over, 2, 100);
	lat_of(&ms, 4, over, 2, 2);
	report("-e lat -f 'ctlchart(lat, learn=0, samples=10, scale=linear, by=common_pid, charts=2)'");
	ck_assert_uint_eq(json_object_array_length(member(result, "charts")),
			  3);
	ck_assert_str_eq(string_at(chart(0), "name"), "lat.lat");
	ck_assert_uint_eq(uint_at(chart(0), "limit"), 251);
	ck_assert_uint_eq(uint_at(chart(0), "learnt"), 10);
	ck_assert_uint_eq(uint_at(chart(0), "alarms"), 1);
	ck_assert_str_eq(string_at(chart(1), "name"), "lat.lat[common_pid=1]");
	ck_assert_uint_eq(uint_at(chart(1), "limit"), 125);
	ck_assert_uint_eq(uint_at(chart(1), "alarms"), 1);
	ck_assert_str_eq(string_at(chart(2), "name"), "lat.lat[common_pid=2]");
	ck_assert_uint_eq(uint_at(chart(2), "limit"), 12579);
	ck_assert_uint_eq(uint_at(chart(2), "values"), 2);
	ck_assert_uint_eq(uint_at(chart(2), "alarms"), 1);
}
END_TEST

/* 3000 values of which four lie above the limit, then one above it */
START_TEST(quantile)
{
	int i;

	sc_formats(&td, false);
	for (i = 0; i < 3000; i++)
		sc_lat(&td, 0, SC_BASE + i * MSEC, 5, 100 + i * 7 % 3000);
	sc_lat(&td, 0, SC_BASE + 4000 * MSEC, 5, 3095);
	sc_lat(&td, 0, SC_BASE + 4001 * MSEC, 5, 3096);
	report("-e lat -f 'ctlchart(lat, learn=0, limit=quantile)'");
	ck_assert_uint_eq(uint_at(chart(0), "limit"), 3095);
	ck_assert_str_eq(string_at(member(chart(0), "method"), "limit"),
			 "quantile");
	ck_assert_uint_eq(uint_at(chart(0), "values"), 2);
	ck_assert_uint_eq(uint_at(chart(0), "alarms"), 1);
	ck_assert(!json_object_object_get_ex(chart(0), "shape", NULL));
}
END_TEST

/* Terms left of the call select what is charted, right of it what is kept. */
START_TEST(terms)
{
	sc_formats(&td, false);
	queue_bio(0, 1, 8);
	queue_bio(0, 2, 8);
	queue_bio(0, 2, 16);
	complete_bio(10, 1, 8);
	complete_bio(20, 2, 8);
	complete_bio(30, 2, 16);
	report(BLOCK
	       "'dev == 2 && ctlchart(block_bio_queue, dev, sector, ucl=1ms) && sector > 8'");
	ck_assert_uint_eq(account("paired"), 3);
	ck_assert_uint_eq(uint_at(chart(0), "uncharted"), 1);
	ck_assert_uint_eq(uint_at(chart(0), "values"), 2);
	ck_assert_uint_eq(uint_at(chart(0), "alarms"), 2);
	ck_assert_uint_eq(uint_at(chart(0), "kept"), 1);
	ck_assert(json_object_get_boolean(member(worst(0), "kept")));
	ck_assert(!json_object_get_boolean(member(worst(1), "kept")));
}
END_TEST

START_TEST(overdue)
{
	sc_formats(&td, false);
	td.cmdlines = "1001 hung\n";
	queue_bio(0, 1, 8);
	queue_bio(1, 1, 16);
	complete_bio(500, 1, 16);
	complete_bio(1500, 1, 24); /* only its time counts */
	complete_bio(3000, 1, 24);
	complete_bio(4000, 1, 8); /* completes at the end */
	report(BLOCK
	       "'ctlchart(block_bio_queue, dev, sector, ucl=10s, overdue=1s)'");
	ck_assert_uint_eq(uint_at(chart(0), "overdue"), 1);
	ck_assert_uint_eq(uint_at(chart(0), "alarms"), 0);
	ck_assert_uint_eq(uint_at(worst(0), "duration"), 1500 * MSEC);
	ck_assert_uint_eq(uint_at(worst(0), "start"), SC_BASE);
	ck_assert_str_eq(string_at(worst(0), "keys"), "dev=0:1 sector=8");
	ck_assert_str_eq(string_at(worst(0), "comm"), "hung");
	ck_assert_uint_eq(account("paired"), 2);
}
END_TEST

START_TEST(bounded)
{
	int i;

	sc_formats(&td, false);
	for (i = 0; i < 20; i++)
		queue_bio(i, 1, i);
	queue_bio(61000, 1, 100); /* all others are stale by now */
	complete_bio(61005, 1, 0);
	complete_bio(61010, 1, 9);
	complete_bio(61010, 1, 19);
	report(BLOCK
	       "'ctlchart(block_bio_queue, dev, sector, ucl=10s, size=10)'");
	ck_assert_uint_eq(account("starts"), 21);
	ck_assert_uint_eq(account("refused"), 10);
	ck_assert_uint_eq(account("evicted"), 1);
	ck_assert_uint_eq(account("paired"), 1);
	ck_assert_uint_eq(account("unmatched"), 2);
	ck_assert_uint_eq(account("in_flight"), 9);
	ck_assert_uint_eq(uint_at(worst(0), "duration"), 61001 * MSEC);
}
END_TEST

START_TEST(rate)
{
	int i;

	sc_formats(&td, false);
	for (i = 0; i < 30; i++)
		sc_lat(&td, 0, SC_BASE + i * 100 * MSEC, 5, 100);
	report("-e lat -f 'ctlchart(lat, ucl=99, rate=4)'");
	ck_assert_uint_eq(uint_at(chart(0), "alarms"), 30);
	ck_assert_uint_eq(uint_at(chart(0), "suppressed"), 18);
	ck_assert_uint_eq(uint_at(member(result, "log"), "alarm_events"), 12);
	ck_assert_uint_eq(uint_at(member(result, "log"), "kept_events"), 30);
}
END_TEST

/* A start whose end was lost does not pair with the end of a later one. */
START_TEST(lost)
{
	int status;

	sc_formats(&td, false);
	queue_bio(0, 1, 8);
	td_lose(&td, 0, 0);
	queue_bio(100, 1, 8);
	complete_bio(110, 1, 8);
	report(BLOCK "'ctlchart(block_bio_queue, dev, sector, ucl=1ms)'");
	ck_assert_uint_eq(uint_at(result, "gaps"), 1);
	ck_assert_ptr_nonnull(strstr(message(), "records are lost in 1 gap"));
	ck_assert_uint_eq(uint_at(worst(0), "duration"), 10 * MSEC);
	ck_assert_uint_eq(account("replaced"), 1);
	ck_assert_ptr_nonnull(strstr(
		run(&status,
		    BLOCK
		    "'ctlchart(block_bio_queue, dev, sector, ucl=1ms)' '%s'",
		    trace),
		"records are lost in 1 gap"));
}
END_TEST

/* The clock of an end's CPU is slow: libtracecmd returns the end first. */
START_TEST(too_short)
{
	sc_formats(&td, false);
	sc_bio_queue(&td, 0, SC_BASE + 10 * MSEC, 1, 1, 8);
	sc_rq_complete(&td, 1, SC_BASE + 9 * MSEC, 0, 1, 8);
	report(BLOCK "'ctlchart(block_bio_queue, dev, sector, ucl=1ms)'");
	ck_assert_uint_eq(account("unmatched"), 1);
	ck_assert_uint_eq(account("in_flight"), 1);
}
END_TEST

/* Two charts of one event; both see it */
START_TEST(several)
{
	sc_formats(&td, false);
	queue_bio(0, 1, 8);
	complete_bio(10, 1, 8);
	complete_bio(11, 1, 16);
	report(BLOCK "'ctlchart(block_bio_queue, dev, sector, ucl=1ms)' " BLOCK
		     "'ctlchart(sector, ucl=12)'");
	ck_assert_uint_eq(uint_at(chart(0), "alarms"), 1);
	ck_assert_uint_eq(uint_at(chart(1), "alarms"), 1);
	ck_assert_uint_eq(uint_at(chart(1), "values"), 2);
	ck_assert_str_eq(string_at(chart(1), "name"),
			 "block_rq_complete.sector");
	ck_assert_uint_eq(uint_at(member(result, "log"), "kept_events"), 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("traces");
	TCase *tc = tcase_create("traces");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, load, 0, TRACES_LOADS);
	tcase_add_loop_test(tc, version7, 0, 2);
	tcase_add_test(tc, instance);
	tcase_add_test(tc, alarms);
	tcase_add_test(tc, two_charts);
	tcase_add_test(tc, limit_events);
	tcase_add_test(tc, duplicates);
	tcase_add_loop_test(tc, names, 0, 5);
	tcase_add_test(tc, field);
	tcase_add_test(tc, terms);
	tcase_add_test(tc, overdue);
	tcase_add_test(tc, bounded);
	tcase_add_test(tc, rate);
	tcase_add_test(tc, lost);
	tcase_add_test(tc, too_short);
	tcase_add_test(tc, several);
	tcase_add_test(tc, shape);
	tcase_add_test(tc, quantile);
	tcase_add_test(tc, rules);
	tcase_add_test(tc, relearn);
	tcase_add_test(tc, by);
	tcase_add_test(tc, many_limits);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
