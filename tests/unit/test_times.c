// SPDX-License-Identifier: GPL-2.0
/* ioreq: percentiles against sorting; and arrays that grow from small to huge pages. */
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"
#include "order.h"
#include "random.h"
#include "suite.h"

/* Values below these: all the same, many alike, hardly any alike */
static const u64 limits[] = { 1, 3, 100, UINT64_MAX };

/* In what order they come */
enum { ANY_ORDER, ASCENDING, DESCENDING, ORDERS };

static int descending(const void *a, const void *b)
{
	return order_u64(b, a);
}

START_TEST(percentiles)
{
	u64 limit = limits[_i / ORDERS], sorted[2000], i, nr;

	for (nr = 1; nr <= ARRAY_SIZE(sorted); nr += 1 + nr / 3) {
		struct times t = { 0 };

		for (i = 0; i < nr; i++)
			sorted[i] = rnd() % limit;
		if (_i % ORDERS)
			qsort(sorted, nr, sizeof(*sorted),
			      _i % ORDERS == ASCENDING ? order_u64 :
							 descending);
		for (i = 0; i < nr; i++)
			times_add(&t, sorted[i]);
		qsort(sorted, nr, sizeof(*sorted), order_u64);
		times_finish(&t);
		/* Nearest rank: the least value that at least this share does not exceed */
		ck_assert_uint_eq(t.p50, sorted[(nr + 1) / 2 - 1]);
		ck_assert_uint_eq(t.p99, sorted[nr - nr / 100 - 1]);
		ck_assert_uint_eq(t.max, sorted[nr - 1]);
		free(t.time);
	}
}
END_TEST

START_TEST(arrays_keep_their_values)
{
	u64 *array = NULL, nr = 0, room = 0, i;

	while (nr < 3000000) {
		GROW(array, nr, room);
		array[nr] = nr * 3;
		nr++;
	}
	for (i = 0; i < nr && array[i] == i * 3; i++)
		;
	ck_assert_uint_eq(i, nr);
	/* Back to small pages */
	array = xreallocarray(array, 1000, sizeof(*array));
	ck_assert_uint_eq(array[999], 999 * 3);
	free(array);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("times");
	TCase *t = tcase_create("times");

	tcase_add_checked_fixture(t, rnd_restart, NULL);
	tcase_add_loop_test(t, percentiles, 0, ARRAY_SIZE(limits) * ORDERS);
	tcase_add_test(t, arrays_keep_their_values);
	suite_add_tcase(s, t);
	return run_suite(s);
}
