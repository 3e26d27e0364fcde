// SPDX-License-Identifier: GPL-2.0
/*
 * The program ctlchart on traces of which every event is known. It is run as a
 * user would, and its JSON compared with the truth.
 */
#include <check.h>
#include <errno.h>
#include <json-c/json.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenario.h"
#include "suite.h"

#define MSEC 1000000ULL
#define SEC 1000000000ULL
#define BLOCK "-e block:block_rq_complete -f "

static char directory[DIRECTORY_SIZE];
static char trace[DIRECTORY_SIZE + 16], messages[DIRECTORY_SIZE + 16];
static struct td td;
static struct sc_truth truth;
static struct json_object *result;

static const struct td_layout native = { .page_size = 4096, .clock = "local" };

static void set_up(void)
{
	make_directory(directory);
	snprintf(trace, sizeof(trace), "%s/trace.dat", directory);
	snprintf(messages, sizeof(messages), "%s/messages", directory);
	td_init(&td, &native, 2);
	memset(&truth, 0, sizeof(truth));
	result = NULL;
}

static void tear_down(void)
{
	json_object_put(result);
	td_free(&td);
	sc_free(&truth);
	unlink(trace);
	unlink(messages);
	rmdir(directory);
}

static char *__attribute__((format(printf, 2, 3)))
run(int *status, const char *format, ...)
{
	const char *tools = getenv("TOOLS");
	static char output[1 << 22];
	char arguments[4096], command[8192];
	va_list ap;
	size_t len;
	FILE *f;

	va_start(ap, format);
	vsnprintf(arguments, sizeof(arguments), format, ap);
	va_end(ap);
	snprintf(command, sizeof(command), "'%s'/ctlchart %s 2>'%s'",
		 tools ? tools : "build/tools/bin", arguments, messages);
	f = popen(command, "r");
	ck_assert_ptr_nonnull(f);
	len = fread(output, 1, sizeof(output) - 1, f);
	output[len] = '\0';
	*status = pclose(f);
	*status = WIFEXITED(*status) ? WEXITSTATUS(*status) : 255;
	return output;
}

static const char *message(void)
{
	static char text[4096];
	FILE *f = fopen(messages, "r");

	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	return text;
}

/* Run with --format=json on the trace, which is saved before */
static void report(const char *arguments)
{
	char *output;
	int status;

	ck_assert(td_save(&td, trace));
	output = run(&status, "--format=json %s '%s'", arguments, trace);
	ck_assert_msg(!status, "%s: %s", arguments, message());
	json_object_put(result);
	result = json_tokener_parse(output);
	ck_assert_msg(result, "no JSON: %s", output);
}

static struct json_object *at(struct json_object *o, const char *key)
{
	struct json_object *value;

	ck_assert_msg(json_object_object_get_ex(o, key, &value), "no %s", key);
	return value;
}

static uint64_t number(struct json_object *o, const char *key)
{
	return json_object_get_uint64(at(o, key));
}

static const char *string(struct json_object *o, const char *key)
{
	return json_object_get_string(at(o, key));
}

static struct json_object *chart(size_t i)
{
	struct json_object *charts = at(result, "charts");

	ck_assert_uint_gt(json_object_array_length(charts), i);
	return json_object_array_get_idx(charts, i);
}

static uint64_t account(const char *key)
{
	return number(at(chart(0), "accounts"), key);
}

static struct json_object *worst(size_t i)
{
	struct json_object *list = at(chart(0), "worst");

	ck_assert_uint_gt(json_object_array_length(list), i);
	return json_object_array_get_idx(list, i);
}

static void check_worst(void)
{
	char keys[64], comm[32];
	int i;

	ck_assert_uint_eq(json_object_array_length(at(chart(0), "worst")),
			  SC_WORST);
	for (i = 0; i < SC_WORST; i++) {
		const struct sc_alarm *a = &truth.worst[i];

		snprintf(keys, sizeof(keys), "dev=8:0 sector=%llu",
			 (unsigned long long)a->sector);
		snprintf(comm, sizeof(comm), "reader-%d", a->pid);
		ck_assert_uint_eq(number(worst(i), "duration"), a->duration);
		ck_assert_uint_eq(number(worst(i), "start"), a->start);
		ck_assert_uint_eq(number(worst(i), "pid"), a->pid);
		ck_assert_str_eq(string(worst(i), "comm"), comm);
		ck_assert_str_eq(string(worst(i), "keys"), keys);
		snprintf(keys, sizeof(keys), "dev=%u sector=%llu", SC_BLOCK_DEV,
			 (unsigned long long)a->sector);
		ck_assert_str_eq(string(worst(i), "raw_keys"), keys);
		ck_assert_str_eq(string(worst(i), "rules"), "limit");
	}
}

/* A line is the truth's, or on a log scale at most 2^-21 of itself above */
static void check_line(uint64_t line, long double ref, bool linear)
{
	ck_assert_msg(line >= (uint64_t)ref &&
			      line <= ref * (linear ? 1 : 1 + 0x1p-21L),
		      "%llu is not %.3Lf", (unsigned long long)line, ref);
}

static void name_readers(void)
{
	static char cmdlines[1 << 14];
	size_t len = 0;
	int pid;

	for (pid = 1000; pid < 1300; pid++)
		len += snprintf(cmdlines + len, sizeof(cmdlines) - len,
				"%d reader-%d\n", pid, pid);
	td.cmdlines = cmdlines;
}

static void check_load(const struct sc_load *load)
{
	struct json_object *c = chart(0);

	ck_assert_str_eq(string(c, "name"), SC_BLOCK_CHART);
	ck_assert_str_eq(string(c, "event"), SC_BLOCK_EVENT);
	ck_assert_str_eq(string(c, "start"), "block:block_bio_queue");
	ck_assert_uint_eq(number(c, "learnt"), truth.learnt);
	ck_assert_uint_eq(number(c, "values"), truth.values - truth.learnt);
	check_line(number(c, "center"), truth.center, load->linear);
	check_line(number(c, "limit"), truth.ucl, load->linear);
	ck_assert_uint_eq(number(c, "alarms"), truth.alarms);
	ck_assert_uint_eq(number(c, "kept"), truth.alarms);
	ck_assert_uint_eq(account("starts"), truth.values);
	ck_assert_uint_eq(account("ends"), truth.values);
	ck_assert_uint_eq(account("paired"), truth.values);
	ck_assert_uint_eq(account("unmatched"), 0);
	ck_assert_uint_eq(account("in_flight"), 0);
	ck_assert_uint_eq(number(at(result, "log"), "events"),
			  2 * truth.values);
	ck_assert_uint_eq(number(at(result, "log"), "kept_events"),
			  truth.alarms);
	check_worst();
}

