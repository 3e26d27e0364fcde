// SPDX-License-Identifier: GPL-2.0
/*
 * Infers which branches of a sample are new, if that was not recorded.
 *
 * perf reads the LBR and does not clear it: old branches stay in it if fewer new ones
 * come than it holds. So if the oldest m entries of a sample are the newest m of the
 * one before, cycles included, the others are new, and the interval between the two is
 * whole. But a program in a loop shows the same entries again after any number of
 * rounds. An overlap is accepted only if this cannot have been the case:
 *
 * 1. It fits in one way only, and not also when moved by a period of the loop, which may
 *    begin in the sample before. (A loop of which that sample has less than two rounds is
 *    not detected.)
 *
 * 2. It is longer than each overlap of the sample with the CONTROLS samples before it
 * with which it cannot share a branch, because as many new ones as the LBR holds came
 * in between. They are of the same phase of the program, and fit by chance alone.
 *
 * 3. It has at least D different entries. D is the smallest number for which
 *
 *     (controls accepted with D or more + 1) / (controls + 1) * lost
 *     --------------------------------------------------------------- <= CHANCE_MAX
 *                 overlaps accepted with D or more
 *
 * A control is accepted if it satisfies 1, and 2 among the sample's other controls. An
 * interval that lost branches is accepted with the same probability, a = controls
 * accepted / controls. So if r of all n overlaps tried are not accepted, at most about
 * (r + 1) / (1 - a) intervals lost branches, and at most n (this is J. D. Storey's
 * estimate of the share of true null hypotheses, Journal of the Royal Statistical
 * Society B 64(3), 2002). The left side is the expected share of accepted overlaps that
 * are by chance. The 1 stands for what was not seen yet (Laplace's rule of succession),
 * so a recording of few samples proves nothing.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lbrtime.h"

#define CONTROLS 8
#define CHANCE_MAX 0.01

/* Minimum number of equal entries, and of different ones among them */
#define SAME_MIN 4
#define DIFFERENT_MIN 2

/**
 * struct overlap - overlap of a sample with the one before it
 * @fresh:	number of new entries, if it is accepted; all if nothing fits
 * @different:	number of different entries in it; 0 if nothing fits, or in several ways
 * @before:	previous sample of the same LBR, or NONE
 * @chance:	a control fits as well
 */
struct overlap {
	u32 fresh;
	u32 different;
	u32 before;
	bool chance;
};

/**
 * struct tally - numbers of overlaps by their number of different entries
 * @real:	overlaps with the sample before that satisfy 1 and 2
 * @control:	overlaps with controls that satisfy 1 and 2
 * @tried:	number of samples
 * @controls:	number of controls
 */
struct tally {
	u64 real[MAX_BRANCHES + 1];
	u64 control[MAX_BRANCHES + 1];
	u64 tried, controls;
};

static bool same(const struct branch *a, const struct branch *b)
{
	return a->from == b->from && a->to == b->to && a->cycles == b->cycles;
}

/* Whether the oldest @m of @now may be the newest of @was;
 * branches are sorted oldest first
 */
static bool fits(const struct timeline *t, const struct sample *now,
		 const struct sample *was, u32 m)
{
	const struct branch *a = &t->branch[now->first];
	const struct branch *b = &t->branch[was->first + was->nr - m];
	u32 i;

	for (i = m; i--;) {
		if (!same(&a[i], &b[i]))
			return false;
	}
	return true;
}

/* Whether the whole sample repeats with this period */
static bool is_loop(const struct timeline *t, const struct sample *s,
		    u32 period)
{
	const struct branch *b = &t->branch[s->first];
	u32 i;

	for (i = period; i < s->nr; i++) {
		if (!same(&b[i], &b[i - period]))
			return false;
	}
	return true;
}

static u32 count_different(const struct branch *b, u32 nr)
{
	u32 different = 0, i, j;

	for (i = 0; i < nr; i++) {
		for (j = 0; j < i && !same(&b[j], &b[i]); j++)
			;
		different += j == i;
	}
	return different;
}

/* Return: maximum number of equal entries; @different: 0 if they fit in several ways */
static u32 find_overlap(const struct timeline *t, const struct sample *now,
			const struct sample *was, u32 *different)
{
	u32 found = 0, m = now->nr < was->nr ? now->nr : was->nr;

	*different = 0;
	for (; m; m--) {
		if ((m < SAME_MIN && m < was->nr && !found) ||
		    !fits(t, now, was, m))
			continue;
		/* If it repeats within itself, it may match any two rounds of the loop */
		if (found && (2 * m >= found || is_loop(t, was, found - m))) {
			*different = 0;
			return found;
		}
		if (found)
			continue;
		found = m;
		*different = count_different(&t->branch[now->first], m);
	}
	return found;
}

