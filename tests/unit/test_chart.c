// SPDX-License-Identifier: GPL-2.0
/* The chart arithmetic against an independent reference (chart_ref.h). */
#include <check.h>
#include <limits.h>
#include <stdio.h>

#include <linux/kernel.h>

#include "chart.h"
#include "chart_ref.h"
#include "random.h"
#include "suite.h"

#define DATA_SETS 120000
/* of two times 400 values; the largest possible one has 1909 */
#define ROOM 2048
#define LOG_ONE (1u << CTLCHART_LOG_SHIFT)

static uint64_t clamp64(double x)
{
	return x < 0 ? 0 : x >= 18446744073709551615.0 ? UINT64_MAX : x;
}

enum {
	UNIFORM,
	NORMAL,
	LOG_NORMAL,
	EXPONENTIAL,
	PARETO,
	BIMODAL,
	ANY_BITS,
	ANY_MAGNITUDE,
	TINY,
	NEAR_MAX,
	DISTRIBUTIONS
};

static uint64_t draw(int distribution, double scale)
{
	unsigned int shift = rnd() % 64;

	switch (distribution) {
	case UNIFORM:
		return clamp64(scale * rnd1());
	case NORMAL:
		return clamp64(scale * (1 + 0.1 * rnd_normal()));
	case LOG_NORMAL:
		return clamp64(scale * exp(rnd_normal()));
	case EXPONENTIAL:
		return clamp64(-scale * log(rnd1()));
	case PARETO:
		return clamp64(scale / sqrt(rnd1()));
	case BIMODAL:
		return clamp64(scale * (rnd() % 10 ? 1 : 100) * (1 + rnd1()));
	case ANY_BITS:
		return rnd();
	case ANY_MAGNITUDE:
		return rnd() >> shift;
	case TINY:
		return rnd() % 4;
	default:
		return UINT64_MAX - rnd() % 1000;
	}
}

static struct ctlchart_limits estimate(const uint64_t *v, int n, int k,
				       int limit, int scale)
{
	struct ctlchart_method m = {
		.limit = limit, .scale = scale, .group = n, .groups = k
	};
	u64 room[ROOM + 1];
	u32 used = ctlchart_phase1_room(&m);
	struct ctlchart_phase1 p;
	struct ctlchart_limits l;
	int i;

	expect(ctlchart_method_valid(&m));
	expect(ctlchart_method_samples(&m) == (u32)(n * k));
	expect(used <= ROOM);
	/* earlier contents must not matter */
	memset(&p, 0xa5, sizeof(p));
	memset(room, 0xa5, sizeof(room));
	ctlchart_phase1_start(&p, &m, room);
	for (i = 0; i < n * k; i++) {
		expect(ctlchart_phase1_taken(&p) == (u32)i);
		expect(ctlchart_phase1_add(&p, v[i]) == (i == n * k - 1));
	}
	/* a complete estimate does not change any more */
	expect(ctlchart_phase1_add(&p, UINT64_MAX));
	expect(ctlchart_phase1_taken(&p) == (u32)(n * k));
	ctlchart_phase1_limits(&p, &l);
	expect(room[used] == 0xa5a5a5a5a5a5a5a5ULL);
	return l;
}

/* largest errors met, relative to the stated bounds; printed at the end */
static long double worst_log, worst_log_ulp;

/* Log scale: floor(ref) <= line <= ref * (1 + 2^-21), saturating. */
static void check_log_line(uint64_t line, long double ref)
{
	const long double tiny = 1e-15L; /* the reference's own error */
	long double high = ref * (1 + 0x1p-21L);

	if (ref >= 0x1p64L) {
		expect(line == UINT64_MAX);
		return;
	}
	expect((long double)line >= floorl(ref * (1 - tiny)),
	       ": "
	       "%llu is below %.6Lf",
	       (unsigned long long)line, ref);
	expect((long double)line <= high,
	       ": "
	       "%llu is too far above %.6Lf",
	       (unsigned long long)line, ref);
	if (line < UINT64_MAX && ref > 1e9L && (line - ref) / ref > worst_log)
		worst_log = (line - ref) / ref;
}

