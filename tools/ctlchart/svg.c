// SPDX-License-Identifier: GPL-2.0
/*
 * The charts as a picture: durations over time, centre line, limit, and alarms
 * in a colour and shape of their own. One panel for each chart.
 *
 * Points are drawn at most one for each cell of a grid, which is made coarser
 * until the picture has a size that can be mailed. An alarm's cell is never
 * left out, so the worst of each moment stays in sight.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ctlchart.h"
#include "text.h"

#define WIDTH 960
#define LEFT 84
#define RIGHT 24
#define PLOT_WIDTH (WIDTH - LEFT - RIGHT)
#define HEAD 84 /* title, summary, legend */
#define FOOT 58 /* ticks, axis title */
#define MARGIN 12
#define ROOM_ABOVE 28.0 /* above the largest value, for its label */
#define ROOM_BELOW 10.0

/* Size limit of the points of all panels */
#define POINTS_BYTES 800000

/**
 * struct panel - one chart being drawn
 * @r:		the report
 * @c:		the chart
 * @top:	upper end of the plot
 * @height:	of the plot
 * @from:	time at the left end, ns
 * @span:	time from left to right, ns
 * @low:	value at the lower end (its logarithm on a log axis)
 * @high:	value at the upper end (the same)
 * @cell:	size of a cell of the grid
 * @columns:	cells from left to right
 * @rows:	cells from bottom to top
 * @grid:	bytes, one for each cell
 */
struct panel {
	struct report *r;
	const struct chart *c;
	double top;
	double height;
	u64 from;
	double span;
	double low;
	double high;
	double cell;
	int columns;
	int rows;
	unsigned char *grid;
};

static void put_text(FILE *out, const char *s)
{
	for (; *s; s++) {
		switch (*s) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		default:
			fputc(*s, out);
		}
	}
}

/* Width of a text in the picture's font, about: pixels at 12 px */
static double text_width(const char *s)
{
	double width = 0;

	for (; *s; s++) {
		if ((*s & 0xc0) == 0x80)
			continue;
		if (strchr("ijl.,:;|' ", *s))
			width += 3.4;
		else if (strchr("mwMW%", *s))
			width += 10;
		else
			width += 6.8;
	}
	return width;
}

static double y_of(const struct panel *p, double value)
{
	double v = p->r->linear ? value : log10(value < 1 ? 1 : value);
	double share = (v - p->low) / (p->high - p->low);

	share = share < 0 ? 0 : share > 1 ? 1 : share;
	return p->top + p->height * (1 - share);
}

static double x_of(const struct panel *p, double time)
{
	double share = p->span > 0 ? time / p->span : 0.5;

	return LEFT + PLOT_WIDTH * (share < 0 ? 0 : share > 1 ? 1 : share);
}

static double x_at(const struct panel *p, u64 time)
{
	return x_of(p, time > p->from ? time - p->from : 0);
}

/* 1, 2 or 5 times a power of ten, at least a @parts-th of the range */
static double nice_step(double range, int parts)
{
	double step = pow(10, floor(log10(range / parts)));

	if (step * 10 <= range / parts * 2)
		return step * 10;
	if (range / step > 5.0 * parts)
		return step * 10;
	if (range / step > 2.0 * parts)
		return step * 5;
	return range / step > parts ? step * 2 : step;
}

/* A number on an axis: "20 ms", "1.5 s"; without a unit if it is not a time */
static void tick_label(char *buf, size_t size, double v, bool is_time)
{
	static const struct {
		const char *name;
		double scale;
	} times[] = { { " s", 1e9 },
		      { " ms", 1e6 },
		      { " µs", 1e3 },
		      { " ns", 1 } },
	  plain[] = { { "G", 1e9 }, { "M", 1e6 }, { "k", 1e3 }, { "", 1 } };
	int i;

	for (i = 0; i < 3 && v < times[i].scale * 0.9999; i++)
		;
	if (!v)
		snprintf(buf, size, "0");
	else
		snprintf(buf, size, "%.4g%s", v / times[i].scale,
			 is_time ? times[i].name : plain[i].name);
}

static const char *value_text(char *buf, size_t size, u64 v, bool is_time)
{
	char *u;

	format_value(buf, size - 1, v, is_time);
	u = strstr(buf, " us");
	if (u && is_time)
		strcpy(u, " µs");
	return buf;
}

