// SPDX-License-Identifier: GPL-2.0
/*
 * Control chart rules: runs and trends of group medians.
 *
 * A single value says "slow" or nothing; rules see what many values have in
 * common. Values that follow each other on one CPU make a group of n, and the
 * median of each group is a point. Shewhart's rational subgroups ("Economic
 * Control of Quality of Manufactured Product", 1931) are of values that have as
 * many conditions in common as possible: a CPU is one. The points of each CPU are
 * a sequence of their own, as those of each stream are in group control charts
 * (Boyd, Industrial Quality Control 7, 1950), and CPUs share nothing but the
 * lines. Lloyd S. Nelson ("The Shewhart Control Chart - Tests for Special
 * Causes", Journal of Quality Technology 16, 1984; ISO 7870-2) tests each point,
 * with sigma of the points:
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
 * Invariant: group and points are of values that came while the same lines were in
 * force. Each CPU has the number of these, so that no one has to empty the groups of
 * all CPUs when the lines change: a value of other lines begins anew.
 *
 * Pure functions of their arguments: any context. The caller serialises access to
 * each CPU's state.
 */
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/string.h>

#include "rules.h"

/* Twice the median of the full group, on the method's scale */
static u64 median(const struct ctlchart_rules *r,
		  const struct ctlchart_method *m)
{
	u64 a = r->value[(m->group - 1) / 2], b = r->value[m->group / 2];

	if (m->scale == CTLCHART_LOG)
		return (u64)ctlchart_log2(a) + ctlchart_log2(b);
	return min_t(u64, a, S64_MAX) + min_t(u64, b, S64_MAX);
}

/**
 * ctlchart_rules_add - take one value
 * @r: the state of the CPU that the value is of
 * @m: valid method of the chart, always the same: group size and scale are used
 * @lines: number of the lines in force; what came with another number is forgotten
 * @value: the value
 * @point: where to put the point if there is one
 *
 * On a linear scale values above 2^63 - 1 count as that.
 *
 * Return: true if the value fills the group. ctlchart_rules_check() is then due.
 */
bool ctlchart_rules_add(struct ctlchart_rules *r,
			const struct ctlchart_method *m, u32 lines, u64 value,
			u64 *point)
{
	int i;

	if (r->lines != lines) {
		memset(r, 0, sizeof(*r));
		r->lines = lines;
	}
	for (i = r->filled; i > 0 && r->value[i - 1] > value; i--)
		r->value[i] = r->value[i - 1];
	r->value[i] = value;
	if (++r->filled < m->group)
		return false;
	r->filled = 0;
	*point = median(r, m);
	return true;
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

/**
 * ctlchart_rules_check - what the rules say of a point
 * @r: the state that made the point
 * @z: zones of the lines that were passed with its values
 * @point: the point
 * @v: where to put the verdict
 */
void ctlchart_rules_check(struct ctlchart_rules *r,
			  const struct ctlchart_zones *z, u64 point,
			  struct ctlchart_verdict *v)
{
	follow(r, point);
	place(r, z, point);
	v->rules = broken(r, z, point);
	v->below = point < z->below[0];
}
