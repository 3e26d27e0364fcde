// SPDX-License-Identifier: GPL-2.0
/*
 * Which executions are slow: the paper's limit, the upper one of a control chart of
 * medians of five with the mean range, on a linear scale, from tools/kernel/chart.c. The
 * chart's values are spread over the recording.
 *
 * They are the baseline's. Without one they are those of the calm part of the recording:
 * values above three sigma of single values on a log scale, and above twice the centre
 * line, are set aside, again and again until there are none (the revision of Phase I that
 * textbooks of control charts advise). If too many values are slow for that, and a tenth
 * of the recording is clearly faster than the whole, the values of that tenth are used.
 * In a baseline, only outliers are set aside, values that the same rule finds and that
 * are at most 1 % of it: executions that are slow more often belong to its load.
 *
 * Such a limit may be close to the centre line. A slow execution must also exceed the
 * centre line by a part that matters in practice, the floor.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "order.h"
#include "pathdiff.h"

#define GROUP 5
#define MAX_GROUPS 2000
#define MIN_VALUES 10
#define MAX_ROUNDS 20
#define PARTS 10

/* One in PER_OUTLIER values of a baseline may be an outlier; one of fewer, too */
#define PER_OUTLIER 100

/* Multiple of the centre above which a limit is not that of a stable process */
#define FAR_LIMIT 10

/* Single values of healthy processes above a limit for medians: 6 to 11 % */
#define ABOVE_MEDIANS 0.12

/* The longest execution in relation to the limit, or to the baseline's longest */
#define LONG 10
#define LONG_BASE 3

/* Without a baseline: several times the centre, and how many executions may be that long */
#define TIMES_FAR 4
#define FAR_PART 0.02
#define FAR_FEW 3

/* Time above the centre, per execution, as a part of it; or above the baseline's */
#define MORE 0.5
#define MORE_BASE 0.25

static u64 median(const u64 *value, u32 nr)
{
	u64 *sorted = xzalloc(nr * sizeof(*sorted)), m;

	memcpy(sorted, value, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), order_u64);
	m = sorted[nr / 2];
	free(sorted);
	return m;
}

/* Limits of a chart of samples at equal steps of the values; returns their number */
static u32 chart(const u64 *value, u32 nr, u8 limit, u8 scale,
		 struct ctlchart_limits *l)
{
	u32 groups = nr / GROUP > MAX_GROUPS ? MAX_GROUPS : nr / GROUP, i;
	struct ctlchart_method m = { limit, scale, GROUP, groups };
	struct ctlchart_phase1 p;
	u64 *room = xzalloc(ctlchart_phase1_room(&m) * sizeof(*room));
	u32 samples = groups * GROUP;

	ctlchart_phase1_start(&p, &m, room);
	for (i = 0; i < samples; i++)
		ctlchart_phase1_add(&p, value[(u64)i * nr / samples]);
	ctlchart_phase1_limits(&p, l);
	free(room);
	return samples;
}

/* Set aside values above @most; returns the number of the others */
static u32 revise(u64 *value, u32 nr, u64 *most)
{
	struct ctlchart_limits l;
	u32 round, i, left;

	for (round = 0; round < MAX_ROUNDS; round++) {
		chart(value, nr, CTLCHART_INDIVIDUALS, CTLCHART_LOG, &l);
		*most = l.ucl > 2 * l.center ? l.ucl : 2 * l.center;
		for (i = left = 0; i < nr; i++)
			left += value[i] <= *most;
		if (left == nr || left < 2 * MIN_VALUES)
			break;
		for (i = left = 0; i < nr; i++) {
			if (value[i] <= *most)
				value[left++] = value[i];
		}
		nr = left;
	}
	return nr;
}

/* The calmest tenth replaces all values if it is much calmer */
static u32 calmest(u64 *value, u32 nr)
{
	u32 size = nr / PARTS, i, best = 0;
	u64 least = U64_MAX;

	if (size < 2 * MIN_VALUES)
		return nr;
	for (i = 0; i < PARTS; i++) {
		u64 m = median(value + i * size, size);

		if (m < least) {
			least = m;
			best = i;
		}
	}
	if (least > median(value, nr) / 3)
		return nr;
	memmove(value, value + best * size, size * sizeof(*value));
	return size;
}

/* Of a baseline: a few values that are far above the others */
static u32 set_outliers_aside(u64 *value, u32 nr, u64 *most)
{
	u64 *copy = xzalloc(nr * sizeof(*copy));
	u32 left;

	memcpy(copy, value, nr * sizeof(*copy));
	left = revise(copy, nr, most);
	if (left == nr ||
	    nr - left > (nr < PER_OUTLIER ? 1 : nr / PER_OUTLIER)) {
		*most = U64_MAX;
		left = nr;
	} else {
		memcpy(value, copy, left * sizeof(*copy));
	}
	free(copy);
	return left;
}