static const struct {
	bool big_endian, long4;
	unsigned int page_size;
	struct sc_load load;
	const char *options;
} loads[] = {
	{ false,
	  false,
	  4096,
	  { 1, 12000, 3000, MSEC, 100 * MSEC, 5, 20, false, false },
	  "" },
	{ false,
	  false,
	  65536,
	  { 2, 500, 5000, MSEC, 0, 5, 20, true, true },
	  ", limit=median, scale=linear, learn=0" },
	{ true,
	  false,
	  4096,
	  { 3, 500, 5000, MSEC, 0, 5, 20, true, false },
	  ",limit=median,learn=0" },
	{ true,
	  true,
	  4096,
	  { 4, 3000, 3000, MSEC, 50 * MSEC, 10, 4, false, true },
	  ",learn=2s,group=10,samples=40,scale=linear" },
	{ false,
	  true,
	  16384,
	  { 5, 3000, 3000, MSEC, 10 * MSEC, 2, 100, false, false },
	  ",samples=200,learn=2s,group=2" },
};

START_TEST(load)
{
	struct td_layout layout = { .big_endian = loads[_i].big_endian,
				    .long4 = loads[_i].long4,
				    .page_size = loads[_i].page_size };
	char arguments[256];

	td_free(&td);
	td_init(&td, &layout, 4);
	name_readers();
	sc_formats(&td, false);
	sc_block(&td, 0, &loads[_i].load, &truth);
	snprintf(arguments, sizeof(arguments),
		 BLOCK "'ctlchart(block_bio_queue, dev, sector%s)'",
		 loads[_i].options);
	report(arguments);
	check_load(&loads[_i].load);
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
	ck_assert_str_eq(string(result, "instance"), "disk");
	report(BLOCK "'ctlchart(block_bio_queue, dev, sector)'");
	ck_assert_uint_eq(number(chart(0), "learnt"), 0);
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
	ck_assert_str_eq(string(chart(0), "name"), SC_BLOCK_CHART);
	ck_assert_str_eq(string(chart(0), "event"), SC_BLOCK_EVENT);
	ck_assert_uint_eq(number(chart(0), "alarms"), truth.alarms);
	ck_assert_uint_eq(number(chart(0), "kept"), truth.alarms);
	ck_assert_uint_eq(number(chart(0), "overdue"), 0);
	ck_assert_uint_eq(number(chart(0), "center"), (uint64_t)truth.center);
	ck_assert_uint_eq(number(chart(0), "limit"), (uint64_t)truth.ucl);
	check_worst();
	/* all of them, sorted */
	report("--worst=1000");
	ck_assert_uint_eq(json_object_array_length(at(chart(0), "worst")),
			  truth.alarms);
	for (i = 0; i < truth.alarms; i++)
		ck_assert_uint_eq(number(worst(i), "duration"),
				  truth.alarm[i].duration);
}
END_TEST

/* What the desk says of a plain trace is what the kernel's alarms say. */
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
	ck_assert_str_eq(string(chart(0), "name"), "lat.lat");
	ck_assert_uint_eq(number(chart(0), "values"), 42);
	ck_assert_uint_eq(number(chart(0), "alarms"), 1);
	ck_assert_uint_eq(number(chart(0), "kept"), 0);
	ck_assert(!json_object_object_get_ex(chart(0), "center", NULL));
	ck_assert(!json_object_object_get_ex(chart(0), "unit", NULL));
	ck_assert_str_eq(string(chart(1), "name"), "mine");
	ck_assert_uint_eq(number(chart(1), "alarms"), 0);
	ck_assert_uint_eq(number(chart(1), "overdue"), 1);
	ck_assert_str_eq(string(chart(1), "unit"), "ns");
	report("--chart=mine");
	ck_assert_uint_eq(json_object_array_length(at(result, "charts")), 1);
	ck_assert_str_eq(string(worst(0), "keys"), "k=-1");
	ck_assert_str_eq(string(worst(0), "rules"), "overdue");
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
	ck_assert_uint_eq(json_object_array_length(at(result, "charts")), 2);
	ck_assert_str_eq(string(chart(0), "name"), "late");
	ck_assert_str_eq(string(chart(0), "event"), SC_BLOCK_EVENT);
	ck_assert_uint_eq(number(chart(0), "alarms"), 6);
	ck_assert_uint_eq(number(chart(0), "limit"), 5);
	ck_assert_uint_eq(number(chart(0), "values"), 44);
	ck_assert(!json_object_object_get_ex(worst(0), "limit", NULL));
	ck_assert_uint_eq(number(worst(1), "limit"), 5);
	ck_assert_uint_eq(number(worst(5), "limit"), 5);
	ck_assert_str_eq(string(worst(5), "keys"), "dev=8:1 sector=24");
	ck_assert_str_eq(string(chart(1), "name"), "chart #2");
	ck_assert_str_eq(string(chart(1), "event"), "unknown");
	ck_assert(!json_object_object_get_ex(chart(1), "limit", NULL));
	ck_assert_ptr_nonnull(strstr(message(), "1 alarms have the number"));
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

static void start(uint64_t ms, unsigned int dev, uint64_t sector)
{
	sc_bio_queue(&td, 0, SC_BASE + ms * MSEC, 1001, dev, sector);
}

static void end(uint64_t ms, unsigned int dev, uint64_t sector)
{
	sc_rq_complete(&td, 0, SC_BASE + ms * MSEC, 0, dev, sector);
}

