// SPDX-License-Identifier: GPL-2.0
/* The table of starts in flight: each operation by itself. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "table_fixture.h"

/* as in table.c */
#define STALE_SEARCH 64

static void put_at(struct fixture *f, u64 key, u64 time, u64 stale,
		   bool replace)
{
	struct ctlchart_start start = { .key = { key }, .time = time };

	start.pid = time % 1000;
	snprintf(start.comm, sizeof(start.comm), "task%u",
		 (unsigned int)(time % 1000));
	ctlchart_table_put(&f->table, f->who, &start, stale, replace);
	check_sums(f, &f->accounts);
}

static void put(struct fixture *f, u64 key, u64 time)
{
	put_at(f, key, time, NEVER, false);
}

/* The time of the start that an end at @now gets, 0 if it gets none */
static u64 remove_at(struct fixture *f, u64 key, u64 now, u64 stale)
{
	u64 keys[CTLCHART_MAX_KEYS] = { key };
	struct ctlchart_start start;
	char comm[CTLCHART_COMM_LEN];
	bool found;

	found = remove_key(f, f->who, keys, now, stale, &start);
	check_sums(f, &f->accounts);
	if (!found)
		return 0;
	ck_assert_uint_eq(start.pid & ~CTLCHART_OVERDUE, start.time % 1000);
	snprintf(comm, sizeof(comm), "task%u",
		 (unsigned int)(start.time % 1000));
	ck_assert_str_eq(start.comm, comm);
	return start.time;
}

static u64 remove_start(struct fixture *f, u64 key)
{
	return remove_at(f, key, NEVER, NEVER);
}

#define ck_account(f, member, n) \
	ck_assert_uint_eq(ACCOUNT(&(f)->accounts, member), n)

START_TEST(buckets)
{
	ck_assert_uint_eq(ctlchart_table_buckets(CTLCHART_TABLE_MIN), 1);
	ck_assert_uint_eq(ctlchart_table_buckets(2), 2);
	ck_assert_uint_eq(ctlchart_table_buckets(3), 4);
	ck_assert_uint_eq(ctlchart_table_buckets(4096), 4096);
	ck_assert_uint_eq(ctlchart_table_buckets(4097), 8192);
	ck_assert_uint_eq(ctlchart_table_buckets(CTLCHART_TABLE_MAX),
			  CTLCHART_TABLE_MAX);
}
END_TEST

/* The starts of one key: first in, first out, among others on its chain */
START_TEST(fifo)
{
	struct fixture f;
	u64 i;

	setup(&f, 1000, 1);
	for (i = 1; i <= 500; i++) {
		put(&f, 42, i);
		put(&f, i % 7 + 100, 1000 + i);
	}
	ck_assert_uint_eq(in_flight(&f), 1000);
	for (i = 1; i <= 500; i++)
		ck_assert_uint_eq(remove_start(&f, 42), i);
	ck_assert_uint_eq(remove_start(&f, 42), 0);
	/* and again, with a chain that never gets empty */
	put(&f, 42, 1);
	for (i = 2; i <= 300; i++) {
		put(&f, 42, i);
		ck_assert_uint_eq(remove_start(&f, 42), i - 1);
	}
	for (i = 1; i <= 500; i++)
		ck_assert_uint_eq(remove_start(&f, i % 7 + 100), 1000 + i);
	ck_assert_uint_eq(remove_start(&f, 42), 300);
	ck_account(&f, paired, 1300);
	ck_account(&f, unmatched, 1);
	ck_assert_uint_eq(in_flight(&f), 0);
	teardown(&f);
}
END_TEST

/* One bucket: first, middle and last of a chain go, and it can grow again */
START_TEST(chain)
{
	static const u64 orders[][3] = { { 1, 2, 3 }, { 1, 3, 2 }, { 2, 1, 3 },
					 { 2, 3, 1 }, { 3, 1, 2 }, { 3, 2, 1 } };
	struct fixture f;
	size_t i, j;

	/* all in one bucket: three entries whose buckets are masked to one */
	setup(&f, 4, 1);
	f.table.bucket_mask = 0;
	for (i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		for (j = 1; j <= 3; j++)
			put(&f, j, j);
		for (j = 0; j < 3; j++) {
			ck_assert_uint_eq(remove_start(&f, orders[i][j]),
					  orders[i][j]);
			/* the tail is right after every removal */
			put(&f, 9, 90 + j);
			ck_assert_uint_eq(remove_start(&f, 9), 90 + j);
		}
		ck_assert_uint_eq(in_flight(&f), 0);
	}
	teardown(&f);
}
END_TEST

