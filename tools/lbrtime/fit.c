// SPDX-License-Identifier: GPL-2.0
/*
 * How long a visit lasts, by all samples and the code at once.
 *
 * A visit's kind j is where it began in its function, which is where a branch led, and
 * the branch that ended it. The visits that begin at a place are a group; at the begin of
 * a function, by whom it was called, if samples say that this makes a difference. There are three
 * witnesses of the duration x_j of a kind:
 *
 * Samples. An overflow finds a visit the more often the longer it lasts. Of all visits of a
 * group, n_g samples P apart say what they last together:
 *
 *	n_g P = sum over its kinds of V_j x_j
 *
 * with V_j how many visits there were. Where not all branches of an interval were recorded,
 * V_j is what those that were say. These are not a fair choice: they are what ran before
 * a visit that was sampled, and that was sampled because it was long. A sample whose
 * visit is of group g stands for x_g of time, so with a weight of 1 / x_g each, samples
 * stand for visits. All of them together are as many as were counted.
 *
 * Whole intervals. Interval k lasts T_k = sum of a_kj x_j, with a_kj how many visits of kind
 * j it has: 1 for each, but a half for the two that its ends cut.
 *
 * The code. From the begin of the visit to its end it is so many instructions (paths.c), if
 * there is no loop, and an instruction takes c ns. How far this is to be trusted, the
 * samples say themselves: x_j is thought to come from a gamma distribution whose mean is
 * what the code says, and whose shape, a, makes what was sampled of all groups most
 * likely (n_g is then negative binomial). Kinds without loops and those with loops each have a
 * c and an a of their own. Where the code says nothing, or too little to learn from, the
 * mean is that of the function, and a is small.
 *
 * With n_g and T_k Poisson (variances in proportion to what is expected: samples, and the
 * time of an interval in units of a mean visit), expectation maximisation finds the most
 * likely x:
 *
 *	x_j <- (x_j * sum_k(w_k a_kj T_k / (A x)_k) + a) / (sum_k(w_k a_kj) + a / mean_j)
 *
 * where k goes over intervals and groups (Shepp and Vardi, Maximum likelihood
 * reconstruction for emission tomography, IEEE Trans. Med. Imaging 1(2), 1982; Lange,
 * Bahn and Little on gamma distributions beforehand, same journal 6(2), 1987).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lbrtime.h"

#define ITERATIONS 60
#define ROUNDS 6

/* Relative change of all x together at which it is good enough */
#define CHANGE 1e-6

/* Multiplications of one round, at most */
#define WORK_MAX 5e8

/* Kinds that are looked at for what a sampled visit may be, at most */
#define REACH_MAX 100000000

/* Intervals that differ by no more are of the same period */
#define ALIKE 1.05

/* Windows whose visits are as frequent as those of each other */
#define PHASE 200

/* No sample counts for more than so many mean ones */
#define WEIGHT_MAX 20

/* E(x^2) / E(x)^2 of loops: any length up to twice the mean is as likely */
#define LOOP_SQUARE (4.0 / 3)

/* Offsets in functions that stand for something else */
#define OPEN U64_MAX
#define UNKNOWN U64_MAX
#define CALLER (1ull << 63)

/* Who called */
#define ANYBODY 0

/* Shapes that are tried, each twice the one before; without so many groups, none is */
#define SHAPE_LEAST 0.125
#define SHAPES 11
#define SHAPE_DEFAULT 0.1
#define GROUPS_MIN 20

/*
 * Callers differ where the test is so many standard deviations beyond its mean. Those by
 * whom less samples are to be expected are left out of it.
 */
#define SIGMAS 5
#define EXPECTED_MIN 5

/**
 * enum sort - what the code says of a kind
 * @SORT_LINE:	how many instructions it is
 * @SORT_LOOP:	how many it is at least
 * @SORT_NONE:	nothing
 * @SORTS:	how many
 */
enum sort { SORT_LINE, SORT_LOOP, SORT_NONE, SORTS };

/**
 * struct class - of visits
 * @function:	where
 * @group:	which began at the same place, or NONE
 * @next:	another one of the group, or NONE
 * @to:		the offset in the function where they end
 * @sort:	of enum sort
 * @open:	where they end is unknown
 * @system:	a system call is in them
 * @insns:	instructions
 * @mean:	what x is thought to be beforehand
 * @visits:	V_j
 * @num:	sum of w a T / (A x)
 * @den:	sum of w a, of intervals
 * @x:		the duration, ns
 */
