// SPDX-License-Identifier: GPL-2.0
/*
 * The function whose calls made an execution slow, where the delay is spread over what it
 * calls: memory that is reclaimed, or a burst of page faults.
 *
 * The delay of a call is its time above the usual, with that of what it called; that of a
 * function is the sum over its calls that are not within another call of it. Of the
 * functions that have most of an execution's delay, the one with the least delay is the
 * cause: the others call it.
 */
#include <stdlib.h>
#include <string.h>

#include "pathdiff.h"

/* Part of the delay that calls of one function must have */
#define MOST 0.7

/* Delays of all calls, ns: self time above the usual, with what is below */
static double *delays_of(const struct exec *e, const struct pattern *q,
			 const struct pattern *near)
{
	double *delay = xzalloc(q->len * sizeof(*delay)), *below;
	u32 i, deepest = 0;

	for (i = 0; i < q->len; i++)
		deepest = q->depth[i] > deepest ? q->depth[i] : deepest;
	below = xzalloc((deepest + 2) * sizeof(*below));
	for (i = q->len; i; i--) {
		u32 m = q->match ? q->match[i - 1] : i - 1;
		u32 depth = q->depth[i - 1];

		delay[i - 1] = e->data[q->len + i - 1] -
			       (m == NONE ? 0 : near->stat[m].self) +
			       below[depth + 1];
		below[depth + 1] = 0;
		below[depth] += delay[i - 1];
	}
	free(below);
	return delay;
}

/* The position of a call ends what is at its depth and deeper on the stack */
static u32 pop(const struct pattern *q, u32 *stack, u32 nr, u32 depth,
	       struct calls *of)
{
	while (nr && q->depth[stack[nr - 1]] >= depth)
		of[q->function[stack[--nr]]].open--;
	return nr;
}

/* Sums per function; a call within another one of the function is part of that */
static void add_up(const struct pattern *q, const double *delay,
		   struct calls *of)
{
	u32 *stack = xzalloc(q->len * sizeof(*stack)), nr = 0, i;

	for (i = 0; i < q->len; i++) {
		struct calls *c = &of[q->function[i]];

		nr = pop(q, stack, nr, q->depth[i], of);
		stack[nr++] = i;
		if (c->open++)
			continue;
		if (!c->any || delay[i] > delay[c->pos])
			c->pos = i;
		c->any = true;
		c->delay += delay[i];
	}
	pop(q, stack, nr, 0, of);
	free(stack);
}

/* The function with the least delay among those with most of it; sums are cleared */
static u32 cause_of(const struct pattern *q, double all, struct calls *of,
		    struct calls *found)
{
	u32 function = NONE, i;

	for (i = 0; i < q->len; i++) {
		struct calls *c = &of[q->function[i]];

		if (c->any && c->delay > MOST * all &&
		    (function == NONE || c->delay <= found->delay)) {
			function = q->function[i];
			*found = *c;
		}
		memset(c, 0, sizeof(*c));
	}
	return function;
}

/**
 * exec_function_inclusive - time in all calls of a function, with what it called
 * @p: the paths
 * @e: the execution
 * @function: the function; a call of it within another one counts once
 */
double exec_function_inclusive(const struct paths *p, const struct exec *e,
			       u32 function)
{
	const struct pattern *q = &p->patterns.p[e->pattern];
	double time = 0;
	u32 i, k;

	for (i = 0; i < q->len; i = k) {
		k = i + 1;
		if (q->function[i] != function)
			continue;
		time += e->data[q->len + i];
		for (; k < q->len && q->depth[k] > q->depth[i]; k++)
			time += e->data[q->len + k];
	}
	return time;
}

/**
 * calls_verdict - the function whose calls made an execution slow
 * @p: the paths
 * @e: the execution
 * @near: the pattern that it is compared with
 * @of: for each function a struct of zeroes, and so again on return
 * @v: the verdict
 *
 * Return: whether there is one, other than the entry.
 */
bool calls_verdict(const struct paths *p, const struct exec *e,
		   const struct pattern *near, struct calls *of,
		   struct verdict *v)
{
	const struct pattern *q = &p->patterns.p[e->pattern];
	double all = e->duration - near->duration, *delay;
	struct calls found;
	u32 function;

	if (all <= 0 || !q->len)
		return false;
	delay = delays_of(e, q, near);
	add_up(q, delay, of);
	function = cause_of(q, all, of, &found);
	free(delay);
	if (function == NONE || function == q->function[0])
		return false;
	memset(v, 0, sizeof(*v));
	v->function = function;
	v->pos = found.pos;
	v->kind = q->match && q->match[v->pos] == NONE ? CAUSE_EXTRA_CALLS :
							 CAUSE_CALLS;
	v->excess = found.delay;
	v->self = v->incl = exec_function_inclusive(p, e, function);
	v->normal_self = v->normal_incl =
		v->self > v->excess ? v->self - v->excess : 0;
	return true;
}
