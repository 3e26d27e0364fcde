// SPDX-License-Identifier: GPL-2.0
/* Filters with an option set, and the points of a page. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>

#include "ctlchart.h"
#include "suite.h"

static const struct {
	const char *filter, *option, *value, *want;
} withs[] = {
	{ "ctlchart(a)", "ucl", "5", "ctlchart(a, ucl=5)" },
	{ "ctlchart(a)", "ucl", "", "ctlchart(a)" },
	{ "ctlchart(a, ucl=3)", "ucl", "5", "ctlchart(a, ucl=5)" },
	{ "ctlchart(a, ucl=3)", "ucl", "", "ctlchart(a)" },
	{ "ctlchart(a,ucl=3,rate=1)", "ucl", "", "ctlchart(a,rate=1)" },
	{ "ctlchart(a , ucl = 3 , rate=1)", "ucl", "7",
	  "ctlchart(a , rate=1, ucl=7)" },
	{ "ctlchart(ucl, ucl=3)", "ucl", "", "ctlchart(ucl)" },
	{ "ctlchart(a, ucl2=3)", "ucl", "1", "ctlchart(a, ucl2=3, ucl=1)" },
	{ "b == \"ctlchart(x)\" && ctlchart(a) && c == 2", "ucl", "1",
	  "b == \"ctlchart(x)\" && ctlchart(a, ucl=1) && c == 2" },
	{ "ctlchart(a", "ucl", "1", "ctlchart(a, ucl=1" },
	{ "ctlchart(", "ucl", "1", "ctlchart(, ucl=1" },
	{ "a == 1", "ucl", "1", "a == 1" },
	{ "", "ucl", "1", "" },
};

START_TEST(with)
{
	char *got =
		call_with(withs[_i].filter, withs[_i].option, withs[_i].value);

	ck_assert_str_eq(got, withs[_i].want);
	free(got);
}
END_TEST

/* In control: bounded, evenly spread over all that came, in order */
START_TEST(normal)
{
	struct points *p = points_new();
	const struct point *point;
	size_t n, i;
	u64 seen;

	ck_assert_ptr_nonnull(p);
	for (seen = 0; seen < 1000003; seen++) {
		struct point one = { .time = seen, .value = 7, .keys = "k=1" };

		if (points_due(p))
			points_add(p, false, &one);
	}
	n = points_get(p, false, &point);
	ck_assert_uint_eq(points_step(p), 16);
	ck_assert_uint_eq(n, (1000003 + 15) / 16);
	for (i = 0; i < n; i++) {
		ck_assert_uint_eq(point[i].time, 16 * i);
		ck_assert_str_eq(point[i].keys, "k=1");
	}
	ck_assert_uint_eq(points_get(p, true, &point), 0);
	points_free(p);
	points_free(NULL);
}
END_TEST

/* Out of control: bounded, and the largest of each neighbourhood stays */
START_TEST(alarms)
{
	struct points *p = points_new();
	const struct point *point;
	u64 last = 0, large = 0;
	size_t n, i;

	ck_assert_ptr_nonnull(p);
	for (i = 0; i < 300001; i++) {
		struct point one = { .time = i,
				     .value = i % 1000 == 500 ? 1000 : i % 7,
				     .keys = "" };

		points_add(p, true, &one);
	}
	n = points_get(p, true, &point);
	ck_assert_uint_le(n, 100000);
	ck_assert_uint_ge(n, 50000);
	for (i = 0; i < n; i++) {
		ck_assert(!i || point[i].time > last);
		last = point[i].time;
		large += point[i].value == 1000;
	}
	ck_assert_uint_eq(large, 300);
	points_free(p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("points");
	TCase *tc = tcase_create("points");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, with, 0, ARRAY_SIZE(withs));
	tcase_add_test(tc, normal);
	tcase_add_test(tc, alarms);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
