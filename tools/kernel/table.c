// SPDX-License-Identifier: GPL-2.0
/*
 * ctlchart: the table of starts in flight
 *
 * A start event puts an entry, the end event with the same key takes it out.
 * All memory is allocated before: a fixed array of entries, threaded either
 * on the chain of a hash bucket or on a stack of free entries. Each CPU has a
 * stack for itself, which it fills from a common one, by a batch at a time, and
 * empties into it. When that is empty, it takes what other CPUs have.
 *
 * Invariants:
 *  - An entry is on exactly one chain, or on one stack, or in the hands of one
 *    context between the two. Only that context writes to it.
 *  - A chain is ordered by arrival, oldest first; entries of one key come
 *    and go first in, first out, in constant time however many there are.
 *    A walk along it looks at CTLCHART_CHAIN_MAX entries at most: what is
 *    not found until then is accounted as missed.
 *  - A chain changes under its bucket's lock only. No context holds two
 *    bucket locks, so they need no order.
 *
 * The same file is compiled in user space, where it is tested natively.
 */
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/string.h>
#include "table.h"

/* Entries looked at for a stale one each time a start finds the table full */
#define STALE_SEARCH 64U

#define NONE 0U

/*
 * Take up to a batch of entries off a stack, and return how many. They stay
 * linked, from *first to *last. Another context may take an entry while the walk
 * reads its link, which may then lead anywhere in the table: the top has changed
 * by then, and we try again.
 */
static u32 pop_batch(struct ctlchart_table *table, struct ctlchart_stack *stack,
		     u32 *first, u32 *last)
{
	s64 next, top = atomic64_read(&stack->top);
	u32 index, nr;

	do {
		index = ctlchart_top_index(top);
		*first = index;
		for (nr = 0; index && nr < table->batch; nr++) {
			*last = index;
			index = READ_ONCE(table->entry[index - 1].next);
		}
		if (!nr)
			return 0;
		/* The common stack has no count of its entries */
		next = ctlchart_top(top, stack == table->free ? 0 : -(s64)nr,
				    index);
	} while (!atomic64_try_cmpxchg(&stack->top, &top, next));
	return nr;
}

/* Push entries that are linked from @first to @last */
static void push_batch(struct ctlchart_table *table,
		       struct ctlchart_stack *stack, u32 first, u32 last,
		       u32 nr)
{
	s64 next, top = atomic64_read(&stack->top);

	do {
		WRITE_ONCE(table->entry[last - 1].next,
			   ctlchart_top_index(top));
		next = ctlchart_top(top, stack == table->free ? 0 : nr, first);
	} while (!atomic64_try_cmpxchg(&stack->top, &top, next));
}

/**
 * ctlchart_table_refill - reserve an entry when the CPU has none at hand
 * @table: the table
 * @owner: caller's CPU number plus one
 *
 * If there are others, the CPU has them at hand then. While it takes them, the rest
 * of the batch is on no stack, for others to find: with all CPUs at it, that is a
 * quarter of the table at most, and nothing of one that is small.
 *
 * Context: any, NMI included. Reads the tops of all CPUs if there is no entry.
 * Return: as ctlchart_table_reserve().
 */
u32 ctlchart_table_refill(struct ctlchart_table *table, int owner)
{
	u32 first, last;
	u32 nr = pop_batch(table, table->free, &first, &last);
	unsigned int i;

	/* From the next CPU on, lest all CPUs turn to the same one */
	for (i = 0; !nr && i < table->nr_cpus; i++)
		nr = pop_batch(table,
			       &table->local[(owner + i) % table->nr_cpus],
			       &first, &last);
	if (!nr)
		return NONE;
	if (nr > 1)
		push_batch(table, &table->local[owner - 1],
			   table->entry[first - 1].next, last, nr - 1);
	return first;
}

/**
 * ctlchart_table_spill - give back a batch of the entries that a CPU has at hand
 * @table: the table
 * @owner: the CPU's number plus one
 *
 * Context: any, NMI included.
 */
void ctlchart_table_spill(struct ctlchart_table *table, int owner)
{
	u32 first, last;
	u32 nr = pop_batch(table, &table->local[owner - 1], &first, &last);

	if (nr)
		push_batch(table, table->free, first, last, nr);
}