/*
 * Individuals on a log scale, as far as skewness moves the limit: it is known
 * to a thousandth.
 */
static void check_guarded(const uint64_t *v, int n, int k, uint64_t ucl)
{
	const long double guard = ref_guard(v, n * k), tiny = 1e-15L;
	long double low, high;

	if (ref_skew(v, n * k) > -1 / 16.0L + 0.002L) {
		check_log_line(ucl, ref_chart(v, n, k, 0, 1, 1).ucl);
		return;
	}
	low = ref_chart(v, n, k, 0, 1, guard - 0.005L).ucl;
	high = ref_chart(v, n, k, 0, 1, guard + 0.005L).ucl;
	expect((long double)ucl >= floorl(low * (1 - tiny)) ||
	       ucl == UINT64_MAX);
	expect((long double)ucl <= high * (1 + 0x1p-21L),
	       ": %llu is too far above %.6Lf", (unsigned long long)ucl, high);
}

static void check_data_set(const uint64_t *v, int n, int k)
{
	int limit;

	for (limit = CTLCHART_INDIVIDUALS; limit <= CTLCHART_MEDIAN; limit++) {
		int is_median = limit == CTLCHART_MEDIAN;
		struct ctlchart_limits l;
		struct ref_limits ref;
		uint64_t center, ucl;

		l = estimate(v, n, k, limit, CTLCHART_LINEAR);
		ref_exact(v, n, k, is_median, &center, &ucl);
		expect(l.center == center);
		expect(l.ucl == ucl);
		ref = ref_chart(v, n, k, is_median, 0, 1);
		expect(fabsl(floorl(ref.center) - l.center) <=
		       1 + ref.center * 0x1p-58L);
		if (ref.ucl < 0x1p64L)
			expect(fabsl(floorl(ref.ucl) - l.ucl) <=
			       1 + ref.ucl * 0x1p-58L);

		l = estimate(v, n, k, limit, CTLCHART_LOG);
		ref = ref_chart(v, n, k, is_median, 1, 1);
		check_log_line(l.center, ref.center);
		if (is_median)
			check_log_line(l.ucl, ref.ucl);
		else
			check_guarded(v, n, k, l.ucl);
		expect(l.center <= l.ucl);
	}
}

START_TEST(by_hand)
{
	/* medians 11, 21; ranges 6, 6; 16 + 0.691 * 6 = 20.146;
	 * 16 + 3 / 2.326 * 6 = 23.738
	 */
	static const uint64_t a[] = { 10, 12, 11, 15, 9, 20, 21, 22, 25, 19 };
	/* logarithms: medians 2, 4; ranges 4, 4; 2^3 = 8;
	 * 2^(3 + 0.691 * 4) = 54.3; 2^(3 + 3 / 2.326 * 4) = 285.8
	 */
	static const uint64_t b[] = { 1, 2, 4, 8, 16, 64, 32, 16, 8, 4 };
	/* even n: medians 2.5, 7; ranges 3, 4; 4.75 + 0.796 * 3.5 = 7.536 */
	static const uint64_t c[] = { 4, 1, 3, 2, 5, 9, 6, 8 };
	/* n = 2: medians 1.5, 3.5; ranges 1, 1; 2.5 + 1.88 = 4.38 */
	static const uint64_t d[] = { 1, 2, 4, 3 };
	struct ctlchart_limits l;

	l = estimate(a, 5, 2, CTLCHART_MEDIAN, CTLCHART_LINEAR);
	ck_assert_uint_eq(l.center, 16);
	ck_assert_uint_eq(l.ucl, 20);
	l = estimate(a, 5, 2, CTLCHART_INDIVIDUALS, CTLCHART_LINEAR);
	ck_assert_uint_eq(l.center, 16);
	ck_assert_uint_eq(l.ucl, 23);
	l = estimate(b, 5, 2, CTLCHART_MEDIAN, CTLCHART_LOG);
	ck_assert_uint_eq(l.center, 8);
	ck_assert_uint_eq(l.ucl, 54);
	l = estimate(b, 5, 2, CTLCHART_INDIVIDUALS, CTLCHART_LOG);
	ck_assert_uint_eq(l.center, 8);
	ck_assert_uint_eq(l.ucl, 285);
	l = estimate(c, 4, 2, CTLCHART_MEDIAN, CTLCHART_LINEAR);
	ck_assert_uint_eq(l.center, 4);
	ck_assert_uint_eq(l.ucl, 7);
	l = estimate(d, 2, 2, CTLCHART_MEDIAN, CTLCHART_LINEAR);
	ck_assert_uint_eq(l.center, 2);
	ck_assert_uint_eq(l.ucl, 4);
}
END_TEST

