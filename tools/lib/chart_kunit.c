// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the chart arithmetic. The expected lines were computed in
 * extended precision by another program, which shares no code with chart.c.
 */
#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/time64.h>

#include "chart.h"

enum chart_data {
	LATENCY, /* 1 to 9 ms */
	OUTLIER, /* the same, with one of 9 s */
	WIDE, /* any magnitude */
	SAME,
	ZERO,
	NEAR_MAX, /* just below 2^64 */
};

static const char *const chart_data_names[] = {
	[LATENCY] = "latency", [OUTLIER] = "outlier", [WIDE] = "wide",
	[SAME] = "same",       [ZERO] = "zero",	      [NEAR_MAX] = "near max",
};

static const struct chart_case {
	u8 data;
	u8 limit;
	u8 scale;
	u8 group;
	u16 groups;
	u64 center;
	u64 ucl;
} chart_cases[] = {
	{ LATENCY, CTLCHART_INDIVIDUALS, CTLCHART_LOG, 5, 20, 4654081ULL,
	  21463186ULL },
	{ LATENCY, CTLCHART_INDIVIDUALS, CTLCHART_LINEAR, 5, 20, 4813018ULL,
	  11295144ULL },
	{ LATENCY, CTLCHART_MEDIAN, CTLCHART_LOG, 5, 20, 4654081ULL,
	  10556030ULL },
	{ LATENCY, CTLCHART_MEDIAN, CTLCHART_LINEAR, 5, 20, 4813018ULL,
	  8285852ULL },
	{ LATENCY, CTLCHART_INDIVIDUALS, CTLCHART_LOG, 2, 20, 4037201ULL,
	  18449558ULL },
	{ LATENCY, CTLCHART_INDIVIDUALS, CTLCHART_LINEAR, 2, 20, 4520489ULL,
	  10484234ULL },
	{ LATENCY, CTLCHART_MEDIAN, CTLCHART_LOG, 2, 20, 4037201ULL,
	  11818285ULL },
	{ LATENCY, CTLCHART_MEDIAN, CTLCHART_LINEAR, 2, 20, 4520489ULL,
	  8736141ULL },
	{ LATENCY, CTLCHART_INDIVIDUALS, CTLCHART_LOG, 4, 25, 4431280ULL,
	  20184236ULL },
	{ LATENCY, CTLCHART_INDIVIDUALS, CTLCHART_LINEAR, 4, 25, 4667739ULL,
	  11188388ULL },
	{ LATENCY, CTLCHART_MEDIAN, CTLCHART_LOG, 4, 25, 4431280ULL,
	  10145479ULL },
	{ LATENCY, CTLCHART_MEDIAN, CTLCHART_LINEAR, 4, 25, 4667739ULL,
	  8230109ULL },
	{ LATENCY, CTLCHART_INDIVIDUALS, CTLCHART_LOG, 7, 20, 4599277ULL,
	  24516096ULL },
	{ LATENCY, CTLCHART_INDIVIDUALS, CTLCHART_LINEAR, 7, 20, 4796320ULL,
	  11515976ULL },
	{ LATENCY, CTLCHART_MEDIAN, CTLCHART_LOG, 7, 20, 4599277ULL,
	  9910883ULL },
	{ LATENCY, CTLCHART_MEDIAN, CTLCHART_LINEAR, 7, 20, 4796320ULL,
	  7879155ULL },
	{ LATENCY, CTLCHART_INDIVIDUALS, CTLCHART_LOG, 10, 40, 4606312ULL,
	  25030368ULL },
	{ LATENCY, CTLCHART_INDIVIDUALS, CTLCHART_LINEAR, 10, 40, 4759876ULL,
	  11299095ULL },
	{ LATENCY, CTLCHART_MEDIAN, CTLCHART_LOG, 10, 40, 4606312ULL,
	  8652422ULL },
	{ LATENCY, CTLCHART_MEDIAN, CTLCHART_LINEAR, 10, 40, 4759876ULL,
	  7195329ULL },
	{ OUTLIER, CTLCHART_INDIVIDUALS, CTLCHART_LOG, 5, 20, 4664635ULL,
	  34555369ULL },
	{ OUTLIER, CTLCHART_INDIVIDUALS, CTLCHART_LINEAR, 5, 20, 4824552ULL,
	  591340709ULL },
	{ OUTLIER, CTLCHART_MEDIAN, CTLCHART_LOG, 5, 20, 4664635ULL,
	  13638385ULL },
	{ OUTLIER, CTLCHART_MEDIAN, CTLCHART_LINEAR, 5, 20, 4824552ULL,
	  319053711ULL },
	{ WIDE, CTLCHART_INDIVIDUALS, CTLCHART_LOG, 5, 20, 4686394132ULL,
	  U64_MAX },
	{ WIDE, CTLCHART_INDIVIDUALS, CTLCHART_LINEAR, 5, 20,
	  565496347769713ULL, 2120549015285036486ULL },
	{ WIDE, CTLCHART_MEDIAN, CTLCHART_LOG, 5, 20, 4686394132ULL,
	  8111887585288032800ULL },
	{ WIDE, CTLCHART_MEDIAN, CTLCHART_LINEAR, 5, 20, 565496347769713ULL,
	  1136357973197178052ULL },
	{ SAME, CTLCHART_INDIVIDUALS, CTLCHART_LOG, 5, 20, 123456789ULL,
	  123456789ULL },
	{ SAME, CTLCHART_INDIVIDUALS, CTLCHART_LINEAR, 5, 20, 123456789ULL,
	  123456789ULL },
	{ SAME, CTLCHART_MEDIAN, CTLCHART_LOG, 5, 20, 123456789ULL,
	  123456789ULL },
	{ SAME, CTLCHART_MEDIAN, CTLCHART_LINEAR, 5, 20, 123456789ULL,
	  123456789ULL },
	{ ZERO, CTLCHART_INDIVIDUALS, CTLCHART_LOG, 5, 20, 1ULL, 1ULL },
	{ ZERO, CTLCHART_INDIVIDUALS, CTLCHART_LINEAR, 5, 20, 0ULL, 0ULL },
	{ ZERO, CTLCHART_MEDIAN, CTLCHART_LOG, 5, 20, 1ULL, 1ULL },
	{ ZERO, CTLCHART_MEDIAN, CTLCHART_LINEAR, 5, 20, 0ULL, 0ULL },
	{ NEAR_MAX, CTLCHART_INDIVIDUALS, CTLCHART_LOG, 5, 20,
	  18446744073709551172ULL, U64_MAX },
	{ NEAR_MAX, CTLCHART_INDIVIDUALS, CTLCHART_LINEAR, 5, 20,
	  18446744073709551172ULL, U64_MAX },
	{ NEAR_MAX, CTLCHART_MEDIAN, CTLCHART_LOG, 5, 20,
	  18446744073709551172ULL, U64_MAX },
	{ NEAR_MAX, CTLCHART_MEDIAN, CTLCHART_LINEAR, 5, 20,
	  18446744073709551172ULL, U64_MAX },
};

