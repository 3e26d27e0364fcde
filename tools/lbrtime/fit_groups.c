// SPDX-License-Identifier: GPL-2.0
/* The fit: start groups and classes of visits. */
#include <math.h>
#include <stdlib.h>

#include "fit.h"

/* Stands for all callers */
#define ANY_CALLER 0

/*
 * Callers differ if the test is SIGMAS standard deviations above its mean. Callers
 * with fewer expected samples are left out of the test.
 */
#define SIGMAS 5
#define EXPECTED_MIN 5

/* Find or add an entry; a new one has no count */
struct key_entry *fit_key(struct hash *table, u64 a, u64 b)
{
	u64 hash = hash_pair(a, b);
	struct key_entry *e;

	hash_for_each_possible_entry(table, hash, e) {
		if (e->a == a && e->b == b)
			return e;
	}
	e = hash_new(table, hash, sizeof(*e));
	e->a = a;
	e->b = b;
	return e;
}

u64 fit_index(const struct timeline *t, u32 sample, u32 visit)
{
	return t->sample[sample].first + sample + visit;
}

/* Place where a visit ends or is sampled */
static u32 end_place(const struct timeline *t, const struct sample *s, u32 i)
{
	return i < s->nr ? t->branch[s->first + i].from : s->ip;
}

/* Whether the branch that a visit begins with is known */
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

void fit_find_starts(struct fitting *f)
{
	const struct timeline *t = f->t;
	struct walk *w = walk_new(t);
	u32 k, i;

	for (k = 0; k < t->nr; k++) {
		const struct sample *s = &t->sample[k];
		const struct chains *c = walk_next(w, k);
		u64 *start = &f->start[fit_index(t, k, 0)];

		if (s->state == STATE_WHOLE && s->before != NONE)
			start[0] = f->start[fit_index(t, s->before,
						      t->sample[s->before].nr)];
		for (i = 0; i < s->nr; i++)
			start[i + 1] = c->to[i];
	}
	walk_free(w);
}

/*
 * The target of a return whose call is not in the LBR is the most frequent other target
 * of the same return, if the next visit was in the same function (Boyer and Moore's
 * majority vote algorithm).
 */
