// SPDX-License-Identifier: GPL-2.0
/*
 * Control chart arithmetic: Phase I limits from a bounded running estimate.
 *
 * A control chart (Shewhart, "Economic Control of Quality of Manufactured
 * Product", 1931; JIS Z 9021:1998 = ISO 8258:1991, now ISO 7870-2:2013) asks
 * of each new value whether the process that makes the values is still the one
 * that was measured before. Phase I takes k groups of n values while all is
 * well and draws two lines:
 *
 *	centre = mean over groups of median(group)
 *	UCL    = centre + f(n) * R, R over groups of (max(group) - min(group))
 *
 * Phase II, the caller's, judges each value alone: out of control if above UCL.
 *
 * With R the mean, k = 20, n = 5 and f = A4(5) = 0.691 this is the method of
 * Nakamura et al., "Log reduction by control charts for performance failures"
 * (in Japanese), which writes A4 as A2 = 0.69. The mean range divided by d2(n)
 * estimates sigma of a normal distribution. One outlier in Phase I moves the
 * mean without bound; except for the paper's method, the largest range therefore
 * counts as the second largest (Winsorized mean: Dixon, "Simplified Estimation
 * from Censored Normal Samples", Annals of Mathematical Statistics, 1960). That is
 * 1 % less than the mean of 20 ranges of normal values. The median range would
 * be robust against more, but where some groups vary more than others, as with
 * bursts of load, it ignores that. f(n) is three sigma of single values, or of
 * medians of n.
 *
 * On a log scale all of this happens to log2(value), and both lines are
 * converted back, so that judging is one comparison of integers in any case.
 *
 * Where a distribution has a heavy tail, or two modes, no multiple of a range
 * is a limit. CTLCHART_QUANTILE keeps the largest values of Phase I, as many
 * as may lie above the limit and one more: that one is the limit. It is the
 * exact order statistic: with r values of N above it, a further value of the
 * same distribution, whichever it is, exceeds it with probability
 * (r + 1) / (N + 1).
 *
 * Invariants:
 * - No array of all values: the group being filled is kept, the two largest
 *   ranges, and in memory that the caller gives up to 512 values and 0.135 % of
 *   all values.
 * - medians and ranges are exact sums. With k < 2^16 and values < 2^64 they
 *   stay below 2^82, and below 2^95 when multiplied by a factor of limits[]:
 *   96 bits hold every intermediate number, and division is by 32 bits.
 * - Rounding never makes the chart alarm on a value that is within the true
 *   limit. Linear: both lines are the integer part of the exact result, and
 *   for integers value > UCL if and only if value > floor(UCL). Log: what
 *   the logarithms can have lost is added to the result (LOG_SLACK).
 *
 * Pure functions of their arguments: no locks, no allocation, no floating
 * point; any context, NMI included. The caller serialises access to a struct.
 */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/string.h>

#include "chart.h"

/*
 * f(n) = num / den for n = 2..10. d2(n): mean range of n standard normal values.
 * s(n): standard deviation of their median; A4(n) = 3 s(n) / d2(n) from the
 * tables of factors in the standards above.
 */
struct factor {
	u16 num;
	u16 den;
};

/* 3 / d2(n) */
static const struct factor individuals[CTLCHART_GROUP_MAX + 1] = {
	[2] = { 3000, 1128 }, [3] = { 3000, 1693 }, [4] = { 3000, 2059 },
	[5] = { 3000, 2326 }, [6] = { 3000, 2534 }, [7] = { 3000, 2704 },
	[8] = { 3000, 2847 }, [9] = { 3000, 2970 }, [10] = { 3000, 3078 },
};

/* A4(n) */
static const struct factor medians[CTLCHART_GROUP_MAX + 1] = {
	[2] = { 1880, 1000 }, [3] = { 1187, 1000 }, [4] = { 796, 1000 },
	[5] = { 691, 1000 },  [6] = { 549, 1000 },  [7] = { 509, 1000 },
	[8] = { 432, 1000 },  [9] = { 412, 1000 },  [10] = { 363, 1000 },
};