/*
 * The chain's operations. The bucket's lock is held by the caller; it is no
 * lock that lockdep could assert (see lock.h).
 */
/* Take an entry off its chain; @prev: the entry before it, or NONE */
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

/*
 * Find the first entry of the key from @index on, and the one before it. @budget is
 * one more than the entries of other keys to look at; 0 is left if that was too few.
 */
static __always_inline u32 chain_find(struct ctlchart_table *table, u32 index,
				      const u64 *key, u32 *prev, u32 *budget)
{
	while (index &&
	       !ctlchart_table_same(table, &table->entry[index - 1], key)) {
		if (!--*budget)
			return NONE;
		*prev = index;
		index = table->entry[index - 1].next;
	}
	return index;
}

/* Take the first stale entry off a chain. Old ones are usually in front */
static u32 pop_stale(struct ctlchart_table *table, struct ctlchart_who who,
		     const u64 *key, u64 before, u32 *budget)
{
	u64 hash = ctlchart_table_hash(table, key);
	struct ctlchart_bucket *bucket = ctlchart_table_bucket(table, hash);
	u32 index, prev = NONE;

	if (!ctlchart_lock_try(&bucket->lock, who.owner))
		return NONE;
	for (index = bucket->head; index;
	     index = table->entry[index - 1].next) {
		if (table->entry[index - 1].time < before)
			break;
		if (*budget <= 1) {
			index = NONE;
			break;
		}
		--*budget;
		prev = index;
	}
	if (index) {
		chain_unlink(table, bucket, prev, index);
		ctlchart_table_unlinked(&table->entry[index - 1]);
	}
	ctlchart_unlock(&bucket->lock);
	return index;
}

/* All entries were searched: note when the oldest that is left becomes stale */
static void begin_round(struct ctlchart_table *table, u64 stale)
{
	u64 oldest = table->oldest;

	table->hand = 0;
	table->oldest = U64_MAX;
	WRITE_ONCE(table->full_until,
		   oldest < U64_MAX - stale ? oldest + stale : U64_MAX - 1);
}

/*
 * Search the next STALE_SEARCH entries. What is read without the bucket's lock may
 * be changing; pop_stale() checks again. Called with table->lock held.
 */
static u32 search_stale(struct ctlchart_table *table, struct ctlchart_who who,
			u64 now, u64 stale)
{
	u32 end = min(table->size, table->hand + STALE_SEARCH);
	u32 budget = CTLCHART_CHAIN_MAX + 1, index = NONE;
	u64 before = ctlchart_table_before(now, stale);
	struct ctlchart_start *entry;
	u64 key[CTLCHART_MAX_KEYS];
	unsigned int i;
	u64 time;

	while (!index && table->hand < end) {
		entry = &table->entry[table->hand++];
		time = READ_ONCE(entry->time);
		if (time < before) {
			for (i = 0; i < table->nr_keys; i++) {
				/* Compared under the bucket's lock */
				key[i] = data_race(entry->key[i]);
			}
			index = pop_stale(table, who, key, before, &budget);
		}
		/*
		 * Entries that are being filled have no time yet. What was taken off
		 * the chain may be another one than the one looked at, which stays.
		 */
		if (index == table->hand)
			time = now;
		table->oldest = min(table->oldest, min(time, now));
	}
	if (table->hand == table->size)
		begin_round(table, stale);
	return index;
}

/**
 * ctlchart_table_evict - reserve the entry of a stale start
 * @table: the table, full, hence nearly every entry is in flight
 * @who: this context
 * @now: trace clock
 * @stale: age above which entries make room
 *
 * After a search of all entries, full_until says until when none can be stale, and
 * a start does not search. The stacks are not looked at again: the caller has just
 * found all of them empty, which takes long where there are many CPUs.
 *
 * Context: any, NMI included, with preemption off. Bounded: STALE_SEARCH entries.
 * Return: as ctlchart_table_reserve().
 */
