// SPDX-License-Identifier: GPL-2.0
/* The fit: numbers of visits and samples, priors, and expectation maximisation. */
#include <math.h>
#include <stdlib.h>

#include "fit.h"
#include "order.h"

#define ITERATIONS 60

/* Relative change of all x together at which the iteration stops */
#define CHANGE 1e-6

/* Maximum number of multiplications of one round */
#define WORK_MAX 5e8

/* Ratio of intervals of the same period */
#define ALIKE 1.05

/* Number of lost intervals with similar rates of visits that are weighted together */
#define PHASE 200

/* Maximum weight of a sample, in mean weights */
#define WEIGHT_MAX 20

/* Shapes that are tried, in powers of two, and the minimum number of groups */
#define SHAPE_LEAST 0.125
#define SHAPES 11
#define SHAPE_DEFAULT 0.1
#define GROUPS_MIN 20

/* Part of a visit that is in the interval */
static double visit_part(const struct sample *s, u32 i)
{
	if (s->state != STATE_WHOLE)
		return i == s->nr ? 0.5 : 1;
	if (!s->nr)
		return 1;
	return (i == 0 && s->before != NONE) || i == s->nr ? 0.5 : 1;
}

static bool is_counted(const struct sample *s)
{
	return s->state == STATE_LOST && s->flags & LBRPROF_COUNTED &&
	       !(s->flags & LBRPROF_PLAIN) && s->calls >= s->nr;
}

static bool is_used(const struct sample *s)
{
	return s->ts > s->start && !(s->flags & LBRPROF_PLAIN) &&
	       (s->state == STATE_WHOLE || is_counted(s));
}

/*
 * P, if the counter has one: then many of the shortest intervals are alike. Others are
 * longer by what the counter does not count, such as time in the kernel, or shorter by
 * the time before the thread came.
 */
static double find_period(const struct timeline *t)
{
	double *time = xzalloc((t->nr + 1) * sizeof(*time)), period = 0;
	u64 nr = 0;
	u32 k;

	for (k = 0; k < t->nr; k++) {
		const struct sample *s = &t->sample[k];

		if (is_used(s) && s->before != NONE)
			time[nr++] = s->ts - s->start;
	}
	qsort(time, nr, sizeof(*time), order_double);
	if (nr && time[nr / 4] <= ALIKE * time[nr / 20])
		period = time[nr / 10];
	free(time);
	return period;
}

bool fit_count_samples(struct fitting *f)
{
	const struct timeline *t = f->t;
	double time = 0, visits = 0, period = find_period(t);
	u64 nr = 0;
	u32 k, i;

	for (k = 0; k < t->nr; k++) {
		const struct sample *s = &t->sample[k];

		if (!is_used(s))
			continue;
		time += s->ts - s->start;
		nr++;
		if (s->state == STATE_WHOLE) {
			for (i = 0; i <= s->nr; i++)
				visits += visit_part(s, i);
		} else {
			visits += s->calls + 0.5;
		}
	}
	if (!nr || visits <= 0)
		return false;
	f->mean = time / visits;
	f->t->period = period;
	f->period = period > 0 ? period : time / nr;
	for (k = 0; k < t->nr; k++) {
		const struct sample *s = &t->sample[k];
		u32 group = f->t->group[fit_index(t, k, s->nr)];

		if (is_used(s) && group != NONE && !(s->flags & LBRPROF_SWITCH))
			f->group[group].samples +=
				period > 0 ? 1 : (s->ts - s->start) / f->period;
	}
	return true;
}

/* Number of visits that a sample stands for, up to a common factor */
static double weight_of(const struct fitting *f, u32 sample)
{
	const struct timeline *t = f->t;
	u32 group = f->t->group[fit_index(t, sample, t->sample[sample].nr)];
	const struct start_group *g = group == NONE ? NULL : &f->group[group];
	double x = g && g->visits > 0 && g->expected > 0 ?
			   g->expected / g->visits :
			   f->mean;

	return f->mean / x < WEIGHT_MAX ? f->mean / x : WEIGHT_MAX;
}

static bool is_lost(const struct sample *s)
{
	return is_used(s) && s->state != STATE_WHOLE && s->nr > 1;
}

