// SPDX-License-Identifier: GPL-2.0
/* The parts of pathdiff that can be compared with something simpler. */
#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pathdiff.h"
#include "prng.h"
#include "suite.h"

static uint64_t state = 88172645463325252ULL;

static u32 rnd(u32 below)
{
	return (xorshift64(&state) >> 11) % below;
}

/* The table of the paper, 3.3.1, two rows of it at a time */
static u32 by_table(const u32 *a, u32 a_len, const u32 *b, u32 b_len)
{
	u32 *row = calloc(2 * (b_len + 1), sizeof(*row)), i, j, result;

	for (i = 1; i <= a_len; i++) {
		u32 *now = row + (i & 1) * (b_len + 1);
		const u32 *before = row + !(i & 1) * (b_len + 1);

		now[0] = 0;
		for (j = 1; j <= b_len; j++) {
			if (a[i - 1] == b[j - 1])
				now[j] = before[j - 1] + 1;
			else
				now[j] = now[j - 1] > before[j] ? now[j - 1] :
								  before[j];
		}
	}
	result = row[(a_len & 1) * (b_len + 1) + b_len];
	free(row);
	return result;
}

/* Pairs are equal, and in order */
static void check_match(const u32 *a, u32 a_len, const u32 *b, u32 b_len,
			const u32 *match, u32 length)
{
	u32 i, n = 0, next = 0;

	for (i = 0; i < a_len; i++) {
		if (match[i] == NONE)
			continue;
		ck_assert_uint_lt(match[i], b_len);
		ck_assert_uint_ge(match[i], next);
		ck_assert_uint_eq(a[i], b[match[i]]);
		next = match[i] + 1;
		n++;
	}
	ck_assert_uint_eq(n, length);
}

/* The paper's example, figure 5: A B C B D A B and B D C B A have 4 in common */
START_TEST(lcs_paper)
{
	static const u32 a[] = { 0, 1, 2, 1, 3, 0, 1 }, b[] = { 1, 3, 2, 1, 0 };
	struct lcs *l = lcs_new(4);
	u32 match[7];

	lcs_first(l, a, 7);
	ck_assert_uint_eq(lcs_length(l, b, 5), 4);
	ck_assert_uint_eq(lcs_match(l, a, 7, b, 5, match), 4);
	check_match(a, 7, b, 5, match, 4);
	lcs_free(l);
}
END_TEST

START_TEST(lcs_random)
{
	u32 a[400], b[400], match[400], n, i;
	struct lcs *l = lcs_new(50);

	for (n = 0; n < 3000; n++) {
		u32 a_len = rnd(n % 10 ? 130 : 400), b_len = rnd(300);
		u32 symbols = 1 + rnd(50), length;

		for (i = 0; i < a_len; i++)
			a[i] = rnd(symbols);
		for (i = 0; i < b_len; i++)
			b[i] = n % 3 && i < a_len && rnd(10) ? a[i] :
							       rnd(symbols);
		length = by_table(a, a_len, b, b_len);
		lcs_first(l, a, a_len);
		ck_assert_uint_eq(lcs_length(l, b, b_len), length);
		ck_assert_uint_eq(lcs_match(l, a, a_len, b, b_len, match),
				  length);
		check_match(a, a_len, b, b_len, match, length);
	}
	lcs_free(l);
}
END_TEST

/* So long that not all of the table is kept */
START_TEST(lcs_long)
{
	u32 a_len = 90000, b_len = 7000, i, length;
	u32 *a = calloc(a_len, sizeof(*a)), *b = calloc(b_len, sizeof(*b));
	u32 *match = calloc(a_len, sizeof(*match));
	struct lcs *l = lcs_new(1000);

	for (i = 0; i < a_len; i++)
		a[i] = rnd(1000);
	for (i = 0; i < b_len; i++)
		b[i] = rnd(1000);
	length = by_table(a, a_len, b, b_len);
	lcs_first(l, a, a_len);
	ck_assert_uint_eq(lcs_length(l, b, b_len), length);
	ck_assert_uint_eq(lcs_match(l, a, a_len, b, b_len, match), length);
	check_match(a, a_len, b, b_len, match, length);
	lcs_free(l);
	free(a);
	free(b);
	free(match);
}
END_TEST

