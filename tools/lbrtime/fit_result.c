// SPDX-License-Identifier: GPL-2.0
/* The fit: durations and variances for the timeline. */
#include <math.h>
#include <stdlib.h>

#include "fit.h"

/* Maximum number of classes examined for what a sampled visit may turn out to be */
#define REACH_MAX 100000000

/* A visit without a known end gets the mean of its group */
static void close_open(struct fitting *f)
{
	u32 i;

	fit_sum_groups(f);
	for (i = 0; i < f->classes; i++) {
		struct visit_class *k = &f->class[i];
		const struct start_group *g =
			k->group == NONE ? NULL : &f->group[k->group];

		if (k->open && !k->den && g && g->visits > 0)
			k->x = g->expected / g->visits;
	}
}

/*
 * E((r - about)^2) of a random place r in visits of mean duration @x that vary as loops
 * do: E(r) = E(x^2) / 2 E(x) and E(r^2) = E(x^3) / 3 E(x) of a gamma distribution.
 */
static double random_place_variance(const struct fitting *f, double x,
				    double about)
{
	double a = f->shape[CODE_LOOPS];

	return x * x * (a + 1) * (a + 2) / (3 * a * a) -
	       about * x * (a + 1) / a + about * about;
}

static void put_reach(struct fitting *f, u32 key)
{
	struct timeline *t = f->t;

	GROW(t->reach, t->reaches, f->reach_room);
	t->reach[t->reaches++] = key;
}

/* Classes of the group that a visit at the sample's place may turn out to be */
static u64 find_reach(struct fitting *f, u32 sample, u32 group)
{
	const struct sample *s = &f->t->sample[sample];
	const struct place *ip = symtab_at(f->t->symbols, s->ip);
	struct key_entry *n = fit_key(&f->reach_keys, s->ip, group);
	u32 i = f->group[group].classes;

	if (n->count++)
		return n->value;
	n->value = f->t->reaches;
	if (!cfg_ahead(f->cfg, ip->space, ip->addr))
		i = NONE;
	for (; i != NONE && f->reach_work < REACH_MAX;
	     i = f->class[i].next, f->reach_work++) {
		if (!f->class[i].open &&
		    cfg_reach(f->cfg, ip->start + f->class[i].to))
			put_reach(f, i);
	}
	put_reach(f, NONE);
	return n->value;
}

/*
 * How long a sampled visit had lasted: by the code, if it has no loop on the way;
 * otherwise the expected value for a visit that was sampled at random, E(x^2) / 2 E(x).
 */
static struct elapsed find_elapsed(struct fitting *f, u32 sample)
{
	struct timeline *t = f->t;
	const struct sample *s = &t->sample[sample];
	u64 at = fit_index(t, sample, s->nr);
	const struct place *ip = symtab_at(t->symbols, s->ip);
	const struct start_group *g =
		f->t->group[at] == NONE ? NULL : &f->group[f->t->group[at]];
	struct elapsed e = { .variance = INFINITY, .reach = U64_MAX };
	struct code_path path = { 0 };

	e.straight = f->scale[CODE_LINEAR] > 0 && f->start[at] &&
		     cfg_find(f->cfg, ip->space, f->start[at], ip->addr,
			      ip->start, &path) &&
		     !path.loops && !path.system &&
		     !cfg_circle(f->cfg, ip->space, ip->addr);
	if (e.straight) {
		e.ns = (path.insns - 1) * f->scale[CODE_LINEAR];
		e.variance = e.ns * e.ns / f->shape[CODE_LINEAR];
	} else if (g && g->expected > 0) {
		e.reach = find_reach(f, sample, t->group[at]);
		e.ns = g->squares / g->expected / 2;
		if (!path.system)
			e.variance = random_place_variance(
				f, g->expected / g->visits, e.ns);
	} else {
		e.ns = f->class[t->key[at]].x;
	}
	return e;
}

/* As classes of this model deviate from what the code shows */
static double class_variance(const struct fitting *f,
			     const struct visit_class *k)
{
	if (k->system)
		return INFINITY;
	return k->x * k->x / f->shape[k->code];
}

/* Variance of the fitted duration: x has a gamma distribution of shape num x + a */
static double fit_variance(const struct fitting *f, const struct visit_class *k)
{
	double den = k->den;

	if (k->group != NONE && f->group[k->group].expected > 0)
		den += k->visits / f->period;
	return k->x * k->x / (k->x * den + f->shape[k->code]);
}

/* Share of the information on a duration that is from intervals, 0 to 1 */
static double interval_share(const struct fitting *f,
			     const struct visit_class *k)
{
	double all = k->den;

	if (k->group != NONE && f->group[k->group].expected > 0)
		all += k->visits / f->period;
	return k->den > 0 ? k->x * k->den / (k->x * all + f->shape[k->code]) :
			    0;
}

void fit_set_results(struct fitting *f)
{
	struct timeline *t = f->t;
	u32 i;

	t->keys = f->classes;
	t->fitted = xzalloc((f->classes + 1) * sizeof(*t->fitted));
	t->variance = xzalloc((f->classes + 1) * sizeof(*t->variance));
	t->fit_variance = xzalloc((f->classes + 1) * sizeof(*t->fit_variance));
	t->straight = xzalloc((f->classes + 1) * sizeof(*t->straight));
	t->groups = f->groups;
	t->grouped = xzalloc((f->groups + 1) * sizeof(*t->grouped));
	t->elapsed = xzalloc(t->nr * sizeof(*t->elapsed));
	if (!t->has_fit)
		return;
	close_open(f);
	for (i = 0; i < f->classes; i++) {
		t->fitted[i] = f->class[i].x;
		t->variance[i] = class_variance(f, &f->class[i]);
		t->fit_variance[i] = fit_variance(f, &f->class[i]);
		t->parameters += interval_share(f, &f->class[i]);
		t->straight[i] = f->class[i].code == CODE_LINEAR;
	}
	for (i = 0; i < f->groups; i++)
		t->grouped[i] =
			f->group[i].visits > 0 ?
				f->group[i].expected / f->group[i].visits :
				0;
	for (i = 0; i < t->nr; i++)
		t->elapsed[i] = find_elapsed(f, i);
}
