// SPDX-License-Identifier: GPL-2.0
/*
 * Which causes stand out: could their executions have them in common by chance?
 *
 * On a busy host any function loses time at some moment, more often the one in which more
 * time is spent. So if delays struck at random, each of them would be in a function with
 * the probability of that function's part of the normal time; in interrupts of a source,
 * with the probability of their part. A cause stands out if it is improbable that as many
 * slow executions would then have any function in common.
 *
 * On a busy host many short delays hide a fault with a few long ones. So the executions
 * that have half of all delay are examined by themselves, too.
 *
 * A sleep is not a delay at random, but may be usual. With a baseline, a cause that its
 * slow executions have, too, must be more frequent than there.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pathdiff.h"

/* A cause whose probability at the baseline's frequency is above this is usual */
#define MIN_USUAL_CHANCE 0.001

/*
 * Ratio of a cause's mean duration to the centre above which executions are slow even if
 * they cost little time: with a baseline
 */
#define MIN_RATIO_BASELINE 2.0

/*
 * The same without a baseline, where a rare branch of a healthy process looks like a
 * fault: of a cause that has half of all delay, and of any
 */
#define MIN_RATIO_HALF 4.0
#define MIN_RATIO_ANY 10.0

/* Minimum number of executions of a cause that is an interrupt or preemption, or costs little time */
#define MIN_EXECUTIONS 3

/* Minimum part of all delay of a cause */
#define MIN_DELAY_PART 0.10

/* Minimum part of a cause's delay outside of the execution that has most of it */
#define MIN_OTHERS_PART 0.20

/**
 * struct normal_time - where normal executions spend their time
 * @self:	for each function, ns
 * @incl:	the same, with what it called
 * @irq:	for each cause that is an interrupt, in those of its source, ns
 * @all:	duration of all normal executions, ns
 * @one:	their mean duration, ns
 * @functions:	number of functions with self time
 */
struct normal_time {
	double *self;
	double *incl;
	double *irq;
	double all;
	double one;
	u32 functions;
};

static void find_normal_time(const struct paths *p, struct normal_time *t)
{
	double n = 0;
	u32 i, k;

	memset(t, 0, sizeof(*t));
	t->self = xzalloc(p->functions.nr * sizeof(*t->self));
	t->incl = xzalloc(p->functions.nr * sizeof(*t->incl));
	for (i = 0; i < p->patterns.nr; i++) {
		const struct pattern *q = &p->patterns.p[i];

		for (k = 0; q->nr[0] && k < q->len; k++) {
			t->self[q->function[k]] += q->stat[k].self * q->nr[0];
			t->incl[q->function[k]] += q->stat[k].incl * q->nr[0];
		}
		t->all += q->duration * q->nr[0];
		n += q->nr[0];
	}
	for (i = 0; i < p->functions.nr; i++)
		t->functions += t->self[i] > 0;
	t->one = n > 0 ? t->all / n : 0;
}

/* Is the interrupt of a name from this source, whichever function has most of it? */
static bool is_from(const char *name, const char *source, size_t len)
{
	return !strncmp(name, source, len) &&
	       (!name[len] || !strncmp(name + len, IRQ_MOST, strlen(IRQ_MOST)));
}

/* Time of normal executions in interrupts, by name */
static double *sum_irqs(const struct paths *p)
{
	double *time = xzalloc((p->names.nr + 1) * sizeof(*time));
	u32 i, k;

	for (i = 0; i < p->nr; i++) {
		const struct exec *e = &p->exec[i];

		for (k = e->wait; !e->abnormal && k < e->wait + e->waits; k++) {
			const struct wait *w = &p->wait[k];

			if (w->kind == WAIT_IRQ && w->who != NONE)
				time[w->who] += w->time;
		}
	}
	return time;
}

static void find_normal_irqs(const struct paths *p, const struct ranking *r,
			     struct normal_time *t)
{
	double *time = sum_irqs(p);
	u32 i, k;