START_TEST(random_data)
{
	uint64_t v[10 * 40];
	int i, j;

	for (i = 0; i < DATA_SETS; i++) {
		int n = CTLCHART_GROUP_MIN + i % 9;
		int k = i % 7 ? 2 + rnd() % 8 : 20 + rnd() % 21;
		int distribution = rnd() % DISTRIBUTIONS;
		double scale = pow(10, 1 + 10 * rnd1());

		for (j = 0; j < n * k; j++)
			v[j] = draw(distribution, scale);
		check_data_set(v, n, k);
	}
	printf("test_chart: %d data sets, log lines at most %.3Lg above (bound %.3g)\n",
	       DATA_SETS, worst_log, 0x1p-21);
}
END_TEST

START_TEST(hostile_data)
{
	static const uint64_t same[] = { 0,
					 1,
					 2,
					 3,
					 4095,
					 1000003,
					 999999999,
					 1ULL << 32,
					 (1ULL << 53) + 1,
					 1ULL << 63,
					 (1ULL << 63) - 1,
					 UINT64_MAX - 1,
					 UINT64_MAX };
	uint64_t v[10 * 20];
	size_t s, o;
	int n, i;

	for (n = CTLCHART_GROUP_MIN; n <= CTLCHART_GROUP_MAX; n++) {
		for (s = 0; s < ARRAY_SIZE(same); s++) {
			int limit;

			for (i = 0; i < n * 20; i++)
				v[i] = same[s];
			check_data_set(v, n, 20);
			/* the same value again is in control, on any scale */
			for (limit = 0; limit <= CTLCHART_MEDIAN; limit++) {
				struct ctlchart_limits l;

				l = estimate(v, n, 20, limit, CTLCHART_LOG);
				ck_assert_uint_ge(l.ucl, same[s]);
				l = estimate(v, n, 20, limit, CTLCHART_LINEAR);
				ck_assert_uint_eq(l.ucl, same[s]);
				ck_assert_uint_eq(l.center, same[s]);
			}
			/* one outlier, and every second value another */
			for (o = 0; o < ARRAY_SIZE(same); o++) {
				v[n * 7 + n / 2] = same[o];
				check_data_set(v, n, 20);
				for (i = 0; i < n * 20; i += 2)
					v[i] = same[o];
				check_data_set(v, n, 20);
				for (i = 0; i < n * 20; i++)
					v[i] = same[s];
			}
		}
	}
}
END_TEST

