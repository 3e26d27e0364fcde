// SPDX-License-Identifier: GPL-2.0
/*
 * Durations of visits, from all samples and the code.
 *
 * The class j of a visit is given by where it began in its function, which is the
 * target of a branch, and by the branch that ended it. Visits that begin at one place
 * are a start group; at the begin of a function also by caller, if the samples show
 * that callers differ. There are three sources for the duration x_j of a class:
 *
 * Samples. An overflow samples a visit the more often the longer it lasts. n_g samples
 * of a group, P apart, give the total duration of all its visits:
 *
 *     n_g P = sum over its classes of V_j x_j
 *
 * with V_j the number of visits. If some branches of an interval were not recorded, V_j
 * is estimated from the recorded ones. These are biased: they precede a visit that was
 * sampled, which is likelier for a long one. A sample whose visit is of group g stands
 * for x_g of time, so weighted by 1 / x_g, samples stand for visits. All weights
 * together are the number of visits that were counted.
 *
 * Whole intervals. Interval k lasts T_k = sum of a_kj x_j, with a_kj the number of its
 * visits of class j: 1 for each, but 1/2 for the two that its ends cut.
 *
 * The code. The number of instructions from begin to end of a visit (cfg.c), if there
 * is no loop; an instruction lasts c ns. How reliable this is, is learnt from the
 * samples: x_j has a gamma distribution as its prior, whose mean is given by the code,
 * and whose shape a is the maximum likelihood estimate from the samples of all groups
 * (n_g is then negative binomial). Classes without loops and classes with loops have a
 * c and an a each. If the code is unknown, or there are too few groups, the mean is
 * that of the function, and a is small.
 *
 * With n_g and T_k Poisson (variance in proportion to the expected value: samples, and
 * the time of an interval in units of a mean visit), expectation maximisation finds the
 * most likely x:
 *
 *     x_j <- (x_j * sum_k(w_k a_kj T_k / (A x)_k) + a) / (sum_k(w_k a_kj) + a / mean_j)
 *
 * where k is over intervals and groups (Shepp and Vardi, Maximum likelihood
 * reconstruction for emission tomography, IEEE Trans. Med. Imaging 1(2), 1982; Lange,
 * Bahn and Little on gamma priors, same journal 6(2), 1987).
 */
#include <stdlib.h>

#include "fit.h"

#define ROUNDS 6

/**
 * fit - find the durations of visits
 * @t:	timeline; sets @key, @keys, @fitted, @variance, @fit_variance, @straight,
 *	@group, @groups, @grouped, @period, @parameters, @elapsed and @has_fit
 */
void fit(struct timeline *t)
{
	u64 visits = t->branches + t->nr;
	struct fitting f = { .t = t };
	u32 i;

	f.start = xzalloc(visits * sizeof(*f.start));
	t->group = xzalloc(visits * sizeof(*t->group));
	f.cfg = cfg_new(t->symbols);
	fit_find_starts(&f);
	fit_vote_starts(&f);
	fit_split_callers(&f);
	fit_assign_classes(&f);
	t->has_fit = fit_count_samples(&f);
	fit_find_lost(&f);
	for (i = 0; t->has_fit && i < ROUNDS; i++) {
		u32 j;

		fit_count_visits(&f);
		fit_set_priors(&f);
		for (j = 0; j < f.classes; j++) {
			if (!i)
				f.class[j].x = f.class[j].mean;
			f.class[j].den = 0;
		}
		fit_add_intervals(&f, true);
		fit_iterate(&f);
	}
	fit_set_results(&f);
	cfg_free(f.cfg);
	free(f.start);
	free(f.class);
	free(f.group);
	free(f.lost);
	hash_free(&f.class_keys);
	hash_free(&f.group_keys);
	hash_free(&f.caller_keys);
	hash_free(&f.reach_keys);
}
