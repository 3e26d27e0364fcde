// SPDX-License-Identifier: GPL-2.0
/* Running the program ctlchart on a made-up trace, and comparing its JSON with the truth. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "traces.h"

static char messages[DIRECTORY_SIZE + 16];
char directory[DIRECTORY_SIZE], trace[DIRECTORY_SIZE + 16];
struct td td;
struct sc_truth truth;
struct json_object *result;

static const struct td_layout native = { .page_size = 4096, .clock = "local" };

void set_up(void)
{
	make_directory(directory);
	snprintf(trace, sizeof(trace), "%s/trace.dat", directory);
	snprintf(messages, sizeof(messages), "%s/messages", directory);
	td_init(&td, &native, 2);
	memset(&truth, 0, sizeof(truth));
	result = NULL;
}

void tear_down(void)
{
	json_object_put(result);
	td_free(&td);
	sc_free(&truth);
	unlink(trace);
	unlink(messages);
	rmdir(directory);
}

char *__attribute__((format(printf, 2, 3)))
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

const char *message(void)
{
	static char text[4096];
	FILE *f = fopen(messages, "r");

	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	return text;
}

/* Run with --format=json on the trace, which is saved before */
void report(const char *arguments)
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

struct json_object *member(struct json_object *o, const char *key)
{
	struct json_object *value;

	ck_assert_msg(json_object_object_get_ex(o, key, &value), "no %s", key);
	return value;
}

uint64_t uint_at(struct json_object *o, const char *key)
{
	return json_object_get_uint64(member(o, key));
}

const char *string_at(struct json_object *o, const char *key)
{
	return json_object_get_string(member(o, key));
}

struct json_object *chart(size_t i)
{
	struct json_object *charts = member(result, "charts");

	ck_assert_uint_gt(json_object_array_length(charts), i);
	return json_object_array_get_idx(charts, i);
}

uint64_t account(const char *key)
{
	return uint_at(member(chart(0), "accounts"), key);
}

struct json_object *worst(size_t i)
{
	struct json_object *list = member(chart(0), "worst");

	ck_assert_uint_gt(json_object_array_length(list), i);
	return json_object_array_get_idx(list, i);
}

void check_worst(void)
{
	char keys[64], comm[32];
	int i;

	ck_assert_uint_eq(json_object_array_length(member(chart(0), "worst")),
			  SC_WORST);
	for (i = 0; i < SC_WORST; i++) {
		const struct sc_alarm *a = &truth.worst[i];

		snprintf(keys, sizeof(keys), "dev=8:0 sector=%llu",
			 (unsigned long long)a->sector);
		snprintf(comm, sizeof(comm), "reader-%d", a->pid);
		ck_assert_uint_eq(uint_at(worst(i), "duration"), a->duration);
		ck_assert_uint_eq(uint_at(worst(i), "start"), a->start);
		ck_assert_uint_eq(uint_at(worst(i), "pid"), a->pid);
		ck_assert_str_eq(string_at(worst(i), "comm"), comm);
		ck_assert_str_eq(string_at(worst(i), "keys"), keys);
		snprintf(keys, sizeof(keys), "dev=%u sector=%llu", SC_BLOCK_DEV,
			 (unsigned long long)a->sector);
		ck_assert_str_eq(string_at(worst(i), "raw_keys"), keys);
		ck_assert_str_eq(string_at(worst(i), "rules"), "limit");
	}
}

/* A line is the truth's, or on a log scale at most 2^-21 of itself above */
void check_line(uint64_t line, long double ref, bool linear)
{
	ck_assert_msg(line >= (uint64_t)ref &&
			      line <= ref * (linear ? 1 : 1 + 0x1p-21L),
		      "%llu is not %.3Lf", (unsigned long long)line, ref);
}

void name_readers(void)
{
	static char cmdlines[1 << 14];
	size_t len = 0;
	int pid;

	for (pid = 1000; pid < 1300; pid++)
		len += snprintf(cmdlines + len, sizeof(cmdlines) - len,
				"%d reader-%d\n", pid, pid);
	td.cmdlines = cmdlines;
}

void check_load(const struct sc_load *load)
{
	struct json_object *c = chart(0);

	ck_assert_str_eq(string_at(c, "name"), SC_BLOCK_CHART);
	ck_assert_str_eq(string_at(c, "event"), SC_BLOCK_EVENT);
	ck_assert_str_eq(string_at(c, "start"), "block:block_bio_queue");
	ck_assert_uint_eq(uint_at(c, "learnt"), truth.learnt);
	ck_assert_uint_eq(uint_at(c, "values"), truth.values - truth.learnt);
	check_line(uint_at(c, "center"), truth.center, load->linear);
	check_line(uint_at(c, "limit"), truth.ucl, load->linear);
	ck_assert_uint_eq(uint_at(c, "alarms"), truth.alarms);
	ck_assert_uint_eq(uint_at(c, "kept"), truth.alarms);
	ck_assert_uint_eq(account("starts"), truth.values);
	ck_assert_uint_eq(account("ends"), truth.values);
	ck_assert_uint_eq(account("paired"), truth.values);
	ck_assert_uint_eq(account("unmatched"), 0);
	ck_assert_uint_eq(account("in_flight"), 0);
	ck_assert_uint_eq(uint_at(member(result, "log"), "events"),
			  2 * truth.values);
	ck_assert_uint_eq(uint_at(member(result, "log"), "kept_events"),
			  truth.alarms);
	check_worst();
}

void queue_bio(uint64_t ms, unsigned int dev, uint64_t sector)
{
	sc_bio_queue(&td, 0, SC_BASE + ms * MSEC, 1001, dev, sector);
}

void complete_bio(uint64_t ms, unsigned int dev, uint64_t sector)
{
	sc_rq_complete(&td, 0, SC_BASE + ms * MSEC, 0, dev, sector);
}

const struct traces_load traces_load[TRACES_LOADS] = {
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