/* The longest Phase I, with the largest values: sums need 81 bits. */
START_TEST(largest)
{
	struct ctlchart_method m = { .limit = CTLCHART_INDIVIDUALS,
				     .scale = CTLCHART_LINEAR,
				     .group = CTLCHART_GROUP_MAX,
				     .groups = CTLCHART_GROUPS_MAX };
	size_t count = (size_t)CTLCHART_GROUP_MAX * CTLCHART_GROUPS_MAX;
	uint64_t *v = malloc(count * sizeof(*v));
	u64 room[ROOM];
	int limit;
	size_t i;

	ck_assert_ptr_nonnull(v);
	for (limit = 0; limit <= CTLCHART_MEDIAN; limit++) {
		struct ctlchart_phase1 p;
		struct ctlchart_limits l;
		uint64_t center, ucl;

		m.limit = limit;
		ck_assert_uint_le(ctlchart_phase1_room(&m), ROOM);
		ctlchart_phase1_start(&p, &m, room);
		for (i = 0; i < count; i++) {
			v[i] = UINT64_MAX - (rnd() >> 14);
			ctlchart_phase1_add(&p, v[i]);
		}
		ck_assert(ctlchart_phase1_complete(&p));
		ctlchart_phase1_limits(&p, &l);
		ref_exact(v, m.group, m.groups, limit == CTLCHART_MEDIAN,
			  &center, &ucl);
		ck_assert_uint_eq(l.center, center);
		ck_assert_uint_eq(l.ucl, ucl);
	}
	free(v);
}
END_TEST

START_TEST(incomplete)
{
	struct ctlchart_method m = { .limit = CTLCHART_MEDIAN,
				     .scale = CTLCHART_LINEAR,
				     .group = 3,
				     .groups = 20 };
	u64 room[ROOM];
	struct ctlchart_phase1 p;
	struct ctlchart_limits l;

	ctlchart_phase1_start(&p, &m, room);
	ctlchart_phase1_limits(&p, &l);
	ck_assert_uint_eq(l.center, 0);
	ck_assert_uint_eq(l.ucl, UINT64_MAX);
	ck_assert(!ctlchart_phase1_add(&p, 10));
	ck_assert(!ctlchart_phase1_add(&p, 30));
	ctlchart_phase1_limits(&p, &l);
	ck_assert_uint_eq(l.ucl, UINT64_MAX);
	/* median 20, range 20, 20 + 1.187 * 20 = 43.74; the 1 is not in */
	ck_assert(!ctlchart_phase1_add(&p, 20));
	ck_assert(!ctlchart_phase1_add(&p, 1));
	ctlchart_phase1_limits(&p, &l);
	ck_assert_uint_eq(l.center, 20);
	ck_assert_uint_eq(l.ucl, 43);
}
END_TEST

START_TEST(valid)
{
	const struct ctlchart_method good = { .group = 5, .groups = 20 };
	struct ctlchart_method m = good;

	ck_assert(ctlchart_method_valid(&m));
	m.group = 1;
	ck_assert(!ctlchart_method_valid(&m));
	m.group = 11;
	ck_assert(!ctlchart_method_valid(&m));
	m = good;
	m.groups = 1;
	ck_assert(!ctlchart_method_valid(&m));
	m = good;
	m.limit = 3;
	ck_assert(!ctlchart_method_valid(&m));
	m.limit = CTLCHART_QUANTILE;
	ck_assert(!ctlchart_method_valid(&m));
	m.groups = 599;
	ck_assert(!ctlchart_method_valid(&m));
	m.groups = 600;
	ck_assert(ctlchart_method_valid(&m));
	m = good;
	m.scale = 2;
	ck_assert(!ctlchart_method_valid(&m));
}
END_TEST

/*
 * Order statistics of n standard normal values by numeric integration: the
 * factors in chart.c must be those, to the three decimals of the tables.
 */
static double normal_cdf(double x)
{
	return erfc(-x / sqrt(2)) / 2;
}

static double normal_pdf(double x)
{
	return exp(-x * x / 2) / sqrt(2 * M_PI);
}

static double range_mean(int n)
{
	const double h = 0.001;
	double sum = 0, x;

	for (x = -9; x < 9; x += h) {
		double p = normal_cdf(x);

		sum += 1 - pow(1 - p, n) - pow(p, n);
	}
	return sum * h;
}