/*
 * In units of ctlchart_log2(), a logarithm is at most 0.53 too small and 0.50
 * too large. A limit is a median plus at most 2.66 times a range, which is the
 * difference of two of them: at most 0.53 + 2.66 * 1.03 < 4 too small.
 */
#define LOG_SLACK 4

/* Values above the quantile: as many as above three sigma of a normal one */
#define TAIL_NUM 135
#define TAIL_DEN 100000

/* w += v * mul; the caller sees to it that the sum stays below 2^96 */
static void wide_add(struct ctlchart_wide *w, u64 v, u32 mul)
{
	u64 lo = (u64)lower_32_bits(v) * mul + w->limb[0];
	u64 mid = (u64)upper_32_bits(v) * mul + w->limb[1] + upper_32_bits(lo);

	w->limb[0] = lower_32_bits(lo);
	w->limb[1] = lower_32_bits(mid);
	w->limb[2] += upper_32_bits(mid);
}

/* w += v * mul for a wide v; as above */
static void wide_add_wide(struct ctlchart_wide *w,
			  const struct ctlchart_wide *v, u32 mul)
{
	wide_add(w, (u64)v->limb[1] << 32 | v->limb[0], mul);
	w->limb[2] += v->limb[2] * mul;
}

/* w -= v, or 0 if that is negative */
static void wide_sub(struct ctlchart_wide *w, const struct ctlchart_wide *v)
{
	s64 limb = 0;
	int i;

	for (i = 0; i < 3; i++) {
		limb += (s64)w->limb[i] - v->limb[i];
		w->limb[i] = lower_32_bits(limb);
		limb >>= 32;
	}
	if (limb < 0)
		memset(w, 0, sizeof(*w));
}

/* floor(w / div), or U64_MAX if that is more than 64 bits */
static u64 wide_div(const struct ctlchart_wide *w, u32 div)
{
	u32 quot[3];
	u32 rem = 0;
	int i;

	for (i = 2; i >= 0; i--)
		quot[i] = div_u64_rem((u64)rem << 32 | w->limb[i], div, &rem);
	if (quot[2])
		return U64_MAX;
	return (u64)quot[1] << 32 | quot[0];
}

/**
 * ctlchart_log2 - binary logarithm in fixed point
 * @v: any number; 0 is treated as 1
 *
 * Exact for powers of two and never decreasing. Otherwise the error is between
 * -0.53 and +0.50 units of 2^-CTLCHART_LOG_SHIFT: half a unit of rounding, and
 * squaring a 32-bit mantissa loses less than 0.03 units more.
 *
 * The algorithm squares the mantissa m, 1 <= m < 2, again and again: log2(m) is
 * twice as large after each squaring, and its integer part is the next bit.
 *
 * Return: log2(@v) * 2^CTLCHART_LOG_SHIFT, at most 2^30.
 */
u32 ctlchart_log2(u64 v)
{
	int msb = v ? fls64(v) - 1 : 0;
	u32 bits = msb;
	u32 m;
	int i;

	if (!v)
		return 0;
	m = upper_32_bits(v << (63 - msb));
	/* One bit more than the result has, to round by. */
	for (i = 0; i <= CTLCHART_LOG_SHIFT; i++) {
		u64 square = (u64)m * m;
		u32 bit = square >> 63;

		m = square >> (31 + bit);
		bits = bits << 1 | bit;
	}
	return (bits >> 1) + (bits & 1);
}

/*
 * exp2_bit[j - 1] = (2^(2^-j) - 1) * 2^(32 + j), rounded: what the j-th bit
 * after the binary point multiplies a power of two by.
 */