static int by_rate(const void *a, const void *b)
{
	const struct lost_interval *x = a, *y = b;

	return ORDER(x->rate, y->rate) ?: ORDER(x->sample, y->sample);
}

/* Sort the intervals that are not whole by their rate of visits */
void fit_find_lost(struct fitting *f)
{
	const struct timeline *t = f->t;
	u32 k;

	f->lost = xzalloc((t->nr + 1) * sizeof(*f->lost));
	for (k = 0; k < t->nr; k++) {
		const struct sample *s = &t->sample[k];

		if (is_lost(s))
			f->lost[f->nr_lost++] = (struct lost_interval){
				.sample = k,
				.visits = s->calls + 0.5,
				.rate = (s->calls + 0.5) / (s->ts - s->start)
			};
	}
	qsort(f->lost, f->nr_lost, sizeof(*f->lost), by_rate);
}

/* V_j of some lost intervals */
static void count_lost(struct fitting *f, u64 from, u64 to)
{
	struct timeline *t = f->t;
	double seen = 0, all = 0, w;
	u64 k;
	u32 i;

	for (k = from; k < to; k++) {
		const struct lost_interval *v = &f->lost[k];

		seen += weight_of(f, v->sample) * (t->sample[v->sample].nr - 1);
		all += v->visits;
	}
	for (k = from; k < to; k++) {
		u32 sample = f->lost[k].sample;
		const u32 *key = &t->key[fit_index(t, sample, 0)];

		w = weight_of(f, sample) * all / seen;
		for (i = 1; i < t->sample[sample].nr; i++)
			f->class[key[i]].visits += w;
	}
}

/* V_j, from whole and lost intervals */
void fit_count_visits(struct fitting *f)
{
	struct timeline *t = f->t;
	u64 k, at;
	u32 i;

	for (i = 0; i < f->classes; i++)
		f->class[i].visits = 0;
	for (k = 0; k < t->nr; k++) {
		const struct sample *s = &t->sample[k];

		for (i = 0; is_used(s) && s->state == STATE_WHOLE && i <= s->nr;
		     i++)
			f->class[t->key[fit_index(t, k, i)]].visits +=
				visit_part(s, i);
	}
	for (at = 0; at < f->nr_lost; at += PHASE) {
		/* The last lost intervals are not left alone */
		k = f->nr_lost - at < 2 * PHASE ? f->nr_lost : at + PHASE;
		count_lost(f, at, k);
		if (k == f->nr_lost)
			break;
	}
}

void fit_sum_groups(struct fitting *f)
{
	u32 i, j;

	for (i = 0; i < f->groups; i++) {
		struct start_group *g = &f->group[i];

		g->visits = g->expected = g->squares = 0;
		for (j = 0; j < CODE_MODELS; j++)
			g->insns_by_code[j] = g->visits_by_code[j] = 0;
	}
	for (i = 0; i < f->classes; i++) {
		const struct visit_class *k = &f->class[i];
		struct start_group *g;

		if (k->group == NONE)
			continue;
		g = &f->group[k->group];
		g->visits += k->visits;
		g->expected += k->visits * k->x;
		g->squares += k->visits * k->x * k->x *
			      (k->code == CODE_LINEAR ? 1 : LOOP_SQUARE);
		g->insns_by_code[k->code] += k->visits * k->mean;
		g->visits_by_code[k->code] += k->visits;
	}
}

/* Log likelihood of n with e expected and shape a */
static double likelihood(double n, double e, double a)
{
	return lgamma(n + a) - lgamma(a) + n * log(e / (a + e)) +
	       a * log(a / (a + e));
}

static bool is_of(const struct start_group *g, enum code_model code)
{
	return g->visits_by_code[code] > 0.9 * g->visits &&
	       g->insns_by_code[code] > 0;
}

/*
 * Estimate c and a of a model, from groups that consist of it almost only. With too few
 * of them, the code is not used.
 */
