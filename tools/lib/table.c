// SPDX-License-Identifier: GPL-2.0
/*
 * ctlchart: the table of starts in flight
 *
 * A start event puts an entry, the end event with the same key takes it out.
 * All memory is allocated before: a fixed array of entries, threaded either
 * on the chain of a hash bucket or on a stack of free entries.
 *
 * Invariants:
 *  - An entry is on exactly one chain, or on the free stack, or in the hands
 *    of one context between the two. Only that context writes to it.
 *  - A chain is ordered by arrival, oldest first; entries of one key come
 *    and go first in, first out, in constant time however many there are.
 *  - A chain changes under its bucket's lock only. No context holds two
 *    bucket locks, so they need no order.
 *
 * The same file is compiled in user space, where it is tested natively.
 */
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/string.h>
#include "table.h"

/* Entries looked at for a stale one each time a start finds the table full */
#define STALE_SEARCH 64U

#define NONE 0U

/*
 * The chain's operations. The bucket's lock is held by the caller; it is no
 * lock that lockdep could assert (see lock.h).
 */
/* @prev is the entry before, NONE for the first one */
static void chain_unlink(struct ctlchart_table *table,
			 struct ctlchart_bucket *bucket, u32 prev, u32 index)
{
	u32 next = table->entry[index - 1].next;

	if (prev)
		WRITE_ONCE(table->entry[prev - 1].next, next);
	else
		WRITE_ONCE(bucket->head, next);
	if (!next)
		bucket->tail = prev;
}

/* The first entry of the key from @index on, and the one before it */
static __always_inline u32 chain_find(struct ctlchart_table *table, u32 index,
				      const u64 *key, u32 *prev)
{
	while (index && !ctlchart_table_same(table, index, key)) {
		*prev = index;
		index = table->entry[index - 1].next;
	}
	return index;
}

/* Take an entry over, if it is still in flight under @key, and still stale */
static bool take_over(struct ctlchart_table *table, struct ctlchart_who who,
		      u32 wanted, const u64 *key, u64 now, u64 stale)
{
	u64 hash = ctlchart_table_hash(table, key);
	struct ctlchart_bucket *bucket = ctlchart_table_bucket(table, hash);
	u32 index, prev = NONE;

	if (!ctlchart_lock_try(&bucket->lock, who.owner, who.nmi))
		return false;
	for (index = bucket->head; index && index != wanted;
	     index = table->entry[index - 1].next)
		prev = index;
	if (index &&
	    ctlchart_table_stale(table->entry[index - 1].time, now, stale))
		chain_unlink(table, bucket, prev, index);
	else
		index = NONE;
	ctlchart_unlock(&bucket->lock);
	return index;
}

/*
 * The table is full, hence nearly every entry is in flight: look at the next
 * few for a stale one. What is read before its bucket is locked may be changing;
 * take_over() looks again.
 */
static u32 evict(struct ctlchart_table *table, struct ctlchart_who who, u64 now,
		 u64 stale)
{
	u32 tries = min(table->size, STALE_SEARCH);
	struct ctlchart_start *entry;
	u64 key[CTLCHART_MAX_KEYS];
	u32 index;
	unsigned int i;

	while (tries--) {
		index = (u32)atomic_inc_return(&table->hand) % table->size;
		entry = &table->entry[index];
		if (!ctlchart_table_stale(READ_ONCE(entry->time), now, stale))
			continue;
		for (i = 0; i < table->nr_keys; i++)
			key[i] = READ_ONCE(entry->key[i]);
		if (take_over(table, who, index + 1, key, now, stale)) {
			local64_inc(&who.accounts->evicted);
			return index + 1;
		}
	}
	return NONE;
}

/* Everything but the link */
static void fill(struct ctlchart_start *entry,
		 const struct ctlchart_start *start)
{
	memcpy(entry->key, start->key, sizeof(entry->key));
	WRITE_ONCE(entry->time, start->time);
	entry->pid = start->pid;
	memcpy(entry->comm, start->comm, sizeof(entry->comm));
}

