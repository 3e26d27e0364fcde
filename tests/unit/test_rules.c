// SPDX-License-Identifier: GPL-2.0
/*
 * Nelson's rules against a reference that is written from their definitions: it
 * keeps all points as floating-point numbers and looks, at each of them, back at
 * as many as a rule names. It shares nothing with rules.c.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <linux/kernel.h>
#include <linux/limits.h>

#include "chart_ref.h"
#include "random.h"
#include "rules.h"
#include "suite.h"

/* ---- the reference ---- */

/* of the @n points that end with @x, how many are beyond @k sigma on a side? */
static int beyond(const double *x, int n, double c, double s, int k, int side)
{
	int i, count = 0;

	for (i = 0; i < n; i++)
		count += side * (x[-i] - c) > k * s;
	return count;
}

static bool all_within(const double *x, int n, double c, double s)
{
	int i;

	for (i = 0; i < n; i++) {
		if (fabs(x[-i] - c) > s)
			return false;
	}
	return true;
}

static bool all_beyond(const double *x, int n, double c, double s)
{
	int i;

	for (i = 0; i < n; i++) {
		if (fabs(x[-i] - c) <= s)
			return false;
	}
	return true;
}

static bool trend(const double *x, int n, int side)
{
	int i;

	for (i = 0; i < n - 1; i++) {
		if (side * (x[-i] - x[-i - 1]) <= 0)
			return false;
	}
	return true;
}

static bool alternates(const double *x, int n)
{
	int i;

	for (i = 0; i < n - 2; i++) {
		if ((x[-i] - x[-i - 1]) * (x[-i - 1] - x[-i - 2]) >= 0)
			return false;
	}
	return true;
}

/* Rules that point @i of @x breaks; bit n - 1 for rule n */
static u32 ref_rules(const double *x, int i, double c, double s)
{
	const double *p = x + i;
	int side;
	u32 rules = 0;

	for (side = -1; side <= 1; side += 2) {
		if (beyond(p, 1, c, s, 3, side))
			rules |= 0x01;
		if (i >= 8 && beyond(p, 9, c, s, 0, side) == 9)
			rules |= 0x02;
		if (i >= 5 && trend(p, 6, side))
			rules |= 0x04;
		if (beyond(p, 1, c, s, 2, side) &&
		    beyond(p, i < 2 ? i + 1 : 3, c, s, 2, side) >= 2)
			rules |= 0x10;
		if (beyond(p, 1, c, s, 1, side) &&
		    beyond(p, i < 4 ? i + 1 : 5, c, s, 1, side) >= 4)
			rules |= 0x20;
	}
	if (i >= 13 && alternates(p, 14))
		rules |= 0x08;
	if (i >= 14 && all_within(p, 15, c, s))
		rules |= 0x40;
	if (i >= 7 && all_beyond(p, 8, c, s))
		rules |= 0x80;
	return rules;
}

/* ---- sequences made by hand: centre 100, sigma 10 ---- */

static const struct {
	int rule; /* that the last point breaks, and no other one; or 0 */
	bool below;
	int point[20];
} cases[] = {
	{ 1, false, { 131 } },
	{ 1, true, { 69 } },
	{ 0, false, { 130 } },
	{ 0, true, { 70 } },
	{ 2, false, { 101, 109, 103, 102, 101, 107, 105, 106, 101 } },
	{ 2, true, { 99, 91, 97, 98, 99, 93, 95, 94, 99 } },
	{ 0, false, { 101, 109, 103, 102, 100, 107, 105, 106, 101, 102 } },
	{ 0, false, { 101, 109, 103, 102, 101, 107, 105, 106 } },
	{ 3, false, { 91, 93, 96, 98, 101, 102 } },
	{ 3, true, { 109, 104, 103, 101, 98, 97 } },
	{ 0, false, { 91, 93, 96, 96, 98, 101, 102, 103 } },
	{ 0, false, { 93, 96, 98, 101, 102 } },
	{ 4,
	  false,
	  { 99, 101, 99, 102, 98, 101, 99, 103, 97, 101, 99, 101, 98, 104 } },
	{ 4,
	  true,
	  { 101, 99, 102, 98, 101, 99, 103, 97, 101, 99, 101, 98, 104, 99 } },
	{ 0,
	  true,
	  { 99, 101, 99, 102, 98, 101, 102, 99, 103, 97, 101, 99, 101, 98 } },
	{ 0,
	  true,
	  { 99, 101, 99, 102, 98, 98, 101, 99, 103, 97, 101, 99, 101, 98 } },
	{ 5, false, { 121, 99, 122 } },
	{ 5, true, { 79, 78 } },
	{ 0, true, { 121, 99, 78 } },
	{ 0, false, { 121, 99, 98, 121 } },
	{ 0, false, { 121, 99, 120 } },
	{ 6, false, { 111, 112, 100, 113, 114 } },
	{ 6, true, { 89, 88, 87, 88 } },
	{ 0, true, { 111, 112, 113, 89 } },
	{ 0, false, { 111, 112, 110, 113, 110 } },
	{ 7,
	  false,
	  { 101, 101, 110, 90, 90, 100, 100, 99, 105, 105, 95, 95, 94, 101,
	    101 } },
	{ 0,
	  false,
	  { 101, 101, 110, 90, 90, 100, 100, 111, 105, 105, 95, 95, 94, 101,
	    101, 101 } },
	{ 8, false, { 111, 111, 89, 89, 112, 112, 88, 111 } },
	{ 0, true, { 111, 111, 89, 89, 110, 112, 88, 111, 89 } },
};