/* A key in flight twice: first in, first out, or the last one alone */
START_TEST(duplicates)
{
	sc_formats(&td, false);
	start(0, 1, 8);
	start(10, 1, 8);
	start(11, 2, 8); /* another key */
	end(30, 1, 8);
	end(50, 1, 8);
	end(51, 1, 8); /* no start */
	report(BLOCK "'ctlchart(block_bio_queue, dev, sector, ucl=1ms)'");
	ck_assert_uint_eq(number(chart(0), "alarms"), 2);
	ck_assert_uint_eq(number(worst(0), "duration"), 40 * MSEC);
	ck_assert_uint_eq(number(worst(1), "duration"), 30 * MSEC);
	ck_assert_uint_eq(account("unmatched"), 1);
	ck_assert_uint_eq(account("in_flight"), 1);
	report(BLOCK
	       "'ctlchart(block_bio_queue, dev, sector, ucl=1ms, dup=last)'");
	ck_assert_uint_eq(number(chart(0), "alarms"), 1);
	ck_assert_uint_eq(number(worst(0), "duration"), 20 * MSEC);
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
	ck_assert_uint_eq(number(chart(0), "alarms"), 1);
	ck_assert_uint_eq(number(worst(0), "duration"), 5 * MSEC);
	ck_assert_str_eq(string(worst(0), "comm"), "waker");
	ck_assert_uint_eq(account("replaced"), 1);
	ck_assert_uint_eq(account("unmatched"), 1);
	if (_i == 2)
		ck_assert_str_eq(string(worst(0), "keys"), "next_comm=wakee");
	if (_i == 3)
		ck_assert_str_eq(string(worst(0), "keys"),
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
	ck_assert_str_eq(string(chart(0), "name"), "lat.lat");
	ck_assert_str_eq(string(chart(0), "field"), "lat");
	ck_assert_uint_eq(number(chart(0), "center"), 100);
	ck_assert_uint_eq(number(chart(0), "limit"), 100);
	ck_assert_uint_eq(number(chart(0), "values"), 3);
	ck_assert_uint_eq(number(chart(0), "alarms"), 2);
	ck_assert_uint_eq(number(worst(0), "duration"), 7000);
	ck_assert_uint_eq(number(worst(1), "duration"), 101);
	ck_assert_str_eq(string(worst(0), "comm"), "five");
	ck_assert_str_eq(string(worst(0), "keys"), "");
}
END_TEST

/* A tenth of the values is of another kind, and the report says so. */
START_TEST(shape)
{
	char *text;
	int i, status;

	sc_formats(&td, false);
	for (i = 0; i < 100; i++)
		sc_lat(&td, 0, SC_BASE + i * MSEC, 5,
		       (95 + i * 7 % 11) * (i * 13 % 10 ? 1 : 100));
	report("-e lat -f 'ctlchart(lat, learn=0)'");
	ck_assert_str_eq(string(chart(0), "shape"), "bimodal");
	text = run(&status, "-e lat -f 'ctlchart(lat, learn=0)' '%s'", trace);
	ck_assert_int_eq(status, 0);
	ck_assert_ptr_nonnull(strstr(text, "bimodal: many false alarms"));
	for (; i < 3100; i++)
		sc_lat(&td, 0, SC_BASE + i * MSEC, 5, 100 + i * 7 % 3000);
	report("-e lat -f 'ctlchart(lat, learn=0)'");
	ck_assert_str_eq(string(chart(0), "shape"), "bimodal");
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
	ck_assert_uint_eq(number(chart(0), "center"), 100);
	ck_assert_uint_eq(number(chart(0), "limit"), 125);
	ck_assert_uint_eq(number(chart(0), "alarms"), 4);
	ck_assert_str_eq(string(worst(0), "rules"), "rule1");
	ck_assert_uint_eq(number(worst(0), "duration"), 113);
	ck_assert_str_eq(string(worst(1), "rules"), "rule5");
	ck_assert_str_eq(string(worst(2), "rules"), "rule2");
	ck_assert_str_eq(string(worst(3), "rules"), "rule1+below");
	report("-e lat -f 'ctlchart(lat, learn=0, samples=10, scale=linear)'");
	ck_assert_uint_eq(number(chart(0), "alarms"), 0);
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
	ck_assert_uint_ge(number(chart(0), "center"), 999);
	ck_assert_uint_le(number(chart(0), "center"), 1001);
	/*
	 * The 101st shows that it is a shift, and is the first of ten, of
	 * which there is one in each thirteen
	 */
	ck_assert_uint_ge(number(chart(0), "alarms"), 101 + 8 * 13);
	ck_assert_uint_le(number(chart(0), "alarms"), 101 + 10 * 13);
	ck_assert_uint_ge(number(chart(0), "relearnt"), 2);
	report("-e lat -f 'ctlchart(lat, learn=0, samples=10)'");
	ck_assert_uint_eq(number(chart(0), "center"), 100);
	ck_assert_uint_eq(number(chart(0), "alarms"), 400);
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
	ck_assert_uint_eq(json_object_array_length(at(result, "charts")), 3);
	ck_assert_str_eq(string(chart(0), "name"), "lat.lat");
	ck_assert_uint_eq(number(chart(0), "limit"), 251);
	ck_assert_uint_eq(number(chart(0), "learnt"), 10);
	ck_assert_uint_eq(number(chart(0), "alarms"), 1);
	ck_assert_str_eq(string(chart(1), "name"), "lat.lat[common_pid=1]");
	ck_assert_uint_eq(number(chart(1), "limit"), 125);
	ck_assert_uint_eq(number(chart(1), "alarms"), 1);
	ck_assert_str_eq(string(chart(2), "name"), "lat.lat[common_pid=2]");
	ck_assert_uint_eq(number(chart(2), "limit"), 12579);
	ck_assert_uint_eq(number(chart(2), "values"), 2);
	ck_assert_uint_eq(number(chart(2), "alarms"), 1);
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
	ck_assert_uint_eq(number(chart(0), "limit"), 3095);
	ck_assert_str_eq(string(at(chart(0), "method"), "limit"), "quantile");
	ck_assert_uint_eq(number(chart(0), "values"), 2);
	ck_assert_uint_eq(number(chart(0), "alarms"), 1);
	ck_assert(!json_object_object_get_ex(chart(0), "shape", NULL));
}
END_TEST

/* Terms left of the call select what is charted, right of it what is kept. */
START_TEST(terms)
{
	sc_formats(&td, false);
	start(0, 1, 8);
	start(0, 2, 8);
	start(0, 2, 16);
	end(10, 1, 8);
	end(20, 2, 8);
	end(30, 2, 16);
	report(BLOCK
	       "'dev == 2 && ctlchart(block_bio_queue, dev, sector, ucl=1ms) && sector > 8'");
	ck_assert_uint_eq(account("paired"), 3);
	ck_assert_uint_eq(number(chart(0), "uncharted"), 1);
	ck_assert_uint_eq(number(chart(0), "values"), 2);
	ck_assert_uint_eq(number(chart(0), "alarms"), 2);
	ck_assert_uint_eq(number(chart(0), "kept"), 1);
	ck_assert(json_object_get_boolean(at(worst(0), "kept")));
	ck_assert(!json_object_get_boolean(at(worst(1), "kept")));
}
END_TEST

START_TEST(overdue)
{
	sc_formats(&td, false);
	td.cmdlines = "1001 hung\n";
	start(0, 1, 8);
	start(1, 1, 16);
	end(500, 1, 16);
	end(1500, 1, 24); /* only its time counts */
	end(3000, 1, 24);
	end(4000, 1, 8); /* comes in the end */
	report(BLOCK
	       "'ctlchart(block_bio_queue, dev, sector, ucl=10s, overdue=1s)'");
	ck_assert_uint_eq(number(chart(0), "overdue"), 1);
	ck_assert_uint_eq(number(chart(0), "alarms"), 0);
	ck_assert_uint_eq(number(worst(0), "duration"), 1500 * MSEC);
	ck_assert_uint_eq(number(worst(0), "start"), SC_BASE);
	ck_assert_str_eq(string(worst(0), "keys"), "dev=0:1 sector=8");
	ck_assert_str_eq(string(worst(0), "comm"), "hung");
	ck_assert_uint_eq(account("paired"), 2);
}
END_TEST

START_TEST(bounded)
{
	int i;

	sc_formats(&td, false);
	for (i = 0; i < 20; i++)
		start(i, 1, i);
	start(61000, 1, 100); /* all others are stale by now */
	end(61005, 1, 0);
	end(61010, 1, 9);
	end(61010, 1, 19);
	report(BLOCK
	       "'ctlchart(block_bio_queue, dev, sector, ucl=10s, size=10)'");
	ck_assert_uint_eq(account("starts"), 21);
	ck_assert_uint_eq(account("refused"), 10);
	ck_assert_uint_eq(account("evicted"), 1);
	ck_assert_uint_eq(account("paired"), 1);
	ck_assert_uint_eq(account("unmatched"), 2);
	ck_assert_uint_eq(account("in_flight"), 9);
	ck_assert_uint_eq(number(worst(0), "duration"), 61001 * MSEC);
}
END_TEST

START_TEST(rate)
{
	int i;

	sc_formats(&td, false);
	for (i = 0; i < 30; i++)
		sc_lat(&td, 0, SC_BASE + i * 100 * MSEC, 5, 100);
	report("-e lat -f 'ctlchart(lat, ucl=99, rate=4)'");
	ck_assert_uint_eq(number(chart(0), "alarms"), 30);
	ck_assert_uint_eq(number(chart(0), "suppressed"), 18);
	ck_assert_uint_eq(number(at(result, "log"), "alarm_events"), 12);
	ck_assert_uint_eq(number(at(result, "log"), "kept_events"), 30);
}
END_TEST

/* A start whose end was lost does not pair with the end of a later one. */
START_TEST(lost)
{
	int status;

	sc_formats(&td, false);
	start(0, 1, 8);
	td_lose(&td, 0, 0);
	start(100, 1, 8);
	end(110, 1, 8);
	report(BLOCK "'ctlchart(block_bio_queue, dev, sector, ucl=1ms)'");
	ck_assert_uint_eq(number(result, "gaps"), 1);
	ck_assert_ptr_nonnull(strstr(message(), "events were lost"));
	ck_assert_uint_eq(number(worst(0), "duration"), 10 * MSEC);
	ck_assert_uint_eq(account("replaced"), 1);
	ck_assert_ptr_nonnull(strstr(
		run(&status,
		    BLOCK
		    "'ctlchart(block_bio_queue, dev, sector, ucl=1ms)' '%s'",
		    trace),
		"events were lost 1 time"));
}
END_TEST

/* The clock of an end's CPU is behind: libtracecmd gives the end first. */
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
	start(0, 1, 8);
	end(10, 1, 8);
	end(11, 1, 16);
	report(BLOCK "'ctlchart(block_bio_queue, dev, sector, ucl=1ms)' " BLOCK
		     "'ctlchart(sector, ucl=12)'");
	ck_assert_uint_eq(number(chart(0), "alarms"), 1);
	ck_assert_uint_eq(number(chart(1), "alarms"), 1);
	ck_assert_uint_eq(number(chart(1), "values"), 2);
	ck_assert_str_eq(string(chart(1), "name"), "block_rq_complete.sector");
	ck_assert_uint_eq(number(at(result, "log"), "kept_events"), 2);
}
END_TEST

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
	struct json_object *settings = at(result, "settings");

	ck_assert_uint_gt(json_object_array_length(settings), i);
	return json_object_array_get_idx(settings, i);
}