/* Only the keys in use count, and all of them */
START_TEST(keys)
{
	struct ctlchart_start start = { .time = 1 }, got;
	u64 key[CTLCHART_MAX_KEYS];
	unsigned int nr, i;
	struct fixture f;

	for (nr = 1; nr <= CTLCHART_MAX_KEYS; nr++) {
		setup(&f, 16, nr);
		for (i = 0; i < CTLCHART_MAX_KEYS; i++)
			start.key[i] = i < nr ? UINT64_MAX - i : i;
		ctlchart_table_put(&f.table, f.who, &start, NEVER, false);
		for (i = 0; i < nr; i++) {
			memcpy(key, start.key, sizeof(key));
			key[i] ^= 1ULL << 63;
			ck_assert(!remove_key(&f, f.who, key, 2, NEVER, &got));
		}
		memcpy(key, start.key, sizeof(key));
		for (i = nr; i < CTLCHART_MAX_KEYS; i++)
			key[i] = 0xdead;
		ck_assert(remove_key(&f, f.who, key, 2, NEVER, &got));
		teardown(&f);
	}
}
END_TEST

START_TEST(dup_last)
{
	struct fixture f;
	u64 i;

	setup(&f, 2, 1);
	for (i = 1; i <= 10; i++)
		put_at(&f, 7, i, NEVER, true);
	ck_assert_uint_eq(in_flight(&f), 1);
	put_at(&f, 8, 11, NEVER, true);
	/* in a full table a replacement is not a new entry, another key is */
	put_at(&f, 7, 12, NEVER, true);
	put_at(&f, 9, 13, NEVER, true);
	ck_account(&f, replaced, 10);
	ck_account(&f, refused, 1);
	ck_assert_uint_eq(remove_start(&f, 7), 12);
	ck_assert_uint_eq(remove_start(&f, 7), 0);
	ck_assert_uint_eq(remove_start(&f, 8), 11);
	ck_assert_uint_eq(remove_start(&f, 9), 0);
	teardown(&f);
}
END_TEST

/* A full table without stale starts refuses new ones; the old ones stay */
START_TEST(full_refuses)
{
	struct fixture f;
	u64 i;

	setup(&f, 100, 1);
	for (i = 1; i <= 150; i++)
		put_at(&f, i, i, 150, false);
	ck_account(&f, refused, 50);
	ck_account(&f, evicted, 0);
	for (i = 1; i <= 150; i++)
		ck_assert_uint_eq(remove_start(&f, i), i <= 100 ? i : 0);
	/* a start exactly as old as stale= is not stale */
	for (i = 0; i < 100; i++)
		put_at(&f, i, 1000, 10, false);
	put_at(&f, 500, 1010, 10, false);
	ck_account(&f, refused, 51);
	put_at(&f, 501, 1011, 10, false);
	ck_account(&f, evicted, 1);
	/* a clock that went back makes no start stale */
	put_at(&f, 502, 5, 10, false);
	ck_account(&f, refused, 52);
	teardown(&f);
}
END_TEST

/* A full table of stale ones takes every new one; those share no bucket with key 1 */
static void all_stale(bool one_key, bool replace)
{
	u64 i, got = 0;
	struct fixture f;

	setup(&f, 512, 1);
	for (i = 0; i < 512; i++)
		put(&f, one_key ? 1 : 10000 + i, 1 + i);
	for (i = 0; i < 100; i++)
		put_at(&f, 4000 + i, 1000000 + i, 1000, replace);
	ck_account(&f, refused, 0);
	ck_account(&f, evicted, 100);
	ck_assert_uint_eq(in_flight(&f), 512);
	for (i = 0; i < 100; i++)
		ck_assert_uint_eq(remove_start(&f, 4000 + i), 1000000 + i);
	/* the remaining ones are still in order */
	for (i = 0; i < 412 && one_key; i++) {
		u64 time = remove_start(&f, 1);

		ck_assert_uint_gt(time, got);
		got = time;
	}
	ck_assert_uint_eq(in_flight(&f), one_key ? 0 : 412);
	teardown(&f);
}