static const u32 exp2_bit[CTLCHART_LOG_SHIFT] = {
	0xd413ccd0, 0xc1bf828c, 0xb95c1e3f, 0xb5586cfa, 0xb361a62b, 0xb268f9de,
	0xb1ed4fda, 0xb1afa5ac, 0xb190db44, 0xb18178ba, 0xb179c820, 0xb175effe,
	0xb17403f7, 0xb1730df7, 0xb17292f7, 0xb1725577, 0xb17236b8, 0xb1722758,
	0xb1721fa8, 0xb1721bd0, 0xb17219e4, 0xb17218ee, 0xb1721873, 0xb1721835,
};

/**
 * ctlchart_exp2 - integer part of the power of two
 * @l: exponent in units of 2^-CTLCHART_LOG_SHIFT
 *
 * Exact for whole exponents and never decreasing. Otherwise the power is off by
 * at most 2^-31 of itself before the fraction is cut off.
 *
 * Return: 2^(@l / 2^CTLCHART_LOG_SHIFT), U64_MAX from 2^64 on.
 */
u64 ctlchart_exp2(u32 l)
{
	unsigned int whole = l >> CTLCHART_LOG_SHIFT;
	u64 x = 1ULL << 62; /* 1 <= x < 2 with 62 fraction bits */
	int j;

	if (whole > 63)
		return U64_MAX;
	for (j = 1; j <= CTLCHART_LOG_SHIFT; j++) {
		if (l & BIT(CTLCHART_LOG_SHIFT - j))
			x += ((x >> 31) * exp2_bit[j - 1]) >> (j + 1);
	}
	return whole > 62 ? x << 1 : x >> (62 - whole);
}

/**
 * ctlchart_method_valid - whether Phase I can be done this way
 * @m: method, possibly made from what a user wrote
 *
 * Every other function that takes a method relies on this.
 *
 * Return: true if all members are within the ranges given with them.
 */
bool ctlchart_method_valid(const struct ctlchart_method *m)
{
	return m->limit <= CTLCHART_QUANTILE && m->scale <= CTLCHART_LINEAR &&
	       m->group >= CTLCHART_GROUP_MIN &&
	       m->group <= CTLCHART_GROUP_MAX &&
	       m->groups >= CTLCHART_GROUPS_MIN &&
	       (m->limit != CTLCHART_QUANTILE ||
		ctlchart_method_samples(m) >= CTLCHART_QUANTILE_MIN);
}

/**
 * ctlchart_method_samples - values that Phase I takes
 * @m: valid method
 *
 * Return: n * k.
 */
u32 ctlchart_method_samples(const struct ctlchart_method *m)
{
	return (u32)m->group * m->groups;
}

/* The paper's method keeps to the mean of the ranges */
static bool is_paper(const struct ctlchart_method *m)
{
	return m->limit == CTLCHART_MEDIAN && m->scale == CTLCHART_LINEAR;
}

/* Values above the quantile, and the quantile itself */
static u32 tail_size(const struct ctlchart_method *m)
{
	if (m->limit != CTLCHART_QUANTILE)
		return 0;
	return div_u64((u64)ctlchart_method_samples(m) * TAIL_NUM, TAIL_DEN) +
	       1;
}

/* Keep one value in stride(), so that CTLCHART_KEEP_MAX are kept at most */
static u32 stride(u32 count)
{
	return DIV_ROUND_UP(count, CTLCHART_KEEP_MAX);
}

static u32 kept(u32 count)
{
	return DIV_ROUND_UP(count, stride(count));
}

/**
 * ctlchart_phase1_room - memory that Phase I needs
 * @m: valid method
 *
 * Return: in numbers of 64 bits: 100 by default, 1397 at most.
 */
u32 ctlchart_phase1_room(const struct ctlchart_method *m)
{
	return kept(ctlchart_method_samples(m)) + tail_size(m);
}

/**
 * ctlchart_phase1_start - begin a Phase I estimate
 * @p: estimate; whatever it held is forgotten
 * @m: valid method, copied
 * @room: ctlchart_phase1_room() numbers, the caller's as long as @p is used
 */
void ctlchart_phase1_start(struct ctlchart_phase1 *p,
			   const struct ctlchart_method *m, u64 *room)
{
	memset(p, 0, sizeof(*p));
	p->method = *m;
	p->sample.max = kept(ctlchart_method_samples(m));
	p->sample.v = room;
	p->tail.max = tail_size(m);
	p->tail.v = p->sample.v + p->sample.max;
}