/* --- values that the kernel told */

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
	ck_assert_uint_eq(number(chart(0), "limit"), 317);
	ck_assert_uint_eq(number(chart(0), "center"), 165);
	ck_assert_uint_eq(number(chart(0), "learnt"), 11);
	ck_assert_uint_eq(number(chart(0), "values"), 2);
	ck_assert_uint_eq(number(chart(0), "alarms"), 1);
	ck_assert_uint_eq(number(chart(0), "kept"), 1);
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
	ck_assert_uint_eq(number(setting(0), "limit"), 317);
	ck_assert_uint_eq(number(setting(0), "alarms"), 1);
	ck_assert_uint_eq(number(setting(1), "limit"), 40);
	ck_assert_uint_eq(number(setting(1), "values"), 11);
	ck_assert_uint_eq(number(setting(1), "alarms"), 7);
	ck_assert_str_eq(string(setting(0), "values_from"), "ctlchart_value");
	ck_assert_ptr_nonnull(strstr(message(), "lat.lat had a limit before"));
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
	ck_assert_uint_eq(number(chart(0), "limit"), 317);
	ck_assert_uint_eq(number(chart(0), "learnt"), 20);
	ck_assert_str_eq(message(), "");
}
END_TEST

/* Lost ones are counted, and nothing waits for them for ever */
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
	ck_assert_uint_eq(number(chart(0), "learnt"), 10);
	ck_assert_uint_eq(number(chart(0), "values"), 9988);
	ck_assert_ptr_nonnull(strstr(
		message(), " lat.lat: 2 values are missing in the trace"));
}
END_TEST

