// SPDX-License-Identifier: GPL-2.0
/* Lines over time as SVG: panels one below the other, each with its own y axis. */
#include <math.h>

#include "plot.h"

#define WIDTH 960
#define LEFT 84
#define RIGHT 200 /* room for the labels of the lines */
#define HEAD 44
#define HEIGHT 260
#define FOOT 46
#define PANEL (HEAD + HEIGHT + FOOT)
#define LABEL_STEP 16 /* labels are at least so far from each other */

static const char style[] =
	"<style>\n"
	"text { font: 12px Helvetica, Arial, \"Liberation Sans\", sans-serif; fill: #24292f }\n"
	".title { font-size: 16px; font-weight: bold }\n"
	".tick { fill: #57606a }\n"
	".paper { fill: #fff }\n"
	".grid { stroke: #8c959f; stroke-opacity: .35; fill: none }\n"
	".axis { stroke: #57606a; fill: none }\n"
	".line0, .line1, .line2 { stroke-width: 2px; stroke-linejoin: round; fill: none }\n"
	".line0 { stroke: #4c78a8 } .label0 { fill: #4c78a8 }\n"
	".line1 { stroke: #d1242f } .label1 { fill: #d1242f }\n"
	".line2 { stroke: #9a6700; stroke-dasharray: 7 4 } .label2 { fill: #9a6700 }\n"
	".label0, .label1, .label2 { font-weight: bold }\n"
	"</style>\n";

/* 1, 2 or 5 times a power of ten, at least a @parts-th of the range */
static double nice_step(double range, int parts)
{
	double least = range / parts, power = pow(10, floor(log10(least)));
	double factor = least / power;

	return power * (factor <= 1 ? 1 :
			factor <= 2 ? 2 :
			factor <= 5 ? 5 :
				      10);
}

/* The largest x or y of a panel */
static double largest(const struct plot_panel *p, int of_y)
{
	double max = 0;
	size_t i, j;

	for (i = 0; i < p->nr; i++) {
		for (j = 0; j < p->line[i].nr; j++)
			max = fmax(max,
				   of_y ? p->line[i].y[j] : p->line[i].x[j]);
	}
	return max > 0 ? max : 1;
}

static double x_of(double x, double x_max)
{
	return LEFT + (WIDTH - LEFT - RIGHT) * x / x_max;
}

static double y_of(double y, double y_max, double top)
{
	return top + HEIGHT * (1 - y / y_max);
}

static void write_axes(FILE *out, const struct plot_panel *p, double top,
		       double x_max, double y_max)
{
	double step = nice_step(y_max, 6), v;

	fprintf(out, "<text class=\"title\" x=\"%d\" y=\"%.0f\">%s</text>\n",
		LEFT, top - 16, p->title);
	for (v = 0; v <= y_max * 1.0001; v += step) {
		double y = y_of(v, y_max, top);

		fprintf(out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", LEFT,
			y, WIDTH - RIGHT);
		fprintf(out,
			"<text class=\"tick\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g%s</text>\n",
			LEFT - 8, y + 4, v, p->unit);
	}
	step = nice_step(x_max, 10);
	for (v = 0; v <= x_max * 1.0001; v += step) {
		fprintf(out,
			"<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%g</text>\n",
			x_of(v, x_max), top + HEIGHT + 18, v);
	}
	fprintf(out, "<path class=\"axis\" d=\"M%d %.1fV%.1fH%d\"/>\n", LEFT,
		top, top + HEIGHT, WIDTH - RIGHT);
	fprintf(out,
		"<text class=\"tick\" x=\"%d\" y=\"%.1f\" text-anchor=\"middle\">seconds since the storm began</text>\n",
		(LEFT + WIDTH - RIGHT) / 2, top + HEIGHT + 36);
}

/*
 * Labels stand where their lines end, moved where they would overlap or stand
 * below the axis.
 */
static void write_labels(FILE *out, const struct plot_panel *p, double top,
			 double y_max)
{
	double at[PLOT_LINES];
	size_t order[PLOT_LINES] = { 0 }, i, j;

	for (i = 0; i < p->nr; i++) {
		const struct plot_line *l = &p->line[i];

		at[i] = y_of(l->nr ? l->y[l->nr - 1] : 0, y_max, top) + 4;
		for (j = i; j > 0 && at[order[j - 1]] > at[i]; j--)
			order[j] = order[j - 1];
		order[j] = i;
	}
	for (i = 1; i < p->nr; i++)
		at[order[i]] =
			fmax(at[order[i]], at[order[i - 1]] + LABEL_STEP);
	for (i = p->nr; i-- > 0;) {
		double lowest = i + 1 < p->nr ? at[order[i + 1]] - LABEL_STEP :
						top + HEIGHT;

		at[order[i]] = fmin(at[order[i]], lowest);
	}
	for (i = 0; i < p->nr; i++) {
		fprintf(out,
			"<text class=\"label%zu\" x=\"%d\" y=\"%.1f\">%s</text>\n",
			i, WIDTH - RIGHT + 8, at[i], p->line[i].label);
	}
}

static void write_panel(FILE *out, const struct plot_panel *p, double top)
{
	double x_max = largest(p, 0),
	       y_max = p->top > 0 ? p->top : largest(p, 1);
	size_t i, j;

	write_axes(out, p, top, x_max, y_max);
	for (i = 0; i < p->nr; i++) {
		const struct plot_line *l = &p->line[i];

		if (!l->nr)
			continue;
		fprintf(out, "<path class=\"line%zu\" d=\"", i);
		for (j = 0; j < l->nr; j++) {
			fprintf(out, "%s%.1f %.1f", j ? "L" : "M",
				x_of(l->x[j], x_max),
				y_of(l->y[j], y_max, top));
		}
		fprintf(out, "\"/>\n");
	}
	write_labels(out, p, top, y_max);
}

/**
 * plot_write - write a picture
 * @out:	where
 * @panel:	its diagrams, from top to bottom
 * @nr:		number of them
 */
void plot_write(FILE *out, const struct plot_panel *panel, size_t nr)
{
	size_t i;

	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" viewBox=\"0 0 %d %zu\">\n"
		"%s<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n",
		WIDTH, nr * PANEL, WIDTH, nr * PANEL, style);
	for (i = 0; i < nr; i++)
		write_panel(out, &panel[i], i * PANEL + HEAD);
	fprintf(out, "</svg>\n");
}