static void find_range(struct panel *p)
{
	u64 min = series_min(p->c->series), max = series_max(p->c->series);
	const struct series_step *step;
	size_t n = series_steps(p->c->series, &step), i;
	double range;

	for (i = 0; i < n; i++) {
		u64 low = step[i].has_center ? step[i].limits.center :
					       step[i].limits.ucl;

		if (step[i].limits.ucl > max && step[i].limits.ucl < U64_MAX)
			max = step[i].limits.ucl;
		if (low < min)
			min = low;
	}
	if (p->r->linear) {
		p->low = 0;
		p->high = max ? max * (1 + ROOM_ABOVE / p->height) : 1;
		return;
	}
	p->low = log10(min < 1 ? 1 : min);
	p->high = log10(max < 1 ? 1 : max);
	if (p->high - p->low < 0.5) {
		p->low -= 0.25;
		p->high += 0.25;
	}
	range = p->high - p->low;
	p->low -= range * ROOM_BELOW / p->height;
	p->high += range * ROOM_ABOVE / p->height;
	if (p->low < 0)
		p->low = 0;
}

static void draw_y_tick(struct panel *p, double v, bool major)
{
	double y = y_of(p, v);
	char label[32];

	fprintf(p->r->out, "<path class=\"%s\" d=\"M%d %.1fh%d\"/>\n",
		major ? "grid" : "fine", LEFT, y, PLOT_WIDTH);
	if (!major)
		return;
	tick_label(label, sizeof(label), v, p->c->is_time);
	fprintf(p->r->out,
		"<text class=\"tick\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
		LEFT - 8, y + 4, label);
}

static void draw_log_ticks(struct panel *p)
{
	double decades = p->high - p->low;
	int d, m, every = decades > 10 ? 2 : 1;

	for (d = floor(p->low); d <= p->high; d++) {
		for (m = 1; m < 10; m++) {
			double v = m * pow(10, d), at = log10(v);
			bool major = m == 1 && d % every == 0;

			if (decades < 2.5 && (m == 2 || m == 5))
				major = true;
			if (decades < 0.8 && m < 10)
				major = true;
			if (at < p->low || at > p->high ||
			    (!major && decades > 5))
				continue;
			draw_y_tick(p, v, major);
		}
	}
}

static void draw_linear_ticks(struct panel *p)
{
	double step = nice_step(p->high, 6), v;

	for (v = 0; v <= p->high; v += step)
		draw_y_tick(p, v, true);
}

static void draw_x_axis(struct panel *p)
{
	double seconds = p->span / 1e9, bottom = p->top + p->height, t;
	double step = nice_step(seconds > 0 ? seconds : 1, 8);
	const char *unit = "s";
	double scale = 1;

	if (seconds > 0 && seconds < 2e-6)
		unit = "ns", scale = 1e9;
	else if (seconds > 0 && seconds < 2e-3)
		unit = "µs", scale = 1e6;
	else if (seconds > 0 && seconds < 2)
		unit = "ms", scale = 1e3;
	for (t = 0; t <= seconds * 1.0001; t += step) {
		double x = x_of(p, t * 1e9);

		fprintf(p->r->out,
			"<path class=\"axis\" d=\"M%.1f %.1fv5\"/><text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.6g</text>\n",
			x, bottom, x, bottom + 19, t * scale);
		if (seconds <= 0)
			break;
	}
	fprintf(p->r->out,
		"<path class=\"axis\" d=\"M%d %.1fh%d\"/>\n"
		"<text class=\"label\" x=\"%d\" y=\"%.1f\" text-anchor=\"middle\">time (%s) from %llu"
		".%06llu of the trace clock</text>\n",
		LEFT, bottom, PLOT_WIDTH, LEFT + PLOT_WIDTH / 2, bottom + 40,
		unit, p->from / 1000000000, p->from / 1000 % 1000000);
}

static void draw_axes(struct panel *p)
{
	double middle = p->top + p->height / 2;

	if (p->r->linear)
		draw_linear_ticks(p);
	else
		draw_log_ticks(p);
	draw_x_axis(p);
	fprintf(p->r->out,
		"<text class=\"label\" transform=\"translate(18 %.1f) rotate(-90)\" text-anchor=\"middle\">",
		middle);
	put_text(p->r->out, p->c->is_time ? "duration" :
			    p->c->field	  ? p->c->field :
					    "value");
	fputs("</text>\n", p->r->out);
}