/* dup=last: overwrite the start of the same key that is in flight, if any */
static bool replace_start(struct ctlchart_table *table,
			  struct ctlchart_bucket *bucket,
			  const struct ctlchart_start *start)
{
	u32 index, prev;

	index = chain_find(table, bucket->head, start->key, &prev);
	if (!index)
		return false;
	fill(&table->entry[index - 1], start);
	return true;
}

u32 ctlchart_table_buckets(u32 size)
{
	return roundup_pow_of_two(size);
}

/**
 * ctlchart_table_init - make an empty table of memory that the caller brings
 * @table: the table
 * @entry: @size entries
 * @size: CTLCHART_TABLE_MIN to CTLCHART_TABLE_MAX
 * @bucket: ctlchart_table_buckets(@size) buckets
 * @nr_keys: how many keys are compared, 1 to CTLCHART_MAX_KEYS
 * @seed: a random number
 */
void ctlchart_table_init(struct ctlchart_table *table,
			 struct ctlchart_start *entry, u32 size,
			 struct ctlchart_bucket *bucket, unsigned int nr_keys,
			 u64 seed)
{
	u32 i;

	table->size = size;
	table->bucket_mask = ctlchart_table_buckets(size) - 1;
	table->nr_keys = nr_keys;
	table->seed = seed;
	table->entry = entry;
	table->bucket = bucket;
	atomic_set(&table->hand, 0);
	for (i = 0; i <= table->bucket_mask; i++) {
		atomic_set(&bucket[i].lock.owner, 0);
		bucket[i].head = NONE;
		bucket[i].tail = NONE;
	}
	for (i = 0; i < size; i++) {
		entry[i].next = i + 1 < size ? i + 2 : NONE;
		entry[i].time = U64_MAX;
	}
	atomic64_set(&table->free, 1);
}

static u32 find_room(struct ctlchart_table *table, struct ctlchart_who who,
		     u64 now, u64 stale)
{
	return ctlchart_table_reserve(table) ?: evict(table, who, now, stale);
}

/* dup=last. A replacement needs no free entry: look before taking one */
static void put_replacing(struct ctlchart_table *table, struct ctlchart_who who,
			  const struct ctlchart_start *start, u64 stale)
{
	u64 hash = ctlchart_table_hash(table, start->key);
	struct ctlchart_bucket *bucket = ctlchart_table_bucket(table, hash);
	u32 index = NONE;

	local64_inc(&who.accounts->starts);
again:
	if (!ctlchart_lock_try(&bucket->lock, who.owner, who.nmi)) {
		if (index)
			ctlchart_table_free(table, index);
		local64_inc(&who.accounts->missed);
		return;
	}
	if (replace_start(table, bucket, start)) {
		ctlchart_unlock(&bucket->lock);
		if (index)
			ctlchart_table_free(table, index);
		local64_inc(&who.accounts->replaced);
		return;
	}
	if (!index) {
		/* Not under the lock: evict() takes others */
		ctlchart_unlock(&bucket->lock);
		index = find_room(table, who, start->time, stale);
		if (index)
			goto again;
		local64_inc(&who.accounts->refused);
		return;
	}
	fill(&table->entry[index - 1], start);
	ctlchart_table_append(table, bucket, index);
	ctlchart_unlock(&bucket->lock);
}

/**
 * ctlchart_table_put - record a start, and account for it
 * @table: the table
 * @who: this context
 * @start: the start; its time is taken as the present
 * @stale: age in clock units above which entries make room in a full table
 * @replace: overwrite a start of the same key instead of queueing behind it
 *
 * Context: any, NMI included, with interrupts off. Bounded: the bucket's
 * chain, and STALE_SEARCH entries when the table is full.
 */
void ctlchart_table_put(struct ctlchart_table *table, struct ctlchart_who who,
			const struct ctlchart_start *start, u64 stale,
			bool replace)
{
	u32 index;

	if (replace) {
		put_replacing(table, who, start, stale);
		return;
	}
	index = find_room(table, who, start->time, stale);
	if (!index) {
		local64_inc(&who.accounts->starts);
		local64_inc(&who.accounts->refused);
		return;
	}
	fill(&table->entry[index - 1], start);
	ctlchart_table_commit(table, who, index,
			      ctlchart_table_hash(table, start->key));
}