static double median_sigma(int n)
{
	const double h = 0.01;
	int low = (n + 1) / 2, above = n / 2; /* ranks from below, above */
	double c = tgamma(n + 1) / tgamma(low) / tgamma(above);
	double s0 = 0, s1 = 0, s2 = 0, var = 0, x;

	if (n % 2) {
		c = tgamma(n + 1) / tgamma(low) / tgamma(low);
		for (x = -8; x < 8; x += h)
			var += x * x * normal_pdf(x) *
			       pow(normal_cdf(x) * normal_cdf(-x), low - 1);
		return sqrt(var * c * h);
	}
	/* E((x + y)^2) / 4 over the joint density of the middle two, x < y */
	for (x = 8; x > -8; x -= h) {
		double b = normal_pdf(x) * pow(normal_cdf(-x), above - 1);
		double a = normal_pdf(x) * pow(normal_cdf(x), low - 1);
		double t0 = s0 + b / 2, t1 = s1 + b * x / 2;
		double t2 = s2 + b * x * x / 2;

		var += a * (x * x * t0 + 2 * x * t1 + t2) / 4;
		s0 += b;
		s1 += b * x;
		s2 += b * x * x;
	}
	return sqrt(var * c * h * h);
}

/* the factor of medians on a log scale */
static double log_factor(int n)
{
	uint64_t v[2 * CTLCHART_GROUP_MAX];
	struct ctlchart_limits l;
	int i;

	for (i = 0; i < 2 * n; i++)
		v[i] = 1;
	v[0] = v[n] = 1 << 20;
	l = estimate(v, n, 2, CTLCHART_MEDIAN, CTLCHART_LOG);
	return (log2(l.ucl) - log2(l.center)) / 20;
}

static double factor_of(int n, int limit)
{
	const uint64_t r = 1000000000000ULL;
	uint64_t v[2 * CTLCHART_GROUP_MAX] = { 0 };
	struct ctlchart_limits l;

	v[0] = v[n] = r;
	l = estimate(v, n, 2, limit, CTLCHART_LINEAR);
	return (double)(l.ucl - l.center) / r;
}

START_TEST(factors)
{
	int n;

	for (n = CTLCHART_GROUP_MIN; n <= CTLCHART_GROUP_MAX; n++) {
		double d2 = range_mean(n);
		double a4 = 3 * median_sigma(n) / d2;

		ck_assert_double_eq_tol(3 / factor_of(n, CTLCHART_INDIVIDUALS),
					d2, 0.00055);
		ck_assert_double_eq_tol(log_factor(n), a4, 0.0012);
		ck_assert_double_eq_tol(factor_of(n, CTLCHART_MEDIAN), a4,
					0.00055);
	}
}
END_TEST

/* The limit is the value that 0.135 % of them exceed, exactly. */
START_TEST(quantile)
{
	struct ctlchart_method m = { .limit = CTLCHART_QUANTILE };
	static uint64_t v[65535 * 2];
	u64 room[ROOM];
	int i, j;

	for (i = 0; i < 400; i++) {
		double scale = pow(10, 1 + 10 * rnd1());
		int distribution = i % DISTRIBUTIONS;
		struct ctlchart_phase1 p;
		struct ctlchart_limits l;
		int count, above = 0;

		m.group = 2 + rnd() % 9;
		m.groups = (3000 + (i % 20 ? rnd() % 1000 : rnd() % 120000)) /
				   m.group +
			   1;
		count = ctlchart_method_samples(&m);
		expect(ctlchart_method_valid(&m));
		ctlchart_phase1_start(&p, &m, room);
		for (j = 0; j < count; j++) {
			v[j] = draw(distribution, scale);
			ctlchart_phase1_add(&p, v[j]);
		}
		ctlchart_phase1_limits(&p, &l);
		for (j = 0; j < count; j++)
			above += v[j] > l.ucl;
		expect(above <= count * 0.00135);
		qsort(v, count, sizeof(*v), ref_compare);
		expect(l.ucl == v[count - 1 - (int)(count * 0.00135)]);
		/* values that are judged otherwise do not contribute to it */
		m.scale = !m.scale;
	}
}
END_TEST