static void draw_phase1(struct panel *p)
{
	double x;

	if (!p->c->phase1_end)
		return;
	x = x_at(p, p->c->phase1_end);
	fprintf(p->r->out,
		"<rect class=\"phase1\" x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
		LEFT, p->top, x - LEFT, p->height);
}

static void draw_line(struct panel *p, const char *class, bool center)
{
	const struct series_step *step;
	size_t n = series_steps(p->c->series, &step), i;

	if (!n)
		return;
	fprintf(p->r->out, "<path class=\"%s\" d=\"", class);
	for (i = 0; i < n; i++) {
		u64 v = center ? step[i].limits.center : step[i].limits.ucl;
		/* the limit in the kernel's first alarm was in force before it, too */
		double x = i || p->c->call ? x_at(p, step[i].time) : LEFT;
		double end = i + 1 < n ? x_at(p, step[i + 1].time) :
					 LEFT + PLOT_WIDTH;

		if (center && !step[i].has_center)
			continue;
		fprintf(p->r->out, "M%.1f %.1fH%.1f", x, y_of(p, v), end);
	}
	fputs("\"/>\n", p->r->out);
}

static void mark(void *arg, double time, double value)
{
	struct panel *p = arg;
	int x = (x_of(p, time) - LEFT) / p->cell;
	int y = (p->top + p->height - y_of(p, value)) / p->cell;

	if (x >= p->columns)
		x = p->columns - 1;
	if (y >= p->rows)
		y = p->rows - 1;
	p->grid[x * p->rows + y] = 1;
}

static void fill_grid(struct panel *p, bool alarms, double cell)
{
	p->cell = cell;
	p->columns = PLOT_WIDTH / cell + 1;
	p->rows = p->height / cell + 1;
	free(p->grid);
	p->grid = xcalloc(p->columns, p->rows);
	series_each(p->c->series, alarms, mark, p);
}

/* Cells, or runs of cells one above the other */
static size_t count_marks(const struct panel *p, bool runs)
{
	size_t n = 0;
	int x, y;

	for (x = 0; x < p->columns; x++) {
		const unsigned char *cell = p->grid + x * p->rows;

		for (y = 0; y < p->rows; y++)
			n += cell[y] && !(runs && y && cell[y - 1]);
	}
	return n;
}

/* Choose the finest grid whose marks fit */
static void choose_grid(struct panel *p, bool alarms, size_t bytes)
{
	size_t each = alarms ? 18 : 13;
	double cell = alarms ? 3 : 1;

	for (;; cell *= 1.5) {
		fill_grid(p, alarms, cell);
		if (count_marks(p, !alarms) * each <= bytes || cell > 50)
			return;
	}
}

static void draw_normal(struct panel *p, size_t bytes)
{
	int x, y, from;

	choose_grid(p, false, bytes);
	fprintf(p->r->out, "<path class=\"%s\" d=\"",
		count_marks(p, false) > 3000 ? "dense" : "normal");
	for (x = 0; x < p->columns; x++) {
		const unsigned char *cell = p->grid + x * p->rows;
		double px = LEFT + (x + 0.5) * p->cell;

		for (y = 0; y < p->rows; y++) {
			if (!cell[y])
				continue;
			for (from = y; y + 1 < p->rows && cell[y + 1]; y++)
				;
			fprintf(p->r->out, "M%.0f %.0fv%.0f", px,
				p->top + p->height - (from + 0.5) * p->cell,
				(from - y) * p->cell);
		}
	}
	fputs("\"/>\n", p->r->out);
}

static void draw_alarms(struct panel *p, size_t bytes)
{
	int x, y;

	choose_grid(p, true, bytes);
	fputs("<path class=\"alarm\" d=\"", p->r->out);
	for (x = 0; x < p->columns; x++) {
		for (y = 0; y < p->rows; y++) {
			if (!p->grid[x * p->rows + y])
				continue;
			fprintf(p->r->out, "M%.0f %.0fl4 7h-8z",
				LEFT + (x + 0.5) * p->cell,
				p->top + p->height - (y + 0.5) * p->cell - 4);
		}
	}
	fputs("\"/>\n", p->r->out);
}