START_TEST(patterns)
{
	struct patterns ps = { 0 };
	u32 f[100], n, i;
	u16 depth[100];

	for (i = 0; i < 100; i++)
		depth[i] = i;
	for (n = 0; n < 5000; n++) {
		for (i = 0; i < 100; i++)
			f[i] = i == n % 100 ? 100 + n / 100 : i;
		ck_assert_uint_eq(pattern_id(&ps, f, depth, 100), n);
	}
	for (n = 0; n < 5000; n += 7) {
		for (i = 0; i < 100; i++)
			f[i] = i == n % 100 ? 100 + n / 100 : i;
		ck_assert_uint_eq(pattern_id(&ps, f, depth, 100), n);
	}
	/* a beginning is another one */
	ck_assert_uint_eq(pattern_id(&ps, f, depth, 50), 5000);
	ck_assert_uint_eq(pattern_id(&ps, f, depth, 0), 5001);
	ck_assert_uint_eq(pattern_id(&ps, f, depth, 0), 5001);
	patterns_free(&ps);
}
END_TEST

START_TEST(strings)
{
	struct strings s = { 0 };
	char name[32];
	u32 n;

	for (n = 0; n < 10000; n++) {
		snprintf(name, sizeof(name), "function_%u", n);
		ck_assert_uint_eq(string_id(&s, name), n);
	}
	ck_assert_uint_eq(string_id(&s, "function_77"), 77);
	ck_assert_uint_eq(string_id(&s, "schedule"), 10000);
	ck_assert_uint_eq(s.flags[10000], FUNCTION_SCHEDULES | FUNCTION_WAITS);
	ck_assert_uint_eq(s.flags[77], 0);
	ck_assert_uint_eq(s.flags[string_id(&s, "irq_enter_rcu")],
			  FUNCTION_INTERRUPT | FUNCTION_BEGINS);
	ck_assert_uint_eq(
		s.flags[string_id(&s, "__sysvec_apic_timer_interrupt")],
		FUNCTION_INTERRUPT);
	ck_assert_uint_eq(s.flags[string_id(&s, "smp_call_function")], 0);
	strings_free(&s);
}
END_TEST

/* Executions of so long in a trace, and in a baseline; what the limit makes of it */
static void limit_of(struct limit *l, const u64 *base, u32 bases,
		     const u64 *trace, u32 traces, u64 given, double floor)
{
	struct paths p = { 0 };
	u32 i;

	memset(l, 0, sizeof(*l));
	p.nr = bases + traces;
	p.exec = calloc(p.nr, sizeof(*p.exec));
	for (i = 0; i < p.nr; i++) {
		p.exec[i].side = i < traces ? SIDE_TRACE : SIDE_BASELINE;
		p.exec[i].duration = i < traces ? trace[i] : base[i - traces];
	}
	ck_assert_int_eq(limit_find(NULL, &p, l, given, floor), 0);
	free(p.exec);
}

/* The paper's, by hand: mean of medians + 0.691 mean of ranges */
START_TEST(limit_paper)
{
	u64 base[100], trace[100];
	double medians = 0, ranges = 0;
	struct limit l;
	u32 i;

	for (i = 0; i < 100; i++) {
		/* groups of 10 i + (0, 1, 2, 3, 4), in some order */
		base[i] = 10000 + i / 5 * 10 + i * 3 % 5;
		trace[i] = i % 10 ? 10000 : 50000;
		if (i % 5 == 0) {
			medians += 10002 + i / 5 * 10;
			ranges += 4;
		}
	}
	limit_of(&l, base, 100, trace, 100, 0, 0);
	ck_assert_uint_eq(l.ns, (u64)(medians / 20 + 0.691 * ranges / 20));
	ck_assert_uint_eq(l.center, (u64)(medians / 20));
	ck_assert_uint_eq(l.learnt, 100);
	ck_assert_uint_eq(l.nr[0], 90);
	ck_assert_uint_eq(l.nr[1], 10);
	ck_assert_uint_eq(l.longest, 50000);
	ck_assert(!l.healthy);
	limit_of(&l, base, 100, base, 100, 0, 0);
	ck_assert(l.healthy);
	limit_of(&l, NULL, 0, trace, 100, 20000, 0);
	ck_assert(l.given && !l.healthy);
	ck_assert_uint_eq(l.nr[1], 10);
	limit_of(&l, NULL, 0, trace, 100, 60000, 0);
	ck_assert(l.healthy);
}
END_TEST