u32 ctlchart_table_evict(struct ctlchart_table *table, struct ctlchart_who who,
			 u64 now, u64 stale)
{
	unsigned long flags;
	u32 index = NONE;

	if (now <= READ_ONCE(table->full_until))
		return NONE;
	raw_local_irq_save(flags);
	if (ctlchart_lock_try(&table->lock, who.owner)) {
		index = search_stale(table, who, now, stale);
		ctlchart_unlock(&table->lock);
	}
	raw_local_irq_restore(flags);
	if (index)
		local64_inc(&who.accounts->evicted);
	return index;
}

/* Fill all but the link. The caller owns the entry, or has its bucket locked */
static void fill(struct ctlchart_start *entry,
		 const struct ctlchart_start *start)
{
	memcpy(entry->key, start->key, sizeof(entry->key));
	entry->pid = start->pid;
	memcpy(entry->comm, start->comm, sizeof(entry->comm));
	ctlchart_table_stamp(entry, start->time);
}

/*
 * dup=last: overwrite the start of the same key that is in flight, if any. If no
 * @budget is left, there may be one farther back.
 */
static bool replace_start(struct ctlchart_table *table,
			  struct ctlchart_bucket *bucket,
			  const struct ctlchart_start *start, u32 *budget)
{
	u32 index, prev;

	index = chain_find(table, bucket->head, start->key, &prev, budget);
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
 * @stack: @nr_cpus + 1 stacks
 * @nr_cpus: number of CPUs; an owner is not greater
 * @nr_keys: how many keys are compared, 1 to CTLCHART_MAX_KEYS
 * @seed: a random number
 */
void ctlchart_table_init(struct ctlchart_table *table,
			 struct ctlchart_start *entry, u32 size,
			 struct ctlchart_bucket *bucket,
			 struct ctlchart_stack *stack, unsigned int nr_cpus,
			 unsigned int nr_keys, u64 seed)
{
	u32 i;

	table->size = size;
	table->bucket_mask = ctlchart_table_buckets(size) - 1;
	table->bucket_shift = 64 - max(fls64(table->bucket_mask), 1);
	table->nr_keys = nr_keys;
	table->nr_cpus = nr_cpus;
	table->seed = seed;
	table->entry = entry;
	table->bucket = bucket;
	table->batch = clamp(size / (4 * nr_cpus), 1U, CTLCHART_BATCH);
	table->spill = 2 * table->batch * CTLCHART_TOP_NR;
	table->local = stack;
	table->free = &stack[nr_cpus];
	ctlchart_lock_init(&table->lock);
	table->full_until = 0;
	table->hand = 0;
	table->oldest = U64_MAX;
	for (i = 0; i <= table->bucket_mask; i++) {
		ctlchart_lock_init(&bucket[i].lock);
		bucket[i].head = NONE;
		bucket[i].tail = NONE;
	}
	for (i = 0; i < size; i++) {
		entry[i].next = i + 1 < size ? i + 2 : NONE;
		entry[i].time = U64_MAX;
	}
	for (i = 0; i < nr_cpus; i++)
		atomic64_set(&stack[i].top, NONE);
	atomic64_set(&table->free->top, 1);
}

static u32 find_room(struct ctlchart_table *table, struct ctlchart_who who,
		     u64 now, u64 stale)
{
	struct ctlchart_start *entry;

	return ctlchart_table_reserve(table, who.owner, &entry) ?:
		       ctlchart_table_evict(table, who, now, stale);
}

/* An NMI may take the last one in between: then others are sought, which takes longer */
static u32 reserve_at_hand(struct ctlchart_table *table, int owner)
{
	struct ctlchart_start *entry;
	u64 top = atomic64_read(&table->local[owner - 1].top);

	return ctlchart_top_index(top) ?
		       ctlchart_table_reserve(table, owner, &entry) :
		       NONE;
}

/*
 * One try of dup=last, under the lock of the key's bucket. The start to replace is sought
 * before an entry is reserved: a replacement needs none. Then an entry is taken that the
 * CPU has at hand, if the caller brings none as @index. Other CPUs' entries and stale
 * starts are not sought here: that takes longer, and locks of other buckets.
 *
 * Return NULL if the start was put, or its account if not.
 */
static local64_t *try_replacing(struct ctlchart_table *table,
				struct ctlchart_who who,
				const struct ctlchart_start *start, u32 index)
{
	u64 hash = ctlchart_table_hash(table, start->key);
	struct ctlchart_bucket *bucket = ctlchart_table_bucket(table, hash);
	local64_t *account = &who.accounts->missed;
	u32 budget = CTLCHART_CHAIN_MAX + 1;

	if (!ctlchart_lock_try(&bucket->lock, who.owner))
		return account;
	if (replace_start(table, bucket, start, &budget)) {
		account = &who.accounts->replaced;
	} else if (budget) {
		index = index ?: reserve_at_hand(table, who.owner);
		account = index ? NULL : &who.accounts->refused;
	}
	if (!account) {
		fill(&table->entry[index - 1], start);
		ctlchart_table_append(table, bucket, &table->entry[index - 1],
				      index);
	}
	ctlchart_unlock(&bucket->lock);
	return account;
}

/* Search again with an entry that was found: the start may have come meanwhile */
static void put_replacing(struct ctlchart_table *table, struct ctlchart_who who,
			  const struct ctlchart_start *start, u64 stale)
{
	u32 index = NONE;
	local64_t *account = try_replacing(table, who, start, index);

	local64_inc(&who.accounts->starts);
	if (account == &who.accounts->refused) {
		index = find_room(table, who, start->time, stale);
		if (index)
			account = try_replacing(table, who, start, index);
	}
	if (!account)
		return;
	local64_inc(account);
	if (index)
		ctlchart_table_free(table, who.owner, &table->entry[index - 1],
				    index);
}

/**
 * ctlchart_table_put - record a start, and account for it
 * @table: the table
 * @who: this context
 * @start: the start; its time is taken as the present
 * @stale: age in clock units above which entries make room in a full table
 * @replace: overwrite a start of the same key instead of queueing behind it
 *
 * To queue, events call ctlchart_table_reserve(), ctlchart_table_evict() and
 * ctlchart_table_commit() themselves, and fill in the entry in its place. Only tests
 * do it by this function.
 *
 * Context: any, NMI included, with interrupts off. Bounded: CTLCHART_CHAIN_MAX
 * entries of a chain, and when the table is full, the stacks of all CPUs and
 * STALE_SEARCH other entries.
 */
void ctlchart_table_put(struct ctlchart_table *table, struct ctlchart_who who,
			const struct ctlchart_start *start, u64 stale,
			bool replace)
{
	u32 index;

	if (replace)
		return put_replacing(table, who, start, stale);
	index = find_room(table, who, start->time, stale);
	if (!index) {
		local64_inc(&who.accounts->starts);
		local64_inc(&who.accounts->refused);
		return;
	}
	fill(&table->entry[index - 1], start);
	ctlchart_table_commit(table, who, &table->entry[index - 1], index,
			      ctlchart_table_hash(table, start->key));
}

/* A start was taken off its chain, whose lock is still held: it will not be paired */
static void drop(struct ctlchart_table *table, struct ctlchart_who who,
		 u32 index)
{
	ctlchart_table_unlinked(&table->entry[index - 1]);
	ctlchart_table_free(table, who.owner, &table->entry[index - 1], index);
	local64_inc(&who.accounts->evicted);
}

/**
 * ctlchart_table_search - unlink the oldest start of a key
 * @table: the table
 * @who: this context
 * @bucket: the key's, whose lock the caller holds
 * @key: the key
 * @before: a start that is older gives way to a younger one: its end was lost or
 *	never came, and the one at hand is the younger one's
 *
 * Return: its index plus one, for which ctlchart_table_unlinked() is due; 0 if there
 * is none, or the chain is too long to search, which is accounted for.
 */
u32 ctlchart_table_search(struct ctlchart_table *table, struct ctlchart_who who,
			  struct ctlchart_bucket *bucket, const u64 *key,
			  u64 before)
{
	u32 budget = CTLCHART_CHAIN_MAX + 1;
	u32 at, next, prev = NONE, before_next;

	at = chain_find(table, bucket->head, key, &prev, &budget);
	while (at) {
		before_next = at;
		next = NONE;
		if (table->entry[at - 1].time < before) {
			/* This entry was looked at, too */
			if (--budget)
				next = chain_find(table,
						  table->entry[at - 1].next,
						  key, &before_next, &budget);
			if (!budget)
				break;
		}
		chain_unlink(table, bucket, prev, at);
		if (!next)
			return at;
		if (before_next != at)
			prev = before_next;
		drop(table, who, at);
		at = next;
	}
	local64_inc(budget ? &who.accounts->unmatched :
			     &who.accounts->ends_missed);
	return NONE;
}

/**
 * ctlchart_table_flush - drop starts of one bucket, counted as evicted
 * @table: the table
 * @who: this context, no NMI
 * @bucket: index of the bucket
 *
 * Context: interrupts off; they may be on between two calls.
 * Return: true if there are more.
 */
bool ctlchart_table_flush(struct ctlchart_table *table, struct ctlchart_who who,
			  u32 bucket)
{
	struct ctlchart_bucket *b = &table->bucket[bucket];
	u32 budget = CTLCHART_CHAIN_MAX;
	u32 index;

	ctlchart_lock_try(&b->lock, who.owner);
	while (b->head && budget--) {
		index = b->head;
		chain_unlink(table, b, NONE, index);
		drop(table, who, index);
	}
	index = b->head;
	ctlchart_unlock(&b->lock);
	return index;
}

/**
 * ctlchart_table_in_flight - count the starts in flight
 * @table: the table
 *
 * Context: any, but it looks at every entry.
 * Return: how many have a time; exact while no event is in progress.
 */
u32 ctlchart_table_in_flight(const struct ctlchart_table *table)
{
	u32 i, count = 0;

	for (i = 0; i < table->size; i++)
		count += READ_ONCE(table->entry[i].time) != U64_MAX;
	return count;
}

/*
 * An entry that old is on a chain, was until just now, or will be. Lock the chain of
 * its key and check again: then it cannot be taken off.
 */
static bool report_entry(struct ctlchart_table *table, struct ctlchart_who who,
			 struct ctlchart_start *entry, u64 before,
			 struct ctlchart_start *start)
{
	struct ctlchart_bucket *bucket;
	u64 key[CTLCHART_MAX_KEYS];
	bool overdue;
	unsigned int i;

	for (i = 0; i < table->nr_keys; i++)
		key[i] = data_race(entry->key[i]); /* compared under the lock */
	bucket = ctlchart_table_bucket(table, ctlchart_table_hash(table, key));
	ctlchart_lock_try(&bucket->lock, who.owner);
	overdue = READ_ONCE(entry->time) < before;
	/* Pairs with the one in ctlchart_table_stamp(): the rest is of that start */
	smp_rmb();
	/* Another start may take the entry: then its time is another one, too */
	overdue = overdue && data_race(ctlchart_table_same(table, entry, key));
	/* As before */
	overdue = overdue && !(data_race(entry->pid) & CTLCHART_OVERDUE);
	if (overdue) {
		*start = *entry;
		entry->pid |= CTLCHART_OVERDUE;
	}
	ctlchart_unlock(&bucket->lock);
	return overdue;
}

/**
 * ctlchart_table_overdue - find starts that wait too long
 * @table: the table
 * @who: this context, no NMI
 * @from: the entry to begin with, and where to go on
 * @before: starts older than this are overdue
 * @start: where to copy them
 * @max: room in @start
 *
 * The starts stay in flight, marked, so that each is found once only.
 *
 * Context: interrupts off; they may be on between two calls.
 * Return: how many were found, among CTLCHART_CHAIN_MAX entries at most. All were
 * looked at when @from is the table's size.
 */
u32 ctlchart_table_overdue(struct ctlchart_table *table,
			   struct ctlchart_who who, u32 *from, u64 before,
			   struct ctlchart_start *start, u32 max)
{
	u32 end = min(table->size, *from + CTLCHART_CHAIN_MAX), found = 0;
	struct ctlchart_start *entry;

	while (*from < end && found < max) {
		entry = &table->entry[(*from)++];
		if (READ_ONCE(entry->time) < before &&
		    /* report_entry() looks again */
		    !(data_race(entry->pid) & CTLCHART_OVERDUE))
			found += report_entry(table, who, entry, before,
					      &start[found]);
	}
	return found;
}