/**
 * ctlchart_phase1_copy - copy of an estimate what its shape is found from
 * @to: the copy, for ctlchart_phase1_shape() alone
 * @from: estimate
 * @room: ctlchart_phase1_room() numbers, the caller's as long as @to is used
 *
 * The shape of 512 values takes 30,000 instructions, the copy 1,200: where an
 * estimate is complete, there may be no time for more.
 */
void ctlchart_phase1_copy(struct ctlchart_phase1 *to,
			  const struct ctlchart_phase1 *from, u64 *room)
{
	*to = *from;
	to->tail = (struct ctlchart_largest){};
	to->sample.v = room;
	memcpy(room, from->sample.v, from->sample.nr * sizeof(*room));
}

/* Keep a number if it is among the largest */
static void offer(struct ctlchart_largest *l, u64 v)
{
	u32 i = l->nr;

	if (l->nr < l->max) {
		for (l->nr++; i > 0 && l->v[i - 1] > v; i--)
			l->v[i] = l->v[i - 1];
		l->v[i] = v;
		return;
	}
	if (!l->max || v <= l->v[0])
		return;
	for (i = 0; i + 1 < l->max && l->v[i + 1] < v; i++)
		l->v[i] = l->v[i + 1];
	l->v[i] = v;
}

/* Twice the median and the range of the full group go into the sums. */
static void phase1_close_group(struct ctlchart_phase1 *p)
{
	unsigned int n = p->method.group;
	u64 range = p->group[n - 1] - p->group[0];

	wide_add(&p->medians, p->group[(n - 1) / 2], 1);
	wide_add(&p->medians, p->group[n / 2], 1);
	if (range > p->largest) {
		p->second = p->largest;
		p->largest = range;
		range = p->second;
	} else if (range > p->second) {
		p->second = range;
	}
	wide_add(&p->ranges, range, 1);
	p->filled = 0;
	p->groups++;
}

/**
 * ctlchart_phase1_add - take one Phase I value
 * @p: estimate
 * @value: the value; ignored once the estimate is complete
 *
 * The median of an even number of values is the mean of the middle two.
 *
 * Return: true once the estimate is complete.
 */
bool ctlchart_phase1_add(struct ctlchart_phase1 *p, u64 value)
{
	u32 samples = ctlchart_method_samples(&p->method);
	int i;

	if (ctlchart_phase1_complete(p))
		return true;
	if (ctlchart_phase1_taken(p) % stride(samples) == 0)
		offer(&p->sample, ctlchart_log2(value));
	offer(&p->tail, value);
	if (p->method.scale == CTLCHART_LOG)
		value = ctlchart_log2(value);
	for (i = p->filled; i > 0 && p->group[i - 1] > value; i--)
		p->group[i] = p->group[i - 1];
	p->group[i] = value;
	if (++p->filled == p->method.group)
		phase1_close_group(p);
	return ctlchart_phase1_complete(p);
}

/**
 * ctlchart_phase1_complete - whether all groups are filled
 * @p: estimate
 *
 * Return: true if ctlchart_phase1_limits() gives the final lines.
 */
bool ctlchart_phase1_complete(const struct ctlchart_phase1 *p)
{
	return p->groups == p->method.groups;
}

/**
 * ctlchart_phase1_taken - values taken so far
 * @p: estimate
 *
 * Return: 0 to ctlchart_method_samples().
 */
u32 ctlchart_phase1_taken(const struct ctlchart_phase1 *p)
{
	return (u32)p->groups * p->method.group + p->filled;
}

/* Fewer values do not show what their distribution is like */
#define SHAPE_MIN 50

/*
 * The sample of logarithms without its largest and smallest @part-th, where
 * outliers are; at() is in units of 2^-16 above the smallest, so that sums of up to
 * 512 squares and cubes of ranks fit into 63 bits.
 */