struct class {
	u32 function;
	u32 group;
	u32 next;
	u64 to;
	u8 sort;
	bool open;
	bool system;
	double insns;
	double mean;
	double visits;
	double num, den;
	double x;
};

/**
 * struct group - kinds that begin at the same place
 * @kinds:	the first of them, or NONE
 * @samples:	n_g
 * @visits:	sum of V_j
 * @expected:	sum of V_j x_j
 * @squares:	sum of V_j E(x^2), with LOOP_SQUARE
 * @by_sort:	sum of V_j insns_j
 * @sorted:	sum of V_j
 */
struct group {
	u32 kinds;
	double samples;
	double visits;
	double expected;
	double squares;
	double by_sort[SORTS];
	double sorted[SORTS];
};

/**
 * struct window - the branches that are known of an interval with more
 * @sample:	whose
 * @visits:	in all of it, as counted
 * @rate:	of these, for each ns
 */
struct window {
	u32 sample;
	double visits;
	double rate;
};

/**
 * struct names - numbers of pairs of numbers, and what is counted of each
 * @slot:	of the hash table
 * @size:	a power of two
 * @used:	of them
 */
struct names {
	struct name {
		u64 a, b;
		u64 value;
		double sum;
		u32 count;
		u32 hits;
		bool apart;
		bool used;
	} * slot;
	u64 size;
	u64 used;
};

/**
 * struct fitting - while it goes on
 * @t:		the timeline
 * @start:	by visit: where it began, an address, or 0
 * @kind:	kinds
 * @kinds:	how many
 * @kind_room:	for so many
 * @group:	groups
 * @groups:	how many
 * @group_room:	for so many
 * @kind_names:	kinds, by group and end
 * @group_names: groups, by function and begin
 * @reach_names: lists of @t->reach, by place and group
 * @reach_room:	for so many
 * @reach_work:	kinds that were looked at for these
 * @caller_names: calls and samples, by function and who called
 * @paths:	the code
 * @period:	P, ns
 * @mean:	a visit lasts that long, over all
 * @window:	intervals that are not whole
 * @windows:	how many
 * @scale:	c, by sort
 * @shape:	a, by sort
 */
struct fitting {
	struct timeline *t;
	u64 *start;
	struct class *kind;
	u64 kinds, kind_room;
	struct group *group;
	u64 groups, group_room;
	struct names kind_names, group_names, caller_names, reach_names;
	u64 reach_room, reach_work;
	struct paths *paths;
	double period;
	double mean;
	struct window *window;
	u64 windows;
	double scale[SORTS];
	double shape[SORTS];
};

/* ------------------------------------------------------------------------- */
/* Names */

static struct name *find_slot(struct names *n, u64 a, u64 b)
{
	u64 h = (a * 0xff51afd7ed558ccdull ^ (b + 1)) * 0x9e3779b97f4a7c15ull;
	u64 at = h ^ h >> 32;

	while (n->slot[at & (n->size - 1)].used &&
	       (n->slot[at & (n->size - 1)].a != a ||
		n->slot[at & (n->size - 1)].b != b))
		at++;
	return &n->slot[at & (n->size - 1)];
}

/* The name of a pair; it is new if it has no count */
static struct name *get_name(struct names *n, u64 a, u64 b)
{
	struct names old = *n;
	struct name *found;
	u64 i;

	if (2 * n->used >= n->size) {
		n->size = n->size ? 2 * n->size : 1024;
		n->slot = allocate(n->size * sizeof(*n->slot));
		for (i = 0; i < old.size; i++) {
			if (old.slot[i].used)
				*find_slot(n, old.slot[i].a, old.slot[i].b) =
					old.slot[i];
		}
		free(old.slot);
	}
	found = find_slot(n, a, b);
	if (!found->used) {
		*found = (struct name){ .a = a, .b = b, .used = true };
		n->used++;
	}
	return found;
}

/* ------------------------------------------------------------------------- */
/* Where visits begin */

static u64 index_of(const struct timeline *t, u32 sample, u32 visit)
{
	return t->sample[sample].first + sample + visit;
}