static void learn_prior(struct fitting *f, enum code_model code)
{
	double samples = 0, expected = 0, best = -INFINITY, a = SHAPE_LEAST;
	u32 groups = 0, i, j;

	for (i = 0; i < f->groups; i++) {
		if (!is_of(&f->group[i], code))
			continue;
		groups++;
		samples += f->group[i].samples;
		expected += f->group[i].insns_by_code[code] / f->period;
	}
	f->shape[code] = SHAPE_DEFAULT;
	f->scale[code] = 0;
	if (code == CODE_UNKNOWN || groups < GROUPS_MIN || samples <= 0)
		return;
	f->scale[code] = samples / expected;
	for (j = 0; j < SHAPES; j++, a *= 2) {
		double sum = 0;

		for (i = 0; i < f->groups; i++) {
			const struct start_group *g = &f->group[i];

			if (is_of(g, code))
				sum += likelihood(
					g->samples,
					f->scale[code] *
						g->insns_by_code[code] /
						f->period,
					a);
		}
		if (sum > best) {
			best = sum;
			f->shape[code] = a;
		}
	}
}

/* Classes without information from the code get the mean of their function */
static void mean_of_functions(struct fitting *f)
{
	u32 functions = symtab_functions(f->t->symbols), i;
	double *time = xzalloc(functions * sizeof(*time));
	double *nr = xzalloc(functions * sizeof(*nr));

	for (i = 0; i < f->classes; i++) {
		const struct visit_class *k = &f->class[i];

		time[k->function] += k->visits * k->x;
		nr[k->function] += k->visits;
	}
	for (i = 0; i < f->classes; i++) {
		struct visit_class *k = &f->class[i];

		if (f->scale[k->code] <= 0)
			k->mean = nr[k->function] > 0 && time[k->function] > 0 ?
					  time[k->function] / nr[k->function] :
					  f->mean;
	}
	free(time);
	free(nr);
}

void fit_set_priors(struct fitting *f)
{
	enum code_model code;
	u32 i;

	for (i = 0; i < f->classes; i++)
		f->class[i].mean = f->class[i].insns;
	fit_sum_groups(f);
	for (code = 0; code < CODE_MODELS; code++)
		learn_prior(f, code);
	for (i = 0; i < f->classes; i++)
		f->class[i].mean *= f->scale[f->class[i].code];
	mean_of_functions(f);
}

void fit_add_intervals(struct fitting *f, bool den)
{
	struct timeline *t = f->t;
	u32 k, i;

	for (k = 0; k < t->nr; k++) {
		const struct sample *s = &t->sample[k];
		const u32 *key = &t->key[fit_index(t, k, 0)];
		double sum = 0, w;

		if (s->state != STATE_WHOLE || s->flags & LBRPROF_PLAIN)
			continue;
		if (den) {
			for (i = 0; i <= s->nr; i++)
				f->class[key[i]].den +=
					visit_part(s, i) / f->mean;
			continue;
		}
		for (i = 0; i <= s->nr; i++)
			sum += visit_part(s, i) * f->class[key[i]].x;
		if (sum <= 0)
			continue;
		w = (s->ts - s->start) / sum / f->mean;
		for (i = 0; i <= s->nr; i++)
			f->class[key[i]].num += w * visit_part(s, i);
	}
}

/* Return: relative change of all durations */
static double em_step(struct fitting *f)
{
	double change = 0, all = 0, den;
	u32 i;

	for (i = 0; i < f->classes; i++)
		f->class[i].num = 0;
	fit_add_intervals(f, false);
	fit_sum_groups(f);
	for (i = 0; i < f->classes; i++) {
		struct visit_class *k = &f->class[i];
		double old = k->x, a = f->shape[k->code];

		den = k->den;
		if (k->group != NONE && f->group[k->group].expected > 0) {
			k->num += k->visits * f->group[k->group].samples /
				  f->group[k->group].expected;
			den += k->visits / f->period;
		}
		k->x = (old * k->num + a) / (den + a / k->mean);
		change += fabs(k->x - old) * k->visits;
		all += k->x * k->visits;
	}
	return all > 0 ? change / all : 0;
}

void fit_iterate(struct fitting *f)
{
	double work = f->t->branches + f->t->nr + f->classes + 1;
	u32 i;

	for (i = 0; i < ITERATIONS && i * work < WORK_MAX; i++) {
		if (em_step(f) < CHANGE)
			break;
	}
}
