// SPDX-License-Identifier: GPL-2.0
/*
 * Relearning on values whose distribution is known: what share of them lies above
 * the limit in force is computed, not counted.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <linux/kernel.h>

#include "random.h"
#include "relearn.h"
#include "suite.h"

#define SEC 1000000000ULL
#define UNIT 1e6

struct chart {
	struct ctlchart_method method;
	struct ctlchart_phase1 phase1;
	struct ctlchart_relearn relearn;
	struct ctlchart_limits limits;
	u64 room[2048];
	u64 span, now;
	bool by_time;
	int relearnt;
	double sigma, factor;
};

/* Log-normal values times @factor; the share of them above the limit */
static u64 draw(struct chart *c)
{
	return c->factor * exp(c->sigma * rnd_normal()) * UNIT;
}

static double alarms(const struct chart *c)
{
	return erfc(log(c->limits.ucl / UNIT / c->factor) / c->sigma /
		    sqrt(2)) /
	       2;
}

static void put_into_force(struct chart *c)
{
	ctlchart_phase1_limits(&c->phase1, &c->limits);
	ctlchart_relearn_start(&c->relearn, &c->phase1, &c->method, c->room,
			       c->span, c->by_time);
}

static void start_groups(struct chart *c, int limit, u8 group, u16 groups,
			 double sigma, u64 span, bool by_time)
{
	*c = (struct chart){
		.sigma = sigma, .factor = 1, .span = span, .by_time = by_time
	};
	c->method.limit = limit;
	c->method.group = group;
	c->method.groups = groups;
	ck_assert(ctlchart_phase1_room(&c->method) <= ARRAY_SIZE(c->room));
	ctlchart_phase1_start(&c->phase1, &c->method, c->room);
	while (!ctlchart_phase1_add(&c->phase1, draw(c)))
		;
	put_into_force(c);
}

static void start(struct chart *c, int limit, double sigma, u64 span,
		  bool by_time)
{
	start_groups(c, limit, 5, limit == CTLCHART_QUANTILE ? 600 : 20, sigma,
		     span, by_time);
}

static void judge(struct chart *c, u64 value)
{
	c->now += SEC / 1000;
	if (ctlchart_relearn_add(&c->relearn, value, c->limits.ucl, c->now)) {
		ctlchart_phase1_limits(&c->phase1, &c->limits);
		ctlchart_relearn_again(&c->relearn);
		c->relearnt++;
	}
}

static void run(struct chart *c, int values)
{
	while (values--)
		judge(c, draw(c));
}

/*
 * All values double for good. Whether that puts nearly none or nearly all of them
 * out of control, 1000 values later the limit is the one of the doubled values.
 */
START_TEST(shift)
{
	static const double sigmas[] = { 0.05, 0.1, 0.2, 0.3, 0.35, 0.5, 1 };
	static const u64 spans[] = { 100, 300, 500 };
	double sigma = sigmas[_i / 3];
	u64 span = spans[_i % 3];
	double before = 0, at_once = 0, after = 0, worst = 0;
	int i;

	for (i = 0; i < 300; i++) {
		struct chart c;

		start(&c, CTLCHART_INDIVIDUALS, sigma, span, false);
		run(&c, 1700 + i);
		ck_assert_int_ge(c.relearnt, (1700 + i) * 95 / 100 / span - 1);
		before += alarms(&c) / 300;
		c.factor = 2;
		at_once += alarms(&c) / 300;
		run(&c, 1000);
		after += alarms(&c) / 300;
		worst = fmax(worst, alarms(&c));
	}
	printf("test_relearn: sigma %g, relearn=%llu: alarms %.2f %% before, %.2f %% at once, %.2f %% (at most %.1f %%) 1000 values later\n",
	       sigma, span, 100 * before, 100 * at_once, 100 * after,
	       100 * worst);
	ck_assert_double_lt(before, 0.005);
	ck_assert_double_lt(after, 0.015);
	ck_assert_double_lt(worst, 0.15);
}
END_TEST

/* A span of many values or of a long time does not delay */
START_TEST(shift_soon)
{
	int i;

	for (i = 0; i < 200; i++) {
		struct chart c;

		start(&c, CTLCHART_INDIVIDUALS, 0.1,
		      i % 2 ? 1000000 : 3600 * SEC, i % 2 == 0);
		run(&c, 3000);
		ck_assert_int_eq(c.relearnt, 0);
		c.factor = 2;
		run(&c, 700);
		ck_assert_int_eq(c.relearnt, 1);
		ck_assert_double_lt(alarms(&c), 0.03);
		run(&c, 10000);
		ck_assert_int_eq(c.relearnt, 1);
	}
}
END_TEST