struct trimmed {
	const u64 *v;
	u32 nr;
};

static struct trimmed trim(const struct ctlchart_largest *l, u32 part)
{
	u32 cut = DIV_ROUND_UP(l->nr, part);

	if (l->nr < SHAPE_MIN)
		return (struct trimmed){ l->v, 0 };
	return (struct trimmed){ l->v + cut, l->nr - 2 * cut };
}

static s64 at(const struct trimmed *t, u32 i)
{
	return (t->v[i] - t->v[0]) >> (CTLCHART_LOG_SHIFT - 16);
}

/*
 * Two kinds of values: a split of the sample for which the means of the parts
 * are six times their standard deviation apart (Ashman et al., "Detecting
 * bimodality in astronomical datasets", Astronomical Journal 108, 1994: D > 2
 * is a clean separation; parts of one normal distribution have 2.6, of a uniform
 * one 3.5), and a factor of two. The lower part has a fifth of the values or
 * more, the upper one a twentieth.
 */
#define BIMODAL_D 6
#define BIMODAL_LOW 5
#define BIMODAL_HIGH 20
#define BIMODAL_APART 0x10000

static bool is_bimodal(const struct trimmed *t)
{
	s64 sum = 0, squares = 0, low = 0, low_squares = 0;
	u32 i, high = max_t(u32, 3, t->nr / BIMODAL_HIGH);

	for (i = 0; i < t->nr; i++) {
		sum += at(t, i);
		squares += at(t, i) * at(t, i);
	}
	for (i = 1; i + high <= t->nr; i++) {
		s64 n = i, m = t->nr - i;
		s64 apart, var;

		low += at(t, i - 1);
		low_squares += at(t, i - 1) * at(t, i - 1);
		if (i < t->nr / BIMODAL_LOW)
			continue;
		apart = div64_s64(sum - low, m) - div64_s64(low, n);
		var = div64_s64(low_squares, n) +
		      div64_s64(squares - low_squares, m);
		var -= div64_s64(low, n) * div64_s64(low, n);
		var -= div64_s64(sum - low, m) * div64_s64(sum - low, m);
		if (apart >= BIMODAL_APART &&
		    2 * apart * apart >= BIMODAL_D * BIMODAL_D * var)
			return true;
	}
	return false;
}

/*
 * The third L-moment ratio of the sample (Hosking, "L-Moments", Journal of the
 * Royal Statistical Society B 52, 1990), a measure of skewness that outliers
 * move little, in units of 1/SKEW_ONE: -SKEW_ONE to SKEW_ONE. It is 0 for a
 * normal distribution, 1/3 for an exponential one, which is what the logarithms
 * of a Pareto distribution have, and -0.17 for the logarithms of an exponential
 * distribution.
 */
#define SKEW_ONE 1024

static int skew(const struct trimmed *t)
{
	s64 n = t->nr, b0 = 0, b1 = 0, b2 = 0, l2, l3, i;

	for (i = 0; i < n; i++) {
		b0 += at(t, i);
		b1 += at(t, i) * i;
		b2 += at(t, i) * i * (i - 1);
	}
	/* all times n (n - 1) (n - 2) */
	b0 *= (n - 1) * (n - 2);
	b1 *= n - 2;
	l2 = 2 * b1 - b0;
	l3 = 6 * b2 - 6 * b1 + b0;
	return l2 ? div64_s64(l3 * SKEW_ONE, l2) : 0;
}

/*
 * The logarithms of exponential and uniform values are skewed to the left: three
 * sigma above the centre is then far beyond anything that happens, and the chart
 * half blind. Beyond a skewness of -GUARD_FROM, which 100 normal values exceed
 * in one of twelve cases, the distance shrinks by GUARD_SLOPE of the excess, to a
 * half of it at most. A twentieth of the values at either end does not count: the
 * few quick ones of a load that is just starting must not make a skewed one of it.
 * All were chosen by simulation:
 * the false alarms of exponential values rise from 0 to 0.05 %, and of those that
 * take five times as long 10 % are found, not 1.5 %.
 */