static void chart_case_desc(const struct chart_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s, %s, %s, %u x %u",
		 chart_data_names[c->data],
		 c->limit == CTLCHART_MEDIAN ? "median" : "individuals",
		 c->scale == CTLCHART_LOG ? "log" : "linear", c->groups,
		 c->group);
}

KUNIT_ARRAY_PARAM(chart, chart_cases, chart_case_desc);

/* Knuth's MMIX generator, upper half */
static u32 chart_random(u64 *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 32;
}

static u64 chart_value(enum chart_data data, unsigned int i, u64 *state)
{
	u64 v;

	switch (data) {
	case LATENCY:
	case OUTLIER:
		v = 1000000 + chart_random(state) % 8000000;
		return data == OUTLIER && i == 37 ? 9000000000ULL : v;
	case WIDE:
		v = (u64)chart_random(state) << 32;
		v |= chart_random(state);
		return v >> (chart_random(state) % 64);
	case SAME:
		return 123456789;
	case ZERO:
		return 0;
	case NEAR_MAX:
		return U64_MAX - chart_random(state) % 1000;
	}
	return 0;
}

/* A line on a log scale may be 2^-21 of itself too high. */
static void expect_line(struct kunit *test, const struct chart_case *c,
			u64 line, u64 expected)
{
	u64 above = c->scale == CTLCHART_LOG ? (expected >> 21) + 1 : 0;

	KUNIT_EXPECT_GE(test, line, expected);
	KUNIT_EXPECT_LE(test, line - expected, above);
}

