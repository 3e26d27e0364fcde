// SPDX-License-Identifier: GPL-2.0
/*
 * usage: limits [-n LEARNINGS] [FILE]
 *
 * How good are the limits?  Learns and judges values of known distributions,
 * with the very code that the kernel runs (tools/kernel/chart.c and rules.c), and
 * prints how often healthy values are alarms, how many slow ones are found, and
 * what no limit could do better.  FILE holds recorded values, a number a line in
 * the order in which they came: its first half is learnt from, its second half
 * judged.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "rules.h"

/* values are in units of the distribution; the chart gets them in these */
#define UNIT 1e6

/* for the table of rules: values judged after each learning */
#define STREAM 20000
#define STREAMS 300

/* ---- random numbers: the same ones in every run ---- */

static unsigned long long seed;

static double rnd(void)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return ((seed * 0x2545f4914f6cdd1dULL >> 11) + 0.5) / 0x1p53;
}

static double rnd_normal(void)
{
	return sqrt(-2 * log(rnd())) * cos(2 * M_PI * rnd());
}

/* ---- distributions ---- */

static double *recorded;
static size_t nr_recorded;

static double draw_log_normal(void)
{
	return exp(rnd_normal());
}

static double tail_log_normal(double x)
{
	return x > 0 ? erfc(log(x) / sqrt(2)) / 2 : 1;
}

static double draw_exponential(void)
{
	return -log(rnd());
}

static double tail_exponential(double x)
{
	return x > 0 ? exp(-x) : 1;
}

static double draw_pareto(void)
{
	return 1 / sqrt(rnd());
}

static double tail_pareto(double x)
{
	return x > 1 ? 1 / (x * x) : 1;
}

/* one in ten is a hundred times slower: a cache that misses */
static double draw_bimodal(void)
{
	return (rnd() < 0.1 ? 100 : 1) * (1 + rnd());
}

static double tail_uniform(double x)
{
	return x < 1 ? 1 : x > 2 ? 0 : 2 - x;
}

static double tail_bimodal(double x)
{
	return 0.9 * tail_uniform(x) + 0.1 * tail_uniform(x / 100);
}

/* neighbours are alike: log-normal with a correlation of 0.5 */
static double draw_ar1(void)
{
	static double level;

	level = 0.5 * level + sqrt(0.75) * rnd_normal();
	return exp(level);
}

/* Recorded values come in order, learnings begin anywhere in the first half */
static size_t recorded_at;

static double draw_recorded(void)
{
	double x = recorded[recorded_at];

	recorded_at = (recorded_at + 1) % nr_recorded;
	return x;
}

static double tail_recorded(double x)
{
	size_t i, above = 0, half = nr_recorded / 2;

	for (i = half; i < nr_recorded; i++)
		above += recorded[i] > x;
	return (double)above / (nr_recorded - half);
}

static const struct distribution {
	const char *name;
	double (*draw)(void);
	double (*tail)(double x); /* share of values above x */
} distributions[] = {
	{ "log-normal", draw_log_normal, tail_log_normal },
	{ "exponential", draw_exponential, tail_exponential },
	{ "Pareto 2", draw_pareto, tail_pareto },
	{ "bimodal", draw_bimodal, tail_bimodal },
	{ "AR(1) 0.5", draw_ar1, tail_log_normal },
	{ "recorded", draw_recorded, tail_recorded },
};

#define RECORDED (sizeof(distributions) / sizeof(*distributions) - 1)

/* The least value that a share of at most @p lies above */
static double quantile(const struct distribution *d, double p)
{
	double low = 0, high = 1e12;
	int i;

	for (i = 0; i < 100; i++) {
		double mid = (low + high) / 2;

		if (d->tail(mid) > p)
			low = mid;
		else
			high = mid;
	}
	return high;
}

/* ---- learning ---- */

struct learner {
	struct ctlchart_method method;
	struct ctlchart_phase1 phase1;
	u64 *room;
};

static void learner_init(struct learner *l, int limit, int scale)
{
	l->method.limit = limit;
	l->method.scale = scale;
	l->method.group = CTLCHART_GROUP_DEFAULT;
	l->method.groups =
		limit == CTLCHART_QUANTILE ?
			CTLCHART_QUANTILE_MIN / CTLCHART_GROUP_DEFAULT :
			CTLCHART_GROUPS_DEFAULT;
	l->room = calloc(ctlchart_phase1_room(&l->method), sizeof(*l->room));
	if (!l->room)
		abort();
}

/*
 * Phase I; @outlier multiplies one of the values.  Of a recording, values spread
 * over its first half, as learn= does.
 */
