// SPDX-License-Identifier: GPL-2.0
/*
 * Parts of the visits that samples cut.
 *
 * By the fit, the duration of a visit is known, and a sample is at a random place in
 * its visit. But the samples before and after it show more: interval i, of length T_i,
 * consists of the end q of one cut visit, of whole visits of total duration m_i, and of
 * the begin p of the next cut visit. A cut visit of duration x consists of its p, of the
 * intervals D without a branch, which it fills, and of its q:
 *
 *     q_a + m_i + p_b = T_i        p_c + D_c + q_c = x_c
 *
 * Each equation holds up to the variance of visits, u m_i and v = u x_c, as in the fit.
 * If a sample is at a random place of the rest X of its visit, of mean x - D and
 * variance v, the difference p - q is X times a uniform variable from -1 to 1, so its
 * variance is E(X^2) / 3 = ((x - D)^2 + v) / 3. The most likely p and q >= 0 are the
 * solution of a tridiagonal linear system. Negative ones are set to 0, and the system is
 * solved again.
 *
 * A visit that has already lasted longer than x is unlike those of the fit: it lasts x
 * more, as if it had just begun.
 *
 * u is the part of the intervals' residuals that random places do not explain. If there
 * are no more of these than fitted parameters, they show nothing, and u is the mean of x,
 * as for exponential durations. A sampled visit lasts x + u on average; here at most 2 x,
 * the value for exponential durations.
 *
 * With cycles, the same is solved again, with m and x as measured, except for those
 * that exceed the counter: these are taken from the fit, if that agrees. The only
 * unknown is then where in the first visit of a row of intervals the row begins, so two
 * more facts are used. An interval that is not whole may begin a row, as its last visit
 * is the first one of the next interval. And how long a visit had lasted when it was
 * sampled may be known from the code. Otherwise it is estimated from the durations d of
 * all measured visits that began at the same place and ended where this one can still
 * get to: a sample hits a visit the more likely the longer it is, at any place r in it
 * (the inspection paradox: Feller, An introduction to probability theory II, I.4), so
 *
 *     E(r) = sum(d^2) / 2 sum(d)        E(r^2) = sum(d^3) / 3 sum(d)
 *
 * One more, unseen visit is added: its length is exponential, with the mean of the fit,
 * or so long that the mean of all is that of the fit, which includes long visits by the
 * samples in them. Fewer than 20 visits do not show the 5 % quantile.
 *
 * The error of p and q is twice the standard deviation, from the inverse of the system.
 */
#include <math.h>
#include <stdlib.h>

#include "lbrtime.h"

/* Rounds in which all, or nearly all, negative ones are found */
#define ROUNDS 20

/* Minimum variance of a visit, relative to its duration */
#define VARIANCE_MIN 0.001

/* Probability of a value outside of the error */
#define OUTSIDE 0.05

/* If the fit's durations exceed the measured ones by this factor,
 * long visits were not seen
 */
#define UNSEEN 2

/* From a switch until the thread's LBR is cleared, ns */
#define SWITCH 2000.0

struct row;

/**
 * struct cut - a visit that is in several intervals
 * @p:		its part in the first of them, ns
 * @q:		its part in the last of them, ns
 * @between:	its parts between, D, ns
 * @x:		its duration, ns
 * @room:	measured: the sample is anywhere in this, ns; or 0
 * @p_error:	error of @p, ns
 * @q_error:	error of @q, ns
 * @first:	sample of the first interval
 * @last:	sample of the last interval
 * @p_zero:	@p is 0
 * @q_zero:	@q is 0
 * @p_only:	@last is not whole: only @p is wanted
 * @q_only:	there was a switch before @last, or @first is unknown: only @q is wanted
 */
struct cut {
	double p, q;
	double between;
	double x;
	double room;
	double p_error, q_error;
	u32 first, last;
	bool p_zero, q_zero;
	bool p_only, q_only;
};

/**
 * struct moments - moments of measured visits
 * @visits:	number of visits
 * @deviations:	sum of (d - x)^2
 * @sum:	sum of d
 * @squares:	sum of d^2
 * @cubes:	sum of d^3
 */
struct moments {
	double visits, deviations;
	double sum, squares, cubes;
};

