// SPDX-License-Identifier: GPL-2.0
/*
 * Which parts of an operation's time are longer than usual, and which one is its cause.
 */
#include <linux/kernel.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "memory.h"
#include "order.h"
#include "text.h"

/* Least number of normal executions from which the usual time of a part is known */
#define NORMAL_MIN 3

/* A part is new if normal executions have less than this share of its time */
#define NEW_USUAL 0.1

/* A value can be one by chance if the expected number of such values is larger */
#define CHANCE_MAX 0.003

/* A larger expected number lowers the confidence */
#define CHANCE_DOUBT 0.00003

/* Values that a chart learns its lines from by default */
#define LEARNT 100

/* Least number of normal executions from which the sigma of a part is known */
#define SPREAD_MIN 10

static u64 took(const struct execution *e)
{
	return e->end - e->start;
}

/**
 * explain_delay - time beyond the usual
 * @x: the operation
 *
 * Return: ns; 0 if it took no longer than the centre line.
 */
u64 explain_delay(const struct explain *x)
{
	return took(&x->op) > x->center ? took(&x->op) - x->center : 0;
}

/* Waiting for a CPU is one part for all tasks that had the CPU */
static bool is_alike(const struct part *a, const struct part *b)
{
	return a->kind == PART_WAIT ? b->kind == PART_WAIT :
				      !strcmp(a->key, b->key);
}

static u64 time_of(const struct execution *e, const struct part *p)
{
	u64 ns = 0;
	size_t i;

	for (i = 0; i < e->nr; i++)
		ns += is_alike(p, &e->part[i]) ? e->part[i].ns : 0;
	return ns;
}

static double percent(double ns, double delay)
{
	return ns <= 0 || !delay ? 0 : ns >= delay ? 100 : 100 * ns / delay;
}

/*
 * By how much a part is longer than usual. Normal executions show that, if the recording
 * has some. Otherwise the usual time of a part is between zero and the usual duration,
 * and the other parts are assumed to be as usual.
 */
static void share(const struct explain *x, struct part *p)
{
	double delay = explain_delay(x), ns = p->ns, all = time_of(&x->op, p);
	double least = INFINITY, most = 0, sum = 0, t;
	size_t i;

	if (x->nr_normal < NORMAL_MIN) {
		p->least = percent(ns - x->center, delay);
		p->most = percent(ns, delay);
		p->usual = ns > delay ? ns - delay : 0;
	} else {
		for (i = 0; i < x->nr_normal; i++) {
			/* Its part of the usual time of all parts with this key */
			t = time_of(&x->normal[i], p) * ns / all;
			least = fmin(least, t);
			most = fmax(most, t);
			sum += t;
		}
		p->usual = sum / x->nr_normal;
		p->least = percent(ns - most, delay);
		p->most = percent(ns - least, delay);
	}
	p->share = percent(ns - p->usual, delay);
}

static int by_share(const void *a, const void *b)
{
	const struct part *p = a, *q = b;
	double m = (double)p->ns - p->usual, n = (double)q->ns - q->usual;

	/* Without normal executions, several may fill the whole delay: the longest is first */
	return m < n ? 1 : m > n ? -1 : ORDER(q->ns, p->ns);
}

/**
 * explain_shares - find the shares of the delay
 * @x: the operation, whose parts are put in order
 */
void explain_shares(struct explain *x)
{
	size_t i;

	for (i = 0; i < x->op.nr; i++)
		share(x, &x->op.part[i]);
	if (x->op.nr)
		qsort(x->op.part, x->op.nr, sizeof(*x->op.part), by_share);
}

/*
 * The expected number of values, among @judged, that are as far above the usual as @z, a
 * logarithm. @sigma is from @n values: it can be larger by two of its standard errors.
 */
static double expected(double z, double sigma, double n, u64 judged)
{
	sigma *= 1 + 2 / sqrt(2 * n);
	return erfc(z / sigma / M_SQRT2) / 2 * (judged ? judged : 1);
}

/*
 * By the sigma of the chart, whose lines are three sigma apart, and of later values. A fixed
 * limit is not of values.
 */
static double expected_values(const struct explain *x)
{
	unsigned int learnt = x->fixed ? 0 : LEARNT;
	double sigma, n = learnt + x->nr_values;

	if (!x->center || x->limit <= x->center || n < SPREAD_MIN)
		return 0;
	sigma = log((double)x->limit / x->center) / 3;
	sigma = sqrt(
		(sigma * sigma * learnt + x->sigma * x->sigma * x->nr_values) /
		n);
	return expected(log((double)took(&x->op) / x->center), sigma, n,
			x->judged);
}

/* By the sigma of the part in normal executions */
static double expected_parts(const struct explain *x, const struct part *p)
{
	double sum = 0, squares = 0, n = x->nr_normal, t;
	size_t i;

	if (n < SPREAD_MIN)
		return INFINITY;
	for (i = 0; i < x->nr_normal; i++) {
		t = time_of(&x->normal[i], p);
		if (!t)
			return INFINITY;
		sum += log(t);
		squares += log(t) * log(t);
	}
	sum /= n;
	squares = squares / n - sum * sum;
	return expected(log(time_of(&x->op, p)) - sum,
			sqrt(fmax(squares, 1e-6)), n, x->judged);
}

/**
 * explain_doubt - add a doubt
 * @x: the operation
 * @confidence: is lowered
 * @factor: by this
 * @text: why, in a line, for free()
 */
