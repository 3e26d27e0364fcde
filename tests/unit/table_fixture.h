/* SPDX-License-Identifier: GPL-2.0 */
/* A table of starts in flight, and its accounts. */
#ifndef TESTS_TABLE_FIXTURE_H
#define TESTS_TABLE_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include <linux/preempt.h>

#include "suite.h"
#include "table.h"

#define NEVER INT64_MAX

/* CPUs of a table */
#define CPUS 5

/* ck_assert() writes to its parent even on success: too slow for inner loops */
#define expect(cond, ...)                                \
	do {                                             \
		if (!(cond))                             \
			ck_abort_msg(#cond __VA_ARGS__); \
	} while (0)

/* A table with its memory; each test's own */
struct fixture {
	struct ctlchart_table table;
	struct ctlchart_stack stack[CPUS + 1];
	struct ctlchart_accounts accounts;
	struct ctlchart_who who;
};

static inline void setup(struct fixture *f, u32 size, unsigned int nr_keys)
{
	u32 buckets = ctlchart_table_buckets(size);
	struct ctlchart_bucket *bucket = malloc(buckets * sizeof(*bucket));
	struct ctlchart_start *entry = malloc(size * sizeof(*entry));

	ck_assert(bucket && entry);
	/* earlier contents must not matter */
	memset(bucket, 0xa5, buckets * sizeof(*bucket));
	memset(entry, 0xa5, size * sizeof(*entry));
	memset(&f->accounts, 0, sizeof(f->accounts));
	memset(&f->table, 0xa5, sizeof(f->table));
	memset(f->stack, 0xa5, sizeof(f->stack));
	ctlchart_table_init(&f->table, entry, size, bucket, f->stack, CPUS,
			    nr_keys, 0x123456789abcdef);
	f->who = (struct ctlchart_who){ .owner = 1, .accounts = &f->accounts };
}

static inline u32 in_flight(struct fixture *f)
{
	return ctlchart_table_in_flight(&f->table);
}

/* The length of a stack of free entries; none of them was @seen */
static inline u32 count_stack(struct fixture *f, struct ctlchart_stack *stack,
			      bool *seen)
{
	u32 index = ctlchart_top_index(atomic64_read(&stack->top)), count = 0;

	for (; index; index = f->table.entry[index - 1].next) {
		expect(index <= f->table.size);
		expect(!seen[index - 1], ": an entry is free twice");
		seen[index - 1] = true;
		count++;
	}
	return count;
}

/* A CPU's stack knows how many entries are on it */
static inline u32 count_local(struct fixture *f, struct ctlchart_stack *stack,
			      bool *seen)
{
	u32 count = count_stack(f, stack, seen);

	expect(count == (u32)atomic64_read(&stack->top) / CTLCHART_TOP_NR);
	return count;
}

static inline u32 count_free(struct fixture *f)
{
	bool *seen = calloc(f->table.size, sizeof(*seen));
	u32 count;
	int i;

	ck_assert(seen);
	count = count_stack(f, f->table.free, seen);
	for (i = 0; i < CPUS; i++)
		count += count_local(f, &f->stack[i], seen);
	free(seen);
	return count;
}

static inline void add_accounts(struct ctlchart_accounts *sum,
				struct ctlchart_accounts *a)
{
	s64 *to = (s64 *)sum, *from = (s64 *)a;
	size_t i;

	for (i = 0; i < sizeof(*a) / sizeof(*from); i++)
		to[i] += from[i];
}

#define ACCOUNT(a, member) ((u64)local64_read(&(a)->member))

/* Every entry and every event is accounted for */
static inline void check_sums(struct fixture *f, struct ctlchart_accounts *a)
{
	u32 flying = in_flight(f);

	ck_assert_uint_eq(flying + count_free(f), f->table.size);
	ck_assert_uint_eq(ACCOUNT(a, starts),
			  ACCOUNT(a, paired) + ACCOUNT(a, replaced) +
				  ACCOUNT(a, evicted) + ACCOUNT(a, refused) +
				  ACCOUNT(a, missed) + flying);
	ck_assert_uint_eq(ACCOUNT(a, ends), ACCOUNT(a, paired) +
						    ACCOUNT(a, unmatched) +
						    ACCOUNT(a, ends_missed));
}

static inline void teardown(struct fixture *f)
{
	check_sums(f, &f->accounts);
	free(f->table.entry);
	free(f->table.bucket);
}

static inline bool remove_key(struct fixture *f, struct ctlchart_who who,
			      const u64 *key, u64 now, u64 stale,
			      struct ctlchart_start *start)
{
	return ctlchart_table_take(&f->table, who, key,
				   ctlchart_table_hash(&f->table, key), now,
				   stale, start);
}

#endif
