// SPDX-License-Identifier: GPL-2.0
/* The parts of tools/ctlchart, each against results that the test computes itself. */
#include <check.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/kernel.h>

#include "ctlchart.h"
#include "prng.h"
#include "scenario.h"
#include "suite.h"

#define MSEC 1000000ULL
#define SEC 1000000000ULL

static uint64_t seed = 88172645463325252ULL;

static u64 rnd(void)
{
	return xorshift64(&seed);
}

START_TEST(call_defaults)
{
	struct call_error error;
	struct call call;

	ck_assert(call_parse(&call, "block:block_rq_complete",
			     "ctlchart(block_bio_queue, dev, sector:sector)",
			     &error));
	ck_assert_uint_eq(call.nr_args, 3);
	ck_assert_int_eq(strncmp(call.arg[0].str, "block_bio_queue,", 16), 0);
	ck_assert_uint_eq(call.arg[0].len, 15);
	ck_assert_uint_eq(call.arg[2].len, strlen("sector:sector"));
	ck_assert_uint_eq(call.method.limit, CTLCHART_INDIVIDUALS);
	ck_assert_uint_eq(call.method.scale, CTLCHART_LOG);
	ck_assert_uint_eq(call.method.group, 5);
	ck_assert_uint_eq(call.method.groups, 20);
	ck_assert_uint_eq(call.learn, 10 * SEC);
	ck_assert_uint_eq(call.stale, 30 * SEC);
	ck_assert_uint_eq(call.size, 16384);
	ck_assert_uint_eq(call.ucl, 0);
	ck_assert_uint_eq(call.overdue, 0);
	ck_assert(!call.last);
	ck_assert_ptr_null(call.before);
	ck_assert_ptr_null(call.after);
	call_free(&call);
}
END_TEST

START_TEST(call_options)
{
	struct call_error error;
	struct call call;

	ck_assert(call_parse(
		&call, "e",
		" a == \"ctlchart(\" && ( b || c ) && ctlchart ( s.start , k , name = x-1.y_ , dup=last,"
		"limit=median,scale=linear,learn=3s,samples=0x3c,group=6,ucl=20ms,"
		"size=7,stale=2m,overdue=1h,rate=9,pre=50ms,post=0,from=start ) && d != 1 ",
		&error));
	ck_assert_str_eq(call.before, "a == \"ctlchart(\" && ( b || c ) ");
	ck_assert_str_eq(call.after, "d != 1 ");
	ck_assert_uint_eq(call.nr_args, 2);
	ck_assert(call.context);
	ck_assert_str_eq(call.name, "x-1.y_");
	ck_assert(call.last);
	ck_assert_uint_eq(call.method.limit, CTLCHART_MEDIAN);
	ck_assert_uint_eq(call.method.scale, CTLCHART_LINEAR);
	ck_assert_uint_eq(call.method.group, 6);
	ck_assert_uint_eq(call.method.groups, 10);
	ck_assert_uint_eq(call.learn, 3 * SEC);
	ck_assert_uint_eq(call.ucl, 20 * MSEC);
	ck_assert_uint_eq(call.size, 7);
	ck_assert_uint_eq(call.stale, 120 * SEC);
	ck_assert_uint_eq(call.overdue, 3600 * SEC);
	ck_assert_uint_eq(call.rate, 9);
	call_free(&call);
	ck_assert(call_parse(&call, "e", "ctlchart(lat, limit=quantile)",
			     &error));
	ck_assert_uint_eq(call.method.limit, CTLCHART_QUANTILE);
	ck_assert_uint_eq(call.method.groups, 600);
	call_free(&call);
	ck_assert(call_parse(&call, "e", "ctlchart(lat, rules=1, 2,5 ,rate=3)",
			     &error));
	ck_assert_uint_eq(call.rules, 0x13);
	ck_assert_uint_eq(call.rate, 3);
	ck_assert_uint_eq(call.nr_args, 1);
	call_free(&call);
	ck_assert(call_parse(&call, "e", "ctlchart(lat, rules=all)", &error));
	ck_assert_uint_eq(call.rules, 0xff);
	call_free(&call);
	ck_assert(call_parse(&call, "e", "ctlchart(lat, rules=limit, ucl=1)",
			     &error));
	ck_assert_uint_eq(call.rules, 0);
	call_free(&call);
	ck_assert(call_parse(&call, "e", "ctlchart(lat, relearn=1h)", &error));
	ck_assert(call.relearn_time);
	ck_assert_uint_eq(call.relearn, 3600 * SEC);
	call_free(&call);
	ck_assert(call_parse(&call, "e", "ctlchart(lat, relearn=100)", &error));
	ck_assert(!call.relearn_time);
	ck_assert_uint_eq(call.relearn, 100);
	call_free(&call);
	/* a field's limit is in the field's unit */
	ck_assert(call_parse(&call, "e", "ctlchart(lat, ucl=500)", &error));
	ck_assert_uint_eq(call.ucl, 500);
	call_free(&call);
}
END_TEST

