/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Control chart rules: runs and trends of group medians.
 *
 * This file and rules.c are the same, byte for byte, in the kernel
 * (kernel/trace/ctlchart/) and in the user-space tools.
 */
#ifndef _CTLCHART_RULES_H
#define _CTLCHART_RULES_H

#include <linux/types.h>

#include "chart.h"

#define CTLCHART_RULES 8

/* Nelson's rule n in a mask, n = 1..8 */
#define CTLCHART_NELSON(n) (1U << (n) >> 1)
#define CTLCHART_NELSON_ALL (CTLCHART_NELSON(CTLCHART_RULES + 1) - 1)

/**
 * struct ctlchart_rules - one CPU's group and points, private to rules.c
 * @lines:	number of the lines that were in force when its values came
 * @filled:	number of values in the running group
 * @points:	group medians so far, up to 1
 * @value:	the group's values, ascending
 * @last:	twice the last one, on the method's scale
 * @rising:	number of points in a row, each greater than the one before
 * @falling:	the same, each less
 * @zigzag:	the same, greater and less in turn
 * @high:	number of points in a row above the centre
 * @low:	below it
 * @within:	within one sigma of it
 * @beyond:	more than one sigma away from it
 * @high1:	of the last points, those more than one sigma above the centre,
 *		a bit each, the last one in bit 0
 * @low1:	more than one sigma below it
 * @high2:	more than two sigma above it
 * @low2:	more than two sigma below it
 *
 * Numbers of points in a row stay at 255 once they are there. All zeroes: none so far.
 */
struct ctlchart_rules {
	u32 lines;
	u8 filled;
	u8 points;
	u64 value[CTLCHART_GROUP_MAX];
	u64 last;
	u8 rising;
	u8 falling;
	u8 zigzag;
	u8 high;
	u8 low;
	u8 within;
	u8 beyond;
	u8 high1;
	u8 low1;
	u8 high2;
	u8 low2;
};

/**
 * struct ctlchart_verdict - what the rules say of a point
 * @rules:	the rules that it breaks, CTLCHART_NELSON()
 * @below:	it lies below the centre: not slow, but fast
 */
struct ctlchart_verdict {
	u32 rules;
	bool below;
};

bool ctlchart_rules_add(struct ctlchart_rules *r,
			const struct ctlchart_method *m, u32 lines, u64 value,
			u64 *point);
void ctlchart_rules_check(struct ctlchart_rules *r,
			  const struct ctlchart_zones *z, u64 point,
			  struct ctlchart_verdict *v);

#endif /* _CTLCHART_RULES_H */
