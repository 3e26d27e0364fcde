// SPDX-License-Identifier: GPL-2.0
/*
 * Starts in flight: a bounded table in which an end finds its start.
 *
 * Invariants:
 *  - An entry is on the chain of one bucket and in the list by age, or free.
 *  - A chain is ordered by arrival, youngest first, so that starts of one key
 *    come and go first in, first out.
 *
 * struct hash of lib/hash.h is no replacement: entries cannot be removed from it.
 *
 * The rules are the kernel filter's, with one more, since events can be missing
 * from a trace: if a key starts again after a gap, the end of its earlier start is
 * lost. The earlier start is replaced, so that it is not paired with another end.
 */
#include <stdlib.h>
#include <string.h>

#include "ctlchart.h"
#include "hash.h"

#define NONE 0u /* indices are counted from one */

struct pairs {
	struct start *entry;
	u32 *bucket;
	unsigned int shift;
	u32 size;
	u32 used;
	u32 free;
	u32 oldest, youngest;
	u32 unreported; /* the oldest not reported as overdue */
	u64 stale;
	bool last;
	struct accounts accounts;
};

static struct start *entry_of(struct pairs *p, u32 i)
{
	return &p->entry[i - 1];
}

/**
 * pairs_new - make a table
 * @size: entries, at least one
 * @stale: age in ns from which an entry makes room when the table is full
 * @last: a start replaces one with the same key instead of being queued after it
 *
 * Return: the table.
 */
struct pairs *pairs_new(u32 size, u64 stale, bool last)
{
	struct pairs *p = xzalloc(sizeof(*p));
	u32 buckets = 2, i;

	p->shift = 63;
	for (; buckets < size; buckets *= 2)
		p->shift--;
	p->entry = xcalloc(size, sizeof(*p->entry));
	p->bucket = xcalloc(buckets, sizeof(*p->bucket));
	p->size = size;
	p->stale = stale;
	p->last = last;
	for (i = 1; i <= size; i++)
		entry_of(p, i)->next = i < size ? i + 1 : NONE;
	p->free = 1;
	return p;
}

/**
 * pairs_free - free a table
 * @p: the table, or NULL
 */
void pairs_free(struct pairs *p)
{
	u32 i;

	if (!p)
		return;
	if (p->entry) {
		for (i = 1; i <= p->size; i++)
			free(entry_of(p, i)->keys);
	}
	free(p->entry);
	free(p->bucket);
	free(p);
}

/* As hash_more(), but cheaper: of the last product, only the upper bits are used */
static u32 *bucket_of(struct pairs *p, const u64 *key)
{
	u64 hash = hash_seed[0];
	int i;

	for (i = 0; i < MAX_KEYS; i++) {
		hash = (hash ^ key[i]) * hash_seed[1];
		hash ^= hash >> 32;
	}
	return &p->bucket[hash >> p->shift];
}

static void unlink_age(struct pairs *p, struct start *s)
{
	if (s->older)
		entry_of(p, s->older)->younger = s->younger;
	else
		p->oldest = s->younger;
	if (s->younger)
		entry_of(p, s->younger)->older = s->older;
	else
		p->youngest = s->older;
}

/* Take the entry at *link off its chain and the list by age, and free it */
static void release(struct pairs *p, u32 *link, struct start *copy)
{
	u32 i = *link;
	struct start *s = entry_of(p, i);

	*link = s->next;
	if (p->unreported == i)
		p->unreported = s->younger;
	unlink_age(p, s);
	if (copy)
		*copy = *s;
	else
		free(s->keys);
	s->keys = NULL;
	s->next = p->free;
	p->free = i;
	p->used--;
}

/* The oldest entry of the key, which is the last one on the chain */
static u32 *find_oldest(struct pairs *p, const u64 *key)
{
	u32 *link, *found = NULL;

	for (link = bucket_of(p, key); *link;
	     link = &entry_of(p, *link)->next) {
		if (!memcmp(entry_of(p, *link)->key, key,
			    sizeof(entry_of(p, *link)->key)))
			found = link;
	}
	return found;
}

static u32 *find_entry(struct pairs *p, u32 i)
{
	u32 *link = bucket_of(p, entry_of(p, i)->key);

	while (*link != i)
		link = &entry_of(p, *link)->next;
	return link;
}

static bool make_room(struct pairs *p, u64 now)
{
	struct start *s;

	if (p->free)
		return true;
	s = entry_of(p, p->oldest);
	if (now <= s->time || now - s->time <= p->stale)
		return false;
	release(p, find_entry(p, p->oldest), NULL);
	p->accounts.evicted++;
	return true;
}

/* Starts that this one replaces */
static void replace(struct pairs *p, const struct start *s)
{
	u32 *link;

	while ((link = find_oldest(p, s->key)) != NULL) {
		if (!p->last && entry_of(p, *link)->epoch == s->epoch)
			return;
		release(p, link, NULL);
		p->accounts.replaced++;
	}
}

/**
 * pairs_put - record a start
 * @p: the table
 * @s: the start; key, time, pid, epoch and keys count. keys belongs to the
 *     table from now on
 */
void pairs_put(struct pairs *p, struct start *s)
{
	u32 *bucket, i;
	struct start *to;

	p->accounts.starts++;
	replace(p, s);
	if (!make_room(p, s->time)) {
		p->accounts.refused++;
		free(s->keys);
		return;
	}
	i = p->free;
	to = entry_of(p, i);
	p->free = to->next;
	p->used++;
	bucket = bucket_of(p, s->key);
	*to = *s;
	to->overdue = false;
	to->next = *bucket;
	*bucket = i;
	to->older = p->youngest;
	to->younger = NONE;
	if (p->youngest)
		entry_of(p, p->youngest)->younger = i;
	else
		p->oldest = i;
	p->youngest = i;
	if (!p->unreported)
		p->unreported = i;
}

/**
 * pairs_remove - find and remove the start of an end
 * @p: the table
 * @key: the end's key
 * @s: filled in; its keys are to be freed
 *
 * Return: true if there was a start.
 */
bool pairs_remove(struct pairs *p, const u64 *key, struct start *s)
{
	u32 *link = find_oldest(p, key);

	p->accounts.ends++;
	if (!link) {
		p->accounts.unmatched++;
		return false;
	}
	release(p, link, s);
	p->accounts.paired++;
	return true;
}

/**
 * pairs_overdue - find a start that waits too long
 * @p: the table
 * @before: starts older than this are overdue
 *
 * Return: one that was not found before, oldest first, or NULL. Valid until
 * the table changes.
 */
const struct start *pairs_overdue(struct pairs *p, u64 before)
{
	struct start *s;

	if (!p->unreported)
		return NULL;
	s = entry_of(p, p->unreported);
	if (s->time >= before)
		return NULL;
	p->unreported = s->younger;
	s->overdue = true;
	return s;
}

/**
 * pairs_in_flight - starts without an end
 * @p: the table
 *
 * Return: their number.
 */
u32 pairs_in_flight(const struct pairs *p)
{
	return p->used;
}

/**
 * pairs_accounts - where starts and ends went
 * @p: the table
 *
 * Return: the accounts.
 */
const struct accounts *pairs_accounts(const struct pairs *p)
{
	return &p->accounts;
}
