// SPDX-License-Identifier: GPL-2.0
/*
 * How many instructions lie between two places of the code, if no call and no return does.
 *
 * From one recorded branch to the next, a CPU runs straight code and jumps. Where there
 * are no jumps with a condition, the code says how many instructions that are; where there
 * are, each way out of one is taken to be as likely as the other, those that do not lead
 * to the end left out:
 *
 *	h(u) = sum of h(v) / ways		h(end) = 1
 *	g(u) = sum of (g(v) + h(v)) / ways	g(end) = 0
 *
 * over the ways v from u, and what is looked for is g(start) / h(start) + 1. How often a
 * loop is gone through, the code does not say: that there is one is part of the result. An
 * instruction that repeats itself is a loop, too.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lbrtime.h"

/* Instructions of a region, and ways through a loop, that are looked at */
#define REGION_MAX 1024
#define SWEEPS 40
#define SLOTS (4 * REGION_MAX)

/* Instructions that are decoded altogether, and looked at */
#define DECODED_MAX (1 << 21)
#define WORK_MAX 100000000

/* A jump to where nobody knows, this far behind the end, is of another function */
#define FAR_BEHIND 16384

/**
 * struct node - an instruction of a region
 * @addr:	where
 * @next:	nodes that it leads to, or NONE
 * @h:		see above
 * @g:		likewise
 * @tried:	of @next: how many have been gone to
 * @seen:	it has been looked at
 * @open:	it is on the way to the node that is looked at
 * @system:	it is a system call
 * @repeats:	it is a loop of its own
 */
struct node {
	u64 addr;
	u32 next[2];
	double h, g;
	u8 tried;
	bool seen;
	bool open;
	bool system;
	bool repeats;
};

/**
 * struct paths - what is looked for
 * @s:		whose code
 * @insn:	all that was decoded
 * @nr:		how much that is
 * @room:	for so many
 * @slot:	their numbers, by hash
 * @slots:	a power of two
 * @work:	instructions that were looked at
 * @node:	the region
 * @nodes:	its size
 * @at:		its nodes, by hash of their addresses
 * @order:	nodes, each behind those that it leads to but for loops
 * @ordered:	how many
 * @way:	from the start to the node at hand
 * @back:	where loops are closed: node and the one it goes back to
 * @backs:	how many
 */
struct paths {
	struct symbols *s;
	struct insn *insn;
	u64 nr, room;
	u32 *slot;
	u64 slots;
	u64 work;
	struct node node[REGION_MAX];
	u32 nodes;
	u32 at[SLOTS];
	u32 order[REGION_MAX];
	u32 ordered;
	u32 way[REGION_MAX];
	u32 back[2 * REGION_MAX][2];
	u32 backs;
};

/**
 * paths_new - begin
 * @s: after symbols_resolve()
 *
 * Return: what paths_find() needs; paths_free() is due.
 */
struct paths *paths_new(struct symbols *s)
{
	struct paths *p = allocate(sizeof(*p));

	p->s = s;
	return p;
}

/**
 * paths_free - end
 * @p: from paths_new()
 */
void paths_free(struct paths *p)
{
	free(p->insn);
	free(p->slot);
	free(p);
}

static u64 hash_of(u64 addr, u32 space)
{
	u64 h = (addr ^ (u64)space << 48) * 0x9e3779b97f4a7c15ull;

	return h ^ h >> 32;
}

static void more_slots(struct paths *p)
{
	u64 i, at;

	if (2 * p->nr < p->slots)
		return;
	free(p->slot);
	p->slots = p->slots ? 2 * p->slots : 4096;
	p->slot = allocate(p->slots * sizeof(*p->slot));
	memset(p->slot, 0xff, p->slots * sizeof(*p->slot));
	for (i = 0; i < p->nr; i++) {
		for (at = hash_of(p->insn[i].addr, p->insn[i].space);
		     p->slot[at & (p->slots - 1)] != NONE; at++)
			;
		p->slot[at & (p->slots - 1)] = i;
	}
}

/* NULL: there is no code that could be read */
static const struct insn *decode(struct paths *p, u32 space, u64 addr)
{
	struct insn *found;
	u64 at;
	u32 i;

	more_slots(p);
	for (at = hash_of(addr, space);
	     (i = p->slot[at & (p->slots - 1)]) != NONE; at++) {
		found = &p->insn[i];
		if (found->addr == addr && found->space == space)
			return found->size ? found : NULL;
	}
	if (p->nr == DECODED_MAX)
		return NULL;
	p->insn = grow(p->insn, p->nr, &p->room, sizeof(*p->insn));
	found = &p->insn[p->nr];
	*found = (struct insn){ .addr = addr, .space = space };
	symbols_decode(p->s, found);
	p->slot[at & (p->slots - 1)] = p->nr++;
	return found->size ? found : NULL;
}

/* The node of an address, a new one if there is none; NONE if there are too many */
static u32 get_node(struct paths *p, u64 addr)
{
	u64 at;
	u32 i;

	for (at = hash_of(addr, 0); (i = p->at[at % SLOTS]) != NONE; at++) {
		if (p->node[i].addr == addr)
			return i;
	}
	if (p->nodes == REGION_MAX)
		return NONE;
	p->at[at % SLOTS] = p->nodes;
	p->node[p->nodes] =
		(struct node){ .addr = addr, .next = { NONE, NONE } };
	return p->nodes++;
}

