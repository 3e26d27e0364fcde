// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the table of starts in flight: each operation by itself. The
 * same file is put under the stress of many threads in user space.
 */
#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "table.h"

/* As in table.c */
#define STALE_SEARCH 64

struct table_test {
	struct ctlchart_table table;
	struct ctlchart_accounts accounts;
	struct ctlchart_who who;
};

/* A table of memory that held something else before */
static struct table_test *table_setup(struct kunit *test, u32 size,
				      unsigned int nr_keys)
{
	u32 buckets = ctlchart_table_buckets(size);
	struct ctlchart_bucket *bucket;
	struct ctlchart_start *entry;
	struct table_test *t;

	t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	bucket =
		kunit_kmalloc_array(test, buckets, sizeof(*bucket), GFP_KERNEL);
	entry = kunit_kmalloc_array(test, size, sizeof(*entry), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t);
	KUNIT_ASSERT_NOT_NULL(test, bucket);
	KUNIT_ASSERT_NOT_NULL(test, entry);
	memset(bucket, 0xa5, buckets * sizeof(*bucket));
	memset(entry, 0xa5, size * sizeof(*entry));
	ctlchart_table_init(&t->table, entry, size, bucket, nr_keys,
			    0x123456789abcdefULL);
	t->who.owner = 1;
	t->who.accounts = &t->accounts;
	return t;
}

static u32 in_flight(struct table_test *t)
{
	u32 bucket, count = 0;

	for (bucket = 0; bucket <= t->table.bucket_mask; bucket++)
		count += ctlchart_table_in_flight(&t->table, &t->who, bucket);
	return count;
}

/* Bounded by more than there can be, lest a ring of entries hang the test */
static u32 count_free(struct table_test *t)
{
	u32 index = (u32)atomic64_read(&t->table.free), count = 0;

	while (index && count <= t->table.size) {
		index = t->table.entry[index - 1].next;
		count++;
	}
	return count;
}

#define ACCOUNT(t, member) ((u64)local64_read(&(t)->accounts.member))

/* Every entry and every event is accounted for */
static void check_sums(struct kunit *test, struct table_test *t)
{
	u32 flying = in_flight(t);

	KUNIT_ASSERT_EQ(test, flying + count_free(t), t->table.size);
	KUNIT_EXPECT_EQ(test, ACCOUNT(t, starts),
			ACCOUNT(t, paired) + ACCOUNT(t, replaced) +
				ACCOUNT(t, evicted) + ACCOUNT(t, refused) +
				ACCOUNT(t, missed) + flying);
	KUNIT_EXPECT_EQ(test, ACCOUNT(t, ends),
			ACCOUNT(t, paired) + ACCOUNT(t, unmatched) +
				ACCOUNT(t, ends_missed));
}

static void put_at(struct kunit *test, struct table_test *t, u64 key, u64 time,
		   u64 stale, bool replace)
{
	struct ctlchart_start start = { .key = { key }, .time = time };

	start.pid = time & 0xffff;
	snprintf(start.comm, sizeof(start.comm), "task%u", start.pid);
	ctlchart_table_put(&t->table, &t->who, &start, stale, replace);
	check_sums(test, t);
}

static void put(struct kunit *test, struct table_test *t, u64 key, u64 time)
{
	put_at(test, t, key, time, U64_MAX, false);
}

/* The time of the start that an end at @now gets, 0 if it gets none */
static u64 take_at(struct kunit *test, struct table_test *t, u64 key, u64 now,
		   u64 stale)
{
	u64 keys[CTLCHART_MAX_KEYS] = { key };
	char comm[CTLCHART_COMM_LEN];
	struct ctlchart_start start;
	bool found;

	found = ctlchart_table_take(&t->table, &t->who, keys, now, stale,
				    &start);
	check_sums(test, t);
	if (!found)
		return 0;
	snprintf(comm, sizeof(comm), "task%u", (u32)(start.time & 0xffff));
	KUNIT_EXPECT_EQ(test, start.key[0], key);
	KUNIT_EXPECT_EQ(test, start.pid & ~CTLCHART_OVERDUE,
			start.time & 0xffff);
	KUNIT_EXPECT_STREQ(test, start.comm, comm);
	return start.time;
}