	t->irq = xzalloc((r->nr + 1) * sizeof(*t->irq));
	for (i = 0; i < r->nr; i++) {
		const char *source, *end;
		size_t len;

		if (r->cause[i].kind != CAUSE_IRQ)
			continue;
		source = p->names.name[r->cause[i].function];
		end = strstr(source, IRQ_MOST);
		len = end ? (size_t)(end - source) : strlen(source);
		for (k = 0; k < p->names.nr; k++) {
			if (time[k] > 0 &&
			    is_from(p->names.name[k], source, len))
				t->irq[i] += time[k];
		}
	}
	free(time);
}

/* Additive smoothing: as if one more execution were spread evenly over one more function */
static double share(const struct normal_time *t, double time)
{
	double functions = t->functions + 1;
	double part = (time + t->one / functions) / (t->all + t->one);

	return part < 1 ? part : 1;
}

/**
 * binomial_tail - probability of a number of hits, or more
 * @hits: number of hits
 * @trials: number of trials
 * @chance: probability of a hit in a trial, 0..1
 *
 * The upper tail of the binomial distribution; 1 if @hits is at most the expected number.
 *
 * Return: probability, 0..1.
 */
static double binomial_tail(u64 hits, u64 trials, double chance)
{
	double sum = 0, term, odds;
	u64 i;

	if (hits <= trials * chance)
		return 1;
	if (chance <= 0)
		return 0;
	odds = chance / (1 - chance);
	term = exp(lgamma(trials + 1.0) - lgamma(hits + 1.0) -
		   lgamma(trials - hits + 1.0) + hits * log(chance) +
		   (trials - hits) * log1p(-chance));
	for (i = hits; i <= trials; i++) {
		sum += term;
		term *= odds * (trials - i) / (i + 1.0);
		if (term < sum * 1e-9)
			break;
	}
	return sum < 1 ? sum : 1;
}

/**
 * cause_may_be_chance - whether delays at random moments may look like a cause
 * @c: the cause
 */
bool cause_may_be_chance(const struct cause *c)
{
	return c->chance > 0.01;
}

/**
 * cause_has_others - whether more than one execution shows a cause
 * @c: the cause
 *
 * In the long tail of a healthy process, a single execution may have most of the delay.
 */
bool cause_has_others(const struct cause *c)
{
	return c->excess - c->most >= MIN_OTHERS_PART * c->excess;
}

/**
 * cause_has_several - whether as many executions as necessary have a cause
 * @c: the cause
 *
 * Interrupts and other tasks come at a rate of their own. Where one comes once in a
 * recording, on average, a quarter of the recordings have it twice or more, and a third
 * do not have it: a baseline without it proves little. Only one in twelve has it three
 * times or more.
 */
bool cause_has_several(const struct cause *c)
{
	bool outside = c->kind == CAUSE_IRQ ||
		       (c->waits && c->known && c->wait_kind == WAIT_PREEMPTED);

	return !outside || c->executions >= MIN_EXECUTIONS;
}

static bool is_sleep(const struct cause *c)
{
	return c->waits && (!c->known || c->wait_kind == WAIT_BLOCKED ||
			    c->wait_kind == WAIT_SPIN);
}

/* Number of delays, and of heavy ones */
struct delays {
	u32 all;
	u32 heavy;
};

/* Probability that delays at random are in one place as often as a cause */
static double by_chance(const struct normal_time *t, const struct ranking *r,
			u32 i, const struct delays *d)
{
	struct cause *c = &r->cause[i];
	double time, chance;

	if (is_sleep(c))
		return 0;
	if (c->kind == CAUSE_IRQ) {
		time = t->irq[i];
	} else if (cause_is_calls(c->kind)) {
		time = t->incl[c->function];
	} else {
		time = t->self[c->function];
		if (c->waits && c->caller != NONE)
			time += t->self[c->caller];
	}
	c->part = time = share(t, time);
	/* Bonferroni: two tests of each function */
	chance = 2 * t->functions *
		 fmin(binomial_tail(c->executions, d->all, time),
		      binomial_tail(c->heavy, d->heavy, time));
	return chance < 1 ? chance : 1;
}