/* A chart for each value of a field: the kernel says which; rate= is for all */
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
	ck_assert_uint_eq(json_object_array_length(at(result, "charts")), 3);
	ck_assert_uint_eq(number(chart(0), "limit"), 251);
	ck_assert_str_eq(string(chart(1), "name"), "lat.lat[x=1]");
	ck_assert_uint_eq(number(chart(1), "limit"), 125);
	ck_assert_uint_eq(number(chart(2), "limit"), 12579);
	for (i = 0, k = 0; i < 3; i++) {
		ck_assert_uint_eq(number(chart(i), "alarms"), 2);
		k += number(chart(i), "suppressed");
	}
	ck_assert_int_eq(k, 5);
	sim("-e lat -f 'ctlchart(lat, learn=0, samples=10, scale=linear, by=x)'");
	ck_assert_uint_eq(number(setting(0), "charts"), 2);
	ck_assert_uint_eq(number(setting(0), "learnt"), 30);
	ck_assert_uint_eq(number(setting(0), "values"), 6);
	ck_assert_uint_eq(number(setting(0), "alarms"), 6);
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
	ck_assert_uint_eq(number(chart(0), "alarms"), 1);
	ck_assert_uint_eq(number(chart(0), "kept"), 0);
	ck_assert_uint_eq(number(worst(0), "duration"), 7 * MSEC);
	ck_assert_uint_eq(number(worst(0), "start"), SC_BASE + 2 * MSEC);
	ck_assert_uint_eq(number(worst(0), "time"), SC_BASE + 9 * MSEC);
	ck_assert_str_eq(string(worst(0), "keys"), "pid=7");
	ck_assert_ptr_nonnull(strstr(message(), "terms beside ctlchart()"));
}
END_TEST

/* Bytes of an event in the ring: its fields, and the word before them */
#define BIO_QUEUE_BYTES (56 + 4)
#define RQ_COMPLETE_BYTES (52 + 4)

/* Each of the loads as one setting: what it says is the truth */
START_TEST(sim_load)
{
	const struct sc_load *load = &loads[_i].load;
	struct td_layout layout = { .big_endian = loads[_i].big_endian,
				    .long4 = loads[_i].long4,
				    .page_size = loads[_i].page_size };
	char arguments[256];
	uint64_t alarms;

	td_free(&td);
	td_init(&td, &layout, 4);
	sc_formats(&td, false);
	sc_block(&td, 0, load, &truth);
	snprintf(arguments, sizeof(arguments),
		 BLOCK "'ctlchart(block_bio_queue, dev, sector%s)'",
		 loads[_i].options);
	sim(arguments);
	ck_assert_uint_eq(json_object_array_length(at(result, "settings")), 1);
	ck_assert_str_eq(string(setting(0), "setting"), "");
	ck_assert_str_eq(string(setting(0), "unit"), "ns");
	check_line(number(setting(0), "center"), truth.center, load->linear);
	check_line(number(setting(0), "limit"), truth.ucl, load->linear);
	ck_assert_uint_eq(number(setting(0), "taken"),
			  load->group * load->groups);
	ck_assert_uint_eq(number(setting(0), "learnt"), truth.learnt);
	ck_assert_uint_eq(number(setting(0), "values"),
			  truth.values - truth.learnt);
	ck_assert_uint_eq(number(setting(0), "alarms"), truth.alarms);
	ck_assert_uint_eq(number(setting(0), "kept_events"), truth.alarms);
	ck_assert_uint_eq(number(setting(0), "alarm_events"), truth.alarms);
	ck_assert_uint_eq(number(setting(0), "events"), 2 * truth.values);
	ck_assert_uint_eq(number(setting(0), "bytes"),
			  truth.values * (BIO_QUEUE_BYTES + RQ_COMPLETE_BYTES));
	ck_assert_uint_eq(number(result, "events"), 2 * truth.values);
	ck_assert_uint_eq(number(result, "bytes"), number(setting(0), "bytes"));
	/* an alarm of two keys, and at least one limit event, at most one for each */
	alarms = number(setting(0), "kept_bytes") -
		 truth.alarms * RQ_COMPLETE_BYTES;
	ck_assert_uint_ge(alarms, truth.alarms * 72);
	ck_assert_uint_le(alarms, truth.alarms * (72 + 124));
}
END_TEST

/*
 * A grid: each setting says what it says alone, whatever is beside it. Reads
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
	sc_block(&td, 0, &loads[1].load, &truth);
	for (i = 0; i < 40; i++) {
		start(100000 + 50 * i, 1, 8);
		start(100010 + 50 * i, 1, 8);
		end(100030 + 50 * i, 1, 8);
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
	n = json_object_array_length(at(all, "settings"));
	ck_assert_uint_ge(n, 8);
	for (i = 0; i < n; i++) {
		s = json_object_array_get_idx(at(all, "settings"), i);
		snprintf(filter, sizeof(filter), "%s", string(s, "filter"));
		snprintf(arguments, sizeof(arguments), BLOCK "'%s'", filter);
		report(arguments);
		ck_assert_msg(
			number(s, "values") == number(chart(0), "values") &&
				number(s, "alarms") ==
					number(chart(0), "alarms") &&
				number(s, "overdue") ==
					number(chart(0), "overdue") &&
				number(s, "kept_events") ==
					number(at(result, "log"),
					       "kept_events") &&
				number(s, "alarm_events") ==
					number(at(result, "log"),
					       "alarm_events") &&
				number(s, "kept_bytes") ==
					number(at(result, "log"),
					       "kept_bytes") &&
				number(s, "bytes") ==
					number(at(result, "log"), "bytes"),
			"%s: not what it says alone", filter);
	}
	json_object_put(all);
}
END_TEST

/* The settings are what the grids say, in their order. */
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
		ck_assert_str_eq(string(setting(i), "setting"), want[i][0]);
		ck_assert_str_eq(string(setting(i), "filter"), want[i][1]);
		ck_assert_str_eq(string(setting(i), "event"), "synthetic:lat");
	}
	ck_assert_uint_eq(number(setting(0), "alarms"), 4);
	ck_assert_uint_eq(number(setting(0), "alarm_events"), 1);
	ck_assert_uint_eq(number(setting(1), "alarm_events"), 4);
	ck_assert_uint_eq(number(setting(2), "taken"), 1);
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

