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
 *	UCL    = centre + f(n) * mean over groups of (max(group) - min(group))
 *
 * Phase II, the caller's, judges each value alone: out of control if above UCL.
 * This is the method of Nakamura et al., "Log reduction by control charts for
 * performance failures" (in Japanese), with k = 20, n = 5 and f = A4(5) = 0.691,
 * which that paper writes as A2 = 0.69. The range divided by d2(n) estimates
 * sigma of a normal distribution, so f(n) = 3 / d2(n) is three sigma of single
 * values and f(n) = A4(n) is three sigma of medians of n.
 *
 * On a log scale all of this happens to log2(value), and both lines are
 * converted back, so that judging is one comparison of integers in any case.
 *
 * Invariants:
 * - No array of all values: only the group being filled is kept, sorted.
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
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/string.h>

#include "chart.h"

/*
 * f(n) = num / den for n = 2..10, from the tables of factors in the standards
 * above. d2(n): mean range of n standard normal values. A4(n): 3 times the
 * standard deviation of their median, divided by d2(n).
 */
struct factor {
	u16 num;
	u16 den;
};

static const struct factor limits[][CTLCHART_GROUP_MAX + 1] = {
	[CTLCHART_INDIVIDUALS] = {
		[2] = { 3000, 1128 }, [3] = { 3000, 1693 }, [4] = { 3000, 2059 },
		[5] = { 3000, 2326 }, [6] = { 3000, 2534 }, [7] = { 3000, 2704 },
		[8] = { 3000, 2847 }, [9] = { 3000, 2970 }, [10] = { 3000, 3078 },
	},
	[CTLCHART_MEDIAN] = {
		[2] = { 1880, 1000 }, [3] = { 1187, 1000 }, [4] = { 796, 1000 },
		[5] = { 691, 1000 }, [6] = { 549, 1000 }, [7] = { 509, 1000 },
		[8] = { 432, 1000 }, [9] = { 412, 1000 }, [10] = { 363, 1000 },
	},
};

/*
 * In units of ctlchart_log2(), a logarithm is at most 0.53 too small and 0.50
 * too large. A limit is a median plus at most 2.66 times a range, which is the
 * difference of two of them: at most 0.53 + 2.66 * 1.03 < 4 too small.
 */
#define LOG_SLACK 4

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
	return m->limit <= CTLCHART_MEDIAN && m->scale <= CTLCHART_LINEAR &&
	       m->group >= CTLCHART_GROUP_MIN &&
	       m->group <= CTLCHART_GROUP_MAX &&
	       m->groups >= CTLCHART_GROUPS_MIN;
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

/**
 * ctlchart_phase1_start - begin a Phase I estimate
 * @p: estimate; whatever it held is forgotten
 * @m: valid method, copied
 */
void ctlchart_phase1_start(struct ctlchart_phase1 *p,
			   const struct ctlchart_method *m)
{
	memset(p, 0, sizeof(*p));
	p->method = *m;
}

/* Twice the median and the range of the full group go into the sums. */
static void phase1_close_group(struct ctlchart_phase1 *p)
{
	unsigned int n = p->method.group;

	wide_add(&p->medians, p->group[(n - 1) / 2], 1);
	wide_add(&p->medians, p->group[n / 2], 1);
	wide_add(&p->ranges, p->group[n - 1] - p->group[0], 1);
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
	int i;

	if (ctlchart_phase1_complete(p))
		return true;
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

/* mean of twice-the-medians / 2 + f * mean of ranges, on the values' scale */
static u64 phase1_line(const struct ctlchart_phase1 *p, u32 num, u32 den)
{
	u32 div = 2 * (u32)p->groups * den;
	struct ctlchart_wide sum = {};
	u64 line;

	wide_add_wide(&sum, &p->medians, den);
	wide_add_wide(&sum, &p->ranges, 2 * num);
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
 * table above), so that judging integers by it is exact. Log scale: the
 * integer part of the exact result times a number between 1 and 1 + 2^-21.
 * Results above U64_MAX become U64_MAX.
 */
void ctlchart_phase1_limits(const struct ctlchart_phase1 *p,
			    struct ctlchart_limits *l)
{
	const struct factor *f = &limits[p->method.limit][p->method.group];

	if (!p->groups) {
		l->center = 0;
		l->ucl = U64_MAX;
		return;
	}
	l->center = phase1_line(p, 0, 1);
	l->ucl = phase1_line(p, f->num, f->den);
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
	s->step = div_u64(time, samples);
	s->next = 0;
}

/**
 * ctlchart_sampler_due - whether the value at hand is to be taken
 * @s: sampler
 * @now: the clock; need not be exactly monotonic across CPUs
 *
 * Values are due on a grid of @s->step, which makes their number independent
 * of how dense the values are. The grid starts again at @now when no value was
 * offered for longer than a step (so that a burst after a pause is not taken as
 * a run of neighbours), and when the clock was set back.
 *
 * Return: true if the value is due; the next one is then due a step later.
 */
bool ctlchart_sampler_due(struct ctlchart_sampler *s, u64 now)
{
	u64 next;

	if (!s->step)
		return true;
	if (now < s->next && (s->next - now) / 2 <= s->step)
		return false;
	next = s->next + s->step;
	if (next <= now || next - now > s->step)
		next = now + s->step;
	s->next = next;
	return true;
}
