// SPDX-License-Identifier: GPL-2.0
/*
 * Time in the kernel that branches do not show, or of which they show only the end.
 *
 * An LBR that is filtered to user space holds branches to user space: also returns from
 * the kernel, but not the branches into it. So a visit that began in user space and
 * ended with a return from the kernel was the kernel's except for an unknown part: it
 * is given to the function "[kernel]" and is not reliable.
 *
 * If no branch of a recording touches the kernel, any visit may include kernel time: a
 * system call, a page fault or an interrupt. A visit is marked BRANCH_HELD if it lasted
 * longer than its code explains: longer than PLAIN_CYCLES and BYTE_CYCLES for each byte
 * from its begin to its end. lbrprof counts user space only: there it is sufficient
 * that the visit lasted no longer than PLAIN_CYCLES and PEERS_FACTOR times the median
 * of the visits between the same two places, if there are PEERS_MIN or more. It is
 * unknown what ran in such a visit.
 */
#include <math.h>
#include <stdlib.h>

#include "lbrtime.h"
#include "order.h"

/* Cycles that a visit may wait for memory */
#define PLAIN_CYCLES 300

#define PEERS_MIN 5
#define PEERS_FACTOR 3
#define BYTE_CYCLES 2

/* Less than 1 / HELD_PART is neglected */
#define HELD_PART 20

static bool from_kernel(const struct timeline *t, const struct branch *b)
{
	return b->flags & BRANCH_LEAVES ||
	       symtab_is_kernel(t->symbols, b->from);
}

static bool to_kernel(const struct timeline *t, const struct branch *b)
{
	if (b->flags & BRANCH_ENTERS)
		return true;
	if (b->flags & BRANCH_LEAVES)
		return false;
	if (b->to != NONE)
		return symtab_is_kernel(t->symbols, b->to);
	return b->kind != KIND_FAR && from_kernel(t, b);
}

/**
 * kernel_name - add the function "[kernel]", if any branch is from the kernel
 * @t:	timeline, before symtab_resolve()
 */
void kernel_name(struct timeline *t)
{
	u64 i;

	for (i = 0; i < t->branches && !from_kernel(t, &t->branch[i]); i++)
		;
	if (i < t->branches)
		t->kernel = symtab_named(t->symbols, "[kernel]", 0);
}

/* Return: whether any branch into the kernel was recorded */
static bool look_around(struct timeline *t)
{
	bool enters = false;
	u64 i;

	for (i = 0; i < t->branches; i++) {
		const struct branch *b = &t->branch[i];
		bool to = to_kernel(t, b);

		t->sees_kernel |= to || from_kernel(t, b);
		enters |= to && !from_kernel(t, b);
	}
	return enters;
}

static void mark_returns(struct timeline *t, const struct sample *s,
			 bool enters)
{
	struct branch *b = &t->branch[s->first];
	u32 i;

	for (i = 0; i < s->nr; i++) {
		bool known = i || !enters;
		bool before = i && to_kernel(t, &b[i - 1]);

		if (from_kernel(t, &b[i]) && known && !before)
			b[i].flags |= BRANCH_KERNEL;
		else if (!from_kernel(t, &b[i]) && before)
			b[i].flags |= BRANCH_HELD;
	}
}

/**
 * struct way - a visit, by begin and end
 * @from:	target of the branch before it, or its source if that is unknown
 * @to:		end
 * @cycles:	duration
 * @branch:	branch that ended it
 */
struct way {
	u32 from, to;
	u32 cycles;
	u64 branch;
};

static int by_way(const void *a, const void *b)
{
	const struct way *x = a, *y = b;
	int order = ORDER(x->from, y->from);

	order = order ?: ORDER(x->to, y->to);
	return order ?: ORDER(x->cycles, y->cycles);
}

static u64 find_ways(const struct timeline *t, struct way *way)
{
	u64 nr = 0, i;
	u32 j;

	for (i = 0; i < t->nr; i++) {
		const struct sample *s = &t->sample[i];

		for (j = 0; j < s->nr; j++) {
			u64 at = s->first + j;
			const struct branch *b = &t->branch[at];
			u32 from = !j		    ? NONE :
				   b[-1].to != NONE ? b[-1].to :
						      b[-1].from;

			if (b->cycles)
				way[nr++] = (struct way){ from, b->from,
							  b->cycles, at };
		}
	}
	qsort(way, nr, sizeof(*way), by_way);
	return nr;
}

/* Straight code has at most as many instructions as bytes */
static u32 straight(const struct timeline *t, u32 from, u32 to)
{
	const struct place *a, *b;

	if (from == NONE)
		return 0;
	a = symtab_at(t->symbols, from);
	b = symtab_at(t->symbols, to);
	return a->function == b->function && b->addr >= a->addr &&
			       b->addr - a->addr < CYCLES_MAX ?
		       BYTE_CYCLES * (b->addr - a->addr) :
		       0;
}

static void mark_held(struct timeline *t)
{
	struct way *way = xzalloc((t->branches + 1) * sizeof(*way));
	u64 nr = find_ways(t, way), i, j, k;

	for (i = 0; i < nr; i = j) {
		u32 most;

		for (j = i; j < nr && way[j].from == way[i].from &&
			    way[j].to == way[i].to;
		     j++)
			;
		most = U32_MAX;
		if (t->inferred)
			most = PLAIN_CYCLES +
			       straight(t, way[i].from, way[i].to);
		else if (way[i].from != NONE && j - i >= PEERS_MIN)
			most = PLAIN_CYCLES +
			       PEERS_FACTOR * way[i + (j - i) / 2].cycles;
		for (k = i; k < j; k++) {
			if (way[k].cycles > most)
				t->branch[way[k].branch].flags |= BRANCH_HELD;
		}
	}
	free(way);
}

/**
 * kernel_may_hide - whether an interval may include kernel time without any sign
 * @t:	timeline, after timeline_finish()
 * @s:	sample that ends it
 *
 * It does not if it lasted no longer than the sampling period: a counter of user space
 * stops in the kernel.
 */
bool kernel_may_hide(const struct timeline *t, const struct sample *s)
{
	return t->inferred && !t->sees_kernel && !t->never_held &&
	       (!s->nr || timeline_held(t, s) * HELD_PART > s->ts - s->start);
}

/**
 * kernel_limit - maximum duration of a sampled visit without kernel time
 * @t:	timeline, after timeline_finish()
 * @s:	sample
 *
 * Return: ns.
 */
double kernel_limit(const struct timeline *t, const struct sample *s)
{
	u32 from = s->nr ? t->branch[s->first + s->nr - 1].to : NONE;

	if (t->sees_kernel || t->never_held || !t->inferred)
		return INFINITY;
	return (PLAIN_CYCLES + straight(t, from, s->ip)) * t->ns_per_cycle;
}

/**
 * kernel_find - mark visits that include kernel time
 * @t:	timeline, when branches have their kinds and all jumps are there
 */
void kernel_find(struct timeline *t)
{
	bool enters = look_around(t);
	u64 i;

	for (i = 0; i < t->nr && t->sees_kernel; i++)
		mark_returns(t, &t->sample[i], enters);
	if (!t->sees_kernel)
		mark_held(t);
}
