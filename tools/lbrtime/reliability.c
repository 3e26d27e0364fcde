// SPDX-License-Identifier: GPL-2.0
/*
 * Errors of the times of visits.
 *
 * A visit begins and ends at a boundary. For a whole interval the first and the last
 * boundary are known; for others the last one, from which visits are counted back. The
 * variances of the visits between a known boundary and another one add up. For visits
 * that samples cut, ends.c has the errors of their parts, or fit.c the error of how
 * long the last one had lasted. The variance of a measured visit is 0. Others vary as
 * those of whole intervals do (u, ends.c), or as their classes deviate from the code
 * (a, fit.c). A boundary that can be reached from both sides has the smaller variance;
 * the error is twice the standard deviation.
 *
 * With the fit there is one more uncertainty: page faults, interrupts and system calls,
 * in which a counter of user space stops. The interval lasts longer by H than the
 * period. In a whole interval, H is somewhere in it. If n of N counted visits, of total
 * duration t, are attributed, H is among them with probability n / N; and as they last
 * t + H then, this holds for a share of (t + H) / t of the attributed time.
 */
#include <math.h>

#include "lbrtime.h"

/**
 * reliability_available - whether the errors of a method's times are known
 * @m:	method
 */
bool reliability_available(enum method m)
{
	return m == METHOD_CYCLES || m == METHOD_FIT;
}

/* Variance of a visit that nothing has cut */
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
	/* It exceeds the counter, and others of its class */
	if (m == METHOD_CYCLES && t->fitted[key] < timeline_least(t, s, i))
		return INFINITY;
	v = t->variance[key];
	return is_whole(t, sample) ? fmin(v, t->unit * t->fitted[key] +
						     t->fit_variance[key]) :
				     v;
}

/* Variance of a part of a visit to which @time was attributed */
static double part_variance(const struct visit_part *p, u32 sample, double time)
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

/* By the fit: variance of delays in the attributed visits */
static double held_up(const struct timeline *t, u32 sample, double attributed)
{
	const struct sample *s = &t->sample[sample];
	double held = timeline_held(t, s), share;

	if (is_whole(t, sample) || attributed <= 0)
		return square(held);
	share = s->flags & LBRPROF_COUNTED && s->calls > s->nr ?
			(s->nr + 1) / (s->calls + 1.0) :
			attributed / (s->ts - s->start);
	return fmin(share * (attributed + held) / attributed, 1) * square(held);
}

/* Variance of @time in cycles, by the error of the clock */
static double clock_variance(const struct timeline *t, enum method m,
			     double time)
{
	return m == METHOD_CYCLES ? square(t->clock.error / DEVIATIONS * time) :
				    0;
}

/*
 * Number of visits at the begin of an interval without attributed time, because a later
 * one's is unknown: their begin is unknown, too.
 */
static u32 skipped(const struct timeline *t, u32 sample, const double *time,
		   double attributed)
{
	const struct sample *s = &t->sample[sample];
	u32 nr = 0;

	if (attributed + 1 > s->ts - s->start)
		return 0;
	while (nr <= s->nr && time[nr] <= 0)
		nr++;
	return nr;
}

/* Variance of each visit's begin */
static void boundaries(const struct timeline *t, u32 sample, enum method m,
		       const double *time, double *begin)
{
	double sum = INFINITY, attributed = 0, held, way = 0;
	u32 n = t->sample[sample].nr, i, unknown;

	for (i = 0; i <= n; i++)
		attributed += time[i];
	unknown = skipped(t, sample, time, attributed);
	held = m == METHOD_FIT ? held_up(t, sample, attributed) : 0;
	for (i = 1; i <= n; i++) {
		sum = i > 1 ? sum + variance(t, sample, m, i - 1) :
			      first_variance(t, sample, m, time[0]);
		way += time[i - 1];
		begin[i] = sum + held + clock_variance(t, m, way);
	}
	sum = last_variance(t, sample, m, time[n]);
	way = time[n];
	for (i = n; i; i--) {
		begin[i] =
			fmin(begin[i], sum + held + clock_variance(t, m, way));
		sum += variance(t, sample, m, i - 1);
		way += time[i - 1];
	}
	/* What is before it is unknown, or its begin is that of the interval */
	begin[0] = is_whole(t, sample) ? 0 :
					 sum + held + clock_variance(t, m, way);
	for (i = 0; i < unknown; i++)
		begin[i] = INFINITY;
}

/* Function in which a visit began, or NONE if unknown */
static u32 began_in(const struct timeline *t, const struct sample *s, u32 visit)
{
	u32 place = NONE;

	if (visit)
		place = t->branch[s->first + visit - 1].to;
	else if (s->state == STATE_WHOLE && s->before != NONE)
		place = t->sample[s->before].ip;
	return place == NONE ? NONE : symtab_at(t->symbols, place)->function;
}