/*
 * One value a hundred times too large must not blind the chart, in any of its
 * places. Its range counts as the largest of the others, which then counts twice.
 */
START_TEST(outlier)
{
	uint64_t v[100], scale = 1000000;
	struct ctlchart_limits clean, dirty;
	double worst[2] = { 0 };
	int set, at, i, s;

	for (set = 0; set < 200; set++) {
		for (i = 0; i < 100; i++)
			v[i] = draw(LOG_NORMAL, scale);
		for (s = CTLCHART_LOG; s <= CTLCHART_LINEAR; s++) {
			clean = estimate(v, 5, 20, CTLCHART_INDIVIDUALS, s);
			for (at = 0; at < 100; at++) {
				v[at] *= 100;
				dirty = estimate(v, 5, 20, CTLCHART_INDIVIDUALS,
						 s);
				worst[s] = fmax(worst[s],
						(double)dirty.ucl / clean.ucl);
				v[at] /= 100;
			}
		}
	}
	printf("test_chart: an outlier raises the limit by a factor of %.2f on a log scale, %.2f on a linear one\n",
	       worst[CTLCHART_LOG], worst[CTLCHART_LINEAR]);
	ck_assert_double_lt(worst[CTLCHART_LOG], 2.5);
	ck_assert_double_lt(worst[CTLCHART_LINEAR], 3);
}
END_TEST

static int shape_of(int distribution, int samples)
{
	struct ctlchart_method m = { .group = 5, .groups = samples / 5 };
	struct ctlchart_phase1 p, copy;
	u64 room[ROOM], copied[ROOM];
	int shape;

	ctlchart_phase1_start(&p, &m, room);
	while (!ctlchart_phase1_add(&p, draw(distribution, 1e6)))
		;
	shape = ctlchart_phase1_shape(&p);
	ctlchart_phase1_copy(&copy, &p, copied);
	/* The copy depends on nothing of the estimate */
	memset(&p, 0xff, sizeof(p));
	memset(room, 0xff, sizeof(room));
	ck_assert_int_eq(ctlchart_phase1_shape(&copy), shape);
	return shape;
}

/* What was drawn is known; the rate of errors is bounded. */
START_TEST(shape)
{
	static const struct {
		int distribution;
		int shape;
		int wrong_100, wrong_1000; /* of 1000 */
	} cases[] = {
		{ NORMAL, CTLCHART_SHAPE_PLAIN, 1, 0 },
		{ LOG_NORMAL, CTLCHART_SHAPE_PLAIN, 1, 0 },
		{ EXPONENTIAL, CTLCHART_SHAPE_PLAIN, 1, 0 },
		{ UNIFORM, CTLCHART_SHAPE_PLAIN, 1, 0 },
		{ PARETO, CTLCHART_SHAPE_HEAVY, 80, 0 },
		{ BIMODAL, CTLCHART_SHAPE_BIMODAL, 50, 0 },
	};
	size_t c;
	int i;

	for (c = 0; c < ARRAY_SIZE(cases); c++) {
		int wrong_100 = 0, wrong_1000 = 0;

		for (i = 0; i < 1000; i++) {
			int d = cases[c].distribution;

			wrong_100 += shape_of(d, 100) != cases[c].shape;
			wrong_1000 += shape_of(d, 1000) != cases[c].shape;
		}
		printf("test_chart: distribution %d: shape told wrongly %d and %d times of 1000\n",
		       cases[c].distribution, wrong_100, wrong_1000);
		ck_assert_int_le(wrong_100, cases[c].wrong_100);
		ck_assert_int_le(wrong_1000, cases[c].wrong_1000);
	}
	/* too few values do not show their shape */
	ck_assert_int_eq(shape_of(BIMODAL, 45), CTLCHART_SHAPE_PLAIN);
}
END_TEST

static void check_log2(uint64_t v)
{
	long double ref = log2l((long double)v) * LOG_ONE;
	long double error = ctlchart_log2(v) - ref;

	expect(error >= -0.53L && error <= 0.5001L,
	       ": "
	       "log2(%llu): %Lf",
	       (unsigned long long)v, error);
	if (fabsl(error) > worst_log_ulp)
		worst_log_ulp = fabsl(error);
}

