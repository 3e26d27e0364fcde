// SPDX-License-Identifier: GPL-2.0
/* Clocks: offset, drift and error bounds of a host, from the bounds at its nodes. */
#include <math.h>
#include <stdlib.h>

#include "link_clocks.h"
#include "order.h"

/**
 * struct point - vertex of a hull
 * @t:	time since the host's first node, ns
 * @o:	offset, less the one of the first node, ns
 */
struct point {
	double t;
	double o;
};

/**
 * struct hulls - convex hulls of the bounds
 * @low:	upper hull of the lower bounds
 * @lows:	number of its vertices
 * @high:	lower hull of the upper bounds
 * @highs:	number of its vertices
 */
struct hulls {
	struct point *low;
	u64 lows;
	struct point *high;
	u64 highs;
};

static double cross_product(const struct point *a, const struct point *b,
			    const struct point *c)
{
	return (b->t - a->t) * (c->o - a->o) - (b->o - a->o) * (c->t - a->t);
}

/* Andrew's monotone chain; @sign: 1 for a lower hull, -1 for an upper one */
static u64 add_point(struct point *hull, u64 nr, struct point p, int sign)
{
	while (nr > 1 &&
	       sign * cross_product(&hull[nr - 2], &hull[nr - 1], &p) <= 0)
		nr--;
	hull[nr] = p;
	return nr + 1;
}

static void make_hulls(struct hulls *hulls, const struct host_clock *h)
{
	u64 i;

	hulls->low = xzalloc(h->nr * sizeof(*hulls->low));
	hulls->high = xzalloc(h->nr * sizeof(*hulls->high));
	hulls->lows = hulls->highs = 0;
	for (i = 0; i < h->nr; i++) {
		double t = h->node[i].time - h->node->time;
		struct point low = { t, h->node[i].low - h->node->low };
		struct point high = { t, h->node[i].high - h->node->low };

		hulls->lows = add_point(hulls->low, hulls->lows, low, -1);
		hulls->highs = add_point(hulls->high, hulls->highs, high, 1);
	}
}

/* How far a line of this slope can be moved between the hulls; negative: it does not
 * fit. Concave in the slope
 */
static double slope_room(const struct hulls *h, double slope)
{
	double low = -INFINITY, high = INFINITY;
	u64 i;

	for (i = 0; i < h->lows; i++)
		low = fmax(low, h->low[i].o - slope * h->low[i].t);
	for (i = 0; i < h->highs; i++)
		high = fmin(high, h->high[i].o - slope * h->high[i].t);
	return high - low;
}

static double best_slope(const struct hulls *h, double most)
{
	double a = -most, b = most;
	int i;

	for (i = 0; i < 200; i++) {
		double x = a + (b - a) / 3, y = b - (b - a) / 3;

		if (slope_room(h, x) < slope_room(h, y))
			a = x;
		else
			b = y;
	}
	return (a + b) / 2;
}

/* The last slope that fits, from one that fits towards another one that may not */
static double last_slope(const struct hulls *h, double fits, double beyond)
{
	int i;

	if (slope_room(h, beyond) >= 0)
		return beyond;
	for (i = 0; i < 100; i++) {
		double mid = (fits + beyond) / 2;

		if (slope_room(h, mid) >= 0)
			fits = mid;
		else
			beyond = mid;
	}
	return fits;
}

static void set_drift(struct host_clock *h, u32 drift)
{
	const struct node *first = h->node, *last = &h->node[h->nr - 1];
	double most = (double)drift / PPM, best, low, high;
	double apart = last->time - first->time;
	struct hulls hulls;

	make_hulls(&hulls, h);
	best = best_slope(&hulls, most);
	h->clock.steady = slope_room(&hulls, best) >= 0;
	if (h->clock.steady) {
		low = last_slope(&hulls, best, -most);
		high = last_slope(&hulls, best, most);
	} else {
		low = fmax((last->low - first->high) / apart, -most);
		high = fmin((last->high - first->low) / apart, most);
	}
	/* Our gain is the reference's loss; 0 - x avoids -0 */
	h->clock.drift = 0 - (low + high) / 2 * PPM;
	/* A second of this host is not the reference's: second order */
	h->clock.drift_bound = (high - low) / 2 * PPM + most * most * PPM;
	free(hulls.low);
	free(hulls.high);
}

u64 node_bound(const struct host_clock *h, const struct node *n)
{
	return ((u64)(n->high - n->low) + 1) / 2 + h->slack;
}

/* The bounds at a time, from the nearest nodes */
struct node node_at_time(const struct host_clock *h, u64 time, u32 drift)
{
	struct node n = { .time = time, .low = -UNKNOWN, .high = UNKNOWN };
	u64 after = FIRST(i, 0, h->nr, h->node[i].time > time);

	if (after)
		node_relax(&n, &h->node[after - 1], drift);
	if (after < h->nr)
		node_relax(&n, &h->node[after], drift);
	return n;
}

/* Between two nodes both bounds are widest where they meet: at most half the drift
 * over that time more than the mean of both
 */
static u64 worst_between(const struct host_clock *h, const struct node *a,
			 const struct node *b, u32 drift)
{
	u64 widths = (u64)(a->high - a->low) + (u64)(b->high - b->low);
	u64 drifted = clocks_millionths(b->time, drift) -
		      clocks_millionths(a->time, drift);

	return (widths / 2 + drifted + 2) / 2 + h->slack;
}

static void set_worst(struct host_clock *h, u32 drift)
{
	struct node first = node_at_time(h, h->first, drift);
	struct node last = node_at_time(h, h->last, drift);
	u64 worst = node_bound(h, &first), bound = node_bound(h, &last), i;

	for (i = 0; i < h->nr; i++) {
		worst = bound > worst ? bound : worst;
		if (i + 1 < h->nr)
			bound = worst_between(h, &h->node[i], &h->node[i + 1],
					      drift);
	}
	h->clock.worst = worst;
}

void clocks_set_clock(struct host_clock *h, u32 drift)
{
	const struct node *best = h->node;
	u64 i;

	for (i = 1; i < h->nr; i++) {
		if (node_bound(h, &h->node[i]) < node_bound(h, best))
			best = &h->node[i];
	}
	h->clock.at = best->time;
	h->clock.offset = -((best->low + best->high) >> 1);
	h->clock.bound = node_bound(h, best);
	set_worst(h, drift);
	set_drift(h, drift);
}