static const struct {
	const char *filter;
	const char *what;
	int at;
} mistakes[] = {
	{ "dev == 1", "No ctlchart() in this filter", 0 },
	{ "ctlcharts(a)", "No ctlchart() in this filter", 0 },
	{ "ctlchart()", "ctlchart() needs a field", 9 },
	{ "ctlchart(ucl=3)", "ctlchart() needs a field", 14 },
	{ "ctlchart(a", "Expecting ',' or ')'", 10 },
	{ "ctlchart(a,)", "Expecting ',' or ')'", 11 },
	{ "ctlchart(a, b c)", "Expecting ',' or ')'", 13 },
	{ "ctlchart(a && b)", "Expecting ',' or ')'", 11 },
	{ "ctlchart(a, (b))", "Expecting ',' or ')'", 12 },
	{ "ctlchart(s, a, b, c, d, e)", "Too many keys", 24 },
	{ "ctlchart(a, foo=1)", "Unknown ctlchart option", 12 },
	{ "ctlchart(a, rate=1, rate=1)", "Option given twice", 20 },
	{ "ctlchart(a, size=5)", "Option needs a start event", 12 },
	{ "ctlchart(a, dup=fifo)", "Option needs a start event", 12 },
	{ "ctlchart(s, k, dup=lost)", "Bad value for this option", 19 },
	{ "ctlchart(s, k, size=0)", "Bad value for this option", 20 },
	{ "ctlchart(s, k, size=1048577)", "Bad value for this option", 20 },
	{ "ctlchart(s, k, stale=0)", "Bad value for this option", 21 },
	{ "ctlchart(s, k, learn=10)", "Bad value for this option", 21 },
	{ "ctlchart(s, k, learn=-1s)", "Bad value for this option", 21 },
	{ "ctlchart(s, k, learn=1w)", "Bad value for this option", 21 },
	{ "ctlchart(s, k, learn=6000000h)", "Bad value for this option", 21 },
	{ "ctlchart(s, k, ucl=10)", "Bad value for this option", 19 },
	{ "ctlchart(s, k, ucl=0)", "Bad value for this option", 19 },
	{ "ctlchart(a, ucl=)", "Bad value for this option", 16 },
	{ "ctlchart(a, samples=99)", "Bad value for this option", 20 },
	{ "ctlchart(a, samples=5)", "Bad value for this option", 20 },
	{ "ctlchart(a, group=11)", "Bad value for this option", 18 },
	{ "ctlchart(a, relearn=)", "Bad value for this option", 20 },
	{ "ctlchart(a, relearn=99)", "Bad value for this option", 20 },
	{ "ctlchart(a, relearn=0s)", "Bad value for this option", 20 },
	{ "ctlchart(a, ucl=5, relearn=1h)", "Option needs a limit", 19 },
	{ "ctlchart(a, by=)", "Bad value for this option", 15 },
	{ "ctlchart(a, charts=4)", "Bad value for this option", 19 },
	{ "ctlchart(a, by=b, charts=4097)", "Bad value for this option", 25 },
	{ "ctlchart(a, rules=)", "Bad value for this option", 18 },
	{ "ctlchart(a, rules=9)", "Bad value for this option", 18 },
	{ "ctlchart(a, rules=1,1)", "Bad value for this option", 20 },
	{ "ctlchart(a, rules=1, 2, 30)", "Bad value for this option", 24 },
	{ "ctlchart(a, rules=none)", "Bad value for this option", 18 },
	{ "ctlchart(a, rules=1, ucl=5)", "Option needs a limit", 12 },
	{ "ctlchart(a, rules=1, rules=2)", "Option given twice", 21 },
	{ "ctlchart(a, limit=quantile, samples=2995)",
	  "Bad value for this option", 36 },
	{ "ctlchart(a, samples=100, limit=quantile)",
	  "Bad value for this option", 20 },
	{ "ctlchart(a, limit=)", "Bad value for this option", 18 },
	{ "ctlchart(a, samples=100, group=3)", "Bad value for this option",
	  31 },
	{ "ctlchart(a, scale=logs)", "Bad value for this option", 18 },
	{ "ctlchart(a, name=a/b)", "Bad value for this option", 17 },
	{ "ctlchart(a, rate=18446744073709551616)", "Bad value for this option",
	  17 },
	{ "ctlchart(a, pre=5)", "Bad value for this option", 16 },
	{ "ctlchart(a, from=start)", "Option needs a start event", 12 },
	{ "ctlchart(a, k, from=begin)", "Bad value for this option", 20 },
	{ "!ctlchart(a)", "Only TERMS && ctlchart(...)", 0 },
	{ "(ctlchart(a))", "Only TERMS && ctlchart(...)", 0 },
	{ "b || ctlchart(a)", "Only TERMS && ctlchart(...)", 5 },
	{ "b || c && ctlchart(a)", "Only TERMS && ctlchart(...)", 2 },
	{ "(b && ctlchart(a))", "Only TERMS && ctlchart(...)", 0 },
	{ "ctlchart(a) || b", "Only TERMS && ctlchart(...)", 12 },
	{ "ctlchart(a) && ", "Only TERMS && ctlchart(...)", 12 },
	{ "ctlchart(a) && b || c", "Only TERMS && ctlchart(...)", 17 },
	{ "ctlchart(a) && b)", "Only TERMS && ctlchart(...)", 16 },
	{ "ctlchart(a) && ctlchart(b)", "Only one ctlchart()", 15 },
};