START_TEST(full_evicts)
{
	all_stale(false, false);
	all_stale(true, false);
	all_stale(false, true);
}
END_TEST

/* One stale entry in a large table is found after enough tries */
START_TEST(full_searches)
{
	struct fixture f;
	u64 i;

	setup(&f, 1024, 1);
	put(&f, 1, 1);
	for (i = 1; i < 1024; i++)
		put(&f, 1 + i, 1000000);
	for (i = 0; i < 1024 / STALE_SEARCH; i++)
		put_at(&f, 5000 + i, 1000001, 1000, false);
	ck_account(&f, evicted, 1);
	ck_account(&f, refused, 1024 / STALE_SEARCH - 1);
	ck_assert_uint_eq(remove_start(&f, 1), 0);
	teardown(&f);
}
END_TEST

/* An end gets a young start rather than a stale one, if there is one */
START_TEST(stale_gives_way)
{
	struct fixture f;

	setup(&f, 64, 1);
	f.table.bucket_mask = 0;
	/* a stale start that is the only one is used */
	put(&f, 1, 10);
	ck_assert_uint_eq(remove_at(&f, 1, 1000, 100), 10);
	ck_account(&f, evicted, 0);
	/* stale, other key, stale, young, young; other key last */
	put(&f, 1, 10);
	put(&f, 2, 11);
	put(&f, 1, 12);
	put(&f, 1, 950);
	put(&f, 1, 951);
	put(&f, 2, 952);
	ck_assert_uint_eq(remove_at(&f, 1, 1000, 100), 950);
	ck_account(&f, evicted, 2);
	ck_assert_uint_eq(remove_at(&f, 1, 1000, 100), 951);
	ck_assert_uint_eq(remove_at(&f, 1, 1000, 100), 0);
	/* all stale: the youngest of them */
	put(&f, 3, 20);
	put(&f, 3, 21);
	put(&f, 3, 22);
	ck_assert_uint_eq(remove_at(&f, 3, 1000, 100), 22);
	ck_account(&f, evicted, 4);
	/* the other key was not touched, and follows the same rule */
	ck_assert_uint_eq(remove_at(&f, 2, 1000, 100), 952);
	ck_account(&f, evicted, 5);
	ck_assert_uint_eq(in_flight(&f), 0);
	/* a clock that is slow makes none stale */
	put(&f, 4, 500);
	put(&f, 4, 501);
	ck_assert_uint_eq(remove_at(&f, 4, 1, 0), 500);
	ck_assert_uint_eq(remove_at(&f, 4, 501, 0), 501);
	teardown(&f);
}
END_TEST

START_TEST(unmatched)
{
	struct fixture f;

	setup(&f, 1, 1);
	ck_assert_uint_eq(remove_start(&f, 1), 0);
	put(&f, 1, 5);
	/* the same bucket, another key */
	ck_assert_uint_eq(remove_start(&f, 2), 0);
	ck_assert_uint_eq(remove_start(&f, 1), 5);
	ck_assert_uint_eq(remove_start(&f, 1), 0);
	ck_account(&f, unmatched, 3);
	ck_account(&f, ends, 4);
	teardown(&f);
}
END_TEST

START_TEST(flush)
{
	struct fixture f;
	u32 bucket;
	u64 i;

	setup(&f, 300, 1);
	for (i = 0; i < 300; i++)
		put(&f, i % 50, 1 + i);
	for (bucket = 0; bucket <= f.table.bucket_mask; bucket++) {
		while (ctlchart_table_flush(&f.table, f.who, bucket))
			;
		check_sums(&f, &f.accounts);
	}
	ck_account(&f, evicted, 300);
	ck_assert_uint_eq(in_flight(&f), 0);
	ck_assert_uint_eq(remove_start(&f, 1), 0);
	for (i = 0; i < 300; i++)
		put(&f, i, 1 + i);
	ck_account(&f, refused, 0);
	teardown(&f);
}
END_TEST

