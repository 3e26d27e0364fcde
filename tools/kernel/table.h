/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _CTLCHART_TABLE_H
#define _CTLCHART_TABLE_H

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/local64.h>
#include "lock.h"

#define CTLCHART_MAX_KEYS 4
#define CTLCHART_COMM_LEN 16

/* Entries that one operation looks at on a chain, with interrupts off */
#define CTLCHART_CHAIN_MAX 256

/* Entries in a table: bounds of the option size= */
#define CTLCHART_TABLE_MIN 1
#define CTLCHART_TABLE_MAX 1048576

/* Free entries that go from the common stack to a CPU's at a time at most */
#define CTLCHART_BATCH 16U

/* In struct ctlchart_start.pid: the start was reported as overdue */
#define CTLCHART_OVERDUE 0x80000000U

/**
 * struct ctlchart_start - a start event that waits for its end
 * @key: values of the key fields; only those in use are looked at
 * @time: trace clock at the start event; U64_MAX from when the entry is taken
 *	off a chain until it is filled again
 * @next: index plus one of the next entry in the bucket or on a stack
 * @pid: the task that was current at the start event, and CTLCHART_OVERDUE
 * @comm: that task's name
 *
 * One cache line: pairing touches a bucket and an entry.
 */
struct ctlchart_start {
	u64 key[CTLCHART_MAX_KEYS];
	u64 time;
	u32 next;
	u32 pid;
	char comm[CTLCHART_COMM_LEN];
};

/**
 * struct ctlchart_bucket - hash bucket
 * @lock: guards the chain and the entries on it
 * @head: index plus one of the oldest entry, 0 if empty
 * @tail: index plus one of the youngest entry, if not empty
 *
 * Aligned, so that none is on two cache lines.
 */
struct ctlchart_bucket {
	struct ctlchart_lock lock;
	u32 head;
	u32 tail;
} __aligned(16);

/**
 * struct ctlchart_stack - stack of free entries
 * @top: in the low 21 bits, index plus one of the first entry; in the 11 above,
 *	the number of entries, of a CPU's stack only; in the high half, a count
 *	of changes, so that a stale top is never taken for the current one
 *
 * On a line of its own, since its CPU writes to it for each start and end.
 */
struct ctlchart_stack {
	atomic64_t top;
} ____cacheline_aligned_in_smp;

#define CTLCHART_TOP_NR BIT_ULL(21)
#define CTLCHART_TOP_CHANGE BIT_ULL(32)

static_assert(CTLCHART_TABLE_MAX < CTLCHART_TOP_NR);

/**
 * struct ctlchart_accounts - where every start and every end went
 * @starts: start events seen
 * @paired: starts whose end came
 * @replaced: starts overwritten by a younger one of the same key (dup=last)
 * @evicted: starts dropped: stale, when the table was full or a younger one
 *	of the key was there; or flushed
 * @refused: starts turned away from a full table
 * @missed: starts that met a lock they must not wait for (NMI only), another
 *	trace clock than the chart's, or too long a chain (dup=last)
 * @ends: end events seen
 * @unmatched: ends without a start
 * @ends_missed: ends that met such a lock, clock or chain
 *
 * One per CPU; the totals obey, exactly when no event is in progress,
 *   starts = paired + replaced + evicted + refused + missed + in flight
 *   ends = paired + unmatched + ends_missed
 * local64_t because an NMI may interrupt an update on the same CPU.
 */
struct ctlchart_accounts {
	local64_t starts;
	local64_t paired;
	local64_t replaced;
	local64_t evicted;
	local64_t refused;
	local64_t missed;
	local64_t ends;
	local64_t unmatched;
	local64_t ends_missed;
};