/* A failure that passes leaves the limit as it was */
START_TEST(failure)
{
	struct chart c;
	u64 ucl;
	int i;

	for (i = 0; i < 200; i++) {
		start(&c, CTLCHART_INDIVIDUALS, 0.5, 1000000, false);
		ucl = c.limits.ucl;
		run(&c, 500 + i);
		c.factor = 100;
		run(&c, 101 + i);
		ck_assert(c.relearn.mode == CTLCHART_RELEARN_SHIFTED);
		c.factor = 1;
		run(&c, 1000);
		ck_assert(c.relearn.mode == CTLCHART_RELEARN_STEADY);
		ck_assert_uint_eq(c.limits.ucl, ucl);
	}
	/* nor does a third of the values, for however long */
	start(&c, CTLCHART_INDIVIDUALS, 0.5, 500, false);
	for (i = 0; i < 100000; i++)
		judge(&c, i % 3 ? draw(&c) : 100 * draw(&c));
	ck_assert_int_gt(c.relearnt, 100);
	ck_assert_double_gt(alarms(&c), 0.00001);
	ck_assert_double_lt(alarms(&c), 0.02);
}
END_TEST

/* Learning a thousand times from the values below the previous limit */
START_TEST(steady)
{
	static const struct {
		int limit;
		u64 span;
		double most;
	} cases[] = { { CTLCHART_INDIVIDUALS, 100, 0.006 },
		      { CTLCHART_INDIVIDUALS, 1000, 0.006 },
		      { CTLCHART_QUANTILE, 3000, 0.003 } };
	double sum = 0, last = 0;
	struct chart c;
	int rounds = 1000, i;

	start(&c, cases[_i].limit, 1, cases[_i].span, false);
	for (i = 0; i < rounds; i++) {
		run(&c, cases[_i].span);
		sum += alarms(&c) / rounds;
		if (i >= rounds / 2)
			last += alarms(&c) / (rounds / 2);
	}
	printf("test_relearn: limit %d, relearn=%llu: alarms %.3f %%, in the second half of %d limits %.3f %%\n",
	       cases[_i].limit, cases[_i].span, 100 * sum, c.relearnt,
	       100 * last);
	ck_assert_int_gt(c.relearnt, 900);
	ck_assert_double_lt(sum, cases[_i].most);
	ck_assert_double_lt(last, cases[_i].most);
	ck_assert_double_gt(last, 0.0005);
}
END_TEST

/* By time: one limit each span, from values all over it */
START_TEST(by_time)
{
	struct chart c;

	start(&c, CTLCHART_INDIVIDUALS, 0.5, 10 * SEC, true);
	run(&c, 9700);
	ck_assert_int_eq(c.relearnt, 0);
	run(&c, 300);
	ck_assert_int_eq(c.relearnt, 1);
	run(&c, 90000);
	ck_assert_int_eq(c.relearnt, 10);
}
END_TEST

/* By time: values that make no difference may be left out */
START_TEST(waits)
{
	static const double factor[] = { 1, 1.5, 20, 1, 0.5, 3 };
	static const struct {
		u8 group;
		u16 groups;
		double sigma;
		int left_out;
	} cases[] = {
		{ 5, 20, 0.5, 30000 },
		{ 2, 2, 0.5, 1000 },
		/* In control until they change, and then not */
		{ 2, 2, 0, 100000 },
	};
	struct chart all, few;
	int left_out = 0, i;
	u64 value;

	start_groups(&all, CTLCHART_INDIVIDUALS, cases[_i].group,
		     cases[_i].groups, cases[_i].sigma, 10 * SEC, true);
	rnd_restart();
	start_groups(&few, CTLCHART_INDIVIDUALS, cases[_i].group,
		     cases[_i].groups, cases[_i].sigma, 10 * SEC, true);
	for (i = 0; i < 300000; i++) {
		all.factor = factor[i / 50000];
		value = draw(&all);
		judge(&all, value);
		if (ctlchart_relearn_waits(&few.relearn, value, few.limits.ucl,
					   all.now)) {
			few.now = all.now;
			left_out++;
		} else {
			judge(&few, value);
		}
		ck_assert_uint_eq(few.limits.ucl, all.limits.ucl);
		ck_assert_int_eq(few.relearnt, all.relearnt);
	}
	ck_assert_int_gt(all.relearnt, 30);
	/* Most of those while the last 200 are in control */
	ck_assert_int_gt(left_out, cases[_i].left_out);
	printf("test_relearn: %d of 300000 values left out\n", left_out);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("relearn");
	TCase *tc = tcase_create("relearn");

	tcase_add_checked_fixture(tc, rnd_restart, NULL);
	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, shift, 0, 21);
	tcase_add_test(tc, shift_soon);
	tcase_add_test(tc, failure);
	tcase_add_loop_test(tc, steady, 0, 3);
	tcase_add_test(tc, by_time);
	tcase_add_loop_test(tc, waits, 0, 3);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
