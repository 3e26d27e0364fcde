/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Control chart limits in extended precision, written from the formulas of the
 * standards and not from chart.c: whole groups, qsort(), floating point, and
 * for integers on a linear scale exact 128-bit fractions.
 */
#ifndef TESTS_CHART_REF_H
#define TESTS_CHART_REF_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* three sigma of a normal distribution from the range of n = 2..10 values */
static const long double ref_d2[11] = { [2] = 1.128L, 1.693L, 2.059L,
					2.326L,	      2.534L, 2.704L,
					2.847L,	      2.970L, 3.078L };
static const long double ref_a4[11] = { [2] = 1.880L, 1.187L, 0.796L,
					0.691L,	      0.549L, 0.509L,
					0.432L,	      0.412L, 0.363L };

struct ref_limits {
	long double center;
	long double ucl;
};

static int ref_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static inline long double ref_log2(uint64_t v)
{
	return v ? log2l((long double)v) : 0;
}

static int ref_compare_ld(const void *a, const void *b)
{
	long double x = *(const long double *)a, y = *(const long double *)b;

	return (x > y) - (x < y);
}

/*
 * L-skewness of the logarithms, without the twentieth at either end, by the
 * definition of the sample L-moments (Hosking 1990, unbiased estimators); 0 for
 * fewer than 50. Of more than 512 values, every second, third and so on, so that at
 * most 512 are used.
 */
static inline long double ref_skew(const uint64_t *v, int count)
{
	int every = (count + 511) / 512, n = 0, cut, i;
	long double x[512], b0 = 0, b1 = 0, b2 = 0, l2;

	for (i = 0; i < count; i += every)
		x[n++] = ref_log2(v[i]);
	if (n < 50)
		return 0;
	qsort(x, n, sizeof(*x), ref_compare_ld);
	cut = (n + 19) / 20;
	n -= 2 * cut;
	for (i = 0; i < n; i++) {
		long double y = x[cut + i];

		b0 += y / n;
		b1 += y / n * i / (n - 1);
		b2 += y / n * i / (n - 1) * (i - 1) / (n - 2);
	}
	l2 = 2 * b1 - b0;
	return l2 > 1e-9L ? (6 * b2 - 6 * b1 + b0) / l2 : 0;
}

/* what is left of three sigma of individuals' logarithms that are skewed */
static inline long double ref_guard(const uint64_t *v, int count)
{
	long double excess = -ref_skew(v, count) - 1 / 16.0L;

	return excess <= 0 ? 1 : excess >= 1 / 6.0L ? 0.5L : 1 - 3 * excess;
}

/* @guard: ref_guard(), or 1 */
static inline struct ref_limits ref_chart(const uint64_t *v, int n, int k,
					  int is_median, int is_log,
					  long double guard)
{
	long double medians = 0, ranges = 0, largest = 0, second = 0, f, c, u;
	int i;

	for (i = 0; i < k; i++) {
		uint64_t g[10];
		long double x[10];
		int j;

		memcpy(g, v + i * n, n * sizeof(*g));
		qsort(g, n, sizeof(*g), ref_compare);
		for (j = 0; j < n; j++)
			x[j] = is_log ? ref_log2(g[j]) : (long double)g[j];
		medians += n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
		x[0] = x[n - 1] - x[0];
		ranges += x[0];
		second = fmaxl(second, fminl(x[0], largest));
		largest = fmaxl(largest, x[0]);
	}
	/* Winsorized: the largest counts as the second largest */
	if (k > 1 && !(is_median && !is_log))
		ranges -= largest - second;
	f = is_median ? ref_a4[n] : 3 / ref_d2[n];
	c = medians / k;
	u = c + f * guard * ranges / k;
	if (is_log) {
		c = exp2l(c);
		u = exp2l(u);
	}
	return (struct ref_limits){ c, u };
}

/* floor() of both lines on a linear scale, exactly; saturated to 64 bits */
static inline void ref_exact(const uint64_t *v, int n, int k, int is_median,
			     uint64_t *center, uint64_t *ucl)
{
	unsigned __int128 medians = 0, ranges = 0, num, den, c, u;
	uint64_t largest = 0, second = 0;
	int i;

	for (i = 0; i < k; i++) {
		uint64_t g[10];

		memcpy(g, v + i * n, n * sizeof(*g));
		qsort(g, n, sizeof(*g), ref_compare);
		medians += (unsigned __int128)g[(n - 1) / 2] + g[n / 2];
		g[0] = g[n - 1] - g[0];
		ranges += g[0];
		if (g[0] > largest) {
			second = largest;
			largest = g[0];
		} else if (g[0] > second) {
			second = g[0];
		}
	}
	if (k > 1 && !is_median)
		ranges -= largest - second;
	num = is_median ? lroundl(ref_a4[n] * 1000) : 3000;
	den = is_median ? 1000 : lroundl(ref_d2[n] * 1000);
	ranges *= 2;
	c = medians / (2 * (unsigned)k);
	u = (medians * den + ranges * num) / (den * 2 * (unsigned)k);
	*center = c > UINT64_MAX ? UINT64_MAX : c;
	*ucl = u > UINT64_MAX ? UINT64_MAX : u;
}

#endif