/**
 * ctlchart_table_search - unlink the oldest start of a key
 * @table: the table
 * @accounts: this CPU's
 * @bucket: the key's, whose lock the caller holds
 * @key: the key
 * @now: trace clock at the end
 * @stale: age above which a start gives way to a younger one: its end was lost
 *	or never came, and the one at hand is the younger one's
 *
 * Return: its index plus one, or 0.
 */
u32 ctlchart_table_search(struct ctlchart_table *table,
			  struct ctlchart_accounts *accounts,
			  struct ctlchart_bucket *bucket, const u64 *key,
			  u64 now, u64 stale)
{
	u32 index, next, prev = NONE, before_next;

	index = chain_find(table, bucket->head, key, &prev);
	while (index) {
		before_next = index;
		next = NONE;
		if (ctlchart_table_stale(table->entry[index - 1].time, now,
					 stale))
			next = chain_find(table, table->entry[index - 1].next,
					  key, &before_next);
		chain_unlink(table, bucket, prev, index);
		if (!next)
			break;
		if (before_next != index)
			prev = before_next;
		ctlchart_table_free(table, index);
		local64_inc(&accounts->evicted);
		index = next;
	}
	return index;
}

/**
 * ctlchart_table_flush - drop all starts of one bucket, counted as evicted
 * @table: the table
 * @who: this context, no NMI
 * @bucket: index of the bucket
 *
 * Context: interrupts off; they may be on between two buckets.
 */
void ctlchart_table_flush(struct ctlchart_table *table, struct ctlchart_who who,
			  u32 bucket)
{
	struct ctlchart_bucket *b = &table->bucket[bucket];
	u32 index, next;

	ctlchart_lock_try(&b->lock, who.owner, false);
	index = b->head;
	WRITE_ONCE(b->head, NONE);
	b->tail = NONE;
	ctlchart_unlock(&b->lock);
	for (; index; index = next) {
		next = table->entry[index - 1].next;
		ctlchart_table_free(table, index);
		local64_inc(&who.accounts->evicted);
	}
}

/**
 * ctlchart_table_in_flight - count the starts of one bucket
 * @table: the table
 * @who: this context, no NMI
 * @bucket: index of the bucket
 *
 * Context: interrupts off; they may be on between two buckets.
 * Return: the number of entries on the chain.
 */
u32 ctlchart_table_in_flight(struct ctlchart_table *table,
			     struct ctlchart_who who, u32 bucket)
{
	struct ctlchart_bucket *b = &table->bucket[bucket];
	u32 index, count = 0;

	ctlchart_lock_try(&b->lock, who.owner, false);
	for (index = b->head; index; index = table->entry[index - 1].next)
		count++;
	ctlchart_unlock(&b->lock);
	return count;
}

/**
 * ctlchart_table_overdue - find starts of one bucket that wait too long
 * @table: the table
 * @who: this context, no NMI
 * @bucket: index of the bucket
 * @before: starts older than this are overdue
 * @start: where to copy them
 * @max: room in @start
 *
 * The starts stay in flight, marked, so that each is found once only.
 *
 * Context: interrupts off; they may be on between two calls.
 * Return: how many were found; if @max, there may be more.
 */
u32 ctlchart_table_overdue(struct ctlchart_table *table,
			   struct ctlchart_who who, u32 bucket, u64 before,
			   struct ctlchart_start *start, u32 max)
{
	struct ctlchart_bucket *b = &table->bucket[bucket];
	struct ctlchart_start *entry;
	u32 index, found = 0;

	if (!READ_ONCE(b->head))
		return 0;
	ctlchart_lock_try(&b->lock, who.owner, false);
	for (index = b->head; index && found < max; index = entry->next) {
		entry = &table->entry[index - 1];
		if (entry->time >= before || entry->pid & CTLCHART_OVERDUE)
			continue;
		start[found++] = *entry;
		entry->pid |= CTLCHART_OVERDUE;
	}
	ctlchart_unlock(&b->lock);
	return found;
}