void fit_vote_starts(struct fitting *f)
{
	const struct timeline *t = f->t;
	struct hash seen = { 0 };
	struct key_entry *n;
	u32 k, i, from, pass;

	for (pass = 0; pass < 2; pass++) {
		for (k = 0; k < t->nr; k++) {
			const struct sample *s = &t->sample[k];

			for (i = 0; i <= s->nr; i++) {
				u64 *start = &f->start[fit_index(t, k, i)];

				if (!has_branch(t, s, i, &from) ||
				    (pass && *start) || (!pass && !*start))
					continue;
				n = fit_key(&seen, from,
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
	hash_free(&seen);
}

static u32 get_group(struct fitting *f, u32 function, u64 begin)
{
	struct key_entry *n = fit_key(&f->group_keys, function, begin);

	if (!n->count++) {
		GROW(f->group, f->groups, f->group_room);
		f->group[f->groups] = (struct start_group){ .classes = NONE };
		n->value = f->groups++;
	}
	return n->value;
}

static void analyse_code(struct fitting *f, struct visit_class *k, u64 start,
			 const struct place *end)
{
	struct code_path path;

	k->code = CODE_UNKNOWN;
	k->insns = 0;
	if (!start || k->open ||
	    !cfg_find(f->cfg, end->space, start, end->addr, end->start, &path))
		return;
	k->code = path.loops || path.system ? CODE_LOOPS : CODE_LINEAR;
	k->system = path.system;
	k->insns = path.insns;
}

static u32 get_class(struct fitting *f, u32 group, bool open, u64 start,
		     u32 function, const struct place *end)
{
	u64 to = open ? UNKNOWN : end->addr - end->start;
	/* Without a group: by function */
	struct key_entry *n =
		fit_key(&f->class_keys,
			group == NONE ? ((u64)function + 1) << 32 : group, to);
	struct visit_class *k;

	if (n->count++)
		return n->value;
	GROW(f->class, f->classes, f->class_room);
	k = &f->class[f->classes];
	*k = (struct visit_class){ .function = function,
				   .group = group,
				   .next = NONE,
				   .to = to,
				   .open = open };
	if (group != NONE) {
		k->next = f->group[group].classes;
		f->group[group].classes = f->classes;
	}
	analyse_code(f, k, group == NONE ? 0 : start, end);
	n->value = f->classes++;
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

/* Caller of a function, if the visit begins at the function's start; or ANY_CALLER */
static u64 caller_of(const struct fitting *f, u32 sample, u32 i,
		     const struct place *end)
{
	u64 start = f->start[fit_index(f->t, sample, i)];
	const struct place *caller;
	u32 from;

	if (!start || start != end->start ||
	    !has_branch(f->t, &f->t->sample[sample], i, &from))
		return ANY_CALLER;
	caller = symtab_at(f->t->symbols, from);
	return ((u64)caller->function + 1) << 32 |
	       (u32)(caller->addr - caller->start);
}

static void count_call(struct fitting *f, u32 function, u64 caller, bool hit)
{
	struct key_entry *n = fit_key(&f->caller_keys, function, caller);

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
			end = symtab_at(t->symbols, place);
			caller = caller_of(f, k, i, end);
			if (caller == ANY_CALLER)
				continue;
			count_call(f, end->function, caller, i == s->nr);
			count_call(f, end->function, ANY_CALLER, i == s->nr);
		}
	}
}

/*
 * If visits last longer for one caller than for another, the share of samples differs
 * from the share of visits: Pearson's test, by function. If it is significant, each
 * caller's visits are a group.
 */
static void test_callers(struct fitting *f, struct hash *tests)
{
	struct hash *n = &f->caller_keys;
	const struct key_entry *c, *all;
	struct key_entry *test;
	double expected;
	u32 i;

	hash_for_each(n, i, c) {
		if (c->b == ANY_CALLER)
			continue;
		all = fit_key(n, c->a, ANY_CALLER);
		expected = (double)all->hits * c->count / all->count;
		if (expected < EXPECTED_MIN)
			continue;
		test = fit_key(tests, c->a, ANY_CALLER);
		test->count++;
		test->sum +=
			(c->hits - expected) * (c->hits - expected) / expected;
	}
}

void fit_split_callers(struct fitting *f)
{
	struct hash tests = { 0 };
	const struct key_entry *test;
	struct key_entry *c;
	u32 i;

	count_calls(f);
	test_callers(f, &tests);
	hash_for_each(&f->caller_keys, i, c) {
		if (c->b == ANY_CALLER)
			continue;
		test = fit_key(&tests, c->a, ANY_CALLER);
		c->separate = test->sum >
			      test->count + SIGMAS * sqrt(2.0 * test->count);
	}
	hash_free(&tests);
}

/* Offset at which a visit begins, or, at the function's start, its caller */
static u64 begin_of(struct fitting *f, u32 sample, u32 i,
		    const struct place *end)
{
	u64 start = f->start[fit_index(f->t, sample, i)];
	u64 caller = caller_of(f, sample, i, end);

	if (!start)
		return UNKNOWN;
	if (caller != ANY_CALLER &&
	    fit_key(&f->caller_keys, end->function, caller)->separate)
		return caller | CALLER;
	return start - end->start;
}

void fit_assign_classes(struct fitting *f)
{
	struct timeline *t = f->t;
	u32 k, i, place, from;

	t->key = xzalloc((t->branches + t->nr) * sizeof(*t->key));
	for (k = 0; k < t->nr; k++) {
		const struct sample *s = &t->sample[k];

		for (i = 0; i <= s->nr; i++) {
			u64 at = fit_index(t, k, i);
			bool open = !ends_known(t, s, i, &place);
			const struct place *end = symtab_at(t->symbols, place);
			u64 start = f->start[at];
			u32 group = NONE;

			if (has_branch(t, s, i, &from))
				group = get_group(f, end->function,
						  begin_of(f, k, i, end));
			f->t->group[at] = group;
			t->key[at] = get_class(f, group, open, start,
					       end->function, end);
		}
	}
}