static u64 take(struct kunit *test, struct table_test *t, u64 key)
{
	return take_at(test, t, key, U64_MAX, U64_MAX);
}

#define EXPECT_ACCOUNT(t, member, n) \
	KUNIT_EXPECT_EQ(test, ACCOUNT(t, member), (u64)(n))

#define EXPECT_TIME(expr, time) KUNIT_EXPECT_EQ(test, expr, (u64)(time))

/* The starts of one key: first in, first out, among others on its chain */
static void table_fifo_test(struct kunit *test)
{
	struct table_test *t = table_setup(test, 400, 1);
	u64 i;

	for (i = 1; i <= 200; i++) {
		put(test, t, 42, i);
		put(test, t, i % 7 + 100, 1000 + i);
	}
	KUNIT_EXPECT_EQ(test, in_flight(t), 400);
	for (i = 1; i <= 200; i++)
		EXPECT_TIME(take(test, t, 42), i);
	EXPECT_TIME(take(test, t, 42), 0);
	/* a chain that never gets empty */
	put(test, t, 42, 1);
	for (i = 2; i <= 150; i++) {
		put(test, t, 42, i);
		EXPECT_TIME(take(test, t, 42), i - 1);
	}
	for (i = 1; i <= 200; i++)
		EXPECT_TIME(take(test, t, i % 7 + 100), 1000 + i);
	EXPECT_TIME(take(test, t, 42), 150);
	EXPECT_ACCOUNT(t, paired, 550);
	EXPECT_ACCOUNT(t, unmatched, 1);
	KUNIT_EXPECT_EQ(test, in_flight(t), 0);
}

/* One bucket: first, middle and last of a chain go, and it can grow again */
static void table_chain_test(struct kunit *test)
{
	static const u64 orders[][3] = { { 1, 2, 3 }, { 1, 3, 2 }, { 2, 1, 3 },
					 { 2, 3, 1 }, { 3, 1, 2 }, { 3, 2, 1 } };
	struct table_test *t = table_setup(test, 4, 1);
	int i, j;

	t->table.bucket_mask = 0;
	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		for (j = 1; j <= 3; j++)
			put(test, t, j, j);
		for (j = 0; j < 3; j++) {
			EXPECT_TIME(take(test, t, orders[i][j]), orders[i][j]);
			put(test, t, 9, 90 + j);
			EXPECT_TIME(take(test, t, 9), 90 + j);
		}
		KUNIT_EXPECT_EQ(test, in_flight(t), 0);
	}
}

/* Only the keys in use count, and all of them */
static void table_keys_test(struct kunit *test)
{
	struct ctlchart_start start = { .time = 1 }, got;
	u64 key[CTLCHART_MAX_KEYS];
	struct table_test *t;
	unsigned int nr, i;

	for (nr = 1; nr <= CTLCHART_MAX_KEYS; nr++) {
		t = table_setup(test, 16, nr);
		for (i = 0; i < CTLCHART_MAX_KEYS; i++)
			start.key[i] = i < nr ? U64_MAX - i : i;
		ctlchart_table_put(&t->table, &t->who, &start, U64_MAX, false);
		for (i = 0; i < nr; i++) {
			memcpy(key, start.key, sizeof(key));
			key[i] ^= 1ULL << 63;
			KUNIT_EXPECT_FALSE(test,
					   ctlchart_table_take(&t->table,
							       &t->who, key, 2,
							       U64_MAX, &got));
		}
		memcpy(key, start.key, sizeof(key));
		for (i = nr; i < CTLCHART_MAX_KEYS; i++)
			key[i] = 0xdead;
		KUNIT_EXPECT_TRUE(test,
				  ctlchart_table_take(&t->table, &t->who, key,
						      2, U64_MAX, &got));
		check_sums(test, t);
	}
}