static void chart_limits_test(struct kunit *test)
{
	const struct chart_case *c = test->param_value;
	const struct ctlchart_method m = {
		.limit = c->limit,
		.scale = c->scale,
		.group = c->group,
		.groups = c->groups,
	};
	unsigned int i, samples = ctlchart_method_samples(&m);
	struct ctlchart_phase1 *p;
	struct ctlchart_limits l;
	u64 state = 20140728;

	KUNIT_ASSERT_TRUE(test, ctlchart_method_valid(&m));
	KUNIT_ASSERT_EQ(test, samples, c->group * c->groups);
	p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p);
	ctlchart_phase1_start(p, &m);
	for (i = 0; i < samples; i++) {
		u64 v = chart_value(c->data, i, &state);

		KUNIT_EXPECT_EQ(test, ctlchart_phase1_taken(p), i);
		KUNIT_EXPECT_EQ(test, ctlchart_phase1_add(p, v),
				i == samples - 1);
	}
	ctlchart_phase1_limits(p, &l);
	expect_line(test, c, l.center, c->center);
	expect_line(test, c, l.ucl, c->ucl);
}

/* Small enough to do by hand: the comments do. */
static void chart_by_hand_test(struct kunit *test)
{
	/* medians 11 and 21, ranges 6 and 6 */
	static const u64 values[] = { 10, 12, 11, 15, 9, 20, 21, 22, 25, 19 };
	struct ctlchart_method m = {
		.limit = CTLCHART_MEDIAN,
		.scale = CTLCHART_LINEAR,
		.group = 5,
		.groups = 2,
	};
	struct ctlchart_phase1 p;
	struct ctlchart_limits l;
	int i;

	ctlchart_phase1_start(&p, &m);
	ctlchart_phase1_limits(&p, &l);
	KUNIT_EXPECT_EQ(test, l.ucl, U64_MAX);
	for (i = 0; i < ARRAY_SIZE(values); i++)
		ctlchart_phase1_add(&p, values[i]);
	KUNIT_EXPECT_TRUE(test, ctlchart_phase1_complete(&p));
	/* nothing is added to a complete estimate */
	KUNIT_EXPECT_TRUE(test, ctlchart_phase1_add(&p, U64_MAX));
	ctlchart_phase1_limits(&p, &l);
	/* (11 + 21) / 2 and 16 + 0.691 * 6 = 20.146 */
	KUNIT_EXPECT_EQ(test, l.center, 16);
	KUNIT_EXPECT_EQ(test, l.ucl, 20);
}

static void chart_method_test(struct kunit *test)
{
	static const struct {
		struct ctlchart_method m;
		bool valid;
	} cases[] = {
		{ { .group = 5, .groups = 20 }, true },
		{ { .group = 2, .groups = 2 }, true },
		{ { .group = 10, .groups = 65535 }, true },
		{ { .group = 1, .groups = 20 }, false },
		{ { .group = 11, .groups = 20 }, false },
		{ { .group = 5, .groups = 1 }, false },
		{ { .limit = 2, .group = 5, .groups = 20 }, false },
		{ { .scale = 2, .group = 5, .groups = 20 }, false },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test, ctlchart_method_valid(&cases[i].m),
				    cases[i].valid, "case %d", i);
}

