/* SPDX-License-Identifier: GPL-2.0 */
/* The fit: internal to fit*.c. */
#ifndef LBRTIME_FIT_H
#define LBRTIME_FIT_H

#include "hash.h"
#include "lbrtime.h"

/* E(x^2) / E(x)^2 for loops: uniform from 0 to twice the mean */
#define LOOP_SQUARE (4.0 / 3)

/* An unknown offset in a function, and a flag for callers instead of offsets */
#define UNKNOWN U64_MAX
#define CALLER (1ull << 63)

/**
 * enum code_model - what the code shows of a class
 * @CODE_LINEAR:	number of its instructions
 * @CODE_LOOPS:		minimum number of its instructions
 * @CODE_UNKNOWN:	nothing
 * @CODE_MODELS:	number of models
 */
enum code_model { CODE_LINEAR, CODE_LOOPS, CODE_UNKNOWN, CODE_MODELS };

/**
 * struct visit_class - a class of visits
 * @function:	function
 * @group:	start group, or NONE
 * @next:	next class of the group, or NONE
 * @to:		offset in the function at which they end
 * @code:	enum code_model
 * @open:	the end is unknown
 * @system:	they include a system call
 * @insns:	number of instructions
 * @mean:	mean of the prior of @x
 * @visits:	V_j
 * @num:	sum of w a T / (A x)
 * @den:	sum of w a, over intervals
 * @x:		duration, ns
 */
struct visit_class {
	u32 function;
	u32 group;
	u32 next;
	u64 to;
	u8 code;
	bool open;
	bool system;
	double insns;
	double mean;
	double visits;
	double num, den;
	double x;
};

/**
 * struct start_group - classes that begin at the same place
 * @classes:		the first of them, or NONE
 * @samples:		n_g
 * @visits:		sum of V_j
 * @expected:		sum of V_j x_j
 * @squares:		sum of V_j E(x^2), with LOOP_SQUARE
 * @insns_by_code:	sum of V_j insns_j
 * @visits_by_code:	sum of V_j
 */
struct start_group {
	u32 classes;
	double samples;
	double visits;
	double expected;
	double squares;
	double insns_by_code[CODE_MODELS];
	double visits_by_code[CODE_MODELS];
};

/**
 * struct lost_interval - a lost interval, whose recorded branches are its end
 * @sample:	its sample
 * @visits:	number of visits in the whole interval, as counted
 * @rate:	visits per ns
 */
struct lost_interval {
	u32 sample;
	double visits;
	double rate;
};

/**
 * struct key_entry - a pair of numbers, with a value and counts
 * @a:		the first number
 * @b:		the second one
 * @value:	what it is a key of
 * @sum:	of callers, the statistic of the test whether they differ
 * @count:	number of calls
 * @hits:	number of samples in these
 * @separate:	callers differ: each has classes of its own
 */
struct key_entry {
	u64 a, b;
	u64 value;
	double sum;
	u32 count;
	u32 hits;
	bool separate;
};

/**
 * struct fitting - state of the fit
 * @t:			timeline
 * @start:		by visit: address at which it began, or 0
 * @class:		classes
 * @classes:		number of classes
 * @class_room:		allocated entries of @class
 * @group:		start groups
 * @groups:		number of start groups
 * @group_room:		allocated entries of @group
 * @class_keys:		classes, by group and end
 * @group_keys:		start groups, by function and begin
 * @reach_keys:		lists of @t->reach, by place and group
 * @reach_room:		allocated entries of @t->reach
 * @reach_work:		number of classes examined for these
 * @caller_keys:	calls and samples, by function and caller
 * @cfg:		control flow of the code
 * @period:		P, ns
 * @mean:		mean duration of all visits
 * @lost:		intervals that are not whole
 * @nr_lost:		number of these
 * @scale:		c, by code model
 * @shape:		a, by code model
 */
struct fitting {
	struct timeline *t;
	u64 *start;
	struct visit_class *class;
	u64 classes, class_room;
	struct start_group *group;
	u64 groups, group_room;
	struct hash class_keys, group_keys, caller_keys, reach_keys;
	u64 reach_room, reach_work;
	struct cfg *cfg;
	double period;
	double mean;
	struct lost_interval *lost;
	u64 nr_lost;
	double scale[CODE_MODELS];
	double shape[CODE_MODELS];
};

/* fit_groups.c */
struct key_entry *fit_key(struct hash *table, u64 a, u64 b);
u64 fit_index(const struct timeline *t, u32 sample, u32 visit);
void fit_find_starts(struct fitting *f);
void fit_vote_starts(struct fitting *f);
void fit_split_callers(struct fitting *f);
void fit_assign_classes(struct fitting *f);

/* fit_em.c */
bool fit_count_samples(struct fitting *f);
void fit_find_lost(struct fitting *f);
void fit_count_visits(struct fitting *f);
void fit_sum_groups(struct fitting *f);
void fit_set_priors(struct fitting *f);
void fit_add_intervals(struct fitting *f, bool den);
void fit_iterate(struct fitting *f);

/* fit_result.c */
void fit_set_results(struct fitting *f);

#endif