static double learn(struct learner *l, const struct distribution *d,
		    double outlier)
{
	u32 samples = ctlchart_method_samples(&l->method), i;
	u32 at = outlier > 1 ? (u32)(rnd() * samples) : samples;
	struct ctlchart_limits limits;
	size_t half = nr_recorded / 2, offset = rnd() * half;

	ctlchart_phase1_start(&l->phase1, &l->method, l->room);
	for (i = 0; i < samples; i++) {
		double x;

		recorded_at = half ? (offset + i * half / samples) % half : 0;
		x = d->draw() * (i == at ? outlier : 1);
		ctlchart_phase1_add(&l->phase1, x * UNIT);
	}
	ctlchart_phase1_limits(&l->phase1, &limits);
	return limits.ucl / UNIT;
}

/* Values until the first alarm, at most @max */
static double run_length(const struct distribution *d, double ucl, int max)
{
	int i;

	for (i = 1; i < max; i++) {
		if (d->draw() > ucl)
			break;
	}
	return i;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void limit_row(const struct distribution *d, int limit, int scale,
		      int learnings)
{
	static const char *const limits[] = { "individuals", "median",
					      "quantile" };
	double *rate = calloc(learnings, sizeof(*rate)), sum = 0, slow5 = 0;
	double p999 = quantile(d, 0.001), run = 0;
	int i, runs = 0, capped = 0, far = 0, blind = 0, heavy = 0, modes = 0;
	struct learner l = { 0 };

	if (!rate)
		abort();
	learner_init(&l, limit, scale);
	for (i = 0; i < learnings; i++) {
		double ucl = learn(&l, d, 1), length;

		rate[i] = d->tail(ucl);
		sum += rate[i];
		slow5 += d->tail(ucl / 5);
		far += 10 * p999 > ucl;
		heavy += ctlchart_phase1_shape(&l.phase1) ==
			 CTLCHART_SHAPE_HEAVY;
		modes += ctlchart_phase1_shape(&l.phase1) ==
			 CTLCHART_SHAPE_BIMODAL;
		blind += 10 * p999 > learn(&l, d, 100);
		if (i >= STREAMS)
			continue;
		recorded_at = nr_recorded / 2;
		length = run_length(d, ucl, STREAM);
		run += length;
		capped += length == STREAM;
		runs++;
	}
	qsort(rate, learnings, sizeof(*rate), compare);
	printf("%-11s  %-11s  %-6s  %7.3f  %7.3f  %7.3f  %6.1f  %6.1f  %6.1f  %6.1f  %s%-6.0f  %5.1f  %5.1f\n",
	       d->name, limits[limit],
	       limit == CTLCHART_QUANTILE ? "" :
	       scale == CTLCHART_LOG	  ? "log" :
					    "linear",
	       100 * sum / learnings, 100 * rate[learnings / 20],
	       100 * rate[learnings - 1 - learnings / 20],
	       100 * slow5 / learnings,
	       100 * d->tail(quantile(d, sum / learnings) / 5),
	       100.0 * far / learnings, 100.0 * blind / learnings,
	       capped > runs / 100 ? ">" : " ", run / runs,
	       100.0 * heavy / learnings, 100.0 * modes / learnings);
	free(l.room);
	free(rate);
}

static void limit_table(size_t nr, int learnings)
{
	size_t i;
	int scale;

	printf("Limits, over %d learnings: 100 values, for quantile 3000.\n"
	       "false: healthy values out of control, %%, their mean and the 5th and 95th percentile of the learnings\n"
	       "5x: of healthy values that take five times as long, those found, %%; best: what the limit with the same false alarms\n"
	       "would find that knew the distribution\n"
	       "10x: delays of ten times the 99.9th percentile that are found, %%; outlier: after one value of Phase I was 100 times larger\n"
	       "run: values to the first false alarm, mean of %d runs (> %d in some of them)\n"
	       "heavy, modes: learnings after which the chart says that values look heavy-tailed, bimodal, %%\n\n"
	       "%-11s  %-11s  %-6s  %7s  %7s  %7s  %6s  %6s  %6s  %6s   %-6s  %5s  %5s\n",
	       learnings, learnings < STREAMS ? learnings : STREAMS, STREAM,
	       "values", "limit", "scale", "false", "5th", "95th", "5x", "best",
	       "10x", "outlier", "run", "heavy", "modes");
	for (i = 0; i < nr; i++) {
		const struct distribution *d = &distributions[i];

		for (scale = CTLCHART_LOG; scale <= CTLCHART_LINEAR; scale++)
			limit_row(d, CTLCHART_INDIVIDUALS, scale, learnings);
		for (scale = CTLCHART_LOG; scale <= CTLCHART_LINEAR; scale++)
			limit_row(d, CTLCHART_MEDIAN, scale, learnings);
		limit_row(d, CTLCHART_QUANTILE, CTLCHART_LOG, learnings);
		printf("%-11s  %-11s  %-6s  %7.3f  %7s  %7s  %6.1f  %6.1f\n\n",
		       d->name, "best at 0.3%", "", 0.3, "", "",
		       100 * d->tail(quantile(d, 0.003) / 5),
		       100 * d->tail(quantile(d, 0.003) / 5));
	}
}

/* ---- rules ---- */

#define LIMIT CTLCHART_RULES
#define QUESTIONS (CTLCHART_RULES + 1)

struct answers {
	double points, broken[QUESTIONS];
	double length[QUESTIONS];
	int capped[QUESTIONS];
};

/* A stream of values, @factor times as large as healthy ones */
static void ask(struct answers *a, const struct distribution *d,
		struct learner *l, double factor)
{
	double ucl = learn(l, d, 1);
	struct ctlchart_verdict v;
	struct ctlchart_zones z;
	struct ctlchart_rules r = { 0 };
	int first[QUESTIONS] = { 0 }, i, q;

	ctlchart_phase1_zones(&l->phase1, &z);
	recorded_at = nr_recorded / 2;
	for (i = 1; i <= STREAM; i++) {
		double x = d->draw() * factor;
		u32 broken = 0;
		u64 point;

		if (ctlchart_rules_add(&r, &l->method, 1, x * UNIT, &point)) {
			ctlchart_rules_check(&r, &z, point, &v);
			a->points++;
			broken = v.rules;
		}
		if (x > ucl)
			broken |= 1u << LIMIT;
		for (q = 0; broken && q < QUESTIONS; q++) {
			if (!(broken & 1u << q))
				continue;
			a->broken[q]++;
			if (!first[q])
				first[q] = i;
		}
	}
	for (q = 0; q < QUESTIONS; q++) {
		a->length[q] += first[q] ? first[q] : STREAM;
		a->capped[q] += !first[q];
	}
}

static void rule_rows(const struct distribution *d)
{
	struct answers healthy = { 0 }, slow = { 0 };
	struct learner l = { 0 };
	int i, q;

	learner_init(&l, CTLCHART_INDIVIDUALS, CTLCHART_LOG);
	for (i = 0; i < STREAMS; i++) {
		ask(&healthy, d, &l, 1);
		ask(&slow, d, &l, 2);
	}
	for (q = LIMIT;; q = q == LIMIT ? 0 : q + 1) {
		char name[16];

		snprintf(name, sizeof(name), q == LIMIT ? "limit" : "%d",
			 q + 1);
		printf("%-11s  %-5s  %7.3f  %s%-6.0f  %s%-6.0f\n", d->name,
		       name,
		       100 * healthy.broken[q] /
			       (q == LIMIT ? (double)STREAM * STREAMS :
					     healthy.points),
		       healthy.capped[q] ? ">" : " ",
		       healthy.length[q] / STREAMS, slow.capped[q] ? ">" : " ",
		       slow.length[q] / STREAMS);
		if (q == CTLCHART_RULES - 1)
			break;
	}
	putchar('\n');
	free(l.room);
}

static void rule_table(size_t nr)
{
	size_t i;

	printf("Rules, on medians of groups of five, after %d learnings of the default chart.\n"
	       "false: share of healthy points (of values for limit) that break the rule, %%\n"
	       "run: values to the first of them; twice: values to the first alarm after all values have doubled (> none in %d in some runs)\n\n"
	       "%-11s  %-5s  %7s   %-6s   %-6s\n",
	       STREAMS, STREAM, "values", "rule", "false", "run", "twice");
	for (i = 0; i < nr; i++)
		rule_rows(&distributions[i]);
}

/* ---- */

static int read_recorded(const char *name)
{
	FILE *f = fopen(name, "r");
	size_t room = 0;
	double x;
	int got;

	if (!f) {
		fprintf(stderr, "limits: %s: %s\n", name, strerror(errno));
		return EXIT_FAILURE;
	}
	while ((got = fscanf(f, "%lf", &x)) == 1) {
		if (nr_recorded == room) {
			room = room ? 2 * room : 4096;
			recorded = realloc(recorded, room * sizeof(*recorded));
			if (!recorded)
				abort();
		}
		recorded[nr_recorded++] = x / UNIT;
	}
	fclose(f);
	if (got == EOF && nr_recorded >= 2 * CTLCHART_QUANTILE_MIN)
		return 0;
	fprintf(stderr, "limits: %s: %s %zu values; %d are needed\n", name,
		got == EOF ? "there are" : "something is no number after",
		nr_recorded, 2 * CTLCHART_QUANTILE_MIN);
	return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	int learnings = 1000, opt;
	size_t nr = RECORDED;

	seed = 0x9e3779b97f4a7c15ULL;
	while ((opt = getopt(argc, argv, "n:")) != -1) {
		learnings = opt == 'n' ? atoi(optarg) : 0;
		if (learnings < 20) {
			fputs("usage: limits [-n LEARNINGS] [FILE]\n", stderr);
			return 2;
		}
	}
	if (optind < argc) {
		if (read_recorded(argv[optind]))
			return EXIT_FAILURE;
		nr++;
	}
	limit_table(nr, learnings);
	rule_table(nr);
	free(recorded);
	return 0;
}