START_TEST(call_mistakes)
{
	struct call_error error = { 0 };
	struct call call;

	ck_assert_msg(!call_parse(&call, "e", mistakes[_i].filter, &error),
		      "%s", mistakes[_i].filter);
	ck_assert_msg(!strncmp(error.what, mistakes[_i].what,
			       strlen(mistakes[_i].what)),
		      "%s: %s", mistakes[_i].filter, error.what);
	ck_assert_msg(error.at - mistakes[_i].filter == mistakes[_i].at,
		      "%s: at %d", mistakes[_i].filter,
		      (int)(error.at - mistakes[_i].filter));
	call_free(&call);
}
END_TEST

START_TEST(call_caret)
{
	static const char filter[] = "ctlchart(a, foo=1)";
	struct call_error error = { "Unknown", filter + 12, NULL };
	char *text = call_explain(filter, &error);

	ck_assert_str_eq(text, "Unknown\n  ctlchart(a, foo=1)\n"
			       "              ^");
	free(text);
}
END_TEST

/* No text makes the parser read where it must not (run with sanitizers). */
START_TEST(call_garbage)
{
	static const char letters[] = "ctlchart(),=:&|!'\" .0ams/_";
	int i, j;

	for (i = 0; i < 200000; i++) {
		int len = rnd() % 40;
		char *filter = malloc(len + 10);
		struct call_error error = { 0 };
		struct call call;

		strcpy(filter, rnd() % 2 ? "ctlchart(" : "");
		len += strlen(filter);
		for (j = strlen(filter); j < len; j++)
			filter[j] = letters[rnd() % (sizeof(letters) - 1)];
		filter[len] = '\0';
		if (!call_parse(&call, "e", filter, &error) &&
		    (!error.what || error.at < filter ||
		     error.at > filter + len))
			ck_abort_msg("%s", filter);
		call_free(&call);
		free(filter);
	}
}
END_TEST

static void put(struct pairs *p, u64 key, u64 time, unsigned int epoch)
{
	struct start s = { .key = { key }, .time = time, .epoch = epoch };

	pairs_put(p, &s);
}

/* The time of the start that the key's end gets, or 0 */
static u64 take(struct pairs *p, u64 key)
{
	u64 k[MAX_KEYS] = { key };
	struct start s;

	return pairs_remove(p, k, &s) ? s.time : 0;
}