/* Print the value of the worst alarm beside it */
static void label_worst(struct panel *p)
{
	const struct alarm *a = p->c->worst;
	char value[32], label[128];
	double x, y;
	bool left;

	if (!p->c->nr_worst)
		return;
	x = x_at(p, a->time);
	y = y_of(p, a->value);
	left = x > LEFT + PLOT_WIDTH / 2;
	snprintf(label, sizeof(label), "%s  %s-%d",
		 value_text(value, sizeof(value), a->value, p->c->is_time),
		 a->comm, a->pid);
	fprintf(p->r->out,
		"<text class=\"worst\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">",
		left ? x - 8 : x + 8, y - 9 < p->top + 11 ? p->top + 11 : y - 9,
		left ? "end" : "start");
	put_text(p->r->out, label);
	fputs("</text>\n", p->r->out);
}

static double legend_entry(struct panel *p, double x, const char *symbol,
			   const char *text)
{
	double y = p->top - 18;

	fprintf(p->r->out, "<g transform=\"translate(%.1f %.1f)\">%s</g>", x, y,
		symbol);
	fprintf(p->r->out, "<text class=\"legend\" x=\"%.1f\" y=\"%.1f\">",
		x + 28, y + 4);
	put_text(p->r->out, text);
	fputs("</text>\n", p->r->out);
	return x + 28 + text_width(text) + 22;
}

static void draw_legend(struct panel *p)
{
	const struct chart *c = p->c;
	char text[64], value[32];
	double x = LEFT;

	if (c->call)
		x = legend_entry(p, x, "<path class=\"normal\" d=\"M11 0v0\"/>",
				 c->has_limit ? "in control" : "not judged");
	if (c->alarms || c->overdue)
		x = legend_entry(p, x,
				 "<path class=\"alarm\" d=\"M11 -4l4 7h-8z\"/>",
				 "out of control");
	if (c->has_limit) {
		snprintf(text, sizeof(text), "limit %s",
			 value_text(value, sizeof(value), c->limits.ucl,
				    c->is_time));
		x = legend_entry(p, x, "<path class=\"limit\" d=\"M0 0h22\"/>",
				 text);
	}
	if (c->has_limit && c->has_center) {
		snprintf(text, sizeof(text), "centre %s",
			 value_text(value, sizeof(value), c->limits.center,
				    c->is_time));
		x = legend_entry(p, x, "<path class=\"centre\" d=\"M0 0h22\"/>",
				 text);
	}
	if (c->phase1_end)
		legend_entry(
			p, x,
			"<rect class=\"phase1 key\" x=\"0\" y=\"-6\" width=\"22\" height=\"12\"/>",
			"Phase I: the limit is learnt");
}

static void draw_title(struct panel *p)
{
	const struct chart *c = p->c;
	double y = p->top - HEAD + 24;
	char text[256];
	size_t len = 0;

	fprintf(p->r->out, "<text class=\"title\" x=\"%d\" y=\"%.1f\">", LEFT,
		y);
	put_text(p->r->out, c->name);
	fputs("</text>\n", p->r->out);
	if (c->call && !c->has_limit)
		len = snprintf(text, sizeof(text),
			       "%llu"
			       " values, no limit yet: %u of %u learnt",
			       c->learnt, c->phase1_taken,
			       ctlchart_method_samples(&c->call->method));
	else
		len = snprintf(text, sizeof(text),
			       "%llu of %llu"
			       " values out of control",
			       c->alarms, c->values);
	if (c->values && len < sizeof(text))
		len += snprintf(text + len, sizeof(text) - len, " (%.3g %%)",
				100.0 * c->alarms / c->values);
	if (c->overdue && len < sizeof(text))
		len += snprintf(text + len, sizeof(text) - len,
				", %llu overdue", c->overdue);
	if (p->r->gaps && len < sizeof(text))
		snprintf(text + len, sizeof(text) - len,
			 "; records are lost in %llu gap%s", p->r->gaps,
			 plural(p->r->gaps));
	fprintf(p->r->out, "<text class=\"label\" x=\"%d\" y=\"%.1f\">", LEFT,
		y + 19);
	put_text(p->r->out, text);
	fputs("</text>\n", p->r->out);
}

