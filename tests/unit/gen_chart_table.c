// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the table of expected lines in chart_kunit.c, from the reference in
 * chart_ref.h. Run by hand when a case is added there.
 */
#include <stdio.h>

#include "chart_ref.h"

static uint64_t state;

/* Knuth's MMIX generator, upper half; the same as in chart_kunit.c */
static uint32_t lcg(void)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return state >> 32;
}

static const char *const data[] = { "LATENCY", "OUTLIER", "WIDE",
				    "SAME",    "ZERO",	  "NEAR_MAX" };

static uint64_t value(int kind, int i)
{
	uint64_t v;

	switch (kind) {
	case 0: /* 1 to 9 ms */
		return 1000000 + lcg() % 8000000;
	case 1: /* and one of 9 s */
		v = 1000000 + lcg() % 8000000;
		return i == 37 ? 9000000000ULL : v;
	case 2:
		v = (uint64_t)lcg() << 32;
		v |= lcg();
		return v >> (lcg() % 64);
	case 3:
		return 123456789;
	case 4:
		return 0;
	default:
		v = lcg() % 1000;
		return UINT64_MAX - v;
	}
}

static void print_row(int kind, const uint64_t *v, int n, int k, int median,
		      int linear)
{
	long double guard = median || linear ? 1 : ref_guard(v, n * k);
	struct ref_limits l = ref_chart(v, n, k, median, !linear, guard);
	uint64_t center = l.center;
	uint64_t ucl = l.ucl < 0x1p64L ? (uint64_t)l.ucl : UINT64_MAX;

	if (linear)
		ref_exact(v, n, k, median, &center, &ucl);
	printf("\t{ %s, CTLCHART_%s, CTLCHART_%s, %d, %d,\n\t  %lluULL, %lluULL },\n",
	       data[kind], median ? "MEDIAN" : "INDIVIDUALS",
	       linear ? "LINEAR" : "LOG", n, k, (unsigned long long)center,
	       (unsigned long long)ucl);
}

int main(void)
{
	static const struct {
		int n, k;
	} shape[] = { { 5, 20 }, { 2, 20 }, { 4, 25 }, { 7, 20 }, { 10, 40 } };
	size_t s, kind;
	int limit, scale, i;
	uint64_t v[400];

	for (kind = 0; kind < 6; kind++) {
		for (s = 0; s < 5; s++) {
			int n = shape[s].n, k = shape[s].k;

			if (s && kind)
				break;
			state = 20140728;
			for (i = 0; i < n * k; i++)
				v[i] = value(kind, i);
			for (limit = 0; limit < 2; limit++) {
				for (scale = 0; scale < 2; scale++) {
					print_row(kind, v, n, k, limit, scale);
				}
			}
		}
	}
	return 0;
}
