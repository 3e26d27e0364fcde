// SPDX-License-Identifier: GPL-2.0
/*
 * Distributes the time of an interval among its visits.
 *
 * Three methods are those of Ono, Yamamoto, Hirai and Nakajima ("A time-series
 * performance analysis that is precise and cheap", in Japanese). In their second and
 * third one, a function's share of the profile is divided equally among its visits in
 * the interval.
 *
 * Part of the time of an interval that is not whole is unknown. Its recorded branches
 * account for time at its end: as much as such visits last by the fit, or, without a
 * fit, in proportion to the number of visits that were counted. With cycles it is
 * measured. The rest is unknown.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lbrtime.h"
#include "order.h"

/* Less than 1 / HELD_PART of a visit is neglected */
#define HELD_PART 20

static const char *const names[METHODS] = { "sample", "equal",	"share",
					    "ratio",  "cycles", "fit" };

/**
 * method_name - name of a method
 * @m:	method
 */
const char *method_name(enum method m)
{
	return names[m];
}

/**
 * method_meaning - what a method attributes time by, for reports
 * @m:	method
 */
const char *method_meaning(enum method m)
{
	static const char *const meaning[METHODS] = {
		"all time of an interval to the function that its sample shows",
		"an interval's time in equal parts to its visits",
		"to each function its part of all samples; the rest to the sampled one",
		"an interval's time in the ratio of these parts",
		"as the CPU measured from branch to branch",
		"by the durations that agree best with all samples and the code",
	};

	return meaning[m];
}

/**
 * method_there - whether a method has what it needs
 * @t:	timeline, after timeline_finish()
 * @m:	method
 */
bool method_there(const struct timeline *t, enum method m)
{
	if (m == METHOD_CYCLES)
		return t->has_cycles && t->ns_per_cycle > 0;
	return m != METHOD_FIT || t->has_fit;
}

static const u32 *keys_of(const struct timeline *t, u32 sample)
{
	return &t->key[t->sample[sample].first + sample];
}

static double fitted(const struct timeline *t, u32 sample, u32 visit)
{
	return t->fitted[keys_of(t, sample)[visit]];
}

/* Of an interval that is not whole: time that the visits account for */
static double tail(const struct timeline *t, u32 sample)
{
	const struct sample *s = &t->sample[sample];
	double time = s->ts - s->start, sum = 0;
	u32 i;

	if (s->flags & LBRPROF_PLAIN)
		return 0;
	if (!t->has_fit && s->state == STATE_LOST &&
	    s->flags & LBRPROF_COUNTED && s->calls > s->nr)
		return time * (s->nr + 1) / (s->calls + 1.0);
	for (i = 0; i <= s->nr && t->has_fit; i++)
		sum += i < s->nr ? fitted(t, sample, i) : t->elapsed[sample].ns;
	return sum < time ? sum : time;
}

static double scale(double *time, u32 nr, double to)
{
	double sum = 0;
	u32 i;

	for (i = 0; i < nr; i++)
		sum += time[i];
	for (i = 0; i < nr; i++)
		time[i] = sum > 0 ? time[i] * to / sum : to / nr;
	return to;
}

/* Each visit's share of the profile: its function's, divided
 * among the function's visits
 */
static void find_shares(const struct timeline *t, const struct sample *s,
			double *share)
{
	u32 function[MAX_BRANCHES + 1], i, j, nr;

	for (i = 0; i <= s->nr; i++)
		function[i] = timeline_visit(t, s, i);
	for (i = 0; i <= s->nr; i++) {
		for (j = nr = 0; j <= s->nr; j++)
			nr += function[j] == function[i];
		share[i] = t->share[function[i]] / nr;
	}
}

static void by_share(const struct timeline *t, const struct sample *s,
		     double all, double *time)
{
	double rest = all;
	u32 i;

	find_shares(t, s, time);
	for (i = 0; i < s->nr; i++) {
		time[i] *= all;
		rest -= time[i];
	}
	time[s->nr] = rest > 0 ? rest : 0;
}