/**
 * struct cuts - all cuts, in order of time within each thread
 * @t:		timeline
 * @moments:	by visit class; with cycles
 * @straight:	by start group: of visits whose duration the code shows; last entry: of
 *		all
 * @cut:	cuts
 * @nr:		number of cuts
 * @room:	allocated entries of @cut
 * @unit:	u, ns
 * @terms:	adds what is known of a cut to the system
 */
struct cuts {
	const struct timeline *t;
	struct moments *moments;
	struct moments *straight;
	struct cut *cut;
	u64 nr, room;
	double unit;
	void (*terms)(struct cuts *all, struct row *row, u64 i);
};

static double at_least(double value, double least)
{
	return value > least ? value : least;
}

static double fitted(const struct timeline *t, u32 sample, u32 visit)
{
	return t->fitted[t->key[t->sample[sample].first + sample + visit]];
}

/* Total duration of the visits that are whole in an interval */
static double middle(const struct timeline *t, u32 sample)
{
	const struct sample *s = &t->sample[sample];
	double sum = 0;
	u32 i;

	for (i = s->before == NONE ? 0 : 1; i < s->nr; i++)
		sum += fitted(t, sample, i);
	return sum;
}

/* The cut that begins with interval @i; intervals without a branch are part of it */
static bool find_cut(const struct timeline *t, u32 i, struct cut *c)
{
	u32 next = t->sample[i].after;

	*c = (struct cut){ .first = i, .x = fitted(t, i, t->sample[i].nr) };
	while (is_whole(t, next) && !t->sample[next].nr) {
		c->between += t->sample[next].ts - t->sample[next].start;
		next = t->sample[next].after;
	}
	c->last = next;
	if (c->x < c->between)
		c->x += c->between;
	return is_whole(t, next);
}

static void add_cut(struct cuts *all, const struct cut *c)
{
	double rest = (c->x - c->between) / 2;

	GROW(all->cut, all->nr, all->room);
	all->cut[all->nr] = *c;
	all->cut[all->nr].p = rest;
	all->cut[all->nr].q = rest;
	all->nr++;
}

/* Each thread's chain of cuts; @seen: intervals that are in one already */
static void find_cuts(struct cuts *all)
{
	const struct timeline *t = all->t;
	bool *seen = xzalloc(t->nr * sizeof(*seen));
	struct cut c;
	u32 i, k;

	for (k = 0; k < t->nr; k++) {
		for (i = k; is_whole(t, i) && t->sample[i].nr && !seen[i];
		     i = c.last) {
			seen[i] = true;
			if (!find_cut(t, i, &c))
				break;
			add_cut(all, &c);
		}
	}
	free(seen);
}

static bool follows(const struct cuts *all, u64 i)
{
	return i && all->cut[i - 1].last == all->cut[i].first;
}

static double room_of(const struct cut *c)
{
	return c->x - c->between;
}

/*
 * u: see above. Durations are fitted to the same intervals, so their residuals are
 * smaller than those of others: by the share p/n, for p fitted parameters and n residuals.
 */
static void find_unit(struct cuts *all)
{
	const struct timeline *t = all->t;
	double squares = 0, known = 0, sum = 0, mean = 0;
	u64 i, n = 0;

	for (i = 0; i < all->nr; i++) {
		const struct cut *a = &all->cut[i], *b = a + 1;
		double m, x, y, r;

		mean += a->x / all->nr;
		if (i + 1 == all->nr || !follows(all, i + 1))
			continue;
		m = middle(t, b->first);
		x = room_of(a);
		y = room_of(b);
		r = t->sample[b->first].ts - t->sample[b->first].start - m -
		    (x + y) / 2;
		n++;
		squares += r * r;
		known += (x * x + y * y) / 12;
		sum += m + (x + y) / 2;
	}
	if (sum > 0 && n > t->parameters) {
		squares *= n / fmax(n - t->parameters, 1);
		all->unit =
			at_least((squares - known) / sum, mean * VARIANCE_MIN);
	} else {
		all->unit = mean;
	}
	if (!(all->unit > 0))
		all->unit = 1;
}

/* A sample hits a long visit more often than a short one: longer by u on average */
static void lengthen(struct cuts *all)
{
	u64 i;

	for (i = 0; i < all->nr; i++) {
		struct cut *c = &all->cut[i];

		c->x += all->unit < c->x ? all->unit : c->x;
	}
}