/**
 * struct ctlchart_table - starts in flight, in preallocated memory
 * @size: number of entries
 * @bucket_mask: number of buckets minus one
 * @bucket_shift: 64 less the bits of a hash that choose the bucket, which are its
 *	highest ones; one too many if there is one bucket only, for the sake of the
 *	shift: hence the mask
 * @nr_keys: keys in use; an entry's other keys are not looked at
 * @seed: makes the hash differ from table to table
 * @nr_cpus: number of CPUs
 * @entry: @size entries
 * @bucket: the buckets
 * @batch: entries that go from @free to a CPU's stack at a time, and back
 * @spill: the low half of a CPU's top from which it gives a batch back
 * @local: free entries that each CPU has at hand, about 2 * @batch at most, so
 *	that an entry whose start and end are on one CPU stays in its cache
 * @free: the other free entries
 * @full_until: nothing gets stale before that time; read without @lock
 * @lock: guards what follows, the search for stale entries in a full table
 * @hand: where the next search begins
 * @oldest: time of the oldest start that was not stale, since @hand was 0
 */
struct ctlchart_table {
	u32 size;
	u32 bucket_mask;
	u32 bucket_shift;
	unsigned int nr_keys;
	unsigned int nr_cpus;
	u64 seed;
	struct ctlchart_start *entry;
	struct ctlchart_bucket *bucket;
	u32 batch;
	u32 spill;
	struct ctlchart_stack *local;
	struct ctlchart_stack *free;
	u64 full_until;
	struct ctlchart_lock lock;
	u32 hand;
	u64 oldest;
};

/**
 * struct ctlchart_who - the context that works on a table
 * @owner: its CPU number plus one
 * @accounts: that CPU's accounts
 */
struct ctlchart_who {
	int owner;
	struct ctlchart_accounts *accounts;
};

/**
 * ctlchart_table_buckets - number of buckets for a table
 * @size: number of entries
 *
 * Return: the power of two at or above @size, so that a full table has one
 * entry per bucket on average.
 */
u32 ctlchart_table_buckets(u32 size);

void ctlchart_table_init(struct ctlchart_table *table,
			 struct ctlchart_start *entry, u32 size,
			 struct ctlchart_bucket *bucket,
			 struct ctlchart_stack *stack, unsigned int nr_cpus,
			 unsigned int nr_keys, u64 seed);
void ctlchart_table_put(struct ctlchart_table *table, struct ctlchart_who who,
			const struct ctlchart_start *start, u64 stale,
			bool replace);
u32 ctlchart_table_refill(struct ctlchart_table *table, int owner);
u32 ctlchart_table_evict(struct ctlchart_table *table, struct ctlchart_who who,
			 u64 now, u64 stale);
void ctlchart_table_spill(struct ctlchart_table *table, int owner);
u32 ctlchart_table_search(struct ctlchart_table *table, struct ctlchart_who who,
			  struct ctlchart_bucket *bucket, const u64 *key,
			  u64 before);
bool ctlchart_table_flush(struct ctlchart_table *table, struct ctlchart_who who,
			  u32 bucket);
u32 ctlchart_table_in_flight(const struct ctlchart_table *table);
u32 ctlchart_table_overdue(struct ctlchart_table *table,
			   struct ctlchart_who who, u32 *from, u64 before,
			   struct ctlchart_start *start, u32 max);

/*
 * The common path of an event is inline: its cost is that of a filter that keeps
 * nothing.
 */

/**
 * ctlchart_table_hash_key - add a key to a hash
 * @hash: that of the keys before, the table's seed if there are none
 * @key: the key
 *
 * Return: the hash; its highest bits depend on all bits of all keys.
 */
static __always_inline u64 ctlchart_table_hash_key(u64 hash, u64 key)
{
	return (hash ^ key) * 0x9e3779b97f4a7c15ULL;
}

/**
 * ctlchart_table_hash - the hash of all keys
 * @table: the table
 * @key: its keys
 *
 * Return: what the functions below want.
 */
static inline u64 ctlchart_table_hash(const struct ctlchart_table *table,
				      const u64 *key)
{
	u64 hash = table->seed;
	unsigned int i;

	for (i = 0; i < table->nr_keys; i++)
		hash = ctlchart_table_hash_key(hash, key[i]);
	return hash;
}

