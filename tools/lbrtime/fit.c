// SPDX-License-Identifier: GPL-2.0
/*
 * How long a visit lasts, by all samples at once.
 *
 * A whole interval k lasts T_k = sum over its visits of a_kj x_j, with x_j >= 0 the
 * duration of a visit of kind j, and a_kj how many it has: 1 for each, but a half for
 * the two that the interval's ends cut, which are at a random place of them. A visit's
 * kind is the pair of branches that it lies between, which tells the path through the
 * function, or the function, where a pair is too rare. Besides, the samples that found
 * function f tell what all its visits last together: sum of the lengths of the intervals
 * that end in f = sum over its kinds of V_j x_j, with V_j how many there were. This is
 * what keeps x_j honest where few intervals are whole: in the others, V_j is what the
 * recorded branches say, times how many were counted for each that was recorded.
 *
 * x is the maximum of the likelihood when both are Poisson (variances in proportion to
 * what is expected: the time of an interval in units of a mean visit, that of a profile
 * in units of a mean interval), which expectation maximisation finds:
 *
 *	x_j <- x_j * sum_k(w_k a_kj T_k / (A x)_k) / sum_k(w_k a_kj)
 *
 * To both sums is added what a tenth of a visit as long as the mean of all would add: so
 * much is known of any kind beforehand.
 *
 * x stays >= 0, and the likelihood never falls. (Shepp and Vardi, Maximum likelihood
 * reconstruction for emission tomography, IEEE Trans. Med. Imaging 1(2), 1982; for
 * linear systems before them Richardson 1972 and Lucy 1974.) The same formula's
 * expectation step, T_k a_kj x_j / (A x)_k, is what visits of an interval get.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lbrtime.h"

/* A pair of branches is a kind of its own if it was seen so often */
#define PAIR_MIN 8

/* Visits that each kind had before anything was seen */
#define PRIOR 0.1

#define ITERATIONS 200

/* Relative change of all x together at which it is good enough */
#define CHANGE 1e-6

/* Multiplications, at most */
#define WORK_MAX 3e9

/**
 * struct pairs - pairs of branches
 * @slot:	of the hash table
 * @size:	a power of two
 * @used:	of them
 */
struct pairs {
	struct pair {
		u32 from, to;
		u32 count;
		u32 key;
	} * slot;
	u64 size;
	u64 used;
};

/**
 * struct fitting - while it goes on
 * @t:		the timeline
 * @pairs:	pairs of branches
 * @function:	by kind: of which function
 * @visits:	by kind: V_j
 * @num:	by kind: sum of w a T / (A x)
 * @den:	by kind: sum of w a
 * @profile:	by function: time of the intervals that ended in it
 * @expected:	by function: what x says of that
 * @w_profile:	weight of the profile
 * @w_interval:	weight of an interval
 * @mean:	a visit lasts that long, over all
 */
struct fitting {
	struct timeline *t;
	struct pairs pairs;
	u32 *function;
	double *visits;
	double *num;
	double *den;
	double *profile;
	double *expected;
	double w_profile;
	double w_interval;
	double mean;
};

static struct pair *find_pair(struct pairs *p, u32 from, u32 to)
{
	u64 h = (((u64)from << 32 | to) + 1) * 0x9e3779b97f4a7c15ull;
	u64 at = h ^ h >> 32;

	while (p->slot[at & (p->size - 1)].count &&
	       (p->slot[at & (p->size - 1)].from != from ||
		p->slot[at & (p->size - 1)].to != to))
		at++;
	return &p->slot[at & (p->size - 1)];
}

static void add_pair(struct pairs *p, u32 from, u32 to)
{
	struct pairs old = *p;
	struct pair *q;
	u64 i;

	if (2 * p->used >= p->size) {
		p->size = p->size ? 2 * p->size : 1024;
		p->slot = allocate(p->size * sizeof(*p->slot));
		for (i = 0; i < old.size; i++) {
			if (old.slot[i].count)
				*find_pair(p, old.slot[i].from,
					   old.slot[i].to) = old.slot[i];
		}
		free(old.slot);
	}
	q = find_pair(p, from, to);
	p->used += !q->count;
	*q = (struct pair){ from, to, q->count + 1, NONE };
}