static void table_dup_last_test(struct kunit *test)
{
	struct table_test *t = table_setup(test, 2, 1);
	u64 i;

	for (i = 1; i <= 10; i++)
		put_at(test, t, 7, i, U64_MAX, true);
	KUNIT_EXPECT_EQ(test, in_flight(t), 1);
	put_at(test, t, 8, 11, U64_MAX, true);
	/* in a full table a replacement is no new entry, another key is */
	put_at(test, t, 7, 12, U64_MAX, true);
	put_at(test, t, 9, 13, U64_MAX, true);
	EXPECT_ACCOUNT(t, replaced, 10);
	EXPECT_ACCOUNT(t, refused, 1);
	EXPECT_TIME(take(test, t, 7), 12);
	EXPECT_TIME(take(test, t, 7), 0);
	EXPECT_TIME(take(test, t, 8), 11);
	EXPECT_TIME(take(test, t, 9), 0);
}

/* A full table with nothing stale turns new ones away; the old ones stay */
static void table_refused_test(struct kunit *test)
{
	struct table_test *t = table_setup(test, 100, 1);
	u64 i;

	for (i = 1; i <= 150; i++)
		put_at(test, t, i, i, 150, false);
	EXPECT_ACCOUNT(t, refused, 50);
	EXPECT_ACCOUNT(t, evicted, 0);
	for (i = 1; i <= 150; i++)
		EXPECT_TIME(take(test, t, i), i <= 100 ? i : 0);
	/* what is as old as stale= is not above it */
	for (i = 0; i < 100; i++)
		put_at(test, t, i, 1000, 10, false);
	put_at(test, t, 500, 1010, 10, false);
	EXPECT_ACCOUNT(t, refused, 51);
	put_at(test, t, 501, 1011, 10, false);
	EXPECT_ACCOUNT(t, evicted, 1);
	/* a clock that went back makes nothing stale */
	put_at(test, t, 502, 5, 10, false);
	EXPECT_ACCOUNT(t, refused, 52);
}

static const struct stale_case {
	const char *name;
	bool one_key;
	bool replace;
} stale_cases[] = {
	{ "many keys", false, false },
	{ "one key", true, false },
	{ "dup=last", false, true },
};

KUNIT_ARRAY_PARAM_DESC(stale, stale_cases, name);

/* A full table of stale ones takes every new one */
static void table_evicted_test(struct kunit *test)
{
	const struct stale_case *c = test->param_value;
	struct table_test *t = table_setup(test, 512, 1);
	u64 i, time, last = 0;

	for (i = 0; i < 512; i++)
		put(test, t, c->one_key ? 1 : 10000 + i, 1 + i);
	for (i = 0; i < 100; i++)
		put_at(test, t, 5000 + i, 1000000 + i, 1000, c->replace);
	EXPECT_ACCOUNT(t, refused, 0);
	EXPECT_ACCOUNT(t, evicted, 100);
	KUNIT_EXPECT_EQ(test, in_flight(t), 512);
	for (i = 0; i < 100; i++)
		EXPECT_TIME(take(test, t, 5000 + i), 1000000 + i);
	/* those that are left are in order still */
	for (i = 0; i < 412 && c->one_key; i++) {
		time = take(test, t, 1);
		KUNIT_EXPECT_GT(test, time, last);
		last = time;
	}
	KUNIT_EXPECT_EQ(test, in_flight(t), c->one_key ? 0 : 412);
}

/* One stale entry in a large table is found after enough tries */
static void table_search_test(struct kunit *test)
{
	struct table_test *t = table_setup(test, 256, 1);
	u64 i;

	put(test, t, 1, 1);
	for (i = 1; i < 256; i++)
		put(test, t, 1 + i, 1000000);
	for (i = 0; i < 256 / STALE_SEARCH; i++)
		put_at(test, t, 5000 + i, 1000001, 1000, false);
	EXPECT_ACCOUNT(t, evicted, 1);
	EXPECT_ACCOUNT(t, refused, 256 / STALE_SEARCH - 1);
	EXPECT_TIME(take(test, t, 1), 0);
}