START_TEST(pairs_fifo)
{
	struct pairs *p = pairs_new(4, 100, false);

	put(p, 7, 1, 0);
	put(p, 8, 2, 0);
	put(p, 7, 3, 0);
	ck_assert_uint_eq(pairs_in_flight(p), 3);
	ck_assert_uint_eq(take(p, 7), 1);
	ck_assert_uint_eq(take(p, 7), 3);
	ck_assert_uint_eq(take(p, 7), 0);
	ck_assert_uint_eq(take(p, 8), 2);
	ck_assert_uint_eq(pairs_accounts(p)->unmatched, 1);
	ck_assert_uint_eq(pairs_accounts(p)->replaced, 0);
	pairs_free(p);
}
END_TEST

START_TEST(pairs_last)
{
	struct pairs *p = pairs_new(2, 100, true);

	put(p, 7, 1, 0);
	put(p, 8, 2, 0);
	put(p, 7, 3, 0); /* needs no room of its own */
	ck_assert_uint_eq(take(p, 7), 3);
	ck_assert_uint_eq(take(p, 7), 0);
	ck_assert_uint_eq(pairs_accounts(p)->replaced, 1);
	ck_assert_uint_eq(pairs_accounts(p)->refused, 0);
	pairs_free(p);
}
END_TEST

/*
 * Keys that differ in 16 bits only, which the author of a hostile recording may choose: in
 * one chain, they take longer than this test may
 */
START_TEST(pairs_apart)
{
	struct pairs *p = pairs_new(65536, 100, false);
	int key = _i % MAX_KEYS, shift = _i / MAX_KEYS * 24;
	u32 i, right = 0;
	struct start s;

	for (i = 0; i < 65535 + (1u << 21); i++) {
		s = (struct start){ .time = i };
		s.key[key] = min(i, 65535u) * (1ull << shift);
		pairs_put(p, &s);
		if (i >= 65535)
			right += pairs_remove(p, s.key, &s) && s.time == i;
	}
	ck_assert_uint_eq(right, 1u << 21);
	ck_assert_uint_eq(pairs_in_flight(p), 65535);
	pairs_free(p);
}
END_TEST

/* The oldest one is the slow one: it is kept, until it is stale. */
START_TEST(pairs_full)
{
	struct pairs *p = pairs_new(2, 100, false);

	put(p, 1, 1000, 0);
	put(p, 2, 1050, 0);
	put(p, 3, 1100, 0);
	ck_assert_uint_eq(pairs_accounts(p)->refused, 1);
	put(p, 4, 1101, 0);
	ck_assert_uint_eq(pairs_accounts(p)->evicted, 1);
	ck_assert_uint_eq(take(p, 1), 0);
	ck_assert_uint_eq(take(p, 2), 1050);
	ck_assert_uint_eq(take(p, 3), 0);
	ck_assert_uint_eq(take(p, 4), 1101);
	pairs_free(p);
}
END_TEST

/* After a gap a key that starts again has lost its end. */
START_TEST(pairs_gap)
{
	struct pairs *p = pairs_new(8, 100, false);

	put(p, 1, 10, 0);
	put(p, 2, 11, 0);
	put(p, 1, 20, 1);
	ck_assert_uint_eq(take(p, 1), 20);
	ck_assert_uint_eq(take(p, 1), 0);
	ck_assert_uint_eq(take(p, 2), 11);
	ck_assert_uint_eq(pairs_accounts(p)->replaced, 1);
	pairs_free(p);
}
END_TEST

START_TEST(pairs_are_overdue)
{
	struct pairs *p = pairs_new(8, 1000, false);

	put(p, 1, 10, 0);
	put(p, 2, 20, 0);
	put(p, 3, 30, 0);
	put(p, 4, 40, 0);
	ck_assert_ptr_null(pairs_overdue(p, 10));
	ck_assert_uint_eq(pairs_overdue(p, 25)->time, 10);
	ck_assert_uint_eq(take(p, 2), 20);
	ck_assert_ptr_null(pairs_overdue(p, 25));
	ck_assert_uint_eq(pairs_overdue(p, 100)->time, 30);
	ck_assert_uint_eq(take(p, 1), 10);
	ck_assert_uint_eq(take(p, 4), 40);
	ck_assert_ptr_null(pairs_overdue(p, 100));
	put(p, 5, 50, 0);
	ck_assert_uint_eq(pairs_overdue(p, 100)->time, 50);
	ck_assert_ptr_null(pairs_overdue(p, 100));
	pairs_free(p);
}
END_TEST

