// SPDX-License-Identifier: GPL-2.0
/*
 * Any number of points of a picture, in bounded memory.
 *
 * Points are stored in a grid, whose cells are set or not. Columns are equal spans of
 * time: when the trace exceeds the last one, each two columns are merged and their span
 * doubles, so that between half and all of them are in use. A row is 1/256 of an octave
 * of the value. Both are finer than a pixel of the pictures. The result depends only on
 * the points.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ctlchart.h"

#define COLUMNS 2048
#define ROW_SHIFT (CTLCHART_LOG_SHIFT - 8)
#define ROWS ((64 << 8) + 1)
#define WORDS ((ROWS + 63) / 64)
#define MAX_STEPS 512

/* The cells of one column: alarms in the second set */
struct column {
	u64 cell[2][WORDS];
};

struct series {
	u64 from, to;
	u64 span; /* of a column, ns */
	bool any;
	u64 min, max;
	struct column *column[COLUMNS];
	struct series_step *step;
	size_t steps;
};

/**
 * series_new - make an empty series
 */
struct series *series_new(void)
{
	struct series *s = xzalloc(sizeof(*s));

	s->span = 1;
	return s;
}

/**
 * series_free - free a series
 * @s: the series, or NULL
 */
void series_free(struct series *s)
{
	int i;

	if (!s)
		return;
	for (i = 0; i < COLUMNS; i++)
		free(s->column[i]);
	free(s->step);
	free(s);
}

static struct column *merge(struct column *a, struct column *b)
{
	int i, k;

	if (!a || !b)
		return a ? a : b;
	for (k = 0; k < 2; k++) {
		for (i = 0; i < WORDS; i++)
			a->cell[k][i] |= b->cell[k][i];
	}
	free(b);
	return a;
}

static void double_span(struct series *s)
{
	int i;

	for (i = 0; i < COLUMNS / 2; i++)
		s->column[i] = merge(s->column[2 * i], s->column[2 * i + 1]);
	memset(s->column + COLUMNS / 2, 0, sizeof(s->column) / 2);
	s->span *= 2;
}

/**
 * series_add - add a point
 * @s: the series
 * @time: ns; points come about in order, none long before the first
 * @value: 0 counts as 1
 * @alarm: it is out of control
 */
void series_add(struct series *s, u64 time, u64 value, bool alarm)
{
	u32 row = ctlchart_log2(value) >> ROW_SHIFT;
	struct column **column;

	if (!s->any) {
		s->from = s->to = time;
		s->min = s->max = value;
		s->any = true;
	}
	if (time < s->from)
		time = s->from;
	if (time > s->to)
		s->to = time;
	if (value < s->min)
		s->min = value;
	if (value > s->max)
		s->max = value;
	while ((time - s->from) / s->span >= COLUMNS)
		double_span(s);
	column = &s->column[(time - s->from) / s->span];
	if (!*column)
		*column = xzalloc(sizeof(**column));
	(*column)->cell[alarm][row / 64] |= 1ull << row % 64;
}

/**
 * series_limits - lines are in force from now on
 * @s: the series
 * @time: ns
 * @l: the lines
 * @has_center: there is a centre line
 *
 * After the first few hundred changes the last one stands for all later ones.
 */
void series_limits(struct series *s, u64 time, const struct ctlchart_limits *l,
		   bool has_center)
{
	struct series_step *last = s->steps ? &s->step[s->steps - 1] : NULL;

	if (last && last->limits.ucl == l->ucl &&
	    last->limits.center == l->center)
		return;
	if (!s->step)
		s->step = xcalloc(MAX_STEPS, sizeof(*s->step));
	if (s->steps == MAX_STEPS)
		s->steps--;
	s->step[s->steps++] = (struct series_step){ time, *l, has_center };
}

/**
 * series_range - the times of the first and the last point
 * @s: the series
 * @from: the first
 * @to: the last
 *
 * Return: false if there are no points.
 */
bool series_range(const struct series *s, u64 *from, u64 *to)
{
	*from = s->from;
	*to = s->to;
	return s->any;
}

/**
 * series_max - the largest value
 * @s: the series
 */
u64 series_max(const struct series *s)
{
	return s->max;
}

/**
 * series_min - the smallest value
 * @s: the series
 */
u64 series_min(const struct series *s)
{
	return s->min;
}

/**
 * series_steps - the lines over time
 * @s: the series
 * @step: where to put them
 *
 * Return: their number.
 */
size_t series_steps(const struct series *s, const struct series_step **step)
{
	*step = s->step;
	return s->steps;
}

static double row_value(const struct series *s, unsigned int row)
{
	double value = exp2((row + 0.5) / 256);

	/* The extremes are known exactly */
	if (row == ctlchart_log2(s->max) >> ROW_SHIFT)
		return s->max;
	if (row == ctlchart_log2(s->min) >> ROW_SHIFT)
		return s->min;
	return value;
}

/**
 * series_each - call a function for each cell that has points
 * @s: the series
 * @alarms: points out of control, or in control
 * @point: called with the time in ns after the first point, and the value
 * @arg: passed to @point
 */
void series_each(const struct series *s, bool alarms,
		 void (*point)(void *arg, double time, double value), void *arg)
{
	double last = s->to - s->from;
	int i, j;

	for (i = 0; i < COLUMNS; i++) {
		double time = (i + 0.5) * s->span - 0.5;

		if (!s->column[i])
			continue;
		for (j = 0; j < WORDS; j++) {
			u64 word = s->column[i]->cell[alarms][j];

			for (; word; word &= word - 1)
				point(arg, time < last ? time : last,
				      row_value(s, 64 * j + __builtin_ctzll(
								    word)));
		}
	}
}