/* Slow executions in between, or at the end, do not move the limit */
START_TEST(limit_calm)
{
	u64 trace[2000];
	struct limit l;
	u32 i;

	for (i = 0; i < 2000; i++)
		trace[i] = i % 10 == 7 ? 5000000 + i : 10000 + rnd(2000);
	limit_of(&l, NULL, 0, trace, 2000, 0, 0);
	ck_assert_uint_lt(l.ns, 14000);
	ck_assert_uint_gt(l.ns, 11000);
	ck_assert_uint_eq(l.set_aside, 200);
	ck_assert(!l.healthy);
	/* a storm, from the second fifth on */
	for (i = 0; i < 2000; i++)
		trace[i] = i > 400 ? 1000000 + rnd(9000000) : 10000 + rnd(2000);
	limit_of(&l, NULL, 0, trace, 2000, 0, 0);
	ck_assert_uint_lt(l.ns, 14000);
	ck_assert_uint_ge(l.nr[1], 1599);
	ck_assert(!l.healthy);
	for (i = 0; i < 2000; i++)
		trace[i] = 10000 + rnd(2000);
	limit_of(&l, NULL, 0, trace, 2000, 0, 0);
	ck_assert(l.healthy);
}
END_TEST

/* A limit close to the centre: many executions above it, which are not slow in practice */
START_TEST(limit_floor)
{
	u64 base[1500], trace[1500];
	struct limit l;
	u32 i;

	for (i = 0; i < 1500; i++) {
		base[i] = 10000 + rnd(30);
		trace[i] = 10000 + (i % 3 ? rnd(30) : 300 + rnd(300));
	}
	limit_of(&l, base, 1500, trace, 1500, 0, 0);
	ck_assert_uint_lt(l.ns, 10030);
	ck_assert_uint_ge(l.nr[1], 500);
	limit_of(&l, base, 1500, trace, 1500, 0, 0.1);
	ck_assert(l.floored && l.healthy);
	ck_assert_uint_ge(l.ns, 11000);
	ck_assert_uint_lt(l.ns, 11030);
	ck_assert_uint_eq(l.nr[1], 0);
	limit_of(&l, base, 1500, trace, 1500, 0, 0.02);
	ck_assert_uint_ge(l.nr[1], 300);
	/* executions above the user's limit are slow */
	limit_of(&l, base, 1500, trace, 1500, 10250, 0.1);
	ck_assert(!l.floored && !l.healthy);
	ck_assert_uint_eq(l.nr[1], 500);
}
END_TEST

/* As in the trial: 2 of 1,554 took 123 s; ten faults of 5 ms among as many */
START_TEST(limit_outliers)
{
	u64 base[1554], trace[1554];
	struct limit l;
	u32 i;

	for (i = 0; i < 1554; i++) {
		base[i] = 240000 + rnd(20000);
		trace[i] = i % 155 == 77 ? 5000000 : 240000 + rnd(20000);
	}
	base[100] = base[1200] = 123000000000ULL;
	limit_of(&l, base, 1554, trace, 1554, 0, 0.1);
	ck_assert_uint_lt(l.ns, 400000);
	ck_assert_uint_eq(l.set_aside, 2);
	ck_assert_uint_eq(l.nr[1], 10);
	ck_assert(!l.healthy && !l.is_far);
	/* outliers as rare as in the baseline are not a fault */
	limit_of(&l, base, 1554, base, 1554, 0, 0.1);
	ck_assert(l.healthy);
	for (i = 0; i < 1554; i++)
		trace[i] = 240000 + rnd(20000);
	trace[9] = trace[700] = trace[1500] = 123000000000ULL;
	limit_of(&l, base, 1554, trace, 1554, 0, 0.1);
	ck_assert(l.healthy);
	/* slow executions that are more frequent are part of the load; but the limit is too low */
	for (i = 5; i < 1554; i += 12)
		base[i] = 40000000;
	limit_of(&l, base, 1554, trace, 1554, 0, 0.1);
	ck_assert_uint_eq(l.set_aside, 0);
	ck_assert(l.is_far);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pathdiff");
	TCase *tc = tcase_create("pathdiff");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, lcs_paper);
	tcase_add_test(tc, lcs_random);
	tcase_add_test(tc, lcs_long);
	tcase_add_test(tc, patterns);
	tcase_add_test(tc, strings);
	tcase_add_test(tc, limit_paper);
	tcase_add_test(tc, limit_calm);
	tcase_add_test(tc, limit_floor);
	tcase_add_test(tc, limit_outliers);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