/* Against a list that is searched from end to end */
#define MODEL 64

static struct {
	u64 key, time;
} model[MODEL];
static int model_len;

static void model_remove(int i)
{
	memmove(&model[i], &model[i + 1], (--model_len - i) * sizeof(model[0]));
}

static int model_find(u64 key)
{
	int i;

	for (i = 0; i < model_len; i++) {
		if (model[i].key == key)
			return i;
	}
	return -1;
}

static void model_put(u64 key, u64 time, u64 stale, bool last)
{
	int i = last ? model_find(key) : -1;

	if (i >= 0)
		model_remove(i);
	if (model_len == MODEL && time - model[0].time > stale)
		model_remove(0);
	if (model_len == MODEL)
		return;
	model[model_len].key = key;
	model[model_len++].time = time;
}

static u64 model_take(u64 key)
{
	int i = model_find(key);
	u64 time = i < 0 ? 0 : model[i].time;

	if (i >= 0)
		model_remove(i);
	return time;
}

START_TEST(pairs_random)
{
	bool last = _i;
	struct pairs *p = pairs_new(MODEL, 500, last);
	const struct accounts *a = pairs_accounts(p);
	u64 time = 1;
	int i;

	model_len = 0;
	for (i = 0; i < 1000000; i++) {
		u64 key = rnd() % (last ? 400 : 100);
		u64 want, got;

		time += 1 + rnd() % 10;
		if (rnd() % 100 < 52) {
			put(p, key, time, 0);
			model_put(key, time, 500, last);
			continue;
		}
		want = model_take(key);
		got = take(p, key);
		if (want != got)
			ck_abort_msg("%d: key %llu: %llu, not %llu", i, key,
				     got, want);
	}
	ck_assert_uint_eq(pairs_in_flight(p), model_len);
	ck_assert_uint_eq(a->starts, a->paired + a->replaced + a->evicted +
					     a->refused + pairs_in_flight(p));
	ck_assert_uint_eq(a->ends, a->paired + a->unmatched);
	ck_assert_uint_gt(a->evicted, 0);
	ck_assert_uint_gt(a->refused, 0);
	ck_assert_uint_gt(a->paired, 50000);
	pairs_free(p);
}
END_TEST

struct seen {
	size_t points;
	double max, last_time;
	bool bad;
	const u64 *time, *value;
	size_t n;
	double span;
};

/* Each point drawn is near one that was put in. */
static void see(void *arg, double time, double value)
{
	struct seen *s = arg;
	size_t i;

	s->points++;
	s->last_time = time;
	if (value > s->max)
		s->max = value;
	for (i = 0; i < s->n; i++) {
		if (fabs(s->time[i] - s->time[0] - time) <= s->span / 1024 &&
		    fabs(log2(value) - log2(s->value[i])) < 1.0 / 250)
			return;
	}
	s->bad = true;
}

START_TEST(series_points)
{
	enum { N = 500 };
	u64 time[N], value[N], from, to, t = 5 * SEC;
	struct series *s = series_new();
	struct seen seen = { .time = time, .value = value, .n = N };
	int i;

	ck_assert(!series_range(s, &from, &to));
	for (i = 0; i < N; i++) {
		t += rnd() % SEC;
		time[i] = t;
		value[i] = 1 + rnd() % (1ull << rnd() % 40);
		series_add(s, t, value[i], i % 5 == 0);
	}
	ck_assert(series_range(s, &from, &to));
	ck_assert_uint_eq(from, time[0]);
	ck_assert_uint_eq(to, time[N - 1]);
	seen.span = to - from;
	series_each(s, true, see, &seen);
	ck_assert_uint_ge(seen.points, N / 5 * 9 / 10);
	ck_assert_uint_le(seen.points, N / 5);
	series_each(s, false, see, &seen);
	ck_assert_uint_ge(seen.points, N * 9 / 10);
	ck_assert(!seen.bad);
	ck_assert_double_eq(seen.max, series_max(s));
	series_free(s);
}
END_TEST