/**
 * struct row - row of the system; the variables are p and q of each cut, in order
 * @below:	coefficient of the variable before
 * @diagonal:	coefficient of the variable itself
 * @right:	right side
 * @pivot:	@diagonal after elimination
 * @variance:	variance of the variable
 */
struct row {
	double below, diagonal, right;
	double pivot, variance;
};

/* Add a term (a + b - value)^2 / variance; of one variable if b is NULL */
static void add_term(struct row *a, struct row *b, double value,
		     double variance)
{
	double w = 1 / variance;

	a->diagonal += w;
	a->right += w * value;
	if (!b)
		return;
	b->diagonal += w;
	b->right += w * value;
	b->below += w;
}

/* Add a term (a - b)^2 / variance */
static void add_difference(struct row *a, struct row *b, double variance)
{
	double w = 1 / variance;

	a->diagonal += w;
	b->diagonal += w;
	b->below -= w;
}

static void add_terms(struct cuts *all, struct row *row, u64 i)
{
	const struct timeline *t = all->t;
	const struct cut *c = &all->cut[i];
	const struct sample *s = &t->sample[c->first];
	struct row *p = &row[2 * i], *q = p + 1;
	double room = room_of(c), m = middle(t, c->first);
	double variance = all->unit * at_least(c->x, all->unit);

	add_term(p, q, room, variance);
	add_difference(p, q, (square(room) + variance) / 3);
	m = s->ts - s->start - m;
	if (follows(all, i))
		add_term(p - 1, p, m,
			 all->unit * at_least(middle(t, c->first), all->unit));
	else if (s->before == NONE)
		/* No visit was cut before it */
		add_term(p, NULL, m,
			 all->unit * at_least(middle(t, c->first), all->unit));
}

static void drop(struct row *row, u64 i, u64 nr)
{
	row[i] = (struct row){ .diagonal = 1 };
	if (i + 1 < nr)
		row[i + 1].below = 0;
}

/*
 * Gaussian elimination of a symmetric, positive definite tridiagonal system. The
 * variance of a variable is the diagonal of the inverse, 1 / (a + b - d): a and b are
 * its pivots in eliminations from the first and from the last variable on.
 */
static void solve(struct row *row, u64 nr)
{
	double above, f, last = 0;
	u64 i;

	for (i = 0; i < nr; i++) {
		f = i ? row[i].below / row[i - 1].pivot : 0;
		row[i].pivot = row[i].diagonal - f * row[i].below;
		row[i].right -= i ? f * row[i - 1].right : 0;
	}
	for (i = nr; i--;) {
		bool more = i + 1 < nr;

		above = more ? row[i + 1].below * row[i + 1].right : 0;
		row[i].right = (row[i].right - above) / row[i].pivot;
		last = row[i].diagonal -
		       (more ? square(row[i + 1].below) / last : 0);
		row[i].variance = 1 / (row[i].pivot + last - row[i].diagonal);
	}
}

/* A sample is equally likely anywhere in a visit of known
 * length, so seldom at its ends
 */
static double error_of(double variance, double value, double room)
{
	double error = DEVIATIONS * sqrt(variance), any;

	if (room <= 0)
		return error;
	value = value < room / 2 ? room - value : value;
	any = at_least((1 - OUTSIDE) / 2 * room, value - OUTSIDE * room);
	return error < any ? error : any;
}

/* Return: whether more variables have to be set to 0 */
static bool solve_step(struct cuts *all, struct row *row)
{
	u64 i, nr = 2 * all->nr;
	bool more = false;

	for (i = 0; i < nr; i++)
		row[i] = (struct row){ 0 };
	for (i = 0; i < all->nr; i++)
		all->terms(all, row, i);
	for (i = 0; i < all->nr; i++) {
		if (all->cut[i].p_zero)
			drop(row, 2 * i, nr);
		if (all->cut[i].q_zero)
			drop(row, 2 * i + 1, nr);
	}
	solve(row, nr);
	for (i = 0; i < all->nr; i++) {
		struct cut *c = &all->cut[i];

		c->p = row[2 * i].right;
		c->q = row[2 * i + 1].right;
		if (!c->p_zero)
			c->p_error =
				error_of(row[2 * i].variance, c->p, c->room);
		if (!c->q_zero)
			c->q_error = error_of(row[2 * i + 1].variance, c->q,
					      c->room);
		more |= c->p < 0 || c->q < 0;
		c->p_zero |= c->p < 0;
		c->q_zero |= c->q < 0;
	}
	return more;
}