/* All alarms are in the CSV, one line each, in order of time. */
START_TEST(csv)
{
	char *output, *line, *save;
	unsigned int lines = 0;
	int status;

	name_readers();
	sc_formats(&td, false);
	sc_block(&td, 0, &sc_default_load, &truth);
	ck_assert(td_save(&td, trace));
	output = run(&status,
		     "--format=csv " BLOCK
		     "'ctlchart(block_bio_queue, dev, sector)' '%s'",
		     trace);
	ck_assert_msg(!status, "%s", message());
	line = strtok_r(output, "\n", &save);
	ck_assert_str_eq(
		line,
		"chart,event,time,start,duration,center,limit,rules,kept,pid,comm,keys");
	while ((line = strtok_r(NULL, "\n", &save)) != NULL) {
		unsigned long long time, start, duration, center, limit, sector;
		unsigned int i;
		int pid, kept;

		ck_assert_int_eq(
			sscanf(line,
			       SC_BLOCK_CHART
			       "," SC_BLOCK_EVENT
			       ",%llu,%llu,%llu,%llu,%llu,limit,%d,%d,reader-%*d,dev=8:0 sector=%llu",
			       &time, &start, &duration, &center, &limit, &kept,
			       &pid, &sector),
			8);
		for (i = 0; i < truth.alarms; i++) {
			const struct sc_alarm *a = &truth.alarm[i];

			if (a->sector == sector)
				break;
		}
		ck_assert_uint_lt(i, truth.alarms);
		ck_assert_uint_eq(duration, truth.alarm[i].duration);
		ck_assert_uint_eq(time, truth.alarm[i].time);
		ck_assert_uint_eq(start, truth.alarm[i].start);
		ck_assert_int_eq(pid, truth.alarm[i].pid);
		ck_assert_int_eq(kept, 1);
		lines++;
	}
	ck_assert_uint_eq(lines, truth.alarms);
}
END_TEST

/* Triangles of the picture: as many as there are alarms far apart */
START_TEST(svg)
{
	unsigned int i, triangles = 0;
	char *output, *s;
	int status;

	sc_formats(&td, false);
	for (i = 0; i < 200; i++)
		sc_lat(&td, 0, SC_BASE + i * 10 * MSEC, 5,
		       i % 20 == 10 ? 5000 + 500 * i : 10);
	ck_assert(td_save(&td, trace));
	output = run(&status,
		     "--format=svg -e lat -f 'ctlchart(lat, ucl=99)' '%s'",
		     trace);
	ck_assert_msg(!status, "%s", message());
	ck_assert_int_eq(strncmp(output, "<svg ", 5), 0);
	ck_assert_str_eq(output + strlen(output) - 7, "</svg>\n");
	s = strstr(output, "<path class=\"alarm\" d=\"M84");
	ck_assert_ptr_null(s); /* nothing at the left end */
	for (s = output; (s = strstr(s, "l4 7h-8z")) != NULL; s++)
		triangles++;
	ck_assert_uint_eq(triangles, 10 + 1); /* and the legend's */
	ck_assert_ptr_nonnull(
		strstr(output, ">10 of 200 values out of control (5 %)<"));
	ck_assert_ptr_nonnull(strstr(output, ">100000 "));
	ck_assert_ptr_nonnull(strstr(output, ">limit 99<"));
}
END_TEST

/* A million values make a picture that can be mailed. */
START_TEST(large_svg)
{
	struct sc_load many = sc_default_load;
	char picture[128];
	struct stat st;
	int status;

	many.healthy = 500000;
	many.gap = 100000;
	sc_formats(&td, false);
	sc_block(&td, 0, &many, &truth);
	ck_assert(td_save(&td, trace));
	snprintf(picture, sizeof(picture), "%s/chart.svg", directory);
	run(&status,
	    "--format=svg -o '%s' " BLOCK
	    "'ctlchart(block_bio_queue, dev, sector, size=100000)' '%s'",
	    picture, trace);
	ck_assert_msg(!status, "%s", message());
	ck_assert_int_eq(stat(picture, &st), 0);
	ck_assert_int_le(st.st_size, 1000000);
	ck_assert_int_eq(st.st_mode & 0777, 0644);
	unlink(picture);
}
END_TEST

static const struct {
	const char *arguments;
	const char *says;
	int status;
} mistakes[] = {
	{ "", "has no alarms of the ctlchart filter", 1 },
	{ "-e nothing -f 'ctlchart(a)'", "has no event nothing", 1 },
	{ "-e block:nothing -f 'ctlchart(a)'", "has no event block:nothing",
	  1 },
	{ BLOCK "'ctlchart(devil)'",
	  "Field not found in this event\n  ctlchart(devil)\n           ^\n",
	  1 },
	{ BLOCK "'ctlchart(block_bio_q, dev)'",
	  "Start event not found\n  ctlchart(block_bio_q, dev)\n           ^\n",
	  1 },
	{ BLOCK "'ctlchart(block_bio_queue, de)'",
	  "Field not found in the start event\n  ctlchart(block_bio_queue, de)\n                            ^\n",
	  1 },
	{ BLOCK "'ctlchart(block_bio_queue, dev:de)'",
	  "Field not found in this event\n", 1 },
	{ BLOCK "'ctlchart(block_bio_queue, comm:dev)'",
	  "Start and end keys must both", 1 },
	{ BLOCK "'ctlchart(rwbs)'", "Only a number can be charted\n", 1 },
	{ BLOCK "'ctlchart(block_bio_queue, dev' ",
	  "Expecting ',' or ')' in ctlchart()\n", 2 },
	{ BLOCK "'dev == 1 && devil==1 && ctlchart(sector)'",
	  "Field not found in this event\n  dev == 1 && devil==1 && ctlchart(sector)\n              ^\n",
	  1 },
	{ BLOCK
	  "'ctlchart(sector) && (dev & 3 || rwbs == \"a == b\" || kind > 2)'",
	  "Field not found in this event\n  ctlchart(sector) && (dev & 3 || rwbs == \"a == b\" || kind > 2)\n                                                      ^\n",
	  1 },
	{ BLOCK "'rwbs ~ \"R*\" && ctlchart(sector)'",
	  "A glob is not supported here, only == and !=, or a regular expression with =~ or !~\n  rwbs ~ \"R*\" && ctlchart(sector)\n       ^\n",
	  1 },
	{ BLOCK "'dev == 254:3 && ctlchart(sector)'",
	  "A filter compares devices as numbers: 254:3 is 0xfe00003\n  dev == 254:3 && ctlchart(sector)\n         ^\n",
	  1 },
	{ BLOCK "'dev != 4096:1048576 && ctlchart(sector)'",
	  "Device numbers end at 4095:1048575\n", 1 },
	{ BLOCK "'dev === 1 && ctlchart(sector)'",
	  "in the terms \"dev === 1 \"", 1 },
	{ BLOCK "'ctlchart(sector)' " BLOCK "'ctlchart(sector)'",
	  "Another chart has this name", 1 },
	{ "-e lat", "-e lat has no -f", 2 },
	{ "-f 'ctlchart(a)'", "-f must follow", 2 },
	{ "--worst=-1", "--worst=-1: must be an integer from 0 to ", 2 },
	{ "--format=pdf",
	  "--format=pdf: must be text, csv, json, svg or html\n", 2 },
	{ "--linear", "--linear is for --format=svg and html", 2 },
	{ "--around=5", "--around is for --format=html", 2 },
	{ "--format=html --around=1001",
	  "--around=1001: must be an integer from 0 to 1000", 2 },
	{ "--frobnicate", "unrecognized option", 2 },
	{ "another.dat", "one FILE at a time", 2 },
	{ "--output=/nonexistent/x " BLOCK "'ctlchart(sector)'",
	  "/nonexistent/x: No such file", 1 },
};