static void draw_panel(struct report *r, const struct chart *c, double top,
		       double height, size_t bytes)
{
	struct panel p = { .r = r, .c = c, .top = top + HEAD, .height = height };
	u64 to;

	draw_title(&p);
	if (!series_range(c->series, &p.from, &to)) {
		fprintf(r->out,
			"<text class=\"label\" x=\"%d\" y=\"%.1f\">no values</text>\n",
			LEFT, p.top);
		return;
	}
	p.span = to - p.from;
	find_range(&p);
	draw_legend(&p);
	draw_phase1(&p);
	draw_axes(&p);
	draw_normal(&p, bytes / 2);
	draw_line(&p, "centre", true);
	draw_alarms(&p, bytes / 2);
	draw_line(&p, "limit", false);
	label_worst(&p);
	free(p.grid);
}

static const char style[] =
	"<style>\n"
	"text { font: 12px Helvetica, Arial, \"Liberation Sans\", sans-serif; fill: #24292f }\n"
	".title { font-size: 16px; font-weight: bold }\n"
	".label, .tick { fill: #57606a }\n"
	".worst { font-weight: bold; stroke: #fff; stroke-width: 3px; paint-order: stroke; stroke-linejoin: round }\n"
	".paper { fill: #fff }\n"
	".grid { stroke: #8c959f; stroke-opacity: .5; fill: none }\n"
	".fine { stroke: #8c959f; stroke-opacity: .22; fill: none }\n"
	".axis { stroke: #57606a; fill: none }\n"
	".normal, .dense { stroke: #4c78a8; stroke-linecap: round; fill: none }\n"
	".normal { stroke-width: 4px; stroke-opacity: .7 }\n"
	".dense { stroke-width: 2px; stroke-opacity: .5 }\n"
	".alarm { fill: #d1242f; stroke: #82061e; stroke-width: .5px }\n"
	".limit { stroke: #bc4c00; stroke-width: 2px; stroke-dasharray: 7 4; fill: none }\n"
	".centre { stroke: #1a7f37; stroke-width: 2px; fill: none }\n"
	".phase1 { fill: #8c959f; fill-opacity: .16 }\n"
	"@media (prefers-color-scheme: dark) {\n"
	"text { fill: #e6edf3 } .label, .tick { fill: #9198a1 } .paper { fill: #0d1117 }\n"
	".worst { stroke: #0d1117 }\n"
	".axis { stroke: #9198a1 } .normal, .dense { stroke: #79b0e8 } .alarm { fill: #ff6a69; stroke: #a40e26 }\n"
	".limit { stroke: #f0883e } .centre { stroke: #3fb950 }\n"
	"}\n"
	"</style>\n";

/**
 * svg_report - draw the charts
 * @r: the report
 */
void svg_report(struct report *r)
{
	const struct chart *panel[MAX_PANELS];
	double height, each;
	size_t n = 0, i, left_out = 0;

	for (i = 0; i < r->nr_charts; i++) {
		if (!report_wants(r, r->chart[i]->name))
			continue;
		if (n < MAX_PANELS && r->chart[i]->series)
			panel[n++] = r->chart[i];
		else
			left_out++;
	}
	height = n == 1 ? 380 : 240;
	each = HEAD + height + FOOT;
	fprintf(r->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\">\n%s"
		"<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n",
		WIDTH, (n ? n * each : 60) + MARGIN + (left_out ? 24 : 0),
		WIDTH, (n ? n * each : 60) + MARGIN + (left_out ? 24 : 0),
		style);
	if (!n)
		fprintf(r->out,
			"<text class=\"title\" x=\"%d\" y=\"36\">no alarms</text>\n",
			LEFT);
	for (i = 0; i < n; i++)
		draw_panel(r, panel[i], i * each, height, POINTS_BYTES / n);
	if (left_out)
		fprintf(r->out,
			"<text class=\"label\" x=\"%d\" y=\"%.0f\">%zu more chart%s left out: --chart chooses one</text>\n",
			LEFT, n * each + 16, left_out, plural(left_out));
	fputs("</svg>\n", r->out);
}