static void solve_all(struct cuts *all)
{
	struct row *row = xzalloc((2 * all->nr + 1) * sizeof(*row));
	u32 i;

	for (i = 0; all->nr && i < ROUNDS && solve_step(all, row); i++)
		;
	free(row);
}

static struct visit_part make_part(double ns, double error)
{
	return (struct visit_part){ .ns = at_least(ns, 0), .error = error };
}

/**
 * ends - find the parts of visits that samples cut
 * @t:	timeline, with the fit; sets @first_part, @last_part and @unit
 */
void ends(struct timeline *t)
{
	struct cuts all = { .t = t, .terms = add_terms };
	u64 i;

	t->first_part = xzalloc(t->nr * sizeof(*t->first_part));
	t->last_part = xzalloc(t->nr * sizeof(*t->last_part));
	for (i = 0; i < t->nr; i++)
		t->first_part[i].ns = t->last_part[i].ns = -1;
	find_cuts(&all);
	find_unit(&all);
	lengthen(&all);
	solve_all(&all);
	for (i = 0; i < all.nr; i++) {
		const struct cut *c = &all.cut[i];

		t->last_part[c->first] = make_part(c->p, c->p_error);
		t->first_part[c->last] = make_part(c->q, c->q_error);
	}
	free(all.cut);
	t->unit = all.unit;
}

/* ------------------------------------------------------------------------- */
/* With cycles */

/*
 * Duration by the fit, for a visit that exceeds the counter. Return: whether that is
 * plausible.
 */
static bool ask_fit(const struct timeline *t, u32 sample, u32 visit, double *x)
{
	double usual = fitted(t, sample, visit);
	double least = timeline_least(t, &t->sample[sample], visit);

	*x = at_least(usual, least);
	return usual > least / 2;
}

/* If the fit does not show that it was so long, the excess is unknown */
static double unmeasured(const struct cuts *all, u32 sample, u32 visit,
			 double x)
{
	const struct timeline *t = all->t;

	if (fitted(t, sample, visit) < x)
		return square(x);
	return all->unit * at_least(x, all->unit) +
	       t->fit_variance[t->key[t->sample[sample].first + sample + visit]];
}

/*
 * Total duration of the visits that are whole in an interval, except for the first one,
 * which a switch may have cut. Return: whether it is known, up to @variance.
 */
static bool measured_middle(const struct cuts *all, u32 sample, double *sum,
			    double *variance)
{
	const struct timeline *t = all->t;
	const struct sample *s = &t->sample[sample];
	bool known = true;
	u32 i;

	*sum = 0;
	*variance = square(t->slip);
	for (i = 1; i < s->nr; i++) {
		double x = timeline_measured(t, s, i);

		if (x <= 0) {
			known &= ask_fit(t, sample, i, &x);
			*variance += unmeasured(all, sample, i, x);
		}
		*sum += x;
	}
	*variance += square(t->clock.error / DEVIATIONS * *sum);
	return known;
}

/* At any place from 0 to @length with equal probability, with an
 * uncertainty of @variance
 */
static void add_anywhere(const struct timeline *t, struct row *row,
			 double length, double variance)
{
	add_term(row, NULL, length / 2,
		 at_least(square(length) / 12 + variance / 4, square(t->slip)));
}

/* Anywhere in the rest of the interval */
static void add_left_over(const struct cuts *all, struct row *row, u32 sample)
{
	const struct sample *s = &all->t->sample[sample];
	double sum, variance;

	measured_middle(all, sample, &sum, &variance);
	add_anywhere(all->t, row,
		     at_least(s->ts - s->start - sum, all->t->slip), variance);
}

static void add_moments(struct moments *m, const struct moments *more)
{
	m->visits += more->visits;
	m->deviations += more->deviations;
	m->sum += more->sum;
	m->squares += more->squares;
	m->cubes += more->cubes;
}