/* An end gets a young start rather than a stale one, if there is one */
static void table_stale_test(struct kunit *test)
{
	struct table_test *t = table_setup(test, 64, 1);

	t->table.bucket_mask = 0;
	/* alone, a stale one is what there is */
	put(test, t, 1, 10);
	EXPECT_TIME(take_at(test, t, 1, 1000, 100), 10);
	EXPECT_ACCOUNT(t, evicted, 0);
	/* stale, other key, stale, young, young; other key last */
	put(test, t, 1, 10);
	put(test, t, 2, 11);
	put(test, t, 1, 12);
	put(test, t, 1, 950);
	put(test, t, 1, 951);
	put(test, t, 2, 952);
	EXPECT_TIME(take_at(test, t, 1, 1000, 100), 950);
	EXPECT_ACCOUNT(t, evicted, 2);
	EXPECT_TIME(take_at(test, t, 1, 1000, 100), 951);
	EXPECT_TIME(take_at(test, t, 1, 1000, 100), 0);
	/* all stale: the youngest of them */
	put(test, t, 3, 20);
	put(test, t, 3, 21);
	put(test, t, 3, 22);
	EXPECT_TIME(take_at(test, t, 3, 1000, 100), 22);
	EXPECT_ACCOUNT(t, evicted, 4);
	EXPECT_TIME(take_at(test, t, 2, 1000, 100), 952);
	EXPECT_ACCOUNT(t, evicted, 5);
	KUNIT_EXPECT_EQ(test, in_flight(t), 0);
	/* a clock that is behind makes none stale */
	put(test, t, 4, 500);
	put(test, t, 4, 501);
	EXPECT_TIME(take_at(test, t, 4, 1, 0), 500);
	EXPECT_TIME(take_at(test, t, 4, 501, 0), 501);
}

static void table_unmatched_test(struct kunit *test)
{
	struct table_test *t = table_setup(test, 1, 1);

	EXPECT_TIME(take(test, t, 1), 0);
	put(test, t, 1, 5);
	/* the same bucket, another key */
	EXPECT_TIME(take(test, t, 2), 0);
	EXPECT_TIME(take(test, t, 1), 5);
	EXPECT_TIME(take(test, t, 1), 0);
	EXPECT_ACCOUNT(t, unmatched, 3);
	EXPECT_ACCOUNT(t, ends, 4);
}

static void table_flush_test(struct kunit *test)
{
	struct table_test *t = table_setup(test, 300, 1);
	u32 bucket;
	u64 i;

	for (i = 0; i < 300; i++)
		put(test, t, i % 50, 1 + i);
	for (bucket = 0; bucket <= t->table.bucket_mask; bucket++) {
		ctlchart_table_flush(&t->table, &t->who, bucket);
		check_sums(test, t);
	}
	EXPECT_ACCOUNT(t, evicted, 300);
	KUNIT_EXPECT_EQ(test, in_flight(t), 0);
	EXPECT_TIME(take(test, t, 1), 0);
	for (i = 0; i < 300; i++)
		put(test, t, i, 1 + i);
	EXPECT_ACCOUNT(t, refused, 0);
}

/* How many are found, in batches of up to 8; each is marked in @seen */
static u32 find_overdue(struct kunit *test, struct table_test *t, u64 before,
			bool *seen)
{
	struct ctlchart_start batch[8];
	u32 bucket, found, i, n = 0;

	for (bucket = 0; bucket <= t->table.bucket_mask; bucket++) {
		do {
			found = ctlchart_table_overdue(&t->table, &t->who,
						       bucket, before, batch,
						       ARRAY_SIZE(batch));
			KUNIT_ASSERT_LE(test, found, ARRAY_SIZE(batch));
			for (i = 0; i < found; i++) {
				KUNIT_ASSERT_LT(test, batch[i].time, before);
				KUNIT_EXPECT_FALSE(test, seen[batch[i].time]);
				KUNIT_EXPECT_EQ(test, (u64)batch[i].pid,
						batch[i].time);
				seen[batch[i].time] = true;
			}
			n += found;
		} while (found == ARRAY_SIZE(batch));
	}
	return n;
}