static u32 values_of(const struct paths *p, enum side side, u64 *value)
{
	u32 i, nr = 0;

	for (i = 0; i < p->nr; i++) {
		if (p->exec[i].side == side)
			value[nr++] = p->exec[i].duration;
	}
	return nr;
}

static void count(struct paths *p, struct limit *l)
{
	double excess[2] = { 0 };
	u32 i;

	for (i = 0; i < p->nr; i++) {
		struct exec *e = &p->exec[i];
		bool base = e->side == SIDE_BASELINE;
		u64 *longest = base ? &l->base_longest : &l->longest;

		e->abnormal = e->duration > l->ns;
		(base ? l->base_nr : l->nr)[e->abnormal]++;
		if (e->duration > *longest)
			*longest = e->duration;
		l->far += !base && e->duration / TIMES_FAR > l->center;
		if (e->duration > l->outlier)
			l->outliers[e->side]++;
		else if (e->abnormal)
			excess[base] += e->duration - l->center;
	}
	if (l->nr[0] + l->nr[1])
		l->excess = excess[0] / (l->nr[0] + l->nr[1]);
	if (l->base_nr[0] + l->base_nr[1])
		l->base_excess = excess[1] / (l->base_nr[0] + l->base_nr[1]);
}

/* Outliers as rare as in the baseline; both numbers are random */
static bool as_rare(const struct limit *l, double n, double base)
{
	double ratio = base > 0 ? n / base : 0;
	double expected = l->outliers[SIDE_BASELINE] * ratio;

	return l->outliers[SIDE_TRACE] <=
	       expected + 3 * sqrt(expected * (1 + ratio)) + 1;
}

/*
 * A healthy trace has some executions above the limit, too. With a baseline: together
 * they take hardly more time than its slow ones, none is much longer, and outliers, which
 * are not part of that time, are as rare. Without: no more than such a limit lets pass,
 * few of them by much, and none by very much.
 */
static void judge(struct limit *l)
{
	double n = l->nr[0] + l->nr[1];
	double base = l->base_nr[0] + l->base_nr[1];
	bool seldom, small, little;

	if (l->given) {
		l->healthy = !l->nr[1];
		return;
	}
	seldom = base > 0 || l->nr[1] <= n * ABOVE_MEDIANS +
						 3 * sqrt(n * ABOVE_MEDIANS *
							  (1 - ABOVE_MEDIANS)) +
						 1;
	if (base > 0) {
		u64 usual = l->base_longest > l->ns ? l->base_longest : l->ns;

		small = l->longest <= LONG_BASE * usual;
		little = l->excess <= l->base_excess + l->center * MORE_BASE &&
			 as_rare(l, n, base);
	} else {
		small = l->longest <= LONG * l->ns &&
			l->far <= n * FAR_PART + FAR_FEW;
		little = l->excess <= l->center * MORE;
	}
	l->healthy = !l->nr[1] || (seldom && small && little);
}

/**
 * limit_find - find the limit, and which executions are above it
 * @g: the guard
 * @p: the executions
 * @l: the limit
 * @given: by the user, ns; 0: draw it
 * @floor: part of the centre that a slow execution takes longer at least
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int limit_find(struct guard *g, struct paths *p, struct limit *l, u64 given,
	       double floor)
{
	u64 *value = xzalloc(p->nr * sizeof(*value));
	u32 nr = values_of(p, SIDE_BASELINE, value), all;
	struct ctlchart_limits lines = { 0, given };
	u64 most = U64_MAX, least;
	int status = 0;

	l->outlier = U64_MAX;
	all = nr;
	if (nr >= MIN_VALUES && !given)
		nr = set_outliers_aside(value, nr, &l->outlier);
	if (!all) {
		nr = all = values_of(p, SIDE_TRACE, value);
		if (nr >= MIN_VALUES && !given)
			nr = revise(value, calmest(value, nr), &most);
	}
	if (given) {
		l->given = true;
		lines.center = median(value, all);
		if (lines.center > given)
			lines.center = given;
	} else if (nr < MIN_VALUES) {
		status = guard_fail(
			g, GUARD_NOWHERE,
			"%u execution%s too few for a limit: give --limit, or a --baseline",
			nr, nr == 1 ? " is" : "s are");
	} else {
		l->learnt = chart(value, nr, CTLCHART_MEDIAN, CTLCHART_LINEAR,
				  &lines);
		l->set_aside = all - nr;
	}
	least = lines.center * (1 + floor);
	l->floored = !given && lines.ucl < least;
	l->ns = l->floored ? least : lines.ucl;
	l->center = lines.center;
	l->is_far = !given && l->ns / FAR_LIMIT > l->center;
	free(value);
	if (status)
		return status;
	count(p, l);
	judge(l);
	return 0;
}
