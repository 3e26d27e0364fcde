// SPDX-License-Identifier: GPL-2.0
/* Paths that are the same sequence of functions. */
#include <stdlib.h>
#include <string.h>

#include "pathdiff.h"

static u32 *slot_of(struct patterns *ps, u64 hash, const u32 *function, u32 len)
{
	u64 i = hash;

	for (;; i++) {
		u32 *slot = &ps->slot[i & (ps->slots - 1)];
		const struct pattern *p = &ps->p[*slot - 1];

		if (!*slot ||
		    (p->hash == hash && p->len == len &&
		     !memcmp(p->function, function, len * sizeof(*function))))
			return slot;
	}
}

static void grow(struct patterns *ps)
{
	u32 i;

	free(ps->slot);
	ps->slots = ps->slots ? 4 * ps->slots : 1024;
	ps->slot = zalloc(ps->slots * sizeof(*ps->slot));
	for (i = 0; i < ps->nr; i++)
		*slot_of(ps, ps->p[i].hash, ps->p[i].function, ps->p[i].len) =
			i + 1;
}

static void *copy(const void *from, size_t size)
{
	void *to = zalloc(size);

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
	u32 *slot;

	if (2 * (ps->nr + 1) > ps->slots)
		grow(ps);
	slot = slot_of(ps, hash, function, len);
	if (*slot)
		return *slot - 1;
	GROW(ps->p, ps->nr, ps->max);
	p = &ps->p[ps->nr];
	memset(p, 0, sizeof(*p));
	p->function = copy(function, len * sizeof(*function));
	if (depth)
		p->depth = copy(depth, len * sizeof(*depth));
	p->len = len;
	p->hash = hash;
	p->near = NONE;
	p->first = NONE;
	*slot = ++ps->nr;
	return ps->nr - 1;
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
	free(ps->slot);
}
