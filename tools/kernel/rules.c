// SPDX-License-Identifier: GPL-2.0
/*
 * Control chart rules: runs and trends of group medians.
 *
 * A single value says "slow" or nothing; rules see what many values have in
 * common. The values, in the order in which they come, are taken in groups of
 * n, and the median of each group is a point. Lloyd S. Nelson ("The Shewhart
 * Control Chart - Tests for Special Causes", Journal of Quality Technology 16,
 * 1984; ISO 7870-2) tests each point, with sigma of the points:
 *
 *	1  Is it more than three sigma from the centre?
 *	2  Is it the ninth in a row on one side of the centre?
 *	3  Is it the sixth in a row of which each is greater than the one before
 *	   it, or each less?
 *	4  Is it the fourteenth in a row that go up and down in turn?
 *	5  Is it more than two sigma from the centre, and is another one of the
 *	   last three, on the same side?
 *	6  Is it more than one sigma from the centre, and are three others of the
 *	   last five, on the same side?
 *	7  Is it the fifteenth in a row within one sigma of the centre?
 *	8  Is it the eighth in a row more than one sigma away from the centre, on
 *	   either side?
 *
 * 1, 2, 3, 5 and 6 have a side: above the centre they mean slow, below it fast.
 * 4, 7 and 8 only mean that the process is another one than in Phase I: two
 * that take turns (4), a mixture (8), or one that varies less (7).
 *
 * Invariant: a point is twice a median, so that it is a whole number, and the
 * zones' lines are rounded such that comparing whole numbers with them is exact.
 *
 * Pure functions of their arguments: any context. The caller serialises access.
 */
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/string.h>

#include "rules.h"

/**
 * ctlchart_rules_start - begin with no points
 * @r: state; whatever it held is forgotten
 * @m: valid method of the chart, copied: group size and scale are used
 */
void ctlchart_rules_start(struct ctlchart_rules *r,
			  const struct ctlchart_method *m)
{
	memset(r, 0, sizeof(*r));
	r->method = *m;
}

/* The number of points in a row, if this one is another one */
static void count(u8 *run, bool another)
{
	if (!another)
		*run = 0;
	else if (*run < U8_MAX)
		++*run;
}

/* Of the last points, how many are so, if this one is? */
static int among(u8 points, u8 last)
{
	int n = 0;

	if (!(points & 1))
		return 0;
	for (points &= last; points; points &= points - 1)
		n++;
	return n;
}

#define LAST_3 0x07
#define LAST_5 0x1f

static void follow(struct ctlchart_rules *r, u64 point)
{
	bool rises, falls, turned;

	if (!r->points) {
		r->points = 1;
		r->last = point;
		return;
	}
	rises = point > r->last;
	falls = point < r->last;
	turned = (rises && r->falling) || (falls && r->rising);
	if (!turned)
		r->zigzag = 0;
	count(&r->zigzag, rises || falls);
	count(&r->rising, rises);
	count(&r->falling, falls);
	r->last = point;
}

static void place(struct ctlchart_rules *r, const struct ctlchart_zones *z,
		  u64 point)
{
	bool high1 = point > z->above[1], low1 = point < z->below[1];

	count(&r->high, point > z->above[0]);
	count(&r->low, point < z->below[0]);
	count(&r->within, !high1 && !low1);
	count(&r->beyond, high1 || low1);
	r->high1 = r->high1 << 1 | high1;
	r->low1 = r->low1 << 1 | low1;
	r->high2 = r->high2 << 1 | (point > z->above[2]);
	r->low2 = r->low2 << 1 | (point < z->below[2]);
}

static u32 broken(const struct ctlchart_rules *r,
		  const struct ctlchart_zones *z, u64 point)
{
	u32 rules = 0;

	if (point > z->above[3] || point < z->below[3])
		rules |= CTLCHART_NELSON(1);
	if (r->high >= 9 || r->low >= 9)
		rules |= CTLCHART_NELSON(2);
	if (r->rising >= 5 || r->falling >= 5)
		rules |= CTLCHART_NELSON(3);
	if (r->zigzag >= 13)
		rules |= CTLCHART_NELSON(4);
	if (among(r->high2, LAST_3) >= 2 || among(r->low2, LAST_3) >= 2)
		rules |= CTLCHART_NELSON(5);
	if (among(r->high1, LAST_5) >= 4 || among(r->low1, LAST_5) >= 4)
		rules |= CTLCHART_NELSON(6);
	if (r->within >= 15)
		rules |= CTLCHART_NELSON(7);
	if (r->beyond >= 8)
		rules |= CTLCHART_NELSON(8);
	return rules;
}

/* Twice the median of the full group, on the method's scale */
static u64 median(const struct ctlchart_rules *r)
{
	unsigned int n = r->method.group;
	u64 a = r->group[(n - 1) / 2], b = r->group[n / 2];

	if (r->method.scale == CTLCHART_LOG)
		return (u64)ctlchart_log2(a) + ctlchart_log2(b);
	return min_t(u64, a, S64_MAX) + min_t(u64, b, S64_MAX);
}

/**
 * ctlchart_rules_add - take one value
 * @r: state
 * @z: zones of the chart; ctlchart_rules_start() is due when they change
 * @value: the value
 * @v: where to put the verdict if there is one
 *
 * On a linear scale values above 2^63 - 1 count as that.
 *
 * Return: true if the value fills a group, which makes a point.
 */
bool ctlchart_rules_add(struct ctlchart_rules *r,
			const struct ctlchart_zones *z, u64 value,
			struct ctlchart_verdict *v)
{
	u64 point;
	int i;

	for (i = r->filled; i > 0 && r->group[i - 1] > value; i--)
		r->group[i] = r->group[i - 1];
	r->group[i] = value;
	if (++r->filled < r->method.group)
		return false;
	r->filled = 0;
	point = median(r);
	follow(r, point);
	place(r, z, point);
	v->rules = broken(r, z, point);
	v->below = point < z->below[0];
	return true;
}