/* The place where a visit ends, or is sampled */
static u32 end_place(const struct timeline *t, const struct sample *s, u32 i)
{
	return i < s->nr ? t->branch[s->first + i].from : s->ip;
}

/* The branch that a visit begins with is known */
static bool has_branch(const struct timeline *t, const struct sample *s, u32 i,
		       u32 *from)
{
	while (!i && s->state == STATE_WHOLE && s->before != NONE) {
		s = &t->sample[s->before];
		i = s->nr;
	}
	if (i)
		*from = t->branch[s->first + i - 1].from;
	return i;
}

static void find_starts(struct fitting *f)
{
	const struct timeline *t = f->t;
	struct walk *w = walk_new(t);
	u32 k, i;

	for (k = 0; k < t->nr; k++) {
		const struct sample *s = &t->sample[k];
		const struct chains *c = walk_next(w, k);
		u64 *start = &f->start[index_of(t, k, 0)];

		if (s->state == STATE_WHOLE && s->before != NONE)
			start[0] = f->start[index_of(t, s->before,
						     t->sample[s->before].nr)];
		for (i = 0; i < s->nr; i++)
			start[i + 1] = c->to[i];
	}
	walk_free(w);
}

/*
 * A return whose call was not seen led to where the same one did otherwise, when what came
 * then was in the same function: to where most of them did.
 */
static void guess_starts(struct fitting *f)
{
	const struct timeline *t = f->t;
	struct names seen = { 0 };
	struct name *n;
	u32 k, i, from, pass;

	for (pass = 0; pass < 2; pass++) {
		for (k = 0; k < t->nr; k++) {
			const struct sample *s = &t->sample[k];

			for (i = 0; i <= s->nr; i++) {
				u64 *start = &f->start[index_of(t, k, i)];

				if (!has_branch(t, s, i, &from) ||
				    (pass && *start) || (!pass && !*start))
					continue;
				n = get_name(&seen, from,
					     timeline_visit(t, s, i));
				if (pass) {
					*start = n->value;
				} else if (n->value == *start || !n->count) {
					n->value = *start;
					n->count++;
				} else {
					n->count--;
				}
			}
		}
	}
	free(seen.slot);
}

/* ------------------------------------------------------------------------- */
/* Kinds */

static u32 get_group(struct fitting *f, u32 function, u64 begin)
{
	struct name *n = get_name(&f->group_names, function, begin);

	if (!n->count++) {
		f->group = grow(f->group, f->groups, &f->group_room,
				sizeof(*f->group));
		f->group[f->groups] = (struct group){ .kinds = NONE };
		n->value = f->groups++;
	}
	return n->value;
}

static void look_at_code(struct fitting *f, struct class *k, u64 start,
			 const struct place *end)
{
	struct path path;

	k->sort = SORT_NONE;
	k->insns = 0;
	if (!start || k->open ||
	    !paths_find(f->paths, end->space, start, end->addr, end->start,
			&path))
		return;
	k->sort = path.loops || path.system ? SORT_LOOP : SORT_LINE;
	k->system = path.system;
	k->insns = path.insns;
}

static u32 get_kind(struct fitting *f, u32 group, bool open, u64 start,
		    u32 function, const struct place *end)
{
	u64 to = open ? OPEN : end->addr - end->start;
	/* Without a group: by function */
	struct name *n =
		get_name(&f->kind_names,
			 group == NONE ? ((u64)function + 1) << 32 : group, to);
	struct class *k;

	if (n->count++)
		return n->value;
	f->kind = grow(f->kind, f->kinds, &f->kind_room, sizeof(*f->kind));
	k = &f->kind[f->kinds];
	*k = (struct class){ .function = function,
			     .group = group,
			     .next = NONE,
			     .to = to,
			     .open = open };
	if (group != NONE) {
		k->next = f->group[group].kinds;
		f->group[group].kinds = f->kinds;
	}
	look_at_code(f, k, group == NONE ? 0 : start, end);
	n->value = f->kinds++;
	return n->value;
}

static bool ends_known(const struct timeline *t, const struct sample *s, u32 i,
		       u32 *place)
{
	*place = end_place(t, s, i);
	if (i < s->nr)
		return true;
	while (s->after != NONE) {
		s = &t->sample[s->after];
		if (s->state != STATE_WHOLE)
			return false;
		if (s->nr) {
			*place = t->branch[s->first].from;
			return true;
		}
	}
	return false;
}