/* A million points need no more memory than a thousand, and no peak is lost. */
START_TEST(series_bounded)
{
	struct series *s = series_new();
	struct seen seen = { .n = 0 };
	int i;

	for (i = 0; i < 1000000; i++)
		series_add(s, SEC + i * 1000ULL, i == 777777 ? 9 * SEC : 1000,
			   i == 777777);
	series_each(s, false, see, &seen);
	ck_assert_uint_ge(seen.points, 1024);
	ck_assert_uint_le(seen.points, 2048);
	seen.points = 0;
	series_each(s, true, see, &seen);
	ck_assert_uint_eq(seen.points, 1);
	ck_assert_double_eq(seen.max, 9e9);
	ck_assert_double_eq_tol(seen.last_time, 777777e3, 1e9 / 1024);
	series_free(s);
}
END_TEST

START_TEST(series_lines)
{
	struct series *s = series_new();
	struct ctlchart_limits l = { 1, 2 };
	const struct series_step *step;
	int i;

	series_limits(s, 10, &l, true);
	series_limits(s, 20, &l, true);
	l.ucl = 3;
	series_limits(s, 30, &l, false);
	ck_assert_uint_eq(series_steps(s, &step), 2);
	ck_assert_uint_eq(step[0].time, 10);
	ck_assert_uint_eq(step[1].limits.ucl, 3);
	ck_assert(!step[1].has_center);
	for (i = 0; i < 100000; i++) {
		l.ucl = 100 + i;
		series_limits(s, 40 + i, &l, true);
	}
	i = series_steps(s, &step);
	ck_assert_int_le(i, 1000);
	ck_assert_uint_eq(step[i - 1].limits.ucl, 100 + 99999);
	series_free(s);
}
END_TEST

START_TEST(values)
{
	static const struct {
		u64 value;
		bool is_time;
		const char *text;
	} cases[] = {
		{ 0, true, "0 ns" },
		{ 999, true, "999 ns" },
		{ 1000, true, "1.000 us" },
		{ 23412345, true, "23.41 ms" },
		{ 123456789, true, "123.5 ms" },
		{ 7012345678, true, "7.012 s" },
		{ 3600 * SEC, true, "3600.0 s" },
		{ 7012345678, false, "7012345678" },
		{ U64_MAX, false, "18446744073709551615" },
	};
	char buf[96];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_str_eq(format_value(buf, sizeof(buf), cases[i].value,
					      cases[i].is_time),
				 cases[i].text);
	ck_assert_str_eq(plural(0), "s");
	ck_assert_str_eq(plural(1), "");
	ck_assert_str_eq(plural(2), "s");
	ck_assert_str_eq(plural(U64_MAX), "s");
	ck_assert_str_eq(format_bytes(buf, sizeof(buf), 1), "1 byte");
	ck_assert_str_eq(format_bytes(buf, sizeof(buf), 9999), "9999 bytes");
	ck_assert_str_eq(format_rules(buf, sizeof(buf), 1), "limit");
	ck_assert_str_eq(format_rules(buf, sizeof(buf), 0x100), "overdue");
	ck_assert_str_eq(format_rules(buf, sizeof(buf), 0x3), "limit+rule2");
	ck_assert_str_eq(format_rules(buf, sizeof(buf), 0x680),
			 "rule1+rule8+below");
	ck_assert_str_eq(
		format_rules(buf, sizeof(buf), 0x7ff),
		"limit+overdue+rule1+rule2+rule3+rule4+rule5+rule6+rule7+rule8+below");
}
END_TEST

START_TEST(cleaning)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "plain", "plain" },
		{ "", "" },
		{ "ab\xc3", "ab?" },
		{ "a\033[31mb\n\t\177", "a?[31mb???" },
		{ "\xe7\xae\xa1\xe7\x90\x86", "\xe7\xae\xa1\xe7\x90\x86" },
		{ "\xc3", "?" },
		{ "\xc3(", "?(" },
		{ "\xc0\xaf", "??" }, /* overlong */
		{ "\xed\xa0\x80", "???" }, /* surrogate */
		{ "\xf4\x90\x80\x80", "????" }, /* above U+10FFFF */
		{ "\xf0\x9f\x90\xa7!", "\xf0\x9f\x90\xa7!" },
		{ "\xff\xfe", "??" },
		{ "a\xc2\x9b"
		  "31mb",
		  "a?31mb" }, /* CSI */
		{ "\xc2\xa0!", "\xc2\xa0!" },
		{ "\xe2\x80\xae!\xe2\x81\xa6", "?!?" }, /* direction of text */
		{ "\xe2\x80\xa6", "\xe2\x80\xa6" },
	};
	char buf[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		strcpy(buf, cases[i].in);
		clean_text(buf);
		ck_assert_str_eq(buf, cases[i].out);
	}
}
END_TEST

