/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _CTLCHART_TABLE_H
#define _CTLCHART_TABLE_H

#include <linux/types.h>
#include <asm/local64.h>
#include "lock.h"

#define CTLCHART_MAX_KEYS 4
#define CTLCHART_COMM_LEN 16

/* Entries in a table: bounds of the option size= */
#define CTLCHART_TABLE_MIN 1
#define CTLCHART_TABLE_MAX 1048576

/* In struct ctlchart_start.pid: the start was reported as overdue */
#define CTLCHART_OVERDUE 0x80000000U

/**
 * struct ctlchart_start - a start event that waits for its end
 * @key: values of the key fields; only those in use are looked at
 * @time: trace clock at the start event; U64_MAX on the free stack
 * @next: index plus one of the next entry in the bucket or on the free stack
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
 */
struct ctlchart_bucket {
	struct ctlchart_lock lock;
	u32 head;
	u32 tail;
};

/**
 * struct ctlchart_accounts - where every start and every end went
 * @starts: start events seen
 * @paired: starts whose end came
 * @replaced: starts overwritten by a younger one of the same key (dup=last)
 * @evicted: starts dropped: stale, when the table was full or a younger one
 *	of the key was there; or flushed
 * @refused: starts turned away from a full table
 * @missed: starts that met a lock they must not wait for (NMI only), or
 *	another trace clock than the chart's
 * @ends: end events seen
 * @unmatched: ends without a start
 * @ends_missed: ends that met such a lock or clock
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
 * @nr_keys: keys in use; an entry's other keys are not looked at
 * @seed: makes the hash differ from table to table
 * @free: top of the stack of free entries: index plus one in the low half, a
 *	count of changes in the high half, so that a stale top is never taken
 *	for the current one
 * @hand: where the next search for stale entries begins
 * @entry: @size entries
 * @bucket: the buckets
 */
struct ctlchart_table {
	u32 size;
	u32 bucket_mask;
	unsigned int nr_keys;
	u64 seed;
	atomic64_t free;
	atomic_t hand;
	struct ctlchart_start *entry;
	struct ctlchart_bucket *bucket;
};

/**
 * struct ctlchart_who - the context that works on a table
 * @owner: its CPU number plus one
 * @nmi: true if it is an NMI
 * @accounts: that CPU's accounts
 */
struct ctlchart_who {
	int owner;
	bool nmi;
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
			 struct ctlchart_bucket *bucket, unsigned int nr_keys,
			 u64 seed);
void ctlchart_table_put(struct ctlchart_table *table,
			const struct ctlchart_who *who,
			const struct ctlchart_start *start, u64 stale,
			bool replace);
bool ctlchart_table_take(struct ctlchart_table *table,
			 const struct ctlchart_who *who, const u64 *key,
			 u64 now, u64 stale, struct ctlchart_start *start);
void ctlchart_table_flush(struct ctlchart_table *table,
			  const struct ctlchart_who *who, u32 bucket);
u32 ctlchart_table_in_flight(struct ctlchart_table *table,
			     const struct ctlchart_who *who, u32 bucket);
u32 ctlchart_table_overdue(struct ctlchart_table *table,
			   const struct ctlchart_who *who, u32 bucket,
			   u64 before, struct ctlchart_start *start, u32 max);

#endif /* _CTLCHART_TABLE_H */