/* Who called the function that a visit is of, if it is there from the begin; or ANYBODY */
static u64 caller_of(const struct fitting *f, u32 sample, u32 i,
		     const struct place *end)
{
	u64 start = f->start[index_of(f->t, sample, i)];
	const struct place *caller;
	u32 from;

	if (!start || start != end->start ||
	    !has_branch(f->t, &f->t->sample[sample], i, &from))
		return ANYBODY;
	caller = symbols_at(f->t->symbols, from);
	return ((u64)caller->function + 1) << 32 |
	       (u32)(caller->addr - caller->start);
}

static void count_call(struct fitting *f, u32 function, u64 caller, bool hit)
{
	struct name *n = get_name(&f->caller_names, function, caller);

	n->count++;
	n->hits += hit;
}

static void count_calls(struct fitting *f)
{
	const struct timeline *t = f->t;
	const struct place *end;
	u32 k, i, place;
	u64 caller;

	for (k = 0; k < t->nr; k++) {
		const struct sample *s = &t->sample[k];

		for (i = 0; i <= s->nr; i++) {
			ends_known(t, s, i, &place);
			end = symbols_at(t->symbols, place);
			caller = caller_of(f, k, i, end);
			if (caller == ANYBODY)
				continue;
			count_call(f, end->function, caller, i == s->nr);
			count_call(f, end->function, ANYBODY, i == s->nr);
		}
	}
}

/*
 * Visits that last longer for one caller than for another are in more of the samples than
 * there are of them: Pearson's test, by function. Where it leaves no doubt, each caller's are
 * a group.
 */
static void test_callers(struct fitting *f, struct names *tests)
{
	struct names *n = &f->caller_names;
	const struct name *c, *all;
	struct name *test;
	double expected;
	u64 i;

	for (i = 0; i < n->size; i++) {
		c = &n->slot[i];
		if (!c->used || c->b == ANYBODY)
			continue;
		all = find_slot(n, c->a, ANYBODY);
		expected = (double)all->hits * c->count / all->count;
		if (expected < EXPECTED_MIN)
			continue;
		test = get_name(tests, c->a, ANYBODY);
		test->count++;
		test->sum +=
			(c->hits - expected) * (c->hits - expected) / expected;
	}
}

static void tell_callers_apart(struct fitting *f)
{
	struct names tests = { 0 };
	const struct name *test;
	struct name *c;
	u64 i;

	count_calls(f);
	test_callers(f, &tests);
	for (i = 0; tests.used && i < f->caller_names.size; i++) {
		c = &f->caller_names.slot[i];
		if (!c->used || c->b == ANYBODY)
			continue;
		test = find_slot(&tests, c->a, ANYBODY);
		c->apart = test->used &&
			   test->sum > test->count +
					       SIGMAS * sqrt(2.0 * test->count);
	}
	free(tests.slot);
}

/* The place of a function where a visit begins, or, of its begin, who called it */
static u64 begin_of(struct fitting *f, u32 sample, u32 i,
		    const struct place *end)
{
	u64 start = f->start[index_of(f->t, sample, i)];
	u64 caller = caller_of(f, sample, i, end);

	if (!start)
		return UNKNOWN;
	if (caller != ANYBODY &&
	    find_slot(&f->caller_names, end->function, caller)->apart)
		return caller | CALLER;
	return start - end->start;
}

static void name_kinds(struct fitting *f)
{
	struct timeline *t = f->t;
	u32 k, i, place, from;

	t->key = allocate((t->branches + t->nr) * sizeof(*t->key));
	for (k = 0; k < t->nr; k++) {
		const struct sample *s = &t->sample[k];

		for (i = 0; i <= s->nr; i++) {
			u64 at = index_of(t, k, i);
			bool open = !ends_known(t, s, i, &place);
			const struct place *end = symbols_at(t->symbols, place);
			u64 start = f->start[at];
			u32 group = NONE;

			if (has_branch(t, s, i, &from))
				group = get_group(f, end->function,
						  begin_of(f, k, i, end));
			f->t->group[at] = group;
			t->key[at] = get_kind(f, group, open, start,
					      end->function, end);
		}
	}
}