START_TEST(errors)
{
	char *output;
	int status;

	sc_formats(&td, false);
	sc_lat(&td, 0, SC_BASE, 5, 1);
	ck_assert(td_save(&td, trace));
	output = run(&status, "%s '%s'", mistakes[_i].arguments, trace);
	ck_assert_msg(status == mistakes[_i].status, "%s: %d",
		      mistakes[_i].arguments, status);
	ck_assert_str_eq(output, "");
	ck_assert_int_eq(strncmp(message(), "ctlchart: ", 10), 0);
	ck_assert_msg(strstr(message(), mistakes[_i].says), "%s: %s",
		      mistakes[_i].arguments, message());
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
	  "Bad value for this option\n  ctlchart(lat, ucl=x)\n                    ^\n",
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

/*
 * What a value is, is for the event's own format to say: dev_t and %pS, not a
 * name, a type that could hold a pointer, or a value that is an address.
 */
static const char call_formats[][1024] = {
	"name: begin\nID: 1700\nformat:\n" TD_COMMON
	"\tfield:unsigned long site;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:size_t bytes;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:dev_t disk;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:u32 dev;\toffset:28;\tsize:4;\tsigned:0;\n"
	"\tfield:char comm[16];\toffset:32;\tsize:16;\tsigned:0;\n"
	"\nprint fmt: \"%5d%% %*d %zu %pS %s\", REC->dev, 3, REC->disk, REC->bytes, (void *)REC->site, REC->comm\n",
	"name: done\nID: 1701\nformat:\n" TD_COMMON
	"\tfield:unsigned long site;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:size_t bytes;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:dev_t disk;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:u32 dev;\toffset:28;\tsize:4;\tsigned:0;\n"
	"\tfield:char comm[16];\toffset:32;\tsize:16;\tsigned:0;\n"
	"\nprint fmt: \"%5d%% %*d %zu %pS %s\", REC->dev, 3, REC->disk, REC->bytes, (void *)REC->site, REC->comm\n",
};

#define SITE 0xffffffff81000100ULL

static void call_event(unsigned int id, uint64_t ts, uint64_t site)
{
	struct td_record r;

	td_begin(&r, &td, id, 7, 48);
	td_put(&r, 8, site, 8);
	td_put(&r, 16, SITE, 8);
	td_put(&r, 24, 254u << 20 | 3, 4);
	td_put(&r, 28, 254u << 20 | 3, 4);
	td_put_bytes(&r, 32, "x disk=266338307", 16);
	td_write(&td, 0, 0, ts, &r);
}

static void call_begin(void)
{
	sc_formats(&td, true);
	td_add_event(&td, "call", call_formats[0]);
	td_add_event(&td, "call", call_formats[1]);
	td.kallsyms = "ffffffff81000000 T first\n"
		      "ffffffff81000100 T slow_call\n"
		      "ffffffff81000200 T last\n";
}

START_TEST(keys_for_people)
{
	uint64_t i;

	call_begin();
	for (i = 0; i < 2; i++) {
		call_event(1700, SC_BASE + i * SEC, SITE + 0x1f * i);
		call_event(1701, SC_BASE + i * SEC + (2 - i) * 1000,
			   SITE + 0x1f * i);
	}
	/* an address of no function */
	call_event(1700, SC_BASE + 3 * SEC, 4096);
	call_event(1701, SC_BASE + 3 * SEC + 500, 4096);
	report("-e call:done -f 'ctlchart(begin, site, bytes, disk, dev, ucl=1ns)'");
	ck_assert_str_eq(
		string(worst(0), "keys"),
		"site=slow_call bytes=18446744071578845440 disk=254:3 dev=266338307");
	ck_assert_str_eq(
		string(worst(0), "raw_keys"),
		"site=18446744071578845440 bytes=18446744071578845440 disk=266338307 dev=266338307");
	ck_assert_ptr_nonnull(
		strstr(string(worst(1), "keys"), "site=slow_call+0x1f bytes="));
	ck_assert_ptr_nonnull(
		strstr(string(worst(2), "keys"), "site=4096 bytes="));
	/* a name is not a key, whatever it looks like */
	report("-e call:done -f 'ctlchart(begin, disk, comm, ucl=1ns)'");
	ck_assert_str_eq(string(worst(0), "keys"),
			 "disk=254:3 comm=x disk=266338307");
}
END_TEST

/* The same of alarms that the kernel wrote, which have the keys as text */
START_TEST(alarm_keys_for_people)
{
	static const char *const keys[][2] = {
		{ "disk=266338307 site=18446744071578845440 dev=266338307",
		  "disk=254:3 site=slow_call dev=266338307" },
		{ "disk=266338307 comm=x disk=266338307",
		  "disk=254:3 comm=x disk=266338307" },
		{ "unknown=1 disk=266338307", "unknown=1 disk=266338307" },
		{ "dev=-1 disk=1048576", "dev=-1 disk=1:0" },
		{ "disk=1x", "disk=1x" },
		{ "disk=", "disk=" },
		{ "", "" },
	};
	struct sc_alarm_event a = {
		.start = SC_BASE,
		.limit = 5,
		.rules = 1,
		.comm = "seven",
		.chart = "begin->done",
		.event = "#1701",
	};
	size_t i, nr = sizeof(keys) / sizeof(*keys);

	call_begin();
	for (i = 0; i < nr; i++) {
		a.duration = 1000 - i;
		a.keys = keys[i][0];
		sc_alarm_event(&td, 0, SC_BASE + i * 1000, &a);
	}
	report("");
	for (i = 0; i < nr; i++)
		ck_assert_str_eq(string(worst(i), "keys"), keys[i][1]);
	ck_assert_str_eq(string(worst(0), "raw_keys"), keys[0][0]);
	ck_assert(!json_object_object_get_ex(worst(2), "raw_keys", NULL));
}
END_TEST

/* A record whose length, a word before its data, is more than its page has */
START_TEST(record_too_long)
{
	static const char mark[] = "this is a long record";
	static const uint32_t lengths[] = { 0x68000000, 0x7ffffff0, 8192,
					    4096 };
	static char file[1 << 20];
	struct td_record r;
	size_t len, at, i;
	int status;
	FILE *f;

	call_begin();
	call_event(1700, SC_BASE, SITE);
	call_event(1701, SC_BASE + 1000, SITE);
	td_begin(&r, &td, 1700, 7, 200);
	td_put_bytes(&r, 48, mark, sizeof(mark));
	td_write(&td, 0, 0, SC_BASE + 2000, &r);
	ck_assert(td_save(&td, trace));
	f = fopen(trace, "r+");
	ck_assert_ptr_nonnull(f);
	len = fread(file, 1, sizeof(file), f);
	for (at = 0; at + sizeof(mark) < len; at++) {
		if (!memcmp(file + at, mark, sizeof(mark) - 1))
			break;
	}
	for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		fseek(f, at - 48 - 4, SEEK_SET);
		fwrite(&lengths[i], 4, 1, f);
		fflush(f);
		run(&status,
		    "-e call:done -f 'ctlchart(begin, site, ucl=1ns)' --format=html '%s'",
		    trace);
		ck_assert_int_eq(status, 1);
		ck_assert_msg(strstr(message(),
				     "damaged: a record leaves its page\n"),
			      "%s", message());
	}
	fclose(f);
}
END_TEST