static void chart_log2_test(struct kunit *test)
{
	static const struct {
		u64 v;
		u32 log2; /* rounded; one unit of difference is allowed */
	} cases[] = {
		{ 3ULL, 26591258 },
		{ 5ULL, 38955489 },
		{ 7ULL, 47099600 },
		{ 10ULL, 55732705 },
		{ 100ULL, 111465410 },
		{ 1000ULL, 167198116 },
		{ 65535ULL, 268435087 },
		{ 65537ULL, 268435825 },
		{ 1000000ULL, 334396231 },
		{ 123456789ULL, 450962019 },
		{ 4294967295ULL, 536870912 },
		{ 4294967297ULL, 536870912 },
		{ 1000000000000ULL, 668792462 },
		{ 1000000000000000ULL, 835990578 },
		{ 9007199254740993ULL, 889192448 },
		{ 9223372036854775807ULL, 1056964608 },
		{ 9223372036854775809ULL, 1056964608 },
		{ 10000000000000000000ULL, 1058921399 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u32 l = ctlchart_log2(cases[i].v);

		KUNIT_EXPECT_LE_MSG(test, abs((int)(l - cases[i].log2)), 1,
				    "log2(%llu)", cases[i].v);
	}
	KUNIT_EXPECT_EQ(test, ctlchart_log2(0), 0);
	KUNIT_EXPECT_EQ(test, ctlchart_log2(U64_MAX), 64 << CTLCHART_LOG_SHIFT);
	KUNIT_EXPECT_EQ(test, ctlchart_exp2(64 << CTLCHART_LOG_SHIFT), U64_MAX);
	KUNIT_EXPECT_EQ(test, ctlchart_exp2(U32_MAX), U64_MAX);
	for (i = 0; i < 64; i++) {
		KUNIT_EXPECT_EQ(test, ctlchart_log2(BIT_ULL(i)),
				i << CTLCHART_LOG_SHIFT);
		KUNIT_EXPECT_EQ(test, ctlchart_exp2(i << CTLCHART_LOG_SHIFT),
				BIT_ULL(i));
	}
}

static void chart_sampler_test(struct kunit *test)
{
	struct ctlchart_sampler s;
	u64 now, taken = 0;

	/* a value every 0.1 ms: one is taken in each hundredth of 10 s */
	ctlchart_sampler_start(&s, 10 * NSEC_PER_SEC, 100);
	for (now = NSEC_PER_SEC; now < 11 * NSEC_PER_SEC; now += 100000)
		taken += ctlchart_sampler_due(&s, now);
	KUNIT_EXPECT_EQ(test, taken, 100);
	/* after a pause one of a burst is taken, not what was missed */
	now = 60 * NSEC_PER_SEC;
	KUNIT_EXPECT_TRUE(test, ctlchart_sampler_due(&s, now));
	KUNIT_EXPECT_FALSE(test, ctlchart_sampler_due(&s, now + 1));
	/* another CPU's clock is a little behind */
	KUNIT_EXPECT_FALSE(test, ctlchart_sampler_due(&s, now - 1000));
	/* the clock was set back */
	KUNIT_EXPECT_TRUE(test, ctlchart_sampler_due(&s, NSEC_PER_SEC));
	KUNIT_EXPECT_FALSE(test, ctlchart_sampler_due(&s, NSEC_PER_SEC + 1));
	/* no time given: consecutive values */
	ctlchart_sampler_start(&s, 0, 100);
	KUNIT_EXPECT_TRUE(test, ctlchart_sampler_due(&s, now));
	KUNIT_EXPECT_TRUE(test, ctlchart_sampler_due(&s, now));
}

static struct kunit_case chart_test_cases[] = {
	KUNIT_CASE_PARAM(chart_limits_test, chart_gen_params),
	KUNIT_CASE(chart_by_hand_test),
	KUNIT_CASE(chart_method_test),
	KUNIT_CASE(chart_log2_test),
	KUNIT_CASE(chart_sampler_test),
	{}
};

static struct kunit_suite chart_test_suite = {
	.name = "ctlchart_chart",
	.test_cases = chart_test_cases,
};

kunit_test_suite(chart_test_suite);

MODULE_DESCRIPTION("KUnit tests of the control chart arithmetic");
MODULE_LICENSE("GPL");