/* ------------------------------------------------------------------------- */
/* How many visits, and samples */

/* How much of a visit is in the interval */
static double part(const struct sample *s, u32 i)
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

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * P, if the counter has one: many of the shortest intervals are alike then. Others are
 * longer by what the counter does not count, as the time in the kernel, or shorter by
 * that before the thread came.
 */
static double find_period(const struct timeline *t)
{
	double *time = allocate((t->nr + 1) * sizeof(*time)), period = 0;
	u64 nr = 0;
	u32 k;

	for (k = 0; k < t->nr; k++) {
		const struct sample *s = &t->sample[k];

		if (is_used(s) && s->before != NONE)
			time[nr++] = s->ts - s->start;
	}
	qsort(time, nr, sizeof(*time), by_size);
	if (nr && time[nr / 4] <= ALIKE * time[nr / 20])
		period = time[nr / 10];
	free(time);
	return period;
}

static bool count_samples(struct fitting *f)
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
				visits += part(s, i);
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
		u32 group = f->t->group[index_of(t, k, s->nr)];

		if (is_used(s) && group != NONE && !(s->flags & LBRPROF_SWITCH))
			f->group[group].samples +=
				period > 0 ? 1 : (s->ts - s->start) / f->period;
	}
	return true;
}

/* A sample stands for so many visits, but for a factor that all have in common */
static double weight_of(const struct fitting *f, u32 sample)
{
	const struct timeline *t = f->t;
	u32 group = f->t->group[index_of(t, sample, t->sample[sample].nr)];
	const struct group *g = group == NONE ? NULL : &f->group[group];
	double x = g && g->visits > 0 && g->expected > 0 ?
			   g->expected / g->visits :
			   f->mean;

	return f->mean / x < WEIGHT_MAX ? f->mean / x : WEIGHT_MAX;
}

static bool is_window(const struct sample *s)
{
	return is_used(s) && s->state != STATE_WHOLE && s->nr > 1;
}

static int by_rate(const void *a, const void *b)
{
	const struct window *x = a, *y = b;

	if (x->rate != y->rate)
		return x->rate < y->rate ? -1 : 1;
	return (x->sample > y->sample) - (x->sample < y->sample);
}

/* Intervals that are not whole, in order of how many visits they had for their time */
static void find_windows(struct fitting *f)
{
	const struct timeline *t = f->t;
	u32 k;

	f->window = allocate((t->nr + 1) * sizeof(*f->window));
	for (k = 0; k < t->nr; k++) {
		const struct sample *s = &t->sample[k];

		if (is_window(s))
			f->window[f->windows++] =
				(struct window){ .sample = k,
						 .visits = s->calls + 0.5,
						 .rate = (s->calls + 0.5) /
							 (s->ts - s->start) };
	}
	qsort(f->window, f->windows, sizeof(*f->window), by_rate);
}

/* V_j of some windows */
static void count_windows(struct fitting *f, u64 from, u64 to)
{
	struct timeline *t = f->t;
	double seen = 0, all = 0, w;
	u64 k;
	u32 i;

	for (k = from; k < to; k++) {
		const struct window *v = &f->window[k];

		seen += weight_of(f, v->sample) * (t->sample[v->sample].nr - 1);
		all += v->visits;
	}
	for (k = from; k < to; k++) {
		u32 sample = f->window[k].sample;
		const u32 *key = &t->key[index_of(t, sample, 0)];

		w = weight_of(f, sample) * all / seen;
		for (i = 1; i < t->sample[sample].nr; i++)
			f->kind[key[i]].visits += w;
	}
}

/* V_j, of what is whole and what is not */
static void count_visits(struct fitting *f)
{
	struct timeline *t = f->t;
	u64 k, at;
	u32 i;

	for (i = 0; i < f->kinds; i++)
		f->kind[i].visits = 0;
	for (k = 0; k < t->nr; k++) {
		const struct sample *s = &t->sample[k];

		for (i = 0; is_used(s) && s->state == STATE_WHOLE && i <= s->nr;
		     i++)
			f->kind[t->key[index_of(t, k, i)]].visits += part(s, i);
	}
	for (at = 0; at < f->windows; at += PHASE) {
		/* The last ones are not left alone */
		k = f->windows - at < 2 * PHASE ? f->windows : at + PHASE;
		count_windows(f, at, k);
		if (k == f->windows)
			break;
	}
}