/* As snprintf() does it */
START_TEST(copying)
{
	static const char *const texts[] = { "", "a", "abcd", "abcdefgh" };
	char got[8], want[8];
	size_t i, size;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		for (size = 1; size <= sizeof(got); size++) {
			memset(got, 'x', sizeof(got));
			memset(want, 'x', sizeof(want));
			text_copy(got, size, texts[i]);
			snprintf(want, size, "%s", texts[i]);
			ck_assert_mem_eq(got, want, sizeof(got));
		}
	}
}
END_TEST

static char directory[DIRECTORY_SIZE];
static char trace[DIRECTORY_SIZE + 16];

static void set_up(void)
{
	make_directory(directory);
	snprintf(trace, sizeof(trace), "%s/trace.dat", directory);
}

static void tear_down(void)
{
	unlink(trace);
	rmdir(directory);
}

static bool outline(struct tracefile_info *info, struct tracefile_error *error)
{
	int fd = open(trace, O_RDONLY);
	bool good = tracefile_check(fd, "", info, error);

	tracefile_free(info);
	close(fd);
	return good;
}

/* The outline is good as a whole, and bad if it is cut off at any place. */
START_TEST(outline_truncated)
{
	struct td_layout layout = { .page_size = 4096,
				    .clock = "mono",
				    .big_endian = _i & 1,
				    .long4 = _i & 2 };
	struct sc_load load = sc_default_load;
	struct tracefile_error error;
	struct tracefile_info info;
	struct sc_truth truth;
	struct td td;
	u64 size;

	load.gap = load.step;
	load.healthy = 110;
	load.storm = 200;
	td_init(&td, &layout, 2);
	sc_formats(&td, true);
	sc_block(&td, td_add_buffer(&td, "disk"), &load, &truth);
	ck_assert(td_save(&td, trace));
	ck_assert_msg(outline(&info, &error), "%s", error.reason);
	ck_assert_int_eq(info.version, 6);
	ck_assert_str_eq(info.clock, "mono");
	ck_assert(!info.tsc);
	for (size = info.size - 1;; size -= size > 20000 ? 1021 : 7) {
		ck_assert_int_eq(truncate(trace, size), 0);
		if (outline(&info, &error))
			ck_abort_msg("good with %llu bytes", size);
		if (!*error.reason ||
		    (error.offset != TRACEFILE_NOWHERE && error.offset > size))
			ck_abort_msg("%llu bytes: %s", size, error.reason);
		if (size < 7)
			break;
	}
	sc_free(&truth);
	td_free(&td);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ctlchart");
	TCase *call = tcase_create("call"), *pairs = tcase_create("pairs");
	TCase *rest = tcase_create("report");

	tcase_set_timeout(call, 60);
	tcase_add_test(call, call_defaults);
	tcase_add_test(call, call_options);
	tcase_add_loop_test(call, call_mistakes, 0, ARRAY_SIZE(mistakes));
	tcase_add_test(call, call_caret);
	tcase_add_test(call, call_garbage);
	suite_add_tcase(s, call);
	tcase_set_timeout(pairs, 60);
	tcase_add_test(pairs, pairs_fifo);
	tcase_add_test(pairs, pairs_last);
	tcase_add_loop_test(pairs, pairs_apart, 0, 3 * MAX_KEYS);
	tcase_add_test(pairs, pairs_full);
	tcase_add_test(pairs, pairs_gap);
	tcase_add_test(pairs, pairs_are_overdue);
	tcase_add_loop_test(pairs, pairs_random, 0, 2);
	suite_add_tcase(s, pairs);
	tcase_set_timeout(rest, 60);
	tcase_add_checked_fixture(rest, set_up, tear_down);
	tcase_add_test(rest, series_points);
	tcase_add_test(rest, series_bounded);
	tcase_add_test(rest, series_lines);
	tcase_add_test(rest, values);
	tcase_add_test(rest, cleaning);
	tcase_add_test(rest, copying);
	tcase_add_loop_test(rest, outline_truncated, 0, 4);
	suite_add_tcase(s, rest);
	return run_suite(s);
}