#define GUARD_FROM (SKEW_ONE / 16)
#define GUARD_SLOPE(x) (3 * (x))

static u32 skew_guard(const struct ctlchart_phase1 *p, u32 num)
{
	struct trimmed t = trim(&p->sample, 20);
	int excess = t.nr ? -skew(&t) - GUARD_FROM : 0;

	if (excess <= 0)
		return num;
	return num - num * min(GUARD_SLOPE(excess), SKEW_ONE / 2) / SKEW_ONE;
}

static struct factor factor_of(const struct ctlchart_phase1 *p)
{
	const struct ctlchart_method *m = &p->method;
	struct factor f;

	if (m->limit == CTLCHART_MEDIAN)
		return medians[m->group];
	f = individuals[m->group];
	if (m->scale == CTLCHART_LOG)
		f.num = skew_guard(p, f.num);
	return f;
}

/*
 * sum += mul * k * 2 R, for k groups so far: twice the sum of the ranges. Below
 * 2^94 with mul < 2^13.
 */
static void add_spread(const struct ctlchart_phase1 *p,
		       struct ctlchart_wide *sum, u32 mul)
{
	bool all = is_paper(&p->method) || p->groups == 1;

	wide_add_wide(sum, &p->ranges, 2 * mul);
	wide_add(sum, all ? p->largest : p->second, 2 * mul);
}

/* mean of twice-the-medians / 2 + num / den * R, on the values' scale */
static u64 phase1_line(const struct ctlchart_phase1 *p, u32 num, u32 den)
{
	u32 div = 2 * (u32)p->groups * den;
	struct ctlchart_wide sum = {};
	u64 line;

	wide_add_wide(&sum, &p->medians, den);
	add_spread(p, &sum, num);
	if (p->method.scale == CTLCHART_LINEAR)
		return wide_div(&sum, div);
	wide_add(&sum, div - 1, 1);
	line = wide_div(&sum, div) + LOG_SLACK;
	return ctlchart_exp2(min_t(u64, line, U32_MAX));
}

/**
 * ctlchart_phase1_limits - draw the lines
 * @p: estimate with at least one group filled, usually complete
 * @l: centre and limit; 0 and U64_MAX (nothing is out of control) if no group
 *     has been filled
 *
 * Linear scale: the integer part of the exact result (with the factors of the
 * tables above), so that judging integers by it is exact. Log scale: the
 * integer part of the exact result times a number between 1 and 1 + 2^-21.
 * Results above U64_MAX become U64_MAX. CTLCHART_QUANTILE: the limit is one of
 * the values, exactly.
 */
void ctlchart_phase1_limits(const struct ctlchart_phase1 *p,
			    struct ctlchart_limits *l)
{
	struct factor f;

	if (!p->groups) {
		l->center = 0;
		l->ucl = U64_MAX;
		return;
	}
	l->center = phase1_line(p, 0, 1);
	if (p->method.limit == CTLCHART_QUANTILE) {
		l->ucl = p->tail.v[0];
		return;
	}
	f = factor_of(p);
	l->ucl = phase1_line(p, f.num, f.den);
}

/**
 * ctlchart_phase1_zones - draw lines for the medians of groups
 * @p: estimate with at least one group filled, usually complete
 * @z: the lines
 *
 * Sigma of medians is a third of what CTLCHART_MEDIAN puts its limit above the
 * centre, whatever the limit of the method. The lines are exact, rounded away
 * from the numbers that are beyond them. Above 2^64 - 1 they are that, and 0
 * below 0.
 */
void ctlchart_phase1_zones(const struct ctlchart_phase1 *p,
			   struct ctlchart_zones *z)
{
	struct factor f = medians[p->method.group];
	u32 div = 3 * (u32)p->groups * f.den;
	int k;