/* Mean duration of a function's visit, ns; of all functions if unknown */
static double mean_cycles(const struct timeline *t, u32 function)
{
	return t->cycles_of[function] * t->ns_per_cycle;
}

/* Duration of a visit with begin and end in the interval */
static double cycle_time(const struct timeline *t, u32 sample, u32 visit)
{
	const struct sample *s = &t->sample[sample];
	double time = timeline_measured(t, s, visit), least;

	if (time > 0)
		return time;
	time = t->has_fit ? fitted(t, sample, visit) :
			    mean_cycles(t, timeline_visit(t, s, visit));
	least = timeline_least(t, s, visit);
	return time > least ? time : least;
}

/*
 * The rest is added to visits that exceed the counter, or, if there are none, to the
 * first and the last one.
 */
static void share_rest(const struct timeline *t, u32 sample, double rest,
		       double *time)
{
	const struct sample *s = &t->sample[sample];
	double unmeasured = 0, sum;
	u32 i;

	for (i = 1; i < s->nr; i++)
		unmeasured += timeline_measured(t, s, i) > 0 ? 0 : time[i];
	sum = unmeasured > 0 ? unmeasured : time[0] + time[s->nr];
	/* There are no weights */
	if (sum <= 0 || sum + rest <= 0) {
		scale(time, s->nr + 1, s->ts - s->start);
		return;
	}
	for (i = 0; i <= s->nr; i++) {
		bool end = !i || i == s->nr;

		if (end ? unmeasured <= 0 : timeline_measured(t, s, i) <= 0)
			time[i] *= 1 + rest / sum;
	}
}

/* The visit that the sample cuts goes on in the next interval,
 * and may include kernel time
 */
static bool goes_on_held(const struct timeline *t, const struct sample *s)
{
	const struct sample *after = s->after == NONE ? NULL :
							&t->sample[s->after];

	return after && after->state == STATE_WHOLE && after->nr &&
	       t->branch[after->first].flags & BRANCH_HELD &&
	       timeline_held(t, after) * HELD_PART >=
		       timeline_least(t, after, 0);
}

/*
 * Whether it may include time in the kernel that was not recorded. Not if the counter
 * that makes samples, which stops in the kernel, counted as much as usual.
 */
static bool is_held(const struct timeline *t, const struct sample *s, u32 visit,
		    double time)
{
	if (t->never_held)
		return false;
	if (visit == s->nr)
		return time > kernel_limit(t, s) || goes_on_held(t, s);
	return t->branch[s->first + visit].flags & BRANCH_HELD &&
	       timeline_held(t, s) * HELD_PART >= timeline_least(t, s, visit);
}

static bool any_held(const struct timeline *t, const struct sample *s,
		     const double *time)
{
	u32 i;

	for (i = 0; i <= s->nr; i++) {
		if (is_held(t, s, i, time[i]))
			return true;
	}
	return false;
}

/*
 * From the sample back to a visit of unknown duration, or to the interval's begin. What
 * precedes that was in another interval, though its branches are still in the LBR.
 */
static double from_end(const struct timeline *t, u32 sample, double all,
		       double *time)
{
	const struct sample *s = &t->sample[sample];
	bool known = true;
	double sum = 0;
	u32 i;

	for (i = s->nr + 1; i--;) {
		known &= !is_held(t, s, i, time[i]);
		time[i] = known ? fmin(time[i], all - sum) : 0;
		sum += time[i];
	}
	return sum;
}

/* As measured, except for visits that the interval's ends cut, and visits that exceed the
 * counter
 */
