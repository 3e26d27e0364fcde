// SPDX-License-Identifier: GPL-2.0
/* ctlchart: reports, error messages, and keys as text */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "traces.h"

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

/* Triangles of the picture: one for each alarm that is far from others */
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
	ck_assert_ptr_null(s); /* the left end is empty */
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
	  "Start event not found\n  ctlchart(block_bio_q, dev)\n           ^ no such event in this recording (trace-cmd report --events)\n",
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
		string_at(worst(0), "keys"),
		"site=slow_call bytes=18446744071578845440 disk=254:3 dev=266338307");
	ck_assert_str_eq(
		string_at(worst(0), "raw_keys"),
		"site=18446744071578845440 bytes=18446744071578845440 disk=266338307 dev=266338307");
	ck_assert_ptr_nonnull(strstr(string_at(worst(1), "keys"),
				     "site=slow_call+0x1f bytes="));
	ck_assert_ptr_nonnull(
		strstr(string_at(worst(2), "keys"), "site=4096 bytes="));
	/* a name is not a key, even if it looks like one */
	report("-e call:done -f 'ctlchart(begin, disk, comm, ucl=1ns)'");
	ck_assert_str_eq(string_at(worst(0), "keys"),
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
		ck_assert_str_eq(string_at(worst(i), "keys"), keys[i][1]);
	ck_assert_str_eq(string_at(worst(0), "raw_keys"), keys[0][0]);
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
			ck_assert_msg(uint_at(chart(0), "values") == wanted[i],
				      "%s: %d", terms[i][j],
				      (int)uint_at(chart(0), "values"));
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
	Suite *s = suite_create("reports");
	TCase *tc = tcase_create("reports");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, csv);
	tcase_add_test(tc, svg);
	tcase_add_test(tc, large_svg);
	tcase_add_loop_test(tc, errors, 0,
			    sizeof(mistakes) / sizeof(*mistakes));
	tcase_add_test(tc, keys_for_people);
	tcase_add_test(tc, alarm_keys_for_people);
	tcase_add_test(tc, record_too_long);
	tcase_add_test(tc, terms_of_all_events);
	tcase_add_test(tc, no_field);
	tcase_add_test(tc, wrong_clock);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