/* The branches that a visit lies between; NONE where that is not known */
static void visit_ends(const struct timeline *t, const struct sample *s, u32 i,
		       u32 *from, u32 *to)
{
	const struct branch *b = &t->branch[s->first];
	const struct sample *other;

	*from = *to = NONE;
	if (i)
		*from = b[i - 1].from;
	else if (s->before != NONE && s->state == STATE_WHOLE) {
		other = &t->sample[s->before];
		if (other->nr)
			*from = t->branch[other->first + other->nr - 1].from;
	}
	if (i < s->nr)
		*to = b[i].from;
	else if (s->after != NONE) {
		other = &t->sample[s->after];
		if (other->state == STATE_WHOLE && other->nr)
			*to = t->branch[other->first].from;
	}
}

/* How much of a visit is in the interval */
static double part(const struct sample *s, u32 i)
{
	if (s->state != STATE_WHOLE)
		return i == s->nr ? 0.5 : 1;
	if (!s->nr)
		return 1;
	return (i == 0 && s->before != NONE) || i == s->nr ? 0.5 : 1;
}

/* Branches that each recorded one stands for; 0: nobody knows */
static double stands_for(const struct sample *s)
{
	if (s->flags & LBRPROF_PLAIN)
		return 0;
	if (s->state == STATE_WHOLE)
		return 1;
	if (s->state == STATE_LOST && s->flags & LBRPROF_COUNTED)
		return s->calls > s->nr ? (s->calls + 1.0) / (s->nr + 1) : 1;
	return 0;
}

static void count_pairs(struct fitting *f)
{
	const struct timeline *t = f->t;
	u32 i, from, to;
	u64 k;

	for (k = 0; k < t->nr; k++) {
		const struct sample *s = &t->sample[k];

		for (i = 0; i <= s->nr; i++) {
			visit_ends(t, s, i, &from, &to);
			if (from != NONE && to != NONE)
				add_pair(&f->pairs, from, to);
		}
	}
}

static void name_keys(struct fitting *f)
{
	struct timeline *t = f->t;
	u32 functions = symbols_functions(t->symbols), i, from, to;
	u64 k;

	t->key = allocate((t->branches + t->nr) * sizeof(*t->key));
	t->keys = functions;
	f->function =
		allocate((functions + f->pairs.used) * sizeof(*f->function));
	for (i = 0; i < functions; i++)
		f->function[i] = i;
	for (k = 0; k < t->nr; k++) {
		const struct sample *s = &t->sample[k];
		u32 *key = &t->key[s->first + k];

		for (i = 0; i <= s->nr; i++) {
			struct pair *p = NULL;

			key[i] = timeline_visit(t, s, i);
			visit_ends(t, s, i, &from, &to);
			if (from != NONE && to != NONE)
				p = find_pair(&f->pairs, from, to);
			if (!p || p->count < PAIR_MIN)
				continue;
			if (p->key == NONE) {
				p->key = t->keys++;
				f->function[p->key] =
					symbols_at(t->symbols, to)->function;
			}
			key[i] = p->key;
		}
	}
}

/* What does not change: V, the profile, the weights */
static bool prepare(struct fitting *f)
{
	const struct timeline *t = f->t;
	double time = 0, visits = 0;
	u64 k, rows = 0;
	u32 i;

	for (k = 0; k < t->nr; k++) {
		const struct sample *s = &t->sample[k];
		const u32 *key = &t->key[s->first + k];
		double each = stands_for(s);

		if (each <= 0 || s->ts == s->start)
			continue;
		for (i = 0; i <= s->nr; i++) {
			f->visits[key[i]] += each * part(s, i);
			visits += each * part(s, i);
		}
		f->profile[timeline_visit(t, s, s->nr)] += s->ts - s->start;
		time += s->ts - s->start;
		rows++;
	}
	if (!rows || visits <= 0)
		return false;
	f->mean = time / visits;
	f->w_interval = 1 / f->mean;
	f->w_profile = rows / time;
	for (k = 0; k < t->nr; k++) {
		const struct sample *s = &t->sample[k];

		for (i = 0; i <= s->nr && s->state == STATE_WHOLE; i++)
			f->den[t->key[s->first + k + i]] +=
				f->w_interval * part(s, i);
	}
	for (i = 0; i < t->keys; i++)
		f->den[i] += f->w_profile * f->visits[i];
	return true;
}

