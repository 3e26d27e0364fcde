// SPDX-License-Identifier: GPL-2.0
/* Paths that are the same sequence of functions. */
#include <stdlib.h>
#include <string.h>

#include "pathdiff.h"

static void *copy(const void *from, size_t size)
{
	void *to = xzalloc(size);

	if (size)
		memcpy(to, from, size);
	return to;
}

/**
 * pattern_id - the number of a sequence
 * @ps: the patterns
 * @function: the sequence, which is added if it is new
 * @depth: how deep each of them is, or NULL
 * @len: its length
 */
u32 pattern_id(struct patterns *ps, const u32 *function, const u16 *depth,
	       u32 len)
{
	u64 hash = hash_bytes(function, len * sizeof(*function));
	struct pattern *p;
	u32 i;

	hash_for_each_possible(&ps->table, hash, i) {
		p = &ps->p[i];
		if (p->len == len &&
		    !memcmp(p->function, function, len * sizeof(*function)))
			return i;
	}
	GROW(ps->p, ps->nr, ps->max);
	p = &ps->p[ps->nr];
	memset(p, 0, sizeof(*p));
	p->function = copy(function, len * sizeof(*function));
	if (depth)
		p->depth = copy(depth, len * sizeof(*depth));
	p->len = len;
	p->near = NONE;
	p->first = NONE;
	ps->nr++;
	return hash_add(&ps->table, hash);
}

/**
 * patterns_free - free the patterns
 * @ps: the patterns
 */
void patterns_free(struct patterns *ps)
{
	u32 i;

	for (i = 0; i < ps->nr; i++) {
		free(ps->p[i].function);
		free(ps->p[i].depth);
		free(ps->p[i].stat);
		free(ps->p[i].counts);
		free(ps->p[i].match);
	}
	free(ps->p);
	hash_free(&ps->table);
}
