/* SPDX-License-Identifier: GPL-2.0 */
/* Lines over time as SVG: the demo's pictures. */
#ifndef DEMO_PLOT_H
#define DEMO_PLOT_H

#include <stddef.h>
#include <stdio.h>

/**
 * struct plot_line - one line
 * @label:	written at its right end
 * @nr:		number of points
 * @x:		seconds, ascending
 * @y:		the values
 */
struct plot_line {
	const char *label;
	size_t nr;
	const double *x;
	const double *y;
};

/**
 * struct plot_panel - one diagram
 * @title:	what it shows, with the unit of y
 * @unit:	of y, written after the numbers of its axis
 * @top:	upper end of y, or 0: the largest value
 * @line:	the lines, at most PLOT_LINES
 * @nr:		number of lines
 */
#define PLOT_LINES 3
struct plot_panel {
	const char *title;
	const char *unit;
	double top;
	struct plot_line line[PLOT_LINES];
	size_t nr;
};

void plot_write(FILE *out, const struct plot_panel *panel, size_t nr);

#endif