static void add_intervals(struct fitting *f)
{
	struct timeline *t = f->t;
	const double *x = t->fitted;
	u64 k;
	u32 i;

	for (k = 0; k < t->nr; k++) {
		const struct sample *s = &t->sample[k];
		const u32 *key = &t->key[s->first + k];
		double sum = 0, w;

		if (s->state != STATE_WHOLE)
			continue;
		for (i = 0; i <= s->nr; i++)
			sum += part(s, i) * x[key[i]];
		if (sum <= 0)
			continue;
		w = f->w_interval * (s->ts - s->start) / sum;
		for (i = 0; i <= s->nr; i++)
			f->num[key[i]] += w * part(s, i);
	}
}

static void add_profile(struct fitting *f)
{
	struct timeline *t = f->t;
	u32 functions = symbols_functions(t->symbols), i;

	memset(f->expected, 0, functions * sizeof(*f->expected));
	for (i = 0; i < t->keys; i++)
		f->expected[f->function[i]] += f->visits[i] * t->fitted[i];
	for (i = 0; i < t->keys; i++) {
		u32 j = f->function[i];

		if (f->expected[j] > 0)
			f->num[i] += f->w_profile * f->visits[i] *
				     f->profile[j] / f->expected[j];
	}
}

/* Return: how much all durations changed, of what they are */
static double step(struct fitting *f)
{
	struct timeline *t = f->t;
	double change = 0, all = 0, prior = PRIOR * f->w_interval;
	u32 i;

	memset(f->num, 0, t->keys * sizeof(*f->num));
	add_intervals(f);
	add_profile(f);
	for (i = 0; i < t->keys; i++) {
		double old = t->fitted[i];

		if (f->den[i] <= 0)
			continue;
		t->fitted[i] = (old * f->num[i] + prior * f->mean) /
			       (f->den[i] + prior);
		change += fabs(t->fitted[i] - old) * f->visits[i];
		all += t->fitted[i] * f->visits[i];
	}
	return all > 0 ? change / all : 0;
}

/* Kinds that nothing is known of last as long as others of their function, or as any */
static void fill(struct fitting *f)
{
	struct timeline *t = f->t;
	u32 functions = symbols_functions(t->symbols), i;
	double *time = allocate(functions * sizeof(*time));
	double *nr = allocate(functions * sizeof(*nr));

	for (i = 0; i < t->keys; i++) {
		time[f->function[i]] += f->visits[i] * t->fitted[i];
		nr[f->function[i]] += f->visits[i];
	}
	for (i = 0; i < t->keys; i++) {
		u32 j = f->function[i];

		if (f->den[i] <= 0)
			t->fitted[i] = nr[j] > 0 ? time[j] / nr[j] : f->mean;
	}
	free(time);
	free(nr);
}

/**
 * fit - find the durations of visits
 * @t: the timeline; @key, @keys, @fitted and @has_fit are set
 */
void fit(struct timeline *t)
{
	u32 functions = symbols_functions(t->symbols), i;
	struct fitting f = { .t = t };
	double work = t->branches + t->nr + 1;

	count_pairs(&f);
	name_keys(&f);
	t->fitted = allocate(t->keys * sizeof(*t->fitted));
	f.visits = allocate(t->keys * sizeof(*f.visits));
	f.num = allocate(t->keys * sizeof(*f.num));
	f.den = allocate(t->keys * sizeof(*f.den));
	f.profile = allocate(functions * sizeof(*f.profile));
	f.expected = allocate(functions * sizeof(*f.expected));
	t->has_fit = prepare(&f);
	for (i = 0; i < t->keys; i++)
		t->fitted[i] = f.mean;
	for (i = 0; t->has_fit && i < ITERATIONS && i * work < WORK_MAX; i++) {
		if (step(&f) < CHANGE)
			break;
	}
	if (t->has_fit)
		fill(&f);
	free(f.pairs.slot);
	free(f.function);
	free(f.visits);
	free(f.num);
	free(f.den);
	free(f.profile);
	free(f.expected);
}