static void zones_of(struct ctlchart_zones *z, double c, double s)
{
	int k;

	for (k = 0; k < 4; k++) {
		z->above[k] = floor(2 * (c + k * s));
		z->below[k] = c < k * s ? 0 : ceil(2 * (c - k * s));
	}
}

/* A value of the only CPU; returns true if it makes a point */
static bool add(struct ctlchart_rules *r, const struct ctlchart_method *m,
		const struct ctlchart_zones *z, u64 value,
		struct ctlchart_verdict *v)
{
	u64 point;

	if (!ctlchart_rules_add(r, m, 1, value, &point))
		return false;
	ctlchart_rules_check(r, z, point, v);
	return true;
}

START_TEST(by_hand)
{
	const struct ctlchart_method m = { .scale = CTLCHART_LINEAR,
					   .group = 2,
					   .groups = 20 };
	struct ctlchart_rules r = { 0 };
	struct ctlchart_verdict v;
	struct ctlchart_zones z;
	double x[20];
	int i, last;

	zones_of(&z, 100, 10);
	for (last = 0; last < 19 && cases[_i].point[last + 1]; last++)
		;
	for (i = 0; i <= last; i++) {
		x[i] = cases[_i].point[i];
		ck_assert(!add(&r, &m, &z, x[i] - 3, &v));
		ck_assert(add(&r, &m, &z, x[i] + 3, &v));
		if (i < last)
			ck_assert_uint_eq(v.rules, 0);
		ck_assert_uint_eq(v.rules, ref_rules(x, i, 100, 10));
	}
	ck_assert_uint_eq(v.rules,
			  cases[_i].rule ? 1u << (cases[_i].rule - 1) : 0);
	ck_assert(v.below == cases[_i].below);
}
END_TEST

/* ---- random ones ---- */

#define POINTS 200

/* Data of many kinds, so that each rule is broken often */
static double next_point(int kind, int i, double c, double s)
{
	static double level;
	double e = rnd_normal();

	if (!i)
		level = 0;
	switch (kind % 7) {
	case 0:
		return c + s * e;
	case 1: /* neighbours are alike */
		level = 0.8 * level + 0.6 * e;
		return c + s * level;
	case 2: /* up and down */
		return c + s * ((i % 2 ? 1 : -1) + 0.5 * e);
	case 3: /* little variance, many equal */
		return c + round(0.4 * s * e);
	case 4: /* a mixture */
		return c + s * ((rnd() % 2 ? 2 : -2) + 0.4 * e);
	case 5: /* a trend */
		level += 0.05 * (kind & 8 ? 1 : -1);
		return c + s * (level + 0.2 * e);
	default: /* on the lines */
		return c + s * ((int)(rnd() % 9) - 4);
	}
}

static long fired[8];

static void note(u32 rules)
{
	int n;

	for (n = 0; n < 8; n++)
		fired[n] += rules >> n & 1;
}