/*
 * Time that was given to a function and may be another one's: the kernel's, or that of
 * the function in which the visit began, if jumps to other functions are not recorded.
 */
static bool is_mixed(const struct timeline *t, const struct sample *s,
		     u32 visit)
{
	u32 began = began_in(t, s, visit);

	if (kernel_may_hide(t, s))
		return true;
	if (visit < s->nr &&
	    t->branch[s->first + visit].flags & (BRANCH_KERNEL | BRANCH_HELD))
		return true;
	return began != NONE && began != timeline_visit(t, s, visit);
}

/*
 * Time between the true and the estimated boundary is wrong for one of the two visits.
 * The mean deviation of a normal variable is 0.8 standard deviations.
 */
static double wrong_part(double variance)
{
	return 0.8 * sqrt(variance) / 2;
}

/**
 * struct visit_run - consecutive visits of one function
 * @end:	index after the last one
 * @time:	total time, ns
 * @wrong:	expected part of it that is another function's, ns
 */
struct visit_run {
	u32 end;
	double time, wrong;
};

static struct visit_run get_run(const struct timeline *t,
				const struct sample *s, u32 first,
				const double *time, const double *begin)
{
	u32 function = timeline_visit(t, s, first);
	struct visit_run r = { .end = first };

	for (; r.end <= s->nr && timeline_visit(t, s, r.end) == function;
	     r.end++)
		r.time += time[r.end];
	r.wrong = wrong_part(begin[first]) + wrong_part(begin[r.end]);
	return r;
}

static void find_reliable(const struct timeline *t, u32 sample,
			  const double *time, const double *begin,
			  const double *error, bool *reliable)
{
	const struct sample *s = &t->sample[sample];
	double attributed = 0, near;
	struct visit_run r;
	u32 i, k;

	for (i = 0; i <= s->nr; i++)
		attributed += time[i];
	near = fmax(attributed / TOLERANCE, TOLERANCE_NS);
	for (i = 0; i <= s->nr; i = r.end) {
		r = get_run(t, s, i, time, begin);
		for (k = i; k < r.end; k++)
			reliable[k] = time[k] > 0 &&
				      r.wrong <= WRONG_MAX * r.time &&
				      error[k] <= near && !is_mixed(t, s, k);
	}
}

/**
 * reliability_unknown - find visits whose time is too likely another function's
 * @t:		timeline, after timeline_finish()
 * @sample:	number of the interval's sample
 * @method:	method, of reliability_available()
 * @time:	time of each visit
 * @unknown:	set for each visit of whose time more than UNKNOWN_MIN is expected to be
 *		wrong
 */
void reliability_unknown(const struct timeline *t, u32 sample,
			 enum method method, const double *time, bool *unknown)
{
	const struct sample *s = &t->sample[sample];
	double begin[MAX_BRANCHES + 2];
	struct visit_run r;
	u32 i, k;

	boundaries(t, sample, method, time, begin);
	begin[s->nr + 1] = 0;
	for (i = 0; i <= s->nr; i = r.end) {
		r = get_run(t, s, i, time, begin);
		for (k = i; k < r.end; k++)
			unknown[k] = r.wrong > UNKNOWN_MIN * r.time ||
				     (!s->nr && is_mixed(t, s, 0)) ||
				     kernel_may_hide(t, s);
	}
}

/**
 * reliability_find - errors of the times of an interval's visits
 * @t:		timeline, after timeline_finish()
 * @sample:	number of the interval's sample
 * @method:	method, of reliability_available()
 * @time:	time of each visit, from assign()
 * @error:	set to twice the standard deviation of begin or end of each visit, ns;
 *		at most the interval
 * @reliable:	set for each visit whose function is the right one for that time
 */
void reliability_find(const struct timeline *t, u32 sample, enum method method,
		      const double *time, double *error, bool *reliable)
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
	find_reliable(t, sample, time, begin, error, reliable);
}

/**
 * reliability_share - share of the attributed time that is reliable
 * @t:		timeline, after timeline_finish()
 * @method:	method, of reliability_available()
 *
 * Return: 0 to 1.
 */
double reliability_share(const struct timeline *t, enum method method)
{
	double time[MAX_BRANCHES + 1], error[MAX_BRANCHES + 1];
	bool reliable[MAX_BRANCHES + 1], unknown[MAX_BRANCHES + 1];
	double attributed = 0, known = 0;
	u32 i, j;

	for (i = 0; i < t->nr; i++) {
		assign_span(t, i, method, time, unknown);
		reliability_find(t, i, method, time, error, reliable);
		for (j = 0; j <= t->sample[i].nr; j++) {
			attributed += unknown[j] ? 0 : time[j];
			known += reliable[j] ? time[j] : 0;
		}
	}
	return attributed > 0 ? known / attributed : 0;
}