/* Each overdue start is found once, in batches, and stays in flight */
static void table_overdue_test(struct kunit *test)
{
	struct table_test *t = table_setup(test, 256, 1);
	bool *seen = kunit_kzalloc(test, 200 * sizeof(*seen), GFP_KERNEL);
	u64 i;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	for (i = 1; i < 200; i++)
		put(test, t, i % 3, i);
	KUNIT_EXPECT_EQ(test, find_overdue(test, t, 150, seen), 149);
	KUNIT_EXPECT_EQ(test, find_overdue(test, t, 150, seen), 0);
	/* those that became overdue since */
	KUNIT_EXPECT_EQ(test, find_overdue(test, t, 160, seen), 10);
	KUNIT_EXPECT_EQ(test, in_flight(t), 199);
	for (i = 1; i < 200; i++)
		EXPECT_TIME(take(test, t, i % 3), i);
	/* an entry that is used again, and one that was replaced, are new */
	memset(seen, 0, 200 * sizeof(*seen));
	put(test, t, 5, 7);
	KUNIT_EXPECT_EQ(test, find_overdue(test, t, 150, seen), 1);
	put_at(test, t, 5, 8, U64_MAX, true);
	KUNIT_EXPECT_EQ(test, find_overdue(test, t, 150, seen), 1);
	KUNIT_EXPECT_TRUE(test, seen[7] && seen[8]);
}

/*
 * An end and two starts, one with dup=last, while @owner has the lock of the
 * only bucket, which must be left alone.
 */
static void under_lock(struct kunit *test, struct table_test *t, int owner)
{
	atomic_t *lock = &t->table.bucket[0].lock.owner;
	u64 key[CTLCHART_MAX_KEYS] = { 1 };
	struct ctlchart_start start = { .key = { 1 }, .time = 1000 }, got;

	atomic_set(lock, owner);
	ctlchart_table_put(&t->table, &t->who, &start, 100, false);
	ctlchart_table_put(&t->table, &t->who, &start, 100, true);
	if (t->table.bucket[0].head)
		KUNIT_EXPECT_FALSE(test,
				   ctlchart_table_take(&t->table, &t->who, key,
						       1000, 100, &got));
	KUNIT_EXPECT_EQ(test, atomic_read(lock), owner);
	atomic_set(lock, 0);
	check_sums(test, t);
}

/* Who holds the lock does not wait for it, and an NMI does not for long */
static void table_locked_test(struct kunit *test)
{
	struct table_test *t = table_setup(test, 2, 1);

	t->table.bucket_mask = 0;
	put(test, t, 1, 1);
	under_lock(test, t, t->who.owner);
	EXPECT_ACCOUNT(t, missed, 2);
	EXPECT_ACCOUNT(t, ends_missed, 1);
	t->who.nmi = true;
	under_lock(test, t, t->who.owner);
	EXPECT_ACCOUNT(t, missed, 4);
	EXPECT_ACCOUNT(t, ends_missed, 2);
	under_lock(test, t, t->who.owner + 1);
	EXPECT_ACCOUNT(t, missed, 6);
	EXPECT_ACCOUNT(t, ends_missed, 3);
	/* what is stale behind a lock is not evicted: the table stays full */
	t->who.nmi = false;
	put(test, t, 1, 2);
	t->who.nmi = true;
	under_lock(test, t, t->who.owner + 1);
	EXPECT_ACCOUNT(t, evicted, 0);
	EXPECT_ACCOUNT(t, refused, 1);
	EXPECT_ACCOUNT(t, missed, 7);
	t->who.nmi = false;
	EXPECT_TIME(take(test, t, 1), 1);
	EXPECT_TIME(take(test, t, 1), 2);
}

static struct kunit_case table_test_cases[] = {
	KUNIT_CASE(table_fifo_test),
	KUNIT_CASE(table_chain_test),
	KUNIT_CASE(table_keys_test),
	KUNIT_CASE(table_dup_last_test),
	KUNIT_CASE(table_refused_test),
	KUNIT_CASE_PARAM(table_evicted_test, stale_gen_params),
	KUNIT_CASE(table_search_test),
	KUNIT_CASE(table_stale_test),
	KUNIT_CASE(table_unmatched_test),
	KUNIT_CASE(table_flush_test),
	KUNIT_CASE(table_overdue_test),
	KUNIT_CASE(table_locked_test),
	{}
};

static struct kunit_suite table_test_suite = {
	.name = "ctlchart-table",
	.test_cases = table_test_cases,
};

kunit_test_suite(table_test_suite);

MODULE_DESCRIPTION("KUnit tests of the table of starts in flight");
MODULE_LICENSE("GPL");