void explain_doubt(struct explain *x, double *confidence, double factor,
		   char *text)
{
	if (x->nr_doubts == ARRAY_SIZE(x->doubt)) {
		free(text);
		return;
	}
	x->doubt[x->nr_doubts++] = text;
	*confidence *= factor;
}

static void weigh_usual(struct explain *x, double *c)
{
	const struct part *p = &x->op.part[0];
	u64 sum = 0;
	double ratio;
	size_t i;

	if (!x->center)
		explain_doubt(
			x, c, 0.8,
			xstrdup("the chart has no centre line: shares are of all the time"));
	for (i = 0; i < x->nr_normal; i++)
		sum += took(&x->normal[i]);
	if (p->least < SHARE_MIN && p->most >= SHARE_MIN) {
		/*
		 * Without normal executions, each share between these is equally likely
		 */
		ratio = x->nr_normal < NORMAL_MIN ?
				(p->most - SHARE_MIN) / (p->most - p->least) :
				0.9;
		explain_doubt(
			x, c, ratio,
			xasprintf(
				"%s: it can have %.0f to %.0f %% of the delay",
				x->nr_normal < NORMAL_MIN ?
					"too few normal executions to compare with" :
					"normal executions differ",
				p->least, p->most));
	}
	if (x->nr_normal < NORMAL_MIN)
		return;
	ratio = (double)sum / x->nr_normal / max(x->center, (u64)1);
	if (x->center && (ratio > 2 || ratio < 0.5))
		explain_doubt(
			x, c, 0.9,
			xasprintf(
				"normal executions in the recording take %.1f times the centre line",
				ratio));
}

static void weigh_unseen(struct explain *x, double *c)
{
	const struct part *p = &x->op.part[0];
	double unseen = percent(x->unseen, explain_delay(x));
	char text[32];

	if (unseen >= 1)
		explain_doubt(x, c, 1 - unseen / 100,
			      xasprintf("%s of the operation are not recorded",
					format_value(text, sizeof(text),
						     x->unseen, true)));
	if (x->lost)
		explain_doubt(
			x, c, 0.9,
			xasprintf(
				"events are lost at %llu place%s that can be in the operation",
				(unsigned long long)x->lost,
				x->lost == 1 ? "" : "s"));
	/* The confidence is lowered once for all places */
	if (x->unrecorded)
		explain_doubt(
			x, c, x->lost ? 1 : 0.9,
			xasprintf(
				"nothing was recorded at %llu place%s that can be in the operation, such as between two windows; no events are lost there",
				(unsigned long long)x->unrecorded,
				x->unrecorded == 1 ? "" : "s"));
	if (x->odd)
		explain_doubt(
			x, c, 0.8,
			xasprintf(
				"events disagree %llu time%s on whether the thread ran",
				(unsigned long long)x->odd,
				x->odd == 1 ? "" : "s"));
	if (p->kind == PART_BLOCKED_BLIND)
		explain_doubt(x, c, 0.5, xstrdup("the waker is not recorded"));
	if (p->kind == PART_RUN && (!x->seen[SAW_IRQ] || !x->seen[SAW_SOFTIRQ]))
		explain_doubt(
			x, c,
			x->seen[SAW_IRQ] || x->seen[SAW_SOFTIRQ] ? 0.9 : 0.7,
			xstrdup("interrupts, which would count as computing, are not seen"));
}

static void weigh_rival(struct explain *x, double *c)
{
	const struct part *p = &x->op.part[0];

	if (x->op.nr > 1 && p[1].share > 25)
		explain_doubt(x, c, 1 - p[1].share / 200,
			      xasprintf("%s has %.0f %% of the delay",
					p[1].name, p[1].share));
}

/* Whether normal executions have next to nothing of the first part */
static bool is_new(const struct explain *x)
{
	const struct part *p = &x->op.part[0];

	return x->nr_normal >= NORMAL_MIN && p->usual < NEW_USUAL * p->ns;
}

static void weigh_chance(struct explain *x, double *c)
{
	if (x->chance > CHANCE_DOUBT && !is_new(x))
		explain_doubt(x, c, 0.85,
			      xstrdup("values nearly as large come by chance"));
}

static const char *why_none(const struct explain *x)
{
	if (!x->op.nr)
		return "the recording does not show what the operation did";
	if (!explain_delay(x))
		return "it took no longer than usual";
	if (x->by_chance)
		return "values as large as this one come by chance";
	if (x->unseen >= x->op.part[0].ns)
		return "most of the operation is not seen";
	if (x->op.part[0].share < SHARE_MIN)
		return "no part has half of the delay";
	return NULL;
}

/**
 * explain_judge - name the cause by the events, or none
 * @x: what explain_read() has filled in; the parts are put in order
 */
void explain_judge(struct explain *x)
{
	double confidence = 99;
	u64 known = 0;
	size_t i;

	explain_shares(x);
	for (i = 0; i < x->op.nr; i++)
		known += x->op.part[i].ns;
	x->unseen = took(&x->op) > known ? took(&x->op) - known : 0;
	x->chance = expected_values(x);
	if (x->op.nr)
		x->chance = fmin(x->chance, expected_parts(x, x->op.part));
	if (x->op.nr) {
		weigh_usual(x, &confidence);
		weigh_unseen(x, &confidence);
		weigh_rival(x, &confidence);
		weigh_chance(x, &confidence);
	}
	x->by_chance = x->op.nr && x->chance > CHANCE_MAX && !is_new(x);
	x->why_none = why_none(x);
	x->confidence = x->why_none ? 0 : max(confidence, 1.0);
}
