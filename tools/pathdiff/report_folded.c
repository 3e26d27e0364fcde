// SPDX-License-Identifier: GPL-2.0
/*
 * Folded stacks with two columns, as difffolded.pl of FlameGraph writes them and
 * flamegraph.pl reads them: microseconds of self time per execution, of normal
 * executions and of slow ones.
 */
#include <stdlib.h>
#include <string.h>

#include "pathdiff.h"

/**
 * struct node - a function that was called by certain others
 * @function:	which; NONE: time in interrupts
 * @parent:	its caller
 * @child:	the first one that it called
 * @next:	the next one that its caller called
 * @time:	self time, normal and slow, ns
 */
struct node {
	u32 function;
	u32 parent;
	u32 child;
	u32 next;
	double time[2];
};

struct tree {
	struct node *node;
	u32 nr;
	u32 max;
};

static u32 add_node(struct tree *t, u32 function)
{
	GROW(t->node, t->nr, t->max);
	t->node[t->nr] = (struct node){ .function = function,
					.child = NONE,
					.next = NONE };
	return t->nr++;
}

static u32 child_of(struct tree *t, u32 parent, u32 function)
{
	u32 i, new;

	for (i = t->node[parent].child; i != NONE; i = t->node[i].next) {
		if (t->node[i].function == function)
			return i;
	}
	new = add_node(t, function);
	t->node[new].parent = parent;
	t->node[new].next = t->node[parent].child;
	t->node[parent].child = new;
	return new;
}

static void add_execution(struct tree *t, const struct paths *p,
			  const struct exec *e, u32 *at)
{
	const struct pattern *q = &p->patterns.p[e->pattern];
	u32 i;

	for (i = 0; i < q->len; i++) {
		u32 depth = q->depth[i];

		at[depth + 1] = child_of(t, at[depth], q->function[i]);
		t->node[at[depth + 1]].time[e->abnormal] += e->data[q->len + i];
	}
	if (e->irq > 0)
		t->node[child_of(t, at[1], NONE)].time[e->abnormal] += e->irq;
}

static const char *node_name(const struct paths *p, u32 function)
{
	return function == NONE ? "[interrupts]" : p->functions.name[function];
}

/* The root is not a function */
static void put_stack(const struct result *r, const struct tree *t, u32 node,
		      const char **before)
{
	if (!node)
		return;
	put_stack(r, t, t->node[node].parent, before);
	folded_frame(r->out, node_name(&r->paths, t->node[node].function),
		     before);
}

static void put_node(const struct result *r, const struct tree *t, u32 node,
		     const u64 *nr)
{
	const struct node *n = &t->node[node];
	double us[2] = { nr[0] ? n->time[0] / nr[0] / 1e3 : 0,
			 nr[1] ? n->time[1] / nr[1] / 1e3 : 0 };
	const char *before = "";
	u32 i;

	if (node && (us[0] >= 0.0005 || us[1] >= 0.0005)) {
		put_stack(r, t, node, &before);
		fprintf(r->out, " %.3f %.3f\n", us[0], us[1]);
	}
	for (i = n->child; i != NONE; i = t->node[i].next)
		put_node(r, t, i, nr);
}

/**
 * result_folded - write folded stacks
 * @r: the result
 */
void result_folded(struct result *r)
{
	u32 *at = xzalloc((65536 + 2) * sizeof(*at)), i;
	struct tree t = { 0 };
	u64 nr[2] = { 0 };

	at[0] = add_node(&t, NONE);
	for (i = 0; i < r->paths.nr; i++) {
		const struct exec *e = &r->paths.exec[i];

		if (e->abnormal && e->side == SIDE_BASELINE)
			continue;
		nr[e->abnormal]++;
		add_execution(&t, &r->paths, e, at);
	}
	put_node(r, &t, 0, nr);
	free(at);
	free(t.node);
}