/* For visits that were not cut */
static void find_moments(struct cuts *all)
{
	const struct timeline *t = all->t;
	u32 k, i;

	all->moments = xzalloc((t->keys + 1) * sizeof(*all->moments));
	all->straight = xzalloc((t->groups + 1) * sizeof(*all->straight));
	for (k = 0; k < t->nr; k++) {
		const struct sample *s = &t->sample[k];

		for (i = 1; i < s->nr && s->flags & LBRPROF_CYCLES; i++) {
			u32 key = t->key[s->first + k + i];
			u32 group = t->group[s->first + k + i];
			double x = t->fitted[key];
			double d = timeline_measured(t, s, i);
			struct moments one = { .visits = 1 };

			if (d <= 0)
				d = at_least(timeline_least(t, s, i), x);
			one.deviations = square(d - x);
			one.sum = d;
			one.squares = d * d;
			one.cubes = d * d * d;
			add_moments(&all->moments[key], &one);
			if (!t->straight[key])
				continue;
			add_moments(&all->straight[t->groups], &one);
			if (group != NONE)
				add_moments(&all->straight[group], &one);
		}
	}
}

/* Variance by delays: as for others from there, and one more of
 * any; limited by the interval
 */
static double delay_variance(const struct cuts *all, u32 sample)
{
	const struct timeline *t = all->t;
	const struct sample *s = &t->sample[sample];
	const struct moments *every = &all->straight[t->groups];
	u32 group = t->group[s->first + sample + s->nr];
	const struct moments *m =
		&all->straight[group == NONE ? t->groups : group];
	double mean = every->visits > 0 ? every->deviations / every->visits : 0;
	double most = square(timeline_held(t, s));

	mean = (m->deviations + mean) / (m->visits + 1);
	return mean < most ? mean : most;
}

/* E((r - @about)^2), with one more visit of mean length @x */
static double deviation(const struct moments *m, double x, double about)
{
	double sum = m->sum + x;

	return (m->cubes + 6 * x * square(x)) / sum / 3 -
	       about * (m->squares + 2 * square(x)) / sum + square(about);
}

/* Add the visits that this one may be like. Return: longest
 * duration of the fit for them
 */
static double reachable(const struct cuts *all, u32 sample, struct moments *m)
{
	const struct timeline *t = all->t;
	u64 i = t->elapsed[sample].reach;
	double x = 0;

	for (; i != U64_MAX && t->reach[i] != NONE; i++) {
		add_moments(m, &all->moments[t->reach[i]]);
		x = at_least(x, t->fitted[t->reach[i]]);
	}
	return x;
}

/* How long a visit had lasted when it was sampled */
static void add_elapsed(const struct cuts *all, struct row *p, u32 sample)
{
	const struct timeline *t = all->t;
	const struct sample *s = &t->sample[sample];
	double r = t->elapsed[sample].ns, x;
	struct moments m = { 0 };

	if (t->elapsed[sample].straight) {
		add_term(p, NULL, r,
			 square(t->slip) + delay_variance(all, sample));
		return;
	}
	x = reachable(all, sample, &m);
	if (m.visits * OUTSIDE < 1) {
		add_term(p, NULL, r,
			 square(s->ts - s->start) + square(t->slip));
		return;
	}
	r = (m.squares + 2 * square(x)) / (m.sum + x) / 2;
	if (m.visits * x > UNSEEN * m.sum)
		x = at_least(x, m.visits * x - m.sum);
	add_term(p, NULL, r, deviation(&m, x, r) + square(t->slip));
}

/* A cut visit of which one end is not in a whole interval */
static void add_open_terms(const struct cuts *all, struct row *row, u64 i)
{
	const struct timeline *t = all->t;
	const struct cut *c = &all->cut[i];
	double x;

	if (c->p_only) {
		add_elapsed(all, &row[2 * i], c->first);
		return;
	}
	x = timeline_measured(t, &t->sample[c->last], 0);
	if (x <= 0)
		add_left_over(all, &row[2 * i + 1], c->last);
	else if (t->sample[c->last].before == NONE)
		add_term(&row[2 * i + 1], NULL, x,
			 square(x) / 3 + square(SWITCH));
	else
		add_anywhere(t, &row[2 * i + 1], x, 0);
}