START_TEST(logarithm)
{
	uint32_t before = 0;
	int shift;
	uint64_t v;
	int i;

	expect(ctlchart_log2(0) == 0);
	expect(ctlchart_log2(UINT64_MAX) == 64 * LOG_ONE);
	for (shift = 0; shift < 64; shift++) {
		uint64_t one = 1ULL << shift;

		expect(ctlchart_log2(one) == shift * LOG_ONE);
		for (v = one - (one > 70000 ? 70000 : one - 1);
		     v != one + 70000 && v >= one - (one > 70000 ? 70000 : 0);
		     v++) {
			check_log2(v);
			if (v > 1)
				expect(ctlchart_log2(v) >=
				       ctlchart_log2(v - 1));
		}
	}
	for (v = 1; v < 3000000; v++) {
		uint32_t l = ctlchart_log2(v);

		check_log2(v);
		expect(l >= before);
		before = l;
	}
	for (i = 0; i < 3000000; i++) {
		v = draw(ANY_MAGNITUDE, 0);
		check_log2(v ? v : 1);
		if (v < UINT64_MAX)
			expect(ctlchart_log2(v) <= ctlchart_log2(v + 1));
	}
	printf("test_chart: log2 at most %.4Lf units off (bound 0.53)\n",
	       worst_log_ulp);
}
END_TEST

static void check_exp2(uint32_t l)
{
	long double ref = exp2l((long double)l / LOG_ONE);
	uint64_t v = ctlchart_exp2(l);

	if (ref >= 0x1p64L) {
		expect(v == UINT64_MAX);
		return;
	}
	expect(v <= floorl(ref * (1 + 0x1p-31L)) &&
		       v >= floorl(ref * (1 - 0x1p-31L)),
	       ": "
	       "exp2(%u): %llu, not %Lf",
	       l, (unsigned long long)v, ref);
	expect(v <= ctlchart_exp2(l + 1));
}

START_TEST(power)
{
	uint32_t l, i;

	expect(ctlchart_exp2(64 * LOG_ONE) == UINT64_MAX);
	expect(ctlchart_exp2(UINT32_MAX) == UINT64_MAX);
	for (i = 0; i < 64; i++) {
		expect(ctlchart_exp2(i * LOG_ONE) == 1ULL << i);
		for (l = i * LOG_ONE; l < i * LOG_ONE + 5000; l++)
			check_exp2(l);
		for (l = (i + 1) * LOG_ONE - 5000; l < (i + 1) * LOG_ONE; l++)
			check_exp2(l);
	}
	for (i = 0; i < LOG_ONE; i++) /* every fraction, at 62 bits */
		check_exp2(62 * LOG_ONE + i);
	for (i = 0; i < 3000000; i++)
		check_exp2(rnd() >> 34);
}
END_TEST

/*
 * The reference needs the 64-bit mantissa of x86. Other machines have none, and
 * valgrind computes with less.
 */
static bool is_precise(void)
{
	volatile long double tiny = 0x1p-60L;
	volatile long double sum = 1 + tiny;

	return sum != 1;
}

int main(void)
{
	Suite *s = suite_create("chart");
	TCase *tc = tcase_create("chart");

	tcase_add_checked_fixture(tc, rnd_restart, NULL);
	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, by_hand);
	if (is_precise()) {
		tcase_add_test(tc, random_data);
		tcase_add_test(tc, hostile_data);
		tcase_add_test(tc, logarithm);
		tcase_add_test(tc, power);
	}
	tcase_add_test(tc, largest);
	tcase_add_test(tc, quantile);
	tcase_add_test(tc, outlier);
	tcase_add_test(tc, shape);
	tcase_add_test(tc, incomplete);
	tcase_add_test(tc, valid);
	tcase_add_test(tc, factors);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
