// SPDX-License-Identifier: GPL-2.0
/*
 * Number of instructions between two places of the code, without calls and returns.
 *
 * Between two recorded branches, a CPU executes straight code and jumps. Without
 * conditional jumps, the code gives the number of instructions; with them, both ways
 * are assumed to be equally likely, and ways that do not lead to the end are excluded:
 *
 *     h(u) = sum of h(v) / ways              h(end) = 1
 *     g(u) = sum of (g(v) + h(v)) / ways     g(end) = 0
 *
 * over the successors v of u; the result is g(start) / h(start) + 1. The number of
 * rounds of a loop is unknown; the result has a flag for loops. An instruction with a
 * REP prefix is a loop.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "lbrtime.h"

/* Maximum number of instructions of a region, and of sweeps over its loops */
#define REGION_MAX 1024
#define SWEEPS 40

/* Maximum number of instructions decoded, and examined, in total */
#define DECODED_MAX (1 << 21)
#define WORK_MAX 100000000

/* A jump to an unknown place this far after the end belongs to another function */
#define FAR_BEHIND 16384

/**
 * struct node - an instruction of a region
 * @addr:	address
 * @next:	successors, or NONE
 * @h:		see above
 * @g:		see above
 * @tried:	number of successors that were visited
 * @seen:	it was visited
 * @open:	it is on the path to the current node
 * @system:	it is a system call
 * @repeats:	it has a REP prefix
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
 * struct cfg - state of searches
 * @s:		symbols
 * @insn:	decoded instructions
 * @nr:		number of these
 * @room:	allocated entries of @insn
 * @by_addr:	their indices, by address and space
 * @work:	number of instructions examined
 * @node:	nodes of the region
 * @nodes:	number of nodes
 * @nodes_by_addr: their indices, by address
 * @order:	nodes, each after its successors except for loops
 * @ordered:	number of entries of @order
 * @way:	path from the start to the current node
 * @back:	back edges: a node and its successor
 * @backs:	number of back edges
 */
struct cfg {
	struct symbols *s;
	struct insn *insn;
	u64 nr, room;
	struct hash by_addr;
	u64 work;
	struct node node[REGION_MAX];
	u32 nodes;
	struct hash nodes_by_addr;
	u32 order[REGION_MAX];
	u32 ordered;
	u32 way[REGION_MAX];
	u32 back[2 * REGION_MAX][2];
	u32 backs;
};

/**
 * cfg_new - create the state of searches
 * @s:	symbols, after symtab_resolve()
 *
 * Return: the state, to be freed with cfg_free().
 */
struct cfg *cfg_new(struct symbols *s)
{
	struct cfg *p = xzalloc(sizeof(*p));

	p->s = s;
	return p;
}

/**
 * cfg_free - free the state of searches
 * @p:	state
 */
void cfg_free(struct cfg *p)
{
	free(p->insn);
	hash_free(&p->by_addr);
	hash_free(&p->nodes_by_addr);
	free(p);
}

/* NULL: the code cannot be read */
static const struct insn *decode(struct cfg *p, u32 space, u64 addr)
{
	u64 hash = hash_pair(addr, space);
	struct insn *found;
	u32 i;

	hash_for_each_possible(&p->by_addr, hash, i) {
		found = &p->insn[i];
		if (found->addr == addr && found->space == space)
			return found->size ? found : NULL;
	}
	if (p->nr == DECODED_MAX)
		return NULL;
	GROW(p->insn, p->nr, p->room);
	found = &p->insn[p->nr++];
	*found = (struct insn){ .addr = addr, .space = space };
	symtab_decode(p->s, found);
	hash_add(&p->by_addr, hash);
	return found->size ? found : NULL;
}

/* Find or add the node of an address; NONE if there are too many */
static u32 get_node(struct cfg *p, u64 addr)
{
	u64 hash = hash_u64(addr);
	u32 i;

	hash_for_each_possible(&p->nodes_by_addr, hash, i) {
		if (p->node[i].addr == addr)
			return i;
	}
	if (p->nodes == REGION_MAX)
		return NONE;
	p->node[p->nodes++] =
		(struct node){ .addr = addr, .next = { NONE, NONE } };
	return hash_add(&p->nodes_by_addr, hash);
}

/* Successors of an instruction: 0, 1 or 2 */
static u32 ways_of(const struct insn *insn, u64 begin, u64 end, u64 way[2])
{
	u32 nr = 0;

	switch (insn->kind) {
	case KIND_CALL:
	case KIND_RETURN:
		return 0;
	case KIND_FAR:
		/* After the system call */
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
			/* A jump by a table to another function: the
			 * next one that was visited
			 */
			way[nr++] = begin;
		return nr;
	default:
		way[nr++] = insn->addr + insn->size;
		return nr;
	}
}

static void expand(struct cfg *p, u32 i, u32 space, u64 begin, u64 end)
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

static void enter(struct cfg *p, u32 i, u32 *depth, u32 space, u64 begin,
		  u64 end)
{
	p->node[i].seen = p->node[i].open = true;
	expand(p, i, space, begin, end);
	p->way[(*depth)++] = i;
}

/* Depth-first search; finished nodes are appended to @order */
static void explore(struct cfg *p, u32 space, u64 start, u64 begin, u64 end)
{
	u32 depth = 0;

	hash_free(&p->nodes_by_addr);
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

static void weigh(struct cfg *p, u32 end)
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
 * cfg_find - examine the code between two places
 * @p:		state
 * @space:	address space
 * @start:	first instruction
 * @end:	last instruction
 * @begin:	begin of the function that @end is in, or 0
 * @path:	set to the result
 *
 * Return: false if no path leads there, or it is too much code.
 */
bool cfg_find(struct cfg *p, u32 space, u64 start, u64 end, u64 begin,
	      struct code_path *path)
{
	u32 last, i;

	*path = (struct code_path){ .insns = 1 };
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
 * cfg_circle - whether an instruction is in a loop
 * @p:		state
 * @space:	address space
 * @addr:	address of the instruction
 */
bool cfg_circle(struct cfg *p, u32 space, u64 addr)
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
 * cfg_ahead - find all instructions that can be reached from one
 * @p:		state
 * @space:	address space
 * @addr:	address of the instruction
 *
 * Return: false if it is too much code.
 */
bool cfg_ahead(struct cfg *p, u32 space, u64 addr)
{
	if (p->work > WORK_MAX)
		return false;
	explore(p, space, addr, 0, 0);
	return true;
}

/**
 * cfg_reach - whether an instruction can be reached
 * @p:		state, after cfg_ahead()
 * @addr:	address of the instruction
 */
bool cfg_reach(const struct cfg *p, u64 addr)
{
	u64 hash = hash_u64(addr);
	u32 i;

	hash_for_each_possible(&p->nodes_by_addr, hash, i) {
		if (p->node[i].addr == addr)
			return true;
	}
	return false;
}