/* Where the instruction leads: 0, 1 or 2 ways */
static u32 ways_of(const struct insn *insn, u64 begin, u64 end, u64 way[2])
{
	u32 nr = 0;

	switch (insn->kind) {
	case KIND_CALL:
	case KIND_RETURN:
		return 0;
	case KIND_FAR:
		/* What goes on behind it */
		if (insn->system)
			way[nr++] = insn->addr + insn->size;
		return nr;
	case KIND_JUMP:
		if (insn->conditional)
			way[nr++] = insn->addr + insn->size;
		if (insn->target)
			way[nr++] = insn->target;
		else if (!insn->conditional && begin &&
			 (insn->addr < begin || insn->addr > end + FAR_BEHIND))
			/* By a table to another function: that which came next */
			way[nr++] = begin;
		return nr;
	default:
		way[nr++] = insn->addr + insn->size;
		return nr;
	}
}

static void expand(struct paths *p, u32 i, u32 space, u64 begin, u64 end)
{
	const struct insn *insn = decode(p, space, p->node[i].addr);
	u64 way[2];
	u32 nr, j, k = 0;

	p->work++;
	if (!insn)
		return;
	if (insn->addr == end)
		return;
	p->node[i].repeats = insn->repeats;
	p->node[i].system = insn->kind == KIND_FAR && insn->system;
	nr = ways_of(insn, begin, end, way);
	for (j = 0; j < nr; j++) {
		u32 to = get_node(p, way[j]);

		if (to != NONE)
			p->node[i].next[k++] = to;
	}
}

static void enter(struct paths *p, u32 i, u32 *depth, u32 space, u64 begin,
		  u64 end)
{
	p->node[i].seen = p->node[i].open = true;
	expand(p, i, space, begin, end);
	p->way[(*depth)++] = i;
}

/* In depth first; what has been left is in order */
static void explore(struct paths *p, u32 space, u64 start, u64 begin, u64 end)
{
	u32 depth = 0;

	memset(p->at, 0xff, sizeof(p->at));
	p->nodes = p->ordered = p->backs = 0;
	enter(p, get_node(p, start), &depth, space, begin, end);
	while (depth) {
		struct node *n = &p->node[p->way[depth - 1]];
		u32 to;

		if (n->tried == 2 || n->next[n->tried] == NONE) {
			n->open = false;
			p->order[p->ordered++] = p->way[--depth];
			continue;
		}
		to = n->next[n->tried++];
		if (p->node[to].open) {
			p->back[p->backs][0] = p->way[depth - 1];
			p->back[p->backs++][1] = to;
		} else if (!p->node[to].seen) {
			enter(p, to, &depth, space, begin, end);
		}
	}
}

static void weigh(struct paths *p, u32 end)
{
	u32 sweep, i, j;

	for (i = 0; i < p->nodes; i++)
		p->node[i].h = i == end;
	for (sweep = 0; sweep < (p->backs ? SWEEPS : 1); sweep++) {
		for (i = 0; i < p->ordered; i++) {
			struct node *n = &p->node[p->order[i]];
			double h = 0, g = 0;
			u32 ways = 0;

			if (p->order[i] == end)
				continue;
			for (j = 0; j < 2 && n->next[j] != NONE; j++, ways++) {
				const struct node *v = &p->node[n->next[j]];

				h += v->h;
				g += v->g + v->h;
			}
			n->h = ways ? h / ways : 0;
			n->g = ways ? g / ways : 0;
		}
		p->work += p->ordered;
	}
}

/**
 * paths_find - what is between two places
 * @p: from paths_new()
 * @space: whose code
 * @start: where it begins
 * @end: the last instruction
 * @begin: of the function that @end is in, or 0
 * @path: the result
 *
 * Return: false if nothing leads there, or it is too much to look at.
 */
bool paths_find(struct paths *p, u32 space, u64 start, u64 end, u64 begin,
		struct path *path)
{
	u32 last, i;

	*path = (struct path){ .insns = 1 };
	if (start == end)
		return true;
	if (p->work > WORK_MAX)
		return false;
	explore(p, space, start, begin, end);
	last = get_node(p, end);
	if (last == NONE)
		return false;
	weigh(p, last);
	if (p->node[0].h <= 0)
		return false;
	path->insns += p->node[0].g / p->node[0].h;
	for (i = 0; i < p->nodes; i++) {
		path->system |= p->node[i].system && p->node[i].h > 0;
		path->loops |= p->node[i].repeats && p->node[i].h > 0;
	}
	for (i = 0; i < p->backs; i++)
		path->loops |= p->node[p->back[i][0]].h > 0 &&
			       p->node[p->back[i][1]].h > 0;
	return isfinite(path->insns);
}

/**
 * paths_circle - whether an instruction is in a loop
 * @p: from paths_new()
 * @space: whose code
 * @addr: where
 */
bool paths_circle(struct paths *p, u32 space, u64 addr)
{
	u32 i;

	if (p->work > WORK_MAX)
		return true;
	explore(p, space, addr, 0, 0);
	for (i = 0; i < p->backs && p->back[i][1]; i++)
		;
	return i < p->backs || p->node[0].repeats;
}

/**
 * paths_ahead - look at all that an instruction may lead to
 * @p: from paths_new()
 * @space: whose code
 * @addr: where
 *
 * Return: false if that is too much.
 */
bool paths_ahead(struct paths *p, u32 space, u64 addr)
{
	if (p->work > WORK_MAX)
		return false;
	explore(p, space, addr, 0, 0);
	return true;
}

/**
 * paths_reach - whether it leads to another one
 * @p: from paths_new(), after paths_ahead()
 * @addr: that one
 */
bool paths_reach(const struct paths *p, u64 addr)
{
	u64 at;
	u32 i;

	for (at = hash_of(addr, 0); (i = p->at[at % SLOTS]) != NONE; at++) {
		if (p->node[i].addr == addr)
			return true;
	}
	return false;
}