/* A cut visit of which both ends are known */
static void add_cut_terms(struct cuts *all, struct row *row, u64 i)
{
	const struct timeline *t = all->t;
	struct cut *c = &all->cut[i];
	const struct sample *last = &t->sample[c->last];
	double x = timeline_measured(t, last, 0), usual, room, variance = 0;
	struct row *p = &row[2 * i], *q = p + 1;
	bool known = ask_fit(t, c->last, 0, &usual);

	/* The sample was in user space, before the time in the kernel */
	if (last->nr &&
	    t->branch[last->first].flags & (BRANCH_KERNEL | BRANCH_HELD)) {
		add_elapsed(all, p, c->first);
		add_left_over(all, q, c->last);
		return;
	}
	if (x > 0 && t->restarts) {
		add_term(q, NULL, x, square(t->slip));
		add_left_over(all, p, c->first);
		return;
	}
	if (x <= 0 && (usual <= c->between || !known)) {
		add_left_over(all, p, c->first);
		add_left_over(all, q, c->last);
		return;
	}
	room = at_least((x > 0 ? x : usual) - c->between, 0);
	if (x <= 0)
		variance = unmeasured(all, c->last, 0, usual);
	add_term(p, q, room, square(t->slip) + variance);
	add_anywhere(t, p, room, variance);
	add_anywhere(t, q, room, variance);
	if (x <= 0 || x >= 2 * usual + t->slip)
		return;
	/* It was not delayed: then the code shows where in it the sample is */
	if (t->elapsed[c->first].straight)
		add_elapsed(all, p, c->first);
	c->room = room;
}

static void add_measured_terms(struct cuts *all, struct row *row, u64 i)
{
	const struct timeline *t = all->t;
	const struct cut *c = &all->cut[i];
	const struct sample *s;
	double sum, variance;

	if (c->p_only || c->q_only)
		add_open_terms(all, row, i);
	else
		add_cut_terms(all, row, i);
	if (c->q_only || !follows(all, i) ||
	    !measured_middle(all, c->first, &sum, &variance))
		return;
	s = &t->sample[c->first];
	add_term(&row[2 * i - 1], &row[2 * i], s->ts - s->start - sum,
		 variance);
}

static void add_open_cut(struct cuts *all, u32 first, u32 last)
{
	GROW(all->cut, all->nr, all->room);
	all->cut[all->nr++] = (struct cut){
		.first = first,
		.last = last,
		.p_only = last == NONE,
		.q_only = first == NONE,
		.p_zero = first == NONE,
		.q_zero = last == NONE,
	};
}

/* Rows of whole intervals */
static void find_rows(struct cuts *all)
{
	const struct timeline *t = all->t;
	bool *seen = xzalloc(t->nr * sizeof(*seen));
	struct cut c;
	u32 i, k;

	for (k = 0; k < t->nr; k++) {
		if (seen[k] || !t->sample[k].nr)
			continue;
		if (is_whole(t, k))
			add_open_cut(all, NONE, k);
		for (i = k;; i = c.last) {
			seen[i] = true;
			if (!find_cut(t, i, &c))
				break;
			add_cut(all, &c);
		}
		add_open_cut(all, i, NONE);
	}
	free(seen);
}

/**
 * ends_measured - find the parts of visits that samples cut, by measured cycles
 * @t:	timeline, after ends(); sets @first_measured and @last_measured
 */
void ends_measured(struct timeline *t)
{
	struct cuts all = { .t = t,
			    .unit = t->unit,
			    .terms = add_measured_terms };
	u64 i;

	t->first_measured = xzalloc(t->nr * sizeof(*t->first_measured));
	t->last_measured = xzalloc(t->nr * sizeof(*t->last_measured));
	for (i = 0; i < t->nr; i++)
		t->first_measured[i].ns = t->last_measured[i].ns = -1;
	find_moments(&all);
	find_rows(&all);
	solve_all(&all);
	free(all.moments);
	free(all.straight);
	for (i = 0; i < all.nr; i++) {
		const struct cut *c = &all.cut[i];

		if (!c->q_only)
			t->last_measured[c->first] =
				make_part(c->p, c->p_error);
		if (!c->p_only)
			t->first_measured[c->last] =
				make_part(c->q, c->q_error);
	}
	free(all.cut);
}