static __always_inline struct ctlchart_bucket *
ctlchart_table_bucket(struct ctlchart_table *table, u64 hash)
{
	/* Only the highest bits depend on all bits of the keys */
	return &table->bucket[hash >> table->bucket_shift & table->bucket_mask];
}

/* The entry of an index plus one; the compiler adds the one to its fields' offsets */
static __always_inline struct ctlchart_start *
ctlchart_table_entry(const struct ctlchart_table *table, u32 index)
{
	return table->entry + index - 1;
}

static __always_inline u32 ctlchart_top_index(u64 top)
{
	return top & (CTLCHART_TOP_NR - 1);
}

/* The top after @old, with @index on it and a number of entries changed by @nr */
static __always_inline s64 ctlchart_top(u64 old, s64 nr, u32 index)
{
	return old - ctlchart_top_index(old) + CTLCHART_TOP_CHANGE +
	       nr * CTLCHART_TOP_NR + index;
}

/**
 * ctlchart_table_reserve - take an entry from the free ones
 * @table: the table
 * @owner: caller's CPU number plus one
 * @entry: where to put it
 *
 * Context: any, NMI included.
 * Return: its index plus one, for the caller alone to fill; or 0.
 */
static __always_inline u32 ctlchart_table_reserve(struct ctlchart_table *table,
						  int owner,
						  struct ctlchart_start **entry)
{
	atomic64_t *stack = &table->local[owner - 1].top;
	s64 next, top = atomic64_read(stack);
	u32 index;

	do {
		index = ctlchart_top_index(top);
		if (unlikely(!index)) {
			index = ctlchart_table_refill(table, owner);
			*entry = ctlchart_table_entry(table, index);
			return index;
		}
		*entry = ctlchart_table_entry(table, index);
		/*
		 * Another context may own the entry by now: then the count in
		 * @top is old, the value read is not used, and we try again.
		 */
		next = ctlchart_top(top, -1, READ_ONCE((*entry)->next));
	} while (!atomic64_try_cmpxchg(stack, &top, next));

	return index;
}

/**
 * ctlchart_table_free - give an entry back
 * @table: the table
 * @owner: caller's CPU number plus one
 * @entry: the entry
 * @index: its index plus one, from ctlchart_table_reserve() or a chain
 *
 * Context: any, NMI included.
 */
static __always_inline void ctlchart_table_free(struct ctlchart_table *table,
						int owner,
						struct ctlchart_start *entry,
						u32 index)
{
	atomic64_t *stack = &table->local[owner - 1].top;
	s64 next, top = atomic64_read(stack);

	do {
		while (unlikely((u32)top >= table->spill)) {
			ctlchart_table_spill(table, owner);
			top = atomic64_read(stack);
		}
		WRITE_ONCE(entry->next, ctlchart_top_index(top));
		next = ctlchart_top(top, 1, index);
	} while (!atomic64_try_cmpxchg(stack, &top, next));
}

/**
 * ctlchart_table_stamp - fill in the time of a start, when all else is
 * @entry: an entry that was reserved
 * @time: its time
 */
static __always_inline void ctlchart_table_stamp(struct ctlchart_start *entry,
						 u64 time)
{
	/* The entry is complete when the time is set: pairs with report_entry() */
	smp_wmb();
	WRITE_ONCE(entry->time, time);
}

/* Called with the bucket's lock held */
static __always_inline void
ctlchart_table_append(struct ctlchart_table *table,
		      struct ctlchart_bucket *bucket,
		      struct ctlchart_start *entry, u32 index)
{
	WRITE_ONCE(entry->next, 0);
	if (unlikely(bucket->head))
		WRITE_ONCE(ctlchart_table_entry(table, bucket->tail)->next,
			   index);
	else
		WRITE_ONCE(bucket->head, index);
	bucket->tail = index;
}

/*
 * The entry was taken off its chain, whose lock is still held. Searches for old
 * starts skip it until it is filled again.
 */
static __always_inline void
ctlchart_table_unlinked(struct ctlchart_start *entry)
{
	WRITE_ONCE(entry->time, U64_MAX);
}

