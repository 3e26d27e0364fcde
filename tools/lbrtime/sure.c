// SPDX-License-Identifier: GPL-2.0
/*
 * How far off the times of visits may be.
 *
 * A visit begins and ends at a boundary. Of an interval that is whole, the first boundary and
 * the last one are its own; of others, the last one is, and the visits are counted back from
 * it. On the way from one that is known to another, the variances of the visits between them
 * add up. Of the visits that samples have cut, ends.c says how far off their parts may be, or
 * fit.c, how far off what the last visit had lasted is. A visit that was measured has no
 * variance. Others differ as those of whole intervals do (u, ends.c), or as their kinds
 * differ from what the code says (a, fit.c). Boundaries that two ways lead to are as sure as
 * by the better one, and the error is twice the standard deviation.
 *
 * By the fit, one thing more may be: nobody has measured if a page fault, an interrupt or a system
 * call was there, of which a counter of what user space does tells nothing. But the interval
 * lasts longer by that: H beyond the period. If it is whole, H is somewhere in it. If n of the N
 * visits that were counted are told of, and last t, it is among them with a probability
 * of n / N; and since they last t + H then, of the time that is told, (t + H) / t as often.
 */
#include <math.h>

#include "lbrtime.h"

/**
 * sure_there - whether it is known how far off a method's times may be
 * @m: the method
 */
bool sure_there(enum method m)
{
	return m == METHOD_CYCLES || m == METHOD_FIT;
}

/**
 * is_sure - whether times that may be off by so much are as good as right
 * @told: what is told of an interval, ns
 * @error: from sure(), ns
 */
bool is_sure(double told, double error)
{
	return error <= fmax(told / TOLERANCE, TOLERANCE_NS);
}

static double square(double a)
{
	return a * a;
}

static bool is_whole(const struct timeline *t, u32 sample)
{
	return t->sample[sample].state == STATE_WHOLE;
}

/* Of a visit that nothing has cut */
static double variance(const struct timeline *t, u32 sample, enum method m,
		       u32 i)
{
	const struct sample *s = &t->sample[sample];
	u32 key = t->key[s->first + sample + i];
	double v;

	if (m == METHOD_CYCLES && timeline_measured(t, s, i) > 0)
		return 0;
	if (!t->has_fit)
		return INFINITY;
	/* It was longer than can be measured, and than others of its kind */
	if (m == METHOD_CYCLES && t->fitted[key] < timeline_least(t, s, i))
		return INFINITY;
	v = t->variance[key];
	return is_whole(t, sample) ?
		       fmin(v, t->unit * t->fitted[key] + t->doubt[key]) :
		       v;
}

/* Of a part of a visit, which was given @time */
static double part_variance(const struct part *p, u32 sample, double time)
{
	if (!p || p[sample].ns < 0)
		return INFINITY;
	return square(p[sample].error / DEVIATIONS) +
	       square(time - p[sample].ns);
}

static double first_variance(const struct timeline *t, u32 sample,
			     enum method m, double time)
{
	if (!t->sample[sample].nr || !is_whole(t, sample))
		return INFINITY;
	if (m == METHOD_CYCLES)
		return part_variance(t->first_measured, sample, time);
	if (t->sample[sample].before == NONE)
		return variance(t, sample, m, 0);
	return part_variance(t->first_part, sample, time);
}

static double last_variance(const struct timeline *t, u32 sample, enum method m,
			    double time)
{
	if (m == METHOD_CYCLES)
		return part_variance(t->last_measured, sample, time);
	if (!t->has_fit || !is_whole(t, sample))
		return t->has_fit ? t->elapsed[sample].variance : INFINITY;
	return part_variance(t->last_part, sample, time);
}

/* By the fit: that the visits which are told of were held up */
static double held_up(const struct timeline *t, u32 sample, double told)
{
	const struct sample *s = &t->sample[sample];
	double held = timeline_held(t, s), share;

	if (is_whole(t, sample) || told <= 0)
		return square(held);
	share = s->flags & LBRPROF_COUNTED && s->calls > s->nr ?
			(s->nr + 1) / (s->calls + 1.0) :
			told / (s->ts - s->start);
	return fmin(share * (told + held) / told, 1) * square(held);
}

/* The variance of each visit's begin */
static void boundaries(const struct timeline *t, u32 sample, enum method m,
		       const double *time, double *begin)
{
	double sum = INFINITY, told = 0, held;
	u32 n = t->sample[sample].nr, i;

	for (i = 0; i <= n; i++)
		told += time[i];
	held = m == METHOD_FIT ? held_up(t, sample, told) : 0;
	for (i = 1; i <= n; i++) {
		sum = i > 1 ? sum + variance(t, sample, m, i - 1) :
			      first_variance(t, sample, m, time[0]);
		begin[i] = sum + held;
	}
	sum = last_variance(t, sample, m, time[n]);
	for (i = n; i; i--) {
		begin[i] = fmin(begin[i], sum + held);
		sum += variance(t, sample, m, i - 1);
	}
	/* Nobody knows what is before it, or its begin is that of the interval */
	begin[0] = is_whole(t, sample) ? 0 : sum + held;
}

/**
 * sure - how far off the times of an interval's visits may be
 * @t: after timeline_finish()
 * @sample: which interval
 * @method: by which method sure_there() is of
 * @time: what assign() has given to each
 * @error: of each visit: twice the standard deviation of its begin or its end, ns; all of
 *	the interval at most
 */
void sure(const struct timeline *t, u32 sample, enum method method,
	  const double *time, double *error)
{
	const struct sample *s = &t->sample[sample];
	double begin[MAX_BRANCHES + 2], both;
	u32 i;

	boundaries(t, sample, method, time, begin);
	begin[s->nr + 1] = 0;
	for (i = 0; i <= s->nr; i++) {
		both = DEVIATIONS * sqrt(fmax(begin[i], begin[i + 1]));
		error[i] = fmin(both, s->ts - s->start);
	}
}

/**
 * sure_share - of how much of the time that is told of the times are right
 * @t: after timeline_finish()
 * @method: by which method sure_there() is of
 *
 * Return: from 0 to 1: in visits that are off by no more than TOLERANCE.
 */
double sure_share(const struct timeline *t, enum method method)
{
	double time[MAX_BRANCHES + 1], error[MAX_BRANCHES + 1];
	double told = 0, known = 0;
	u32 i, j;

	for (i = 0; i < t->nr; i++) {
		double all = assign(t, i, method, time);

		sure(t, i, method, time, error);
		told += all;
		for (j = 0; j <= t->sample[i].nr; j++)
			known += is_sure(all, error[j]) ? time[j] : 0;
	}
	return told > 0 ? known / told : 0;
}