/* How many are found, in batches of up to @max; each is marked in @seen */
static u32 find_overdue(struct fixture *f, u64 before, u32 max, bool *seen)
{
	struct ctlchart_start batch[8];
	u32 from = 0, found, i, n = 0;

	while (from < f->table.size) {
		found = ctlchart_table_overdue(&f->table, f->who, &from, before,
					       batch, max);
		ck_assert_uint_le(found, max);
		for (i = 0; i < found; i++) {
			ck_assert_uint_lt(batch[i].time, before);
			ck_assert(!seen[batch[i].time]);
			/* the copy is as the start was */
			ck_assert_uint_eq(batch[i].pid, batch[i].time);
			seen[batch[i].time] = true;
		}
		n += found;
	}
	return n;
}

/* Each overdue start is found once, in batches, and stays in flight */
START_TEST(overdue)
{
	bool seen[200] = { false };
	struct fixture f;
	u32 i;

	setup(&f, 256, 1);
	for (i = 1; i < 200; i++)
		put(&f, i % 3, i);
	ck_assert_uint_eq(find_overdue(&f, 150, 8, seen), 149);
	ck_assert_uint_eq(find_overdue(&f, 150, 8, seen), 0);
	/* later, the ones that became overdue since */
	ck_assert_uint_eq(find_overdue(&f, 160, 1, seen), 10);
	ck_assert_uint_eq(in_flight(&f), 199);
	for (i = 1; i < 200; i++)
		ck_assert_uint_eq(remove_start(&f, i % 3), i);
	/* an entry that is used again is a new start, and so is a replaced one */
	memset(seen, 0, sizeof(seen));
	put(&f, 5, 7);
	put_at(&f, 5, 8, NEVER, true);
	ck_assert_uint_eq(find_overdue(&f, 150, 8, seen), 1);
	ck_assert(seen[8]);
	put_at(&f, 5, 9, NEVER, true);
	ck_assert_uint_eq(find_overdue(&f, 150, 8, seen), 1);
	ck_assert(seen[9]);
	teardown(&f);
}
END_TEST

/* The holder of the lock does not wait for it again; an NMI waits only briefly */
START_TEST(locked)
{
	struct ctlchart_lock *lock;
	struct fixture f;

	setup(&f, 1, 1);
	lock = &f.table.bucket[0].lock;
	put(&f, 1, 1);

#define under_lock(by, action)                                   \
	do {                                                     \
		atomic_set(&lock->owner, by);                    \
		action;                                          \
		ck_assert_int_eq(atomic_read(&lock->owner), by); \
		atomic_set(&lock->owner, 0);                     \
		check_sums(&f, &f.accounts);                     \
	} while (0)
	struct ctlchart_start start = { .key = { 1 }, .time = 2 }, got;
	u64 key[CTLCHART_MAX_KEYS] = { 1 };
	int nmi;

	/* take a free one out of the way */
	ck_assert_uint_eq(remove_start(&f, 1), 1);
	for (nmi = 0; nmi <= 1; nmi++) {
		compat_nmi = nmi;
		/* its own CPU's, and, in an NMI, another one's */
		under_lock(nmi ? 2 : 1,
			   ctlchart_table_put(&f.table, f.who, &start, NEVER,
					      false));
		ck_account(&f, missed, 2u * nmi + 1);
		under_lock(nmi ? 2 : 1,
			   ctlchart_table_put(&f.table, f.who, &start, NEVER,
					      true));
		ck_account(&f, missed, 2u * nmi + 2);
		compat_nmi = false;
	}
	ck_assert_uint_eq(in_flight(&f), 0);
	put(&f, 1, 3);
	under_lock(1, ck_assert(!remove_key(&f, f.who, key, 4, NEVER, &got)));
	ck_account(&f, ends_missed, 1);
	compat_nmi = true;
	under_lock(2, ck_assert(!remove_key(&f, f.who, key, 4, NEVER, &got)));
	ck_account(&f, ends_missed, 2);
	/* a stale start in a locked bucket is not evicted, so the table stays full */
	start.time = 1000000;
	under_lock(2, ctlchart_table_put(&f.table, f.who, &start, 1, false));
	ck_account(&f, refused, 1);
	ck_account(&f, evicted, 0);
	compat_nmi = false;
	under_lock(1, ctlchart_table_put(&f.table, f.who, &start, 1, false));
	ck_account(&f, refused, 2);
	ck_account(&f, missed, 4);
	ck_assert_uint_eq(remove_start(&f, 1), 3);
	teardown(&f);
}
END_TEST
#undef under_lock