static void sum_groups(struct fitting *f)
{
	u32 i, j;

	for (i = 0; i < f->groups; i++) {
		struct group *g = &f->group[i];

		g->visits = g->expected = g->squares = 0;
		for (j = 0; j < SORTS; j++)
			g->by_sort[j] = g->sorted[j] = 0;
	}
	for (i = 0; i < f->kinds; i++) {
		const struct class *k = &f->kind[i];
		struct group *g;

		if (k->group == NONE)
			continue;
		g = &f->group[k->group];
		g->visits += k->visits;
		g->expected += k->visits * k->x;
		g->squares += k->visits * k->x * k->x *
			      (k->sort == SORT_LINE ? 1 : LOOP_SQUARE);
		g->by_sort[k->sort] += k->visits * k->mean;
		g->sorted[k->sort] += k->visits;
	}
}

/* ------------------------------------------------------------------------- */
/* What is thought beforehand */

/* n given that e are expected, with shape a: the logarithm of how likely that is */
static double likelihood(double n, double e, double a)
{
	return lgamma(n + a) - lgamma(a) + n * log(e / (a + e)) +
	       a * log(a / (a + e));
}

static bool is_of(const struct group *g, enum sort sort)
{
	return g->sorted[sort] > 0.9 * g->visits && g->by_sort[sort] > 0;
}

/*
 * c and a of a sort, from groups that are of it and not of others. Without enough of them,
 * the code is no witness.
 */
static void learn(struct fitting *f, enum sort sort)
{
	double samples = 0, expected = 0, best = -INFINITY, a = SHAPE_LEAST;
	u32 groups = 0, i, j;

	for (i = 0; i < f->groups; i++) {
		if (!is_of(&f->group[i], sort))
			continue;
		groups++;
		samples += f->group[i].samples;
		expected += f->group[i].by_sort[sort] / f->period;
	}
	f->shape[sort] = SHAPE_DEFAULT;
	f->scale[sort] = 0;
	if (sort == SORT_NONE || groups < GROUPS_MIN || samples <= 0)
		return;
	f->scale[sort] = samples / expected;
	for (j = 0; j < SHAPES; j++, a *= 2) {
		double sum = 0;

		for (i = 0; i < f->groups; i++) {
			const struct group *g = &f->group[i];

			if (is_of(g, sort))
				sum += likelihood(g->samples,
						  f->scale[sort] *
							  g->by_sort[sort] /
							  f->period,
						  a);
		}
		if (sum > best) {
			best = sum;
			f->shape[sort] = a;
		}
	}
}

/* Kinds of which the code says nothing: as long as those of their function */
static void mean_of_functions(struct fitting *f)
{
	u32 functions = symbols_functions(f->t->symbols), i;
	double *time = allocate(functions * sizeof(*time));
	double *nr = allocate(functions * sizeof(*nr));

	for (i = 0; i < f->kinds; i++) {
		const struct class *k = &f->kind[i];

		time[k->function] += k->visits * k->x;
		nr[k->function] += k->visits;
	}
	for (i = 0; i < f->kinds; i++) {
		struct class *k = &f->kind[i];

		if (f->scale[k->sort] <= 0)
			k->mean = nr[k->function] > 0 && time[k->function] > 0 ?
					  time[k->function] / nr[k->function] :
					  f->mean;
	}
	free(time);
	free(nr);
}

static void expect(struct fitting *f)
{
	enum sort sort;
	u32 i;

	for (i = 0; i < f->kinds; i++)
		f->kind[i].mean = f->kind[i].insns;
	sum_groups(f);
	for (sort = 0; sort < SORTS; sort++)
		learn(f, sort);
	for (i = 0; i < f->kinds; i++)
		f->kind[i].mean *= f->scale[f->kind[i].sort];
	mean_of_functions(f);
}

/* ------------------------------------------------------------------------- */
/* Expectation maximisation */