/**
 * ctlchart_table_commit - record a start, and account for it
 * @table: the table
 * @who: this context
 * @entry: an entry that was reserved, and filled but for its link
 * @index: its index plus one
 * @hash: of its keys
 *
 * Context: any, NMI included, with interrupts off.
 */
static __always_inline void ctlchart_table_commit(struct ctlchart_table *table,
						  struct ctlchart_who who,
						  struct ctlchart_start *entry,
						  u32 index, u64 hash)
{
	struct ctlchart_bucket *bucket = ctlchart_table_bucket(table, hash);

	local64_inc(&who.accounts->starts);
	if (unlikely(!ctlchart_lock_try(&bucket->lock, who.owner))) {
		WRITE_ONCE(entry->time, U64_MAX);
		ctlchart_table_free(table, who.owner, entry, index);
		local64_inc(&who.accounts->missed);
		return;
	}
	ctlchart_table_append(table, bucket, entry, index);
	ctlchart_unlock(&bucket->lock);
}

static __always_inline bool
ctlchart_table_same(const struct ctlchart_table *table,
		    const struct ctlchart_start *entry, const u64 *key)
{
	unsigned int i;

	/* Most tables have one or two */
	if (entry->key[0] != key[0])
		return false;
	if (table->nr_keys == 1)
		return true;
	if (entry->key[1] != key[1])
		return false;
	for (i = 2; i < table->nr_keys; i++) {
		if (entry->key[i] != key[i])
			return false;
	}
	return true;
}

/**
 * ctlchart_table_before - since when starts are not stale
 * @now: trace clock
 * @stale: age above which a start is stale
 *
 * Return: the time before which they are.
 */
static __always_inline u64 ctlchart_table_before(u64 now, u64 stale)
{
	return now > stale ? now - stale : 0;
}

/**
 * ctlchart_table_take - find and remove the start of an end, and account
 * @table: the table
 * @who: this context
 * @key: the end's key
 * @hash: its hash
 * @now: trace clock at the end
 * @stale: age above which a start gives way to a younger one of its key
 * @start: where to put the oldest start of that key: its time and task
 *
 * Context: any, NMI included, with interrupts off.
 * Return: true if there was one.
 */
static __always_inline bool ctlchart_table_take(struct ctlchart_table *table,
						struct ctlchart_who who,
						const u64 *key, u64 hash,
						u64 now, u64 stale,
						struct ctlchart_start *start)
{
	struct ctlchart_bucket *bucket = ctlchart_table_bucket(table, hash);
	struct ctlchart_start *entry;
	u32 index;

	local64_inc(&who.accounts->ends);

	/*
	 * An end whose start is being put at this moment on another CPU came
	 * too early for it in any case.
	 */
	if (!READ_ONCE(bucket->head)) {
		local64_inc(&who.accounts->unmatched);
		return false;
	}
	if (unlikely(!ctlchart_lock_try(&bucket->lock, who.owner))) {
		local64_inc(&who.accounts->ends_missed);
		return false;
	}
	index = bucket->head;
	entry = ctlchart_table_entry(table, index);
	if (likely(index && ctlchart_table_same(table, entry, key) &&
		   (s64)(now - entry->time) <= (s64)stale)) {
		WRITE_ONCE(bucket->head, entry->next);
	} else {
		index = ctlchart_table_search(table, who, bucket, key,
					      ctlchart_table_before(now,
								    stale));
		if (!index) {
			ctlchart_unlock(&bucket->lock);
			return false;
		}
		entry = ctlchart_table_entry(table, index);
	}
	start->time = entry->time;
	ctlchart_table_unlinked(entry);
	ctlchart_unlock(&bucket->lock);
	start->pid = entry->pid;
	memcpy(start->comm, entry->comm, sizeof(start->comm));
	ctlchart_table_free(table, who.owner, entry, index);
	local64_inc(&who.accounts->paired);
	return true;
}

#endif /* _CTLCHART_TABLE_H */