/* A lock for which another thread waits, and what that thread did with it */
struct waiter {
	struct ctlchart_lock lock;
	bool had;
};

static void *lock_and_unlock(void *data)
{
	struct waiter *w = data;

	ctlchart_lock_try(&w->lock, 2);
	w->had = true;
	ctlchart_unlock(&w->lock);
	return NULL;
}

/* Who waits for a lock gets it before its holder does again */
START_TEST(handed)
{
	struct waiter w = { .had = false };
	pthread_t thread;
	int i;

	for (i = 0; i < 2; i++) {
		w.had = false;
		ctlchart_lock_init(&w.lock);
		expect(ctlchart_lock_try(&w.lock, 1));
		expect(!pthread_create(&thread, NULL, lock_and_unlock, &w));
		while (!(atomic_read(&w.lock.queue) & U16_MAX))
			sched_yield();
		expect(!w.had);
		ctlchart_unlock(&w.lock);
		ctlchart_lock_try(&w.lock, 1);
		expect(w.had);
		ctlchart_unlock(&w.lock);
		expect(!pthread_join(thread, NULL));
		expect(!atomic_read(&w.lock.owner));
		expect(!(atomic_read(&w.lock.queue) & U16_MAX));
	}
	/* Handed over, and not yet taken: an NMI does not wait, perhaps in vain */
	ctlchart_lock_try(&w.lock, 1);
	atomic_add(1, &w.lock.queue);
	ctlchart_unlock(&w.lock);
	compat_nmi = true;
	expect(ctlchart_lock_try(&w.lock, 3));
	expect(!ctlchart_lock_try(&w.lock, 3));
	compat_nmi = false;
	ctlchart_unlock(&w.lock);
	expect(atomic_read(&w.lock.owner) == CTLCHART_LOCK_HANDED);
}
END_TEST

/* The longest chain of a table with 1024 buckets and @nr keys, @step apart */
static u32 longest_chain(u64 step, u32 nr)
{
	u32 i, index, length, longest = 0;
	struct fixture f;

	setup(&f, 1024, 1);
	for (i = 0; i < nr; i++)
		put(&f, i * step, 1);
	for (i = 0; i <= f.table.bucket_mask; i++) {
		length = 0;
		for (index = f.table.bucket[i].head; index;
		     index = f.table.entry[index - 1].next)
			length++;
		if (length > longest)
			longest = length;
	}
	teardown(&f);
	return longest;
}

/* Whatever bits of the keys differ, they are in different buckets */
START_TEST(spread)
{
	unsigned int bit;

	for (bit = 0; bit <= 56; bit += 8)
		ck_assert_uint_le(longest_chain(1ULL << bit, 256), 8);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("table");
	TCase *tc = tcase_create("table");

	/* locked needs a while */
	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, buckets);
	tcase_add_test(tc, fifo);
	tcase_add_test(tc, chain);
	tcase_add_test(tc, keys);
	tcase_add_test(tc, dup_last);
	tcase_add_test(tc, full_refuses);
	tcase_add_test(tc, full_evicts);
	tcase_add_test(tc, full_searches);
	tcase_add_test(tc, stale_gives_way);
	tcase_add_test(tc, unmatched);
	tcase_add_test(tc, flush);
	tcase_add_test(tc, overdue);
	tcase_add_test(tc, locked);
	tcase_add_test(tc, handed);
	tcase_add_test(tc, spread);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