/* The next earlier sample without a branch in common with @i: @fresh came in between */
static u32 next_control(const struct timeline *t, const struct overlap *o,
			u32 i, u32 at, u64 *fresh)
{
	while (at != NONE && *fresh < t->sample[i].nr) {
		*fresh += o[at].fresh;
		at = o[at].before;
	}
	return at;
}

static void try_controls(const struct timeline *t, struct overlap *o, u32 i,
			 struct tally *tally)
{
	u32 at = o[i].before, best = 0, different = 0, n;
	u64 fresh = o[i].fresh;

	for (n = 0; n < CONTROLS; n++) {
		u32 d, found;

		at = next_control(t, o, i, at, &fresh);
		if (at == NONE)
			break;
		tally->controls++;
		found = find_overlap(t, &t->sample[i], &t->sample[at], &d);
		/* Of two equally long ones, neither is accepted */
		if (found > best)
			different = d;
		else if (found == best)
			different = 0;
		best = found > best ? found : best;
		at = o[at].before;
	}
	o[i].chance = best && best + o[i].fresh >= t->sample[i].nr;
	if (different)
		tally->control[different]++;
}

/* Return: maximum number of intervals that lost branches */
static double count_lost(const struct tally *tally)
{
	double real = 0, control = 0;
	u32 d;

	for (d = DIFFERENT_MIN; d <= MAX_BRANCHES; d++) {
		real += tally->real[d];
		control += tally->control[d];
	}
	return fmin((tally->tried - real + 1) /
			    (1 - control / (tally->controls + 1.0)),
		    tally->tried);
}

/* Return: minimum number of different entries that proves an overlap */
static u32 find_least(const struct tally *tally, double *chance)
{
	double real = 0, control = 0, lost = count_lost(tally), share;
	u32 least = MAX_BRANCHES + 1, d;

	*chance = 0;
	for (d = MAX_BRANCHES; d >= DIFFERENT_MIN; d--) {
		real += tally->real[d];
		control += tally->control[d];
		if (real <= 0)
			continue;
		share = (control + 1) / (tally->controls + 1.0) * lost / real;
		if (share > CHANCE_MAX)
			continue;
		least = d;
		*chance = share;
	}
	return least;
}

/* The interval has only the new ones, which are at the end */
static void accept_overlap(struct sample *s, u32 fresh)
{
	s->first += s->nr - fresh;
	s->nr = fresh;
}

/**
 * overlaps_find - find out which branches are new
 * @t:		timeline, with all branches that were read
 * @before:	by sample: the previous one of the same LBR, or NONE; OVERLAP_RECORDED
 *		if it is recorded which branches are new
 *
 * Sets LBRPROF_LOST in samples whose interval is not proved to be whole.
 */
void overlaps_find(struct timeline *t, const u32 *before)
{
	struct overlap *o = xzalloc((t->nr + 1) * sizeof(*o));
	struct tally *tally = xzalloc(sizeof(*tally));
	u32 least, i;

	for (i = 0; i < t->nr; i++) {
		struct sample *s = &t->sample[i];
		u32 m = 0;

		o[i].before = before[i] == OVERLAP_RECORDED ? NONE : before[i];
		if (o[i].before != NONE)
			m = find_overlap(t, s, &t->sample[o[i].before],
					 &o[i].different);
		o[i].fresh = s->nr - m;
	}
	for (i = 0; i < t->nr; i++) {
		if (o[i].before == NONE)
			continue;
		try_controls(t, o, i, tally);
		tally->tried++;
		if (o[i].different && !o[i].chance)
			tally->real[o[i].different]++;
	}
	least = find_least(tally, &t->chance);
	for (i = 0; i < t->nr; i++) {
		struct sample *s = &t->sample[i];
		u32 nr = s->nr;

		if (before[i] == OVERLAP_RECORDED)
			continue;
		t->inferred = true;
		if (o[i].different >= least && !o[i].chance)
			accept_overlap(s, o[i].fresh);
		else if (s->before != NONE || 2 * nr >= t->depth)
			/* After a switch, an LBR that is not full has all branches */
			s->flags |= LBRPROF_LOST;
	}
	free(o);
	free(tally);
}