/* In terms as in keys: the names that every event has, of the kernel and of here */
START_TEST(terms_of_all_events)
{
	static const char *const terms[][2] = {
		{ "cpu == 1", "CPU == 1" },
		{ "common_cpu==1", "CPU==1" },
		{ "comm == \"seven\"", "COMM == \"seven\"" },
		{ "(comm == \"seven\" || cpu == 0) && error == 0",
		  "(COMM == \"seven\" || CPU == 0) && error == 0" },
		{ "comm == \"comm == 5\"", "COMM == \"comm == 5\"" },
	};
	static const unsigned int wanted[] = { 6, 6, 6, 10, 0 };
	char arguments[256];
	size_t i, j;

	sc_formats(&td, false);
	td.cmdlines = "7 seven\n8 eight\n";
	for (i = 0; i < 10; i++) {
		unsigned int cpu = i < 6;

		sc_bio_queue(&td, cpu, SC_BASE + i * SEC, 7, 1, i);
		sc_rq_complete(&td, cpu, SC_BASE + i * SEC + 500, 7 + !cpu, 1,
			       i);
	}
	for (i = 0; i < sizeof(terms) / sizeof(*terms); i++) {
		for (j = 0; j < 2; j++) {
			snprintf(
				arguments, sizeof(arguments),
				BLOCK
				"'%s && ctlchart(block_bio_queue, dev, sector, ucl=1ns)'",
				terms[i][j]);
			report(arguments);
			ck_assert_msg(number(chart(0), "values") == wanted[i],
				      "%s: %d", terms[i][j],
				      (int)number(chart(0), "values"));
		}
	}
}
END_TEST

START_TEST(no_field)
{
	static const char format[] =
		"name: ctlchart_alarm\nID: 1600\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
		"\tfield:u64 start;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\nprint fmt: \"%llu\", REC->start\n";
	int status;

	td_add_event(&td, "ctlchart", format);
	ck_assert(td_save(&td, trace));
	run(&status, "'%s'", trace);
	ck_assert_int_eq(status, 1);
	ck_assert_ptr_nonnull(strstr(
		message(), "ctlchart_alarm has no field \"duration\"\n"));
}
END_TEST

START_TEST(wrong_clock)
{
	int status;

	td.layout.clock = "counter";
	sc_formats(&td, true);
	sc_lat(&td, 0, SC_BASE, 5, 1);
	ck_assert(td_save(&td, trace));
	run(&status, "'%s'", trace);
	ck_assert_int_eq(status, 1);
	ck_assert_ptr_nonnull(
		strstr(message(), "counter, does not count nanoseconds\n"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("traces");
	TCase *tc = tcase_create("traces");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, load, 0, sizeof(loads) / sizeof(*loads));
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
	tcase_add_loop_test(tc, sim_load, 0, sizeof(loads) / sizeof(*loads));
	tcase_add_loop_test(tc, sim_grid, 0, sizeof(grids) / sizeof(*grids));
	tcase_add_test(tc, sim_settings);
	tcase_add_loop_test(tc, sim_errors, 0,
			    sizeof(sim_mistakes) / sizeof(*sim_mistakes));
	tcase_add_test(tc, csv);
	tcase_add_test(tc, svg);
	tcase_add_test(tc, large_svg);
	tcase_add_test(tc, shape);
	tcase_add_test(tc, quantile);
	tcase_add_test(tc, rules);
	tcase_add_test(tc, relearn);
	tcase_add_test(tc, by);
	tcase_add_test(tc, values_in_order);
	tcase_add_test(tc, values_of_other_settings);
	tcase_add_test(tc, values_missed);
	tcase_add_test(tc, values_lost);
	tcase_add_test(tc, values_by);
	tcase_add_test(tc, values_of_pairs);
	tcase_add_loop_test(tc, errors, 0,
			    sizeof(mistakes) / sizeof(*mistakes));
	tcase_add_test(tc, keys_for_people);
	tcase_add_test(tc, many_limits);
	tcase_add_test(tc, alarm_keys_for_people);
	tcase_add_test(tc, record_too_long);
	tcase_add_test(tc, terms_of_all_events);
	tcase_add_test(tc, no_field);
	tcase_add_test(tc, wrong_clock);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