/* As frequent in the baseline */
static bool is_usual(const struct limit *l, const struct cause *c)
{
	double base = l->base_nr[0] + l->base_nr[1];
	u64 n = l->nr[0] + l->nr[1];

	return base > 0 &&
	       binomial_tail(c->executions, n, (c->baseline + 1) / (base + 1)) >
		       MIN_USUAL_CHANCE &&
	       binomial_tail(c->heavy, n, (c->base_heavy + 1) / (base + 1)) >
		       MIN_USUAL_CHANCE;
}

static bool stands_out(const struct ranking *r, const struct limit *l,
		       const struct cause *c)
{
	double mean = c->duration / c->executions, times;
	bool has_baseline = l->base_nr[0] + l->base_nr[1] > 0;

	if (cause_may_be_chance(c) || c->excess < MIN_DELAY_PART * r->excess ||
	    !cause_has_others(c))
		return false;
	if (l->given)
		return true;
	if (!l->healthy && has_baseline)
		return cause_has_several(c) &&
		       (!c->baseline || !is_usual(l, c));
	times = has_baseline		  ? MIN_RATIO_BASELINE :
		2 * c->excess > r->excess ? MIN_RATIO_HALF :
					    MIN_RATIO_ANY;
	return c->executions >= MIN_EXECUTIONS && !is_usual(l, c) &&
	       mean > times * l->center;
}

static void add(struct delays *d, const struct cause *c)
{
	d->all += c->executions;
	d->heavy += c->heavy;
}

/* Delays that no cause found so far explains: in functions, and with those in interrupts */
static void count_delays(const struct ranking *r, const bool *found,
			 struct delays *d)
{
	u32 i;

	memset(d, 0, 2 * sizeof(*d));
	for (i = 0; i < r->nr; i++) {
		const struct cause *c = &r->cause[i];

		if (found[i] || is_sleep(c))
			continue;
		add(&d[1], c);
		if (c->kind != CAUSE_IRQ)
			add(&d[0], c);
	}
}

/* The least probable one first: the delay that it explains is not evidence for others */
static void find_chances(struct ranking *r, const struct normal_time *t)
{
	bool *found = xzalloc(r->nr * sizeof(*found));
	struct delays delays[2];
	u32 best, i;

	do {
		count_delays(r, found, delays);
		best = NONE;
		for (i = 0; i < r->nr; i++) {
			struct cause *c = &r->cause[i];

			if (found[i])
				continue;
			c->chance = by_chance(t, r, i,
					      &delays[c->kind == CAUSE_IRQ]);
			if (!cause_may_be_chance(c) &&
			    (best == NONE || c->chance < r->cause[best].chance))
				best = i;
		}
		if (best != NONE)
			found[best] = true;
	} while (best != NONE);
	free(found);
}

/**
 * chance_find - find which causes stand out
 * @p: the paths
 * @r: the causes
 * @l: the limit, which says whether the time that was lost is usual
 */
void chance_find(const struct paths *p, struct ranking *r,
		 const struct limit *l)
{
	struct normal_time t;
	u32 i;

	find_normal_time(p, &t);
	find_normal_irqs(p, r, &t);
	find_chances(r, &t);
	for (i = 0; i < r->nr; i++) {
		struct cause *c = &r->cause[i];
		double delay = c->duration - c->preempted - c->usual;

		c->explained = delay > c->excess ? c->excess / delay : 1;
		/* With equal prior odds */
		c->confidence = c->explained / (1 + c->chance);
		c->stands_out = stands_out(r, l, c);
	}
	free(t.self);
	free(t.incl);
	free(t.irq);
}