static void add_intervals(struct fitting *f, bool den)
{
	struct timeline *t = f->t;
	u32 k, i;

	for (k = 0; k < t->nr; k++) {
		const struct sample *s = &t->sample[k];
		const u32 *key = &t->key[index_of(t, k, 0)];
		double sum = 0, w;

		if (s->state != STATE_WHOLE || s->flags & LBRPROF_PLAIN)
			continue;
		if (den) {
			for (i = 0; i <= s->nr; i++)
				f->kind[key[i]].den += part(s, i) / f->mean;
			continue;
		}
		for (i = 0; i <= s->nr; i++)
			sum += part(s, i) * f->kind[key[i]].x;
		if (sum <= 0)
			continue;
		w = (s->ts - s->start) / sum / f->mean;
		for (i = 0; i <= s->nr; i++)
			f->kind[key[i]].num += w * part(s, i);
	}
}

/* Return: how much all durations changed, of what they are */
static double step(struct fitting *f)
{
	double change = 0, all = 0, den;
	u32 i;

	for (i = 0; i < f->kinds; i++)
		f->kind[i].num = 0;
	add_intervals(f, false);
	sum_groups(f);
	for (i = 0; i < f->kinds; i++) {
		struct class *k = &f->kind[i];
		double old = k->x, a = f->shape[k->sort];

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

static void iterate(struct fitting *f)
{
	double work = f->t->branches + f->t->nr + f->kinds + 1;
	u32 i;

	for (i = 0; i < ITERATIONS && i * work < WORK_MAX; i++) {
		if (step(f) < CHANGE)
			break;
	}
}

/* ------------------------------------------------------------------------- */
/* The result */

/* Visits whose end is not known are as those that began where they did */
static void close_open(struct fitting *f)
{
	u32 i;

	sum_groups(f);
	for (i = 0; i < f->kinds; i++) {
		struct class *k = &f->kind[i];
		const struct group *g = k->group == NONE ? NULL :
							   &f->group[k->group];

		if (k->open && !k->den && g && g->visits > 0)
			k->x = g->expected / g->visits;
	}
}

/*
 * E((r - about)^2) of a random place r in visits that last @x on average, and differ as loops do:
 * E(r) = E(x^2) / 2 E(x) and E(r^2) = E(x^3) / 3 E(x) of a gamma distribution.
 */
static double chance(const struct fitting *f, double x, double about)
{
	double a = f->shape[SORT_LOOP];

	return x * x * (a + 1) * (a + 2) / (3 * a * a) -
	       about * x * (a + 1) / a + about * about;
}

static void put_reach(struct fitting *f, u32 key)
{
	struct timeline *t = f->t;

	t->reach =
		grow(t->reach, t->reaches, &f->reach_room, sizeof(*t->reach));
	t->reach[t->reaches++] = key;
}

/* Which kinds of the group a visit that is at the sample's place may turn out to be */
static u64 find_reach(struct fitting *f, u32 sample, u32 group)
{
	const struct sample *s = &f->t->sample[sample];
	const struct place *ip = symbols_at(f->t->symbols, s->ip);
	struct name *n = get_name(&f->reach_names, s->ip, group);
	u32 i = f->group[group].kinds;

	if (n->count++)
		return n->value;
	n->value = f->t->reaches;
	if (!paths_ahead(f->paths, ip->space, ip->addr))
		i = NONE;
	for (; i != NONE && f->reach_work < REACH_MAX;
	     i = f->kind[i].next, f->reach_work++) {
		if (!f->kind[i].open &&
		    paths_reach(f->paths, ip->start + f->kind[i].to))
			put_reach(f, i);
	}
	put_reach(f, NONE);
	return n->value;
}

/*
 * How long the visit that a sample has found had lasted then: what the code says, if it
 * has no loop on the way; or what is to be expected of a visit that was found by
 * chance, E(x^2) / 2 E(x).
 */
static struct elapsed elapsed(struct fitting *f, u32 sample)
{
	struct timeline *t = f->t;
	const struct sample *s = &t->sample[sample];
	u64 at = index_of(t, sample, s->nr);
	const struct place *ip = symbols_at(t->symbols, s->ip);
	const struct group *g =
		f->t->group[at] == NONE ? NULL : &f->group[f->t->group[at]];
	struct elapsed e = { .variance = INFINITY, .reach = U64_MAX };
	struct path path = { 0 };

	e.straight = f->scale[SORT_LINE] > 0 && f->start[at] &&
		     paths_find(f->paths, ip->space, f->start[at], ip->addr,
				ip->start, &path) &&
		     !path.loops && !path.system &&
		     !paths_circle(f->paths, ip->space, ip->addr);
	if (e.straight) {
		e.ns = (path.insns - 1) * f->scale[SORT_LINE];
		e.variance = e.ns * e.ns / f->shape[SORT_LINE];
	} else if (g && g->expected > 0) {
		e.reach = find_reach(f, sample, t->group[at]);
		e.ns = g->squares / g->expected / 2;
		if (!path.system)
			e.variance = chance(f, g->expected / g->visits, e.ns);
	} else {
		e.ns = f->kind[t->key[at]].x;
	}
	return e;
}

/* Without loops, as much as kinds differ from what the code says; otherwise, as by chance */
static double variance(const struct fitting *f, const struct class *k)
{
	if (k->system)
		return INFINITY;
	return k->x * k->x / f->shape[k->sort];
}

/* Of the duration itself: x comes from a gamma distribution, of shape num x + a */
static double doubt(const struct fitting *f, const struct class *k)
{
	double den = k->den;

	if (k->group != NONE && f->group[k->group].expected > 0)
		den += k->visits / f->period;
	return k->x * k->x / (k->x * den + f->shape[k->sort]);
}

/* How much of a parameter intervals had to find, the rest is from elsewhere: from 0 to 1 */
static double parameter(const struct fitting *f, const struct class *k)
{
	double all = k->den;

	if (k->group != NONE && f->group[k->group].expected > 0)
		all += k->visits / f->period;
	return k->den > 0 ? k->x * k->den / (k->x * all + f->shape[k->sort]) :
			    0;
}

static void take_results(struct fitting *f)
{
	struct timeline *t = f->t;
	u32 i;

	t->keys = f->kinds;
	t->fitted = allocate((f->kinds + 1) * sizeof(*t->fitted));
	t->variance = allocate((f->kinds + 1) * sizeof(*t->variance));
	t->doubt = allocate((f->kinds + 1) * sizeof(*t->doubt));
	t->straight = allocate((f->kinds + 1) * sizeof(*t->straight));
	t->groups = f->groups;
	t->grouped = allocate((f->groups + 1) * sizeof(*t->grouped));
	t->elapsed = allocate(t->nr * sizeof(*t->elapsed));
	if (!t->has_fit)
		return;
	close_open(f);
	for (i = 0; i < f->kinds; i++) {
		t->fitted[i] = f->kind[i].x;
		t->variance[i] = variance(f, &f->kind[i]);
		t->doubt[i] = doubt(f, &f->kind[i]);
		t->parameters += parameter(f, &f->kind[i]);
		t->straight[i] = f->kind[i].sort == SORT_LINE;
	}
	for (i = 0; i < f->groups; i++)
		t->grouped[i] =
			f->group[i].visits > 0 ?
				f->group[i].expected / f->group[i].visits :
				0;
	for (i = 0; i < t->nr; i++)
		t->elapsed[i] = elapsed(f, i);
}

/**
 * fit - find the durations of visits
 * @t: the timeline; @key, @keys, @fitted, @variance, @straight, @group, @groups, @grouped,
 *	@period, @elapsed and @has_fit are set
 */
void fit(struct timeline *t)
{
	u64 visits = t->branches + t->nr;
	struct fitting f = { .t = t };
	u32 i;

	f.start = allocate(visits * sizeof(*f.start));
	t->group = allocate(visits * sizeof(*t->group));
	f.paths = paths_new(t->symbols);
	find_starts(&f);
	guess_starts(&f);
	tell_callers_apart(&f);
	name_kinds(&f);
	t->has_fit = count_samples(&f);
	find_windows(&f);
	for (i = 0; t->has_fit && i < ROUNDS; i++) {
		u32 j;

		count_visits(&f);
		expect(&f);
		for (j = 0; j < f.kinds; j++) {
			if (!i)
				f.kind[j].x = f.kind[j].mean;
			f.kind[j].den = 0;
		}
		add_intervals(&f, true);
		iterate(&f);
	}
	take_results(&f);
	paths_free(f.paths);
	free(f.start);
	free(f.kind);
	free(f.group);
	free(f.window);
	free(f.kind_names.slot);
	free(f.group_names.slot);
	free(f.caller_names.slot);
	free(f.reach_names.slot);
}