	for (k = 0; k < 4; k++) {
		struct ctlchart_wide sum = {}, spread = {}, low;

		wide_add_wide(&sum, &p->medians, 3 * f.den);
		add_spread(p, &spread, k * f.num);
		low = sum;
		wide_sub(&low, &spread);
		wide_add(&low, div - 1, 1);
		z->below[k] = wide_div(&low, div);
		wide_add_wide(&sum, &spread, 1);
		z->above[k] = wide_div(&sum, div);
	}
}

/**
 * ctlchart_phase1_shape - say what the values look like
 * @p: estimate, usually complete
 *
 * The logarithms of the values are looked at, whatever the scale of the chart.
 * It shows the user whether to choose CTLCHART_QUANTILE: with 100 values the
 * answer is wrong for a few learnings in a hundred, with 500 hardly ever.
 *
 * Return: the shape; CTLCHART_SHAPE_PLAIN if there are too few values.
 */
enum ctlchart_shape ctlchart_phase1_shape(const struct ctlchart_phase1 *p)
{
	struct trimmed t = trim(&p->sample, 100);

	if (!t.nr)
		return CTLCHART_SHAPE_PLAIN;
	if (is_bimodal(&t))
		return CTLCHART_SHAPE_BIMODAL;
	return 6 * skew(&t) > SKEW_ONE ? CTLCHART_SHAPE_HEAVY :
					 CTLCHART_SHAPE_PLAIN;
}

/**
 * ctlchart_sampler_start - spread Phase I over a time
 * @s: sampler
 * @time: the time, in the unit of the clock given to ctlchart_sampler_due();
 *	0 takes consecutive values
 * @samples: values to take, not 0
 *
 * The first value offered is due.
 */
void ctlchart_sampler_start(struct ctlchart_sampler *s, u64 time, u32 samples)
{
	WRITE_ONCE(s->step, div_u64(time, samples));
	s->phase = 0;
	WRITE_ONCE(s->next, 0);
}

/* @phase of a step, in the unit of the clock */
static u64 part(u64 step, u32 phase)
{
	return (step >> 32) * phase + ((step & U32_MAX) * phase >> 32);
}

/*
 * One value is due in each step, at a random point of it (stratified sampling:
 * Cochran, "Sampling Techniques", 1977, chapter 5), or a load that repeats itself
 * every step would always be met at the same point of its cycle. Random enough is
 * the generator of Knuth and Lewis (Press et al., "Numerical Recipes", 7.1).
 */
static u64 interval(struct ctlchart_sampler *s)
{
	u64 before = part(s->step, s->phase);

	s->phase = s->phase * 1664525 + 1013904223;
	return s->step + part(s->step, s->phase) - before;
}

/**
 * ctlchart_sampler_waits - whether the value at hand is surely not due
 * @s: sampler
 * @now: the clock
 *
 * Context: any; the caller need not serialise with others where a u64 is read in
 * one access; the answer may then be a moment old.
 * Return: true if ctlchart_sampler_due() would return false, and change nothing.
 */
bool ctlchart_sampler_waits(const struct ctlchart_sampler *s, u64 now)
{
	u64 step = READ_ONCE(s->step), next = READ_ONCE(s->next);

	return step && now < next && (next - now) / 2 <= step;
}

/**
 * ctlchart_sampler_due - whether the value at hand is to be taken
 * @s: sampler
 * @now: the clock; need not be exactly monotonic across CPUs
 *
 * One value is due in each @s->step, which makes their number independent of how
 * dense the values are. The steps start again, half a step before @now, when no
 * value was offered for so long that the next one is overdue by a step as well (so
 * that a burst after a pause is not taken as a run of neighbours), and when the
 * clock was set back.
 *
 * Return: true if the value is due.
 */
bool ctlchart_sampler_due(struct ctlchart_sampler *s, u64 now)
{
	u64 next;

	if (!s->step)
		return true;
	if (ctlchart_sampler_waits(s, now))
		return false;
	next = s->next + interval(s);
	if (now - next >= s->step && (next - now) / 2 > s->step)
		next = now + s->step / 2;
	WRITE_ONCE(s->next, next);
	return true;
}
