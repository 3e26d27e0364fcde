/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Control chart arithmetic: Phase I limits from a bounded running estimate.
 *
 * This file and chart.c are the same, byte for byte, in the kernel
 * (kernel/trace/ctlchart/) and in the user-space tools: both must draw the
 * same limit from the same values.
 */
#ifndef _CTLCHART_CHART_H
#define _CTLCHART_CHART_H

#include <linux/types.h>

#define CTLCHART_GROUP_MIN 2
#define CTLCHART_GROUP_MAX 10
#define CTLCHART_GROUPS_MIN 2
#define CTLCHART_GROUPS_MAX 65535

/* The paper's Phase I: 20 groups of 5 values. */
#define CTLCHART_GROUP_DEFAULT 5
#define CTLCHART_GROUPS_DEFAULT 20

/* Fewest values of Phase I that limit=quantile is drawn from, and its default */
#define CTLCHART_QUANTILE_MIN 3000

/* Ranges, and values to judge the shape by, that Phase I keeps at most */
#define CTLCHART_KEEP_MAX 512

/* Fraction bits of ctlchart_log2(). */
#define CTLCHART_LOG_SHIFT 24

/**
 * enum ctlchart_limit - which upper control limit is drawn
 * @CTLCHART_INDIVIDUALS: three sigma of single values, which is what gets
 *	judged, above the centre. 0.135 % of normal values lie above it.
 * @CTLCHART_MEDIAN: three sigma of medians of n, as the paper uses it on single
 *	values. 5.7 % of normal values lie above it for n = 5.
 * @CTLCHART_QUANTILE: the value that 0.135 % of the Phase I values exceed,
 *	whatever their distribution.
 *
 * Sigma is estimated from the mean range of the groups. The largest range counts
 * as the second largest, so that one outlier does not move it, except for
 * CTLCHART_MEDIAN on a linear scale, which is the paper's method.
 */
enum ctlchart_limit {
	CTLCHART_INDIVIDUALS,
	CTLCHART_MEDIAN,
	CTLCHART_QUANTILE,
};

/**
 * enum ctlchart_scale - the scale on which centre and range are taken
 * @CTLCHART_LOG: the values' logarithms, since latencies are skewed. 0 counts
 *	as 1.
 * @CTLCHART_LINEAR: the values themselves.
 */
enum ctlchart_scale {
	CTLCHART_LOG,
	CTLCHART_LINEAR,
};

/**
 * enum ctlchart_shape - what the Phase I values look like
 * @CTLCHART_SHAPE_PLAIN: nothing speaks against limits drawn from the range
 * @CTLCHART_SHAPE_HEAVY: their logarithms are skewed to the right: the log
 *	chart will alarm on more of them than it should
 * @CTLCHART_SHAPE_BIMODAL: they come in two kinds, far apart
 */
enum ctlchart_shape {
	CTLCHART_SHAPE_PLAIN,
	CTLCHART_SHAPE_HEAVY,
	CTLCHART_SHAPE_BIMODAL,
};

/**
 * struct ctlchart_method - how limits are estimated
 * @limit:	an enum ctlchart_limit
 * @scale:	an enum ctlchart_scale
 * @group:	n, values in a group: CTLCHART_GROUP_MIN..CTLCHART_GROUP_MAX
 * @groups:	k, groups in Phase I: CTLCHART_GROUPS_MIN..CTLCHART_GROUPS_MAX
 *
 * Phase I takes @group * @groups values, for CTLCHART_QUANTILE at least
 * CTLCHART_QUANTILE_MIN.
 */
struct ctlchart_method {
	u8 limit;
	u8 scale;
	u8 group;
	u16 groups;
};

/**
 * struct ctlchart_wide - an unsigned 96-bit number
 * @limb:	32-bit digits, the least significant first
 */
struct ctlchart_wide {
	u32 limb[3];
};

/**
 * struct ctlchart_largest - the largest of the numbers that were offered
 * @max:	as many are kept
 * @nr:		number of them so far
 * @v:		the numbers, ascending
 */
struct ctlchart_largest {
	u32 max;
	u32 nr;
	u64 *v;
};

/**
 * struct ctlchart_phase1 - a running Phase I estimate, private to chart.c
 * @method:	what is estimated
 * @groups:	groups completed so far
 * @filled:	values in the group being filled
 * @group:	these values (their logarithms on a log scale), ascending
 * @medians:	exact sum of twice the medians of the completed groups
 * @ranges:	exact sum of the ranges of the completed groups, less @largest
 * @largest:	the largest of them
 * @second:	the second largest
 * @sample:	logarithms of the values, or of an even selection of them
 * @tail:	the largest values, for CTLCHART_QUANTILE
 */
struct ctlchart_phase1 {
	struct ctlchart_method method;
	u16 groups;
	u8 filled;
	u64 group[CTLCHART_GROUP_MAX];
	struct ctlchart_wide medians;
	struct ctlchart_wide ranges;
	u64 largest;
	u64 second;
	struct ctlchart_largest sample;
	struct ctlchart_largest tail;
};

/**
 * struct ctlchart_limits - the lines of a chart, in the values' own unit
 * @center:	centre line: the mean of the groups' medians
 * @ucl:	upper control limit: a value is out of control if it is greater
 */
struct ctlchart_limits {
	u64 center;
	u64 ucl;
};

/**
 * struct ctlchart_zones - lines for the medians of groups, see rules.c
 * @above:	twice (centre + 0, 1, 2, 3 sigma of medians), on the method's
 *		scale: a number is above the line if it is greater
 * @below:	twice (centre - 0, 1, 2, 3 sigma): it is below if it is less
 */
struct ctlchart_zones {
	u64 above[4];
	u64 below[4];
};

/**
 * struct ctlchart_sampler - takes Phase I values one by one over a time
 * @next:	when the next value is due, in the unit of the caller's clock
 * @step:	mean time from one value to the next; 0: every value is taken
 * @phase:	where in its step the next value is due, in 2^-32
 */
struct ctlchart_sampler {
	u64 next;
	u64 step;
	u32 phase;
};

bool ctlchart_method_valid(const struct ctlchart_method *m);
u32 ctlchart_method_samples(const struct ctlchart_method *m);

u32 ctlchart_phase1_room(const struct ctlchart_method *m);

void ctlchart_phase1_start(struct ctlchart_phase1 *p,
			   const struct ctlchart_method *m, u64 *room);
void ctlchart_phase1_copy(struct ctlchart_phase1 *to,
			  const struct ctlchart_phase1 *from, u64 *room);
bool ctlchart_phase1_add(struct ctlchart_phase1 *p, u64 value);
bool ctlchart_phase1_complete(const struct ctlchart_phase1 *p);
u32 ctlchart_phase1_taken(const struct ctlchart_phase1 *p);
void ctlchart_phase1_limits(const struct ctlchart_phase1 *p,
			    struct ctlchart_limits *l);
void ctlchart_phase1_zones(const struct ctlchart_phase1 *p,
			   struct ctlchart_zones *z);
enum ctlchart_shape ctlchart_phase1_shape(const struct ctlchart_phase1 *p);

void ctlchart_sampler_start(struct ctlchart_sampler *s, u64 time, u32 samples);
bool ctlchart_sampler_waits(const struct ctlchart_sampler *s, u64 now);
bool ctlchart_sampler_due(struct ctlchart_sampler *s, u64 now);

u32 ctlchart_log2(u64 v);
u64 ctlchart_exp2(u32 l);

#endif /* _CTLCHART_CHART_H */