/* The median of @n numbers that are to have the median @x; n is 2 to 10 */
static double spread_group(u64 *v, int n, double x)
{
	u64 sorted[10];
	int i, j;

	for (i = 0; i < n; i++) {
		double y = x + (rnd() % 41) - 20.0;

		v[i] = y < 0 ? 0 : y;
	}
	v[rnd() % n] = x < 0 ? 0 : x;
	memcpy(sorted, v, sizeof(*v) * n);
	for (i = 1; i < n; i++) {
		u64 t = sorted[i];

		for (j = i; j > 0 && sorted[j - 1] > t; j--)
			sorted[j] = sorted[j - 1];
		sorted[j] = t;
	}
	return n % 2 ? sorted[n / 2] :
		       (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0;
}

START_TEST(random_sequences)
{
	long points = 0;
	int kind, n;

	for (kind = 0; points < 1000000; kind++) {
		struct ctlchart_method m = { .scale = CTLCHART_LINEAR,
					     .group = 2 + rnd() % 9,
					     .groups = 20 };
		/* binary fractions, so that all lines are exact */
		double c = 1000 + (rnd() % 4096) / 16.0;
		double s = 20 + (rnd() % 1024) / 16.0;
		double x[POINTS];
		struct ctlchart_rules r = { 0 };
		struct ctlchart_zones z;
		int i, j;

		zones_of(&z, c, s);
		for (i = 0; i < POINTS; i++, points++) {
			struct ctlchart_verdict v;
			u64 group[10];
			u32 ref;

			x[i] = spread_group(group, m.group,
					    floor(next_point(kind, i, c, s)));
			for (j = 0; j < m.group; j++)
				expect(add(&r, &m, &z, group[j], &v) ==
				       (j == m.group - 1));
			ref = ref_rules(x, i, c, s);
			expect(v.rules == ref,
			       ": kind %d, point %d: %#x, not %#x", kind % 7, i,
			       v.rules, ref);
			expect(v.below == (x[i] < c));
			note(ref);
		}
	}
	printf("test_rules: %ld points; rules 1 to 8 were broken", points);
	for (n = 0; n < 8; n++) {
		printf(" %ld", fired[n]);
		ck_assert_int_gt(fired[n], 1000);
	}
	puts(" times");
}
END_TEST

/* From Phase I to the verdict on a log scale, all in floating point */
START_TEST(log_scale)
{
	long points = 0, close = 0, broken = 0;
	int set;

	for (set = 0; set < 3000; set++) {
		struct ctlchart_method m = { .group = 2 + rnd() % 9,
					     .groups = 2 + rnd() % 30 };
		double level = pow(2, 4 + 40 * rnd1()), x[POINTS];
		uint64_t v[10 * 31];
		struct ref_limits ref;
		struct ctlchart_phase1 p;
		struct ctlchart_rules r = { 0 };
		struct ctlchart_verdict verdict;
		struct ctlchart_zones z;
		double c, s, shift = rnd_normal() / 2;
		u64 room[512];
		int i, j, k;

		ck_assert_uint_le(ctlchart_phase1_room(&m), 512);
		ctlchart_phase1_start(&p, &m, room);
		for (i = 0; i < m.group * m.groups; i++) {
			v[i] = level * exp(rnd_normal()) + 1;
			ctlchart_phase1_add(&p, v[i]);
		}
		ctlchart_phase1_zones(&p, &z);
		ref = ref_chart(v, m.group, m.groups, 1, 1, 1);
		c = log2l(ref.center);
		s = (log2l(ref.ucl) - c) / 3;
		for (i = 0; i < POINTS; i++, points++) {
			u64 group[10];

			for (j = 0; j < m.group; j++) {
				group[j] =
					level * exp(rnd_normal() + shift) + 1;
				add(&r, &m, &z, group[j], &verdict);
			}
			qsort(group, m.group, sizeof(*group), ref_compare);
			x[i] = (log2(group[(m.group - 1) / 2]) +
				log2(group[m.group / 2])) /
			       2;
			/* where neither side is exact, nothing follows */
			for (k = -3; k <= 3; k++) {
				if (fabs(x[i] - (c + k * s)) < 1e-5)
					break;
			}
			if (k <= 3 || (i && fabs(x[i] - x[i - 1]) < 1e-6)) {
				close++;
				break;
			}
			expect(verdict.rules == ref_rules(x, i, c, s),
			       ": set %d, point %d", set, i);
			broken += !!verdict.rules;
		}
	}
	printf("test_rules: %ld points on a log scale, %ld of them break a rule; %ld sequences ended on a line\n",
	       points, broken, close);
	ck_assert_int_gt(points, 100000);
	ck_assert_int_gt(broken, 1000);
}
END_TEST

/* ---- several CPUs ---- */

enum { CPUS = 3 };

/* The median of the last @n of @nr values */
static double ref_median(const u64 *value, int nr, int n)
{
	u64 sorted[10];

	memcpy(sorted, value + nr - n, sizeof(*value) * n);
	qsort(sorted, n, sizeof(*sorted), ref_compare);
	return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0;
}

/*
 * Values of CPUs in turns: groups and points are of one CPU, and of values since the
 * lines changed. The reference keeps all values and points of each CPU since then.
 */
START_TEST(cpus_in_turns)
{
	long points = 0, dropped = 0, broken = 0;
	int set;

	for (set = 0; set < 2000; set++) {
		struct ctlchart_method m = { .scale = CTLCHART_LINEAR,
					     .group = 2 + rnd() % 9,
					     .groups = 20 };
		struct ctlchart_rules r[CPUS] = { 0 };
		double x[CPUS][300], c = 1000, s = 64;
		u64 value[CPUS][600], point;
		int nr[CPUS] = { 0 }, i, cpu;
		struct ctlchart_zones z;
		/* also where the number begins anew */
		u32 lines = -(u32)(rnd() % 3);

		zones_of(&z, c, s);
		for (i = 0; i < 600; i++) {
			struct ctlchart_verdict v;
			bool full;
			int last;
			u32 ref;

			if (!(rnd() % 200)) {
				lines++;
				for (cpu = 0; cpu < CPUS; cpu++) {
					dropped += nr[cpu] % m.group;
					nr[cpu] = 0;
				}
			}
			cpu = rnd() % CPUS;
			value[cpu][nr[cpu]++] =
				c + (cpu - 1) * s / 2 + s * rnd_normal();
			full = !(nr[cpu] % m.group);
			expect(ctlchart_rules_add(&r[cpu], &m, lines,
						  value[cpu][nr[cpu] - 1],
						  &point) == full);
			if (!full)
				continue;
			last = nr[cpu] / m.group - 1;
			x[cpu][last] = ref_median(value[cpu], nr[cpu], m.group);
			expect(point == 2 * x[cpu][last], ": set %d, value %d",
			       set, i);
			ctlchart_rules_check(&r[cpu], &z, point, &v);
			ref = ref_rules(x[cpu], last, c, s);
			expect(v.rules == ref,
			       ": set %d, value %d: %#x, not %#x", set, i,
			       v.rules, ref);
			points++;
			broken += !!ref;
		}
	}
	printf("test_rules: %ld points of %d CPUs, %ld of them break a rule; %ld values had no time to make one\n",
	       points, CPUS, broken, dropped);
	ck_assert_int_gt(points, 10000);
	ck_assert_int_gt(broken, 1000);
	ck_assert_int_gt(dropped, 1000);
}
END_TEST

/* The lines on a linear scale, in exact fractions */
START_TEST(zones)
{
	int set;

	for (set = 0; set < 20000; set++) {
		struct ctlchart_method m = { .limit = rnd() % 2,
					     .scale = CTLCHART_LINEAR,
					     .group = 2 + rnd() % 9,
					     .groups = 2 + rnd() % 30 };
		bool paper = m.limit == CTLCHART_MEDIAN;
		unsigned int shift = set % 7 ? 5 + rnd() % 55 : 0, n = m.group;
		uint64_t v[10 * 31], range[31];
		__int128 medians = 0, ranges = 0, spread, den, low;
		struct ctlchart_phase1 p;
		struct ctlchart_zones z;
		u64 room[512];
		int i, k;

		ctlchart_phase1_start(&p, &m, room);
		for (i = 0; i < m.group * m.groups; i++) {
			v[i] = rnd() >> shift;
			ctlchart_phase1_add(&p, v[i]);
		}
		ctlchart_phase1_zones(&p, &z);
		for (i = 0; i < m.groups; i++) {
			uint64_t *g = v + i * n;

			qsort(g, n, sizeof(*g), ref_compare);
			medians += (__int128)g[(n - 1) / 2] + g[n / 2];
			range[i] = g[n - 1] - g[0];
			ranges += range[i];
		}
		qsort(range, m.groups, sizeof(*range), ref_compare);
		/* twice the spread, times the number of groups */
		spread = 2 * ranges;
		if (!paper)
			spread -= 2 * (__int128)(range[m.groups - 1] -
						 range[m.groups - 2]);
		den = (__int128)m.groups * 3000;
		for (k = 0; k < 4; k++) {
			__int128 f = lroundl(ref_a4[n] * 1000);
			__int128 high = (medians * 3000 + k * f * spread) / den;

			if (high > UINT64_MAX)
				high = UINT64_MAX;
			expect(z.above[k] == (u64)high);
			low = medians * 3000 - k * f * spread;
			low = low < 0 ? 0 : (low + den - 1) / den;
			if (low > UINT64_MAX)
				low = UINT64_MAX;
			expect(z.below[k] == (u64)low);
		}
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rules");
	TCase *tc = tcase_create("rules");

	tcase_add_checked_fixture(tc, rnd_restart, NULL);
	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, by_hand, 0, ARRAY_SIZE(cases));
	tcase_add_test(tc, random_sequences);
	tcase_add_test(tc, log_scale);
	tcase_add_test(tc, cpus_in_turns);
	tcase_add_test(tc, zones);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