static double by_cycles(const struct timeline *t, u32 sample, double *time)
{
	const struct sample *s = &t->sample[sample];
	double all = s->ts - s->start, sum = 0, first, last;
	u32 i;

	first = t->first_measured ? t->first_measured[sample].ns : -1;
	last = t->last_measured ? t->last_measured[sample].ns : -1;
	if (last < 0)
		last = mean_cycles(t, timeline_visit(t, s, s->nr)) / 2;
	for (i = 0; i < s->nr; i++)
		time[i] = cycle_time(t, sample, i);
	time[s->nr] = last;
	if (s->state == STATE_WHOLE && !s->nr) {
		time[0] = all;
		return from_end(t, sample, all, time);
	}
	if (s->state == STATE_WHOLE && first >= 0)
		time[0] = first;
	if (s->state != STATE_WHOLE || any_held(t, s, time))
		return from_end(t, sample, all, time);
	for (i = 0; i <= s->nr; i++)
		sum += time[i];
	share_rest(t, sample, all - sum, time);
	return all;
}

/*
 * The first and last visits get the durations that ends() found; those between them
 * share the rest.
 */
static bool by_ends(const struct timeline *t, u32 sample, double *time)
{
	const struct sample *s = &t->sample[sample];
	double first = t->first_part[sample].ns, last = t->last_part[sample].ns;
	double all = s->ts - s->start, sum = 0;
	bool cut = s->before != NONE;
	u32 i;

	if (s->state != STATE_WHOLE || !s->nr || last < 0 || (cut && first < 0))
		return false;
	for (i = cut; i < s->nr; i++)
		sum += time[i] = fitted(t, sample, i);
	if (!cut)
		first = 0;
	if (sum > 0 && all > first + last) {
		scale(time + cut, s->nr - cut, all - first - last);
	} else {
		memset(time, 0, s->nr * sizeof(*time));
		if (first + last <= 0)
			return false;
		first *= all / (first + last);
		last = all - first;
	}
	if (cut)
		time[0] = first;
	time[s->nr] = last;
	return true;
}

static void weigh(const struct timeline *t, u32 sample, enum method method,
		  double *time)
{
	const struct sample *s = &t->sample[sample];
	bool cut = s->state == STATE_WHOLE && s->before != NONE;
	u32 i;

	if (method == METHOD_RATIO) {
		find_shares(t, s, time);
		return;
	}
	for (i = 0; i <= s->nr; i++)
		time[i] = method == METHOD_FIT ? fitted(t, sample, i) : 1;
	if (method == METHOD_FIT && s->state != STATE_WHOLE) {
		time[s->nr] = t->elapsed[sample].ns;
	} else if (method == METHOD_FIT && s->nr) {
		time[s->nr] /= 2;
		if (cut)
			time[0] /= 2;
	}
}

static u64 place(const struct timeline *t, u32 sample, enum method method,
		 double *time)
{
	const struct sample *s = &t->sample[sample];
	u64 all = s->ts - s->start;
	double sum;

	memset(time, 0, (s->nr + 1) * sizeof(*time));
	if (method == METHOD_SAMPLE) {
		/* A plain profile: the sampled function stands for all of it */
		if (s->state != STATE_FIRST && !(s->flags & LBRPROF_SWITCH))
			time[s->nr] = all;
		return time[s->nr];
	}
	if (!method_there(t, method) || s->state == STATE_FIRST)
		return 0;
	if (method == METHOD_CYCLES) {
		if (s->flags & LBRPROF_PLAIN ||
		    (!(s->flags & LBRPROF_CYCLES) && s->nr))
			return 0;
		return by_cycles(t, sample, time) + 0.5;
	}
	sum = s->state == STATE_WHOLE ? all : tail(t, sample);
	if (sum <= 0)
		return 0;
	if (method == METHOD_SHARE) {
		by_share(t, s, sum, time);
	} else if (method != METHOD_FIT || !by_ends(t, sample, time)) {
		weigh(t, sample, method, time);
		scale(time, s->nr + 1, sum);
	}
	return sum + 0.5;
}

