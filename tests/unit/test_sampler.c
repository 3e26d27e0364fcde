// SPDX-License-Identifier: GPL-2.0
/* The values that are used for learning are spread over the time, at any rate. */
#include <check.h>

#include <linux/kernel.h>

#include "chart.h"
#include "random.h"
#include "suite.h"

#define MSEC 1000000ULL
#define SEC 1000000000ULL

START_TEST(consecutive)
{
	struct ctlchart_sampler s;
	int i;

	ctlchart_sampler_start(&s, 0, 100);
	for (i = 0; i < 1000; i++)
		ck_assert(ctlchart_sampler_due(&s, rnd()));
}
END_TEST

/* Dense values: the first one, and from then on one in each hundredth of the time. */
START_TEST(spread)
{
	uint64_t start = 12345 * SEC, step = 100 * MSEC, now, origin;
	unsigned int taken[100] = { 0 }, i;
	struct ctlchart_sampler s;

	ctlchart_sampler_start(&s, 100 * step, 100);
	ck_assert(ctlchart_sampler_due(&s, start));
	ck_assert_uint_eq(s.next, start + step / 2);
	origin = s.next - (uint64_t)(s.phase / 0x1p32 * step);
	for (now = start; now < origin + 100 * step; now += 100000) {
		if (ctlchart_sampler_due(&s, now))
			taken[(now - origin) / step]++;
	}
	for (i = 0; i < 100; i++)
		ck_assert_uint_eq(taken[i], 1);
}
END_TEST

/* Of a load with any period, values are taken at all points of its cycle. */
START_TEST(periodic)
{
	uint64_t start = 12345 * SEC, now, period;
	struct ctlchart_sampler s;

	for (period = 10 * MSEC; period <= SEC; period += 10 * MSEC) {
		unsigned int fifths[5] = { 0 }, i;

		ctlchart_sampler_start(&s, 10 * SEC, 100);
		for (now = start; now < start + 10 * SEC; now += 100000) {
			if (ctlchart_sampler_due(&s, now))
				fifths[(now - start) % period * 5 / period]++;
		}
		for (i = 0; i < 5; i++)
			ck_assert_uint_ge(fifths[i], 5);
	}
}
END_TEST

/* An irregular stream keeps to the grid: lateness does not add up. */
START_TEST(grid)
{
	uint64_t start = 7 * SEC, now = start;
	struct ctlchart_sampler s;
	int taken = 0;

	ctlchart_sampler_start(&s, 10 * SEC, 100);
	while (now < start + 1000 * SEC) {
		taken += ctlchart_sampler_due(&s, now);
		now += rnd() % (20 * MSEC);
	}
	ck_assert_int_ge(taken, 9998);
	ck_assert_int_le(taken, 10002);
}
END_TEST

/* Values rarer than the grid are all taken, the rest of a burst is not. */
START_TEST(sparse)
{
	struct ctlchart_sampler s;
	uint64_t now = SEC;
	int i, j, taken = 0;

	ctlchart_sampler_start(&s, 10 * SEC, 100);
	for (i = 0; i < 50; i++) {
		for (j = 0; j < 30; j++)
			taken += ctlchart_sampler_due(&s, now + j * MSEC);
		now += SEC;
	}
	ck_assert_int_eq(taken, 50);
}
END_TEST

START_TEST(clock_set_back)
{
	struct ctlchart_sampler s;

	ctlchart_sampler_start(&s, 10 * SEC, 100);
	ck_assert(ctlchart_sampler_due(&s, 1000 * SEC));
	/* another CPU's clock is a little slow */
	ck_assert(!ctlchart_sampler_due(&s, 1000 * SEC - 1000));
	/* the clock was set back: sampling continues from there */
	ck_assert(ctlchart_sampler_due(&s, 3 * SEC));
	ck_assert(!ctlchart_sampler_due(&s, 3 * SEC + 49 * MSEC));
	ck_assert(ctlchart_sampler_due(&s, 3 * SEC + 50 * MSEC));
	/* no overflow trouble at the end of time */
	ctlchart_sampler_start(&s, UINT64_MAX, 4);
	ck_assert(ctlchart_sampler_due(&s, UINT64_MAX));
	ctlchart_sampler_due(&s, 0);
	ctlchart_sampler_due(&s, UINT64_MAX);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sampler");
	TCase *tc = tcase_create("sampler");

	tcase_add_checked_fixture(tc, rnd_restart, NULL);
	tcase_add_test(tc, consecutive);
	tcase_add_test(tc, spread);
	tcase_add_test(tc, periodic);
	tcase_add_test(tc, grid);
	tcase_add_test(tc, sparse);
	tcase_add_test(tc, clock_set_back);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
