// SPDX-License-Identifier: GPL-2.0
/*
 * Single values for an interactive picture: bounded in number, each with its process
 * and keys.
 *
 * Of the values in control, every Nth is kept. When there is no room, every other one is
 * dropped and N doubles, so that they stay evenly spread over all values. Of the values
 * out of control, the larger one of two neighbours is kept when there is no room.
 */
#include <stdlib.h>
#include <string.h>

#include "ctlchart.h"

#define MAX_POINTS 100000

struct point_set {
	struct point *point;
	size_t nr;
	size_t room;
};

struct points {
	struct point_set set[2]; /* alarms in the second one */
	u64 step; /* N: every Nth value in control is kept */
	u64 seen; /* values in control */
};

/**
 * points_new - make an empty set of points
 */
struct points *points_new(void)
{
	struct points *p = xzalloc(sizeof(*p));

	p->step = 1;
	return p;
}

static void point_free(struct point *point)
{
	free((char *)point->keys);
}

/**
 * points_free - free points
 * @p: the points, or NULL
 */
void points_free(struct points *p)
{
	size_t i;
	int k;

	if (!p)
		return;
	for (k = 0; k < 2; k++) {
		for (i = 0; i < p->set[k].nr; i++)
			point_free(&p->set[k].point[i]);
		free(p->set[k].point);
	}
	free(p);
}

/* Of each two neighbours one stays */
static void halve(struct point_set *s, bool larger)
{
	size_t i, to = 0;

	for (i = 0; i + 1 < s->nr; i += 2) {
		size_t stay = larger &&
			      s->point[i + 1].value > s->point[i].value;

		point_free(&s->point[i + !stay]);
		s->point[to++] = s->point[i + stay];
	}
	if (i < s->nr)
		s->point[to++] = s->point[i];
	s->nr = to;
}

/**
 * points_due - whether the value at hand, which is in control, is to be added
 * @p: the points
 */
bool points_due(struct points *p)
{
	return !(p->seen++ & (p->step - 1)); /* a power of two */
}

/**
 * points_add - add a point
 * @p: the points
 * @alarm: it is out of control
 * @point: the point; its keys are copied, if it has any
 */
void points_add(struct points *p, bool alarm, const struct point *point)
{
	struct point_set *s = &p->set[alarm];

	if (s->nr == MAX_POINTS) {
		halve(s, alarm);
		if (!alarm)
			p->step *= 2;
	}
	if (s->nr == s->room) {
		s->room = s->room ? 2 * s->room : 1024;
		s->point = xreallocarray(s->point, s->room, sizeof(*s->point));
	}
	s->point[s->nr] = *point;
	s->point[s->nr].keys = xstrdup(point->keys);
	s->nr++;
}

/**
 * points_finish - write the keys of the points that have none yet
 * @p: the points
 * @finish: sets a point's keys, which the points free, and its comm
 * @arg: passed to it
 */
void points_finish(struct points *p,
		   void (*finish)(struct point *point, void *arg), void *arg)
{
	size_t i;
	int k;

	for (k = 0; k < 2; k++) {
		for (i = 0; i < p->set[k].nr; i++) {
			if (!p->set[k].point[i].keys)
				finish(&p->set[k].point[i], arg);
		}
	}
}

/**
 * points_get - get the points, in the order in which they were added
 * @p: the points
 * @alarms: points out of control, or in control
 * @point: set to the points
 *
 * Return: their number.
 */
size_t points_get(const struct points *p, bool alarms,
		  const struct point **point)
{
	*point = p->set[alarms].point;
	return p->set[alarms].nr;
}

/**
 * points_step - N, when every Nth value in control is among the points
 * @p: the points
 */
u64 points_step(const struct points *p)
{
	return p->step;
}