/**
 * assign_span - distribute the time of an interval among its visits
 * @t:		timeline, after timeline_finish()
 * @sample:	number of the interval's sample
 * @method:	method
 * @time:	set to the time of each visit, ns; MAX_BRANCHES + 1 entries
 * @unknown:	set for each visit whose time is only approximate; it is not attributed
 *		to its function
 *
 * Return: time at the end of the interval that is accounted for: the sum of @time,
 * rounded. Visits are contiguous.
 */
u64 assign_span(const struct timeline *t, u32 sample, enum method method,
		double *time, bool *unknown)
{
	u64 all = place(t, sample, method, time);

	memset(unknown, 0, (t->sample[sample].nr + 1) * sizeof(*unknown));
	if (method == METHOD_CYCLES && t->inferred)
		reliability_unknown(t, sample, method, time, unknown);
	return all;
}

/**
 * assign - time that is attributed to an interval's visits
 * @t:		timeline, after timeline_finish()
 * @sample:	number of the interval's sample
 * @method:	method
 * @time:	set to the time of each visit, ns; MAX_BRANCHES + 1 entries
 *
 * Return: the sum of @time, rounded. There may be unknown time between visits.
 */
u64 assign(const struct timeline *t, u32 sample, enum method method,
	   double *time)
{
	bool unknown[MAX_BRANCHES + 1];
	double sum = 0;
	u32 i;

	assign_span(t, sample, method, time, unknown);
	for (i = 0; i <= t->sample[sample].nr; i++) {
		if (unknown[i])
			time[i] = 0;
		sum += time[i];
	}
	return sum + 0.5;
}

/**
 * unknown_held - time that is unknown by cycles because it may have been the kernel's
 * @t:	timeline, after timeline_finish()
 *
 * Return: how much more would be attributed if no visit included such time, ns; 0 if
 * branches of the kernel were recorded.
 */
u64 unknown_held(const struct timeline *t)
{
	struct timeline never = *t;
	double time[MAX_BRANCHES + 1];
	u64 all = 0, known, most;
	u32 i;

	never.never_held = true;
	for (i = 0; i < t->nr && t->inferred && !t->sees_kernel; i++) {
		known = assign(t, i, METHOD_CYCLES, time);
		most = assign(&never, i, METHOD_CYCLES, time);
		all += most > known ? most - known : 0;
	}
	return all;
}

static int by_time(const void *a, const void *b, void *arg)
{
	const struct totals *x = a, *y = b;
	int m, order = 0;

	/* If a method has no values, sort by the one before it */
	for (m = *(enum method *)arg; m >= 0 && !order; m--)
		order = ORDER(y->time[m], x->time[m]);
	return order ?: ORDER(x->function, y->function);
}

/**
 * totals_new - total time of each function
 * @t:		timeline, after timeline_finish()
 * @unknown:	set to the unknown time, by method, ns
 *
 * Return: an array of all functions, in descending order of the last available method's
 * time, to be freed with free().
 */
struct totals *totals_new(const struct timeline *t, double *unknown)
{
	u32 functions = symtab_functions(t->symbols), i, j;
	struct totals *all = xzalloc(functions * sizeof(*all));
	enum method order = METHOD_SAMPLE, m;
	double time[MAX_BRANCHES + 1];

	for (i = 0; i < functions; i++)
		all[i].function = i;
	for (m = 0; m < METHODS; m++) {
		unknown[m] = 0;
		if (!method_there(t, m))
			continue;
		order = m;
		for (i = 0; i < t->nr; i++) {
			const struct sample *s = &t->sample[i];
			u64 known = assign(t, i, m, time),
			    all_of = s->ts - s->start;

			if (s->state == STATE_FIRST)
				continue;
			unknown[m] += all_of > known ? all_of - known : 0;
			for (j = 0; j <= s->nr; j++)
				all[timeline_visit(t, s, j)].time[m] += time[j];
		}
	}
	qsort_r(all, functions, sizeof(*all), by_time, &order);
	return all;
}
