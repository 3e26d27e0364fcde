// SPDX-License-Identifier: GPL-2.0
/*
 * The table of starts in flight: each operation by itself, and a stress of many
 * threads that knows of every start where it must have gone.
 */
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <valgrind/valgrind.h>

#include "suite.h"
#include "table.h"

/* as in table.c */
#define STALE_SEARCH 64

#define NEVER UINT64_MAX

/* ck_assert() writes to its parent even on success: too slow for inner loops */
#define expect(cond, ...)                                \
	do {                                             \
		if (!(cond))                             \
			ck_abort_msg(#cond __VA_ARGS__); \
	} while (0)

/* A table with its memory; each test's own */
struct fixture {
	struct ctlchart_table table;
	struct ctlchart_accounts accounts;
	struct ctlchart_who who;
};

static void setup(struct fixture *f, u32 size, unsigned int nr_keys)
{
	u32 buckets = ctlchart_table_buckets(size);
	struct ctlchart_bucket *bucket = malloc(buckets * sizeof(*bucket));
	struct ctlchart_start *entry = malloc(size * sizeof(*entry));

	ck_assert(bucket && entry);
	/* what was there before must not matter */
	memset(bucket, 0xa5, buckets * sizeof(*bucket));
	memset(entry, 0xa5, size * sizeof(*entry));
	memset(&f->accounts, 0, sizeof(f->accounts));
	memset(&f->table, 0xa5, sizeof(f->table));
	ctlchart_table_init(&f->table, entry, size, bucket, nr_keys,
			    0x123456789abcdef);
	f->who = (struct ctlchart_who){ .owner = 1, .accounts = &f->accounts };
}

static u32 in_flight(struct fixture *f)
{
	u32 bucket, count = 0;

	for (bucket = 0; bucket <= f->table.bucket_mask; bucket++)
		count += ctlchart_table_in_flight(&f->table, bucket);
	return count;
}

/* The length of the stack of free entries, each of which is there once */
static u32 count_free(struct fixture *f)
{
	bool *seen = calloc(f->table.size, sizeof(*seen));
	u32 index = (u32)atomic64_read(&f->table.free), count = 0;

	ck_assert(seen);
	for (; index; index = f->table.entry[index - 1].next) {
		expect(index <= f->table.size);
		expect(!seen[index - 1], ": an entry is free twice");
		seen[index - 1] = true;
		count++;
	}
	free(seen);
	return count;
}

static void add_accounts(struct ctlchart_accounts *sum,
			 struct ctlchart_accounts *a)
{
	s64 *to = (s64 *)sum, *from = (s64 *)a;
	size_t i;

	for (i = 0; i < sizeof(*a) / sizeof(*from); i++)
		to[i] += from[i];
}

#define ACCOUNT(a, member) ((u64)local64_read(&(a)->member))

/* Every entry and every event is accounted for */
static void check_sums(struct fixture *f, struct ctlchart_accounts *a)
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

static void teardown(struct fixture *f)
{
	check_sums(f, &f->accounts);
	free(f->table.entry);
	free(f->table.bucket);
}

static bool take_key(struct fixture *f, struct ctlchart_who who, const u64 *key,
		     u64 now, u64 stale, struct ctlchart_start *start)
{
	return ctlchart_table_take(&f->table, who, key,
				   ctlchart_table_hash(&f->table, key), now,
				   stale, start);
}

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
static u64 take_at(struct fixture *f, u64 key, u64 now, u64 stale)
{
	u64 keys[CTLCHART_MAX_KEYS] = { key };
	struct ctlchart_start start;
	char comm[CTLCHART_COMM_LEN];
	bool found;

	found = take_key(f, f->who, keys, now, stale, &start);
	check_sums(f, &f->accounts);
	if (!found)
		return 0;
	ck_assert_uint_eq(start.pid & ~CTLCHART_OVERDUE, start.time % 1000);
	snprintf(comm, sizeof(comm), "task%u",
		 (unsigned int)(start.time % 1000));
	ck_assert_str_eq(start.comm, comm);
	return start.time;
}

static u64 take(struct fixture *f, u64 key)
{
	return take_at(f, key, NEVER, NEVER);
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
		ck_assert_uint_eq(take(&f, 42), i);
	ck_assert_uint_eq(take(&f, 42), 0);
	/* and again, with a chain that never gets empty */
	put(&f, 42, 1);
	for (i = 2; i <= 300; i++) {
		put(&f, 42, i);
		ck_assert_uint_eq(take(&f, 42), i - 1);
	}
	for (i = 1; i <= 500; i++)
		ck_assert_uint_eq(take(&f, i % 7 + 100), 1000 + i);
	ck_assert_uint_eq(take(&f, 42), 300);
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
			ck_assert_uint_eq(take(&f, orders[i][j]), orders[i][j]);
			/* the tail is right after every removal */
			put(&f, 9, 90 + j);
			ck_assert_uint_eq(take(&f, 9), 90 + j);
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
			ck_assert(!take_key(&f, f.who, key, 2, NEVER, &got));
		}
		memcpy(key, start.key, sizeof(key));
		for (i = nr; i < CTLCHART_MAX_KEYS; i++)
			key[i] = 0xdead;
		ck_assert(take_key(&f, f.who, key, 2, NEVER, &got));
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
	/* in a full table a replacement is no new entry, another key is */
	put_at(&f, 7, 12, NEVER, true);
	put_at(&f, 9, 13, NEVER, true);
	ck_account(&f, replaced, 10);
	ck_account(&f, refused, 1);
	ck_assert_uint_eq(take(&f, 7), 12);
	ck_assert_uint_eq(take(&f, 7), 0);
	ck_assert_uint_eq(take(&f, 8), 11);
	ck_assert_uint_eq(take(&f, 9), 0);
	teardown(&f);
}
END_TEST

/* A full table with nothing stale turns new ones away; the old ones stay */
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
		ck_assert_uint_eq(take(&f, i), i <= 100 ? i : 0);
	/* what is as old as stale= is not above it */
	for (i = 0; i < 100; i++)
		put_at(&f, i, 1000, 10, false);
	put_at(&f, 500, 1010, 10, false);
	ck_account(&f, refused, 51);
	put_at(&f, 501, 1011, 10, false);
	ck_account(&f, evicted, 1);
	/* a clock that went back makes nothing stale */
	put_at(&f, 502, 5, 10, false);
	ck_account(&f, refused, 52);
	teardown(&f);
}
END_TEST

/* A full table of stale ones takes every new one */
static void all_stale(bool one_key, bool replace)
{
	u64 i, got = 0;
	struct fixture f;

	setup(&f, 512, 1);
	for (i = 0; i < 512; i++)
		put(&f, one_key ? 1 : 10000 + i, 1 + i);
	for (i = 0; i < 100; i++)
		put_at(&f, 5000 + i, 1000000 + i, 1000, replace);
	ck_account(&f, refused, 0);
	ck_account(&f, evicted, 100);
	ck_assert_uint_eq(in_flight(&f), 512);
	for (i = 0; i < 100; i++)
		ck_assert_uint_eq(take(&f, 5000 + i), 1000000 + i);
	/* those that are left are in order still */
	for (i = 0; i < 412 && one_key; i++) {
		u64 time = take(&f, 1);

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
	ck_assert_uint_eq(take(&f, 1), 0);
	teardown(&f);
}
END_TEST

/* An end gets a young start rather than a stale one, if there is one */
START_TEST(stale_gives_way)
{
	struct fixture f;

	setup(&f, 64, 1);
	f.table.bucket_mask = 0;
	/* alone, a stale one is what there is */
	put(&f, 1, 10);
	ck_assert_uint_eq(take_at(&f, 1, 1000, 100), 10);
	ck_account(&f, evicted, 0);
	/* stale, other key, stale, young, young; other key last */
	put(&f, 1, 10);
	put(&f, 2, 11);
	put(&f, 1, 12);
	put(&f, 1, 950);
	put(&f, 1, 951);
	put(&f, 2, 952);
	ck_assert_uint_eq(take_at(&f, 1, 1000, 100), 950);
	ck_account(&f, evicted, 2);
	ck_assert_uint_eq(take_at(&f, 1, 1000, 100), 951);
	ck_assert_uint_eq(take_at(&f, 1, 1000, 100), 0);
	/* all stale: the youngest of them */
	put(&f, 3, 20);
	put(&f, 3, 21);
	put(&f, 3, 22);
	ck_assert_uint_eq(take_at(&f, 3, 1000, 100), 22);
	ck_account(&f, evicted, 4);
	/* the other key was not touched, and goes by the same rule */
	ck_assert_uint_eq(take_at(&f, 2, 1000, 100), 952);
	ck_account(&f, evicted, 5);
	ck_assert_uint_eq(in_flight(&f), 0);
	/* a clock that is behind makes none stale */
	put(&f, 4, 500);
	put(&f, 4, 501);
	ck_assert_uint_eq(take_at(&f, 4, 1, 0), 500);
	ck_assert_uint_eq(take_at(&f, 4, 501, 0), 501);
	teardown(&f);
}
END_TEST

START_TEST(unmatched)
{
	struct fixture f;

	setup(&f, 1, 1);
	ck_assert_uint_eq(take(&f, 1), 0);
	put(&f, 1, 5);
	/* the same bucket, another key */
	ck_assert_uint_eq(take(&f, 2), 0);
	ck_assert_uint_eq(take(&f, 1), 5);
	ck_assert_uint_eq(take(&f, 1), 0);
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
	ck_assert_uint_eq(take(&f, 1), 0);
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
	/* later, those that became overdue since */
	ck_assert_uint_eq(find_overdue(&f, 160, 1, seen), 10);
	ck_assert_uint_eq(in_flight(&f), 199);
	for (i = 1; i < 200; i++)
		ck_assert_uint_eq(take(&f, i % 3), i);
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

/* Who holds the lock already does not wait for it; an NMI does not for long */
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
	ck_assert_uint_eq(take(&f, 1), 1);
	for (nmi = 0; nmi <= 1; nmi++) {
		f.who.nmi = nmi;
		/* its own CPU's, and, in an NMI, another one's */
		under_lock(nmi ? 2 : 1,
			   ctlchart_table_put(&f.table, f.who, &start, NEVER,
					      false));
		ck_account(&f, missed, 2u * nmi + 1);
		under_lock(nmi ? 2 : 1,
			   ctlchart_table_put(&f.table, f.who, &start, NEVER,
					      true));
		ck_account(&f, missed, 2u * nmi + 2);
		f.who.nmi = false;
	}
	ck_assert_uint_eq(in_flight(&f), 0);
	put(&f, 1, 3);
	under_lock(1, ck_assert(!take_key(&f, f.who, key, 4, NEVER, &got)));
	ck_account(&f, ends_missed, 1);
	f.who.nmi = true;
	under_lock(2, ck_assert(!take_key(&f, f.who, key, 4, NEVER, &got)));
	ck_account(&f, ends_missed, 2);
	/* a stale one behind a lock is not evicted, so the table stays full */
	start.time = 1000000;
	under_lock(2, ctlchart_table_put(&f.table, f.who, &start, 1, false));
	ck_account(&f, refused, 1);
	ck_account(&f, evicted, 0);
	f.who.nmi = false;
	under_lock(1, ctlchart_table_put(&f.table, f.who, &start, 1, false));
	ck_account(&f, refused, 2);
	ck_account(&f, missed, 4);
	ck_assert_uint_eq(take(&f, 1), 3);
	teardown(&f);
}
END_TEST
#undef under_lock

/*
 * The stress. Threads stand for CPUs, signals for NMIs on them. Every start
 * has a number of its own, in its time; what became of it is kept apart.
 */
#define THREADS 4
#define SOURCES (2 * THREADS) /* each thread, and the signals that it gets */
#define SHARED_KEYS 64

/* Starts of each source in a round */
static u64 round_size;

enum { UNUSED, PUT, TAKEN, REFUSED };

struct stress;

struct source {
	struct stress *s;
	struct ctlchart_accounts accounts;
	struct ctlchart_who who;
	u64 seed;
	u64 next; /* number of its next start */
	/* last number that came of each source, by key: they come in order */
	u64 last[SHARED_KEYS][SOURCES];
};

struct stress {
	struct fixture f;
	struct source source[SOURCES];
	u8 *fate; /* of each number, UNUSED to REFUSED */
	u8 *reported; /* as overdue */
	bool replace;
	u64 stale;
	int done; /* threads that have finished the round */
};

static __thread struct source *my_nmi;

static u64 rnd(u64 *seed)
{
	*seed ^= *seed >> 12;
	*seed ^= *seed << 25;
	*seed ^= *seed >> 27;
	return *seed * 0x2545f4914f6cdd1dULL;
}

/* Numbers: source in the low bits, so that they grow with time */
static unsigned int source_of(u64 number)
{
	return number % SOURCES;
}

static u8 swap_fate(struct stress *s, u64 number, u8 fate)
{
	return __atomic_exchange_n(&s->fate[number], fate, __ATOMIC_SEQ_CST);
}

static u64 turned_away(struct source *me)
{
	return ACCOUNT(&me->accounts, refused) + ACCOUNT(&me->accounts, missed);
}

/* Return: false if there is no room for its number, or none in the table */
static bool stress_put(struct source *me, u64 key)
{
	struct ctlchart_start start = { .key = { key, ~key } };
	u64 before = turned_away(me);

	if (me->next >= round_size * SOURCES)
		return false;
	start.time = me->next;
	start.pid = source_of(start.time);
	memcpy(start.comm, start.key, sizeof(start.comm));
	me->next += SOURCES;
	expect(swap_fate(me->s, start.time, PUT) == UNUSED);
	ctlchart_table_put(&me->s->f.table, me->who, &start, me->s->stale,
			   me->s->replace);
	if (turned_away(me) == before)
		return true;
	expect(swap_fate(me->s, start.time, REFUSED) == PUT);
	return false;
}

/* Return: the number taken, or -1 */
static s64 stress_take(struct source *me, u64 key)
{
	u64 keys[CTLCHART_MAX_KEYS] = { key, ~key };
	struct ctlchart_start start;

	/* the newest number is the time */
	if (!take_key(&me->s->f, me->who, keys, me->next, me->s->stale, &start))
		return -1;
	expect(!memcmp(start.comm, keys, sizeof(start.comm)));
	expect(start.time < round_size * SOURCES);
	expect((start.pid & ~CTLCHART_OVERDUE) == source_of(start.time));
	expect(swap_fate(me->s, start.time, TAKEN) == PUT,
	       ": a start was taken twice, or never put");
	return start.time;
}

static void stress_shared(struct source *me, u64 key)
{
	s64 number = stress_take(me, key);
	u64 *last;

	if (number < 0)
		return;
	last = &me->last[key][source_of(number)];
	expect((u64)number + 1 > *last, ": out of order");
	*last = number + 1;
}

static void on_signal(int sig)
{
	(void)sig;
	if (!my_nmi)
		return;
	stress_put(my_nmi, rnd(&my_nmi->seed) % SHARED_KEYS);
	stress_shared(my_nmi, rnd(&my_nmi->seed) % SHARED_KEYS);
}

/* A key that only this thread uses, several times at once */
static void stress_private(struct source *me, u64 key)
{
	u64 count = 1 + rnd(&me->seed) % 8, first = me->next, i, n = 0;
	bool in[8];

	for (i = 0; i < count; i++)
		n += in[i] = stress_put(me, key);
	for (i = 0; i < count; i++) {
		if (in[i])
			expect(stress_take(me, key) ==
			       (s64)(first + i * SOURCES));
	}
	expect(stress_take(me, key) == -1);
}

static void *stress_thread(void *arg)
{
	struct source *me = arg;
	struct stress *s = me->s;
	/*
	 * In a large table chains stay far below CTLCHART_CHAIN_MAX, where ends
	 * would be missed; a small one is full at times
	 */
	u64 seldom = s->f.table.size > CTLCHART_CHAIN_MAX ? 0x3000 : 0xf000;
	u64 i = 0, key;

	my_nmi = me + THREADS;
	while (me->next < round_size * SOURCES) {
		if (!s->replace && s->stale == NEVER && !(++i % 8)) {
			stress_private(me, 1000 + source_of(me->next) * 100 +
						   rnd(&me->seed) % 100);
			continue;
		}
		stress_put(me, rnd(&me->seed) % SHARED_KEYS);
		/* not always the same */
		key = rnd(&me->seed);
		if (key & 0xf00)
			stress_shared(me, key % SHARED_KEYS);
		if ((key & seldom) == 0)
			stress_shared(me, (key >> 16) % SHARED_KEYS);
	}
	__atomic_add_fetch(&s->done, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&s->done, __ATOMIC_SEQ_CST) <= THREADS)
		sched_yield();
	my_nmi = NULL;
	return NULL;
}

/* Meanwhile: look for overdue starts, and send signals */
static void disturb(struct stress *s, pthread_t *thread)
{
	struct ctlchart_accounts none = { 0 };
	struct ctlchart_who who = { .owner = THREADS + 1, .accounts = &none };
	struct ctlchart_start batch[8];
	u32 bucket = 0, from = 0, found, i;

	while (__atomic_load_n(&s->done, __ATOMIC_SEQ_CST) < THREADS) {
		bucket = (bucket + 1) & s->f.table.bucket_mask;
		if (from == s->f.table.size)
			from = 0;
		found = ctlchart_table_overdue(&s->f.table, who, &from, NEVER,
					       batch, 8);
		for (i = 0; i < found; i++)
			expect(!s->reported[batch[i].time]++,
			       ": overdue twice");
		expect(ctlchart_table_in_flight(&s->f.table, bucket) <=
		       s->f.table.size);
		if (bucket % 4 == 0) {
			pthread_kill(thread[bucket / 4 % THREADS], SIGUSR1);
			usleep(20);
		}
	}
	__atomic_add_fetch(&s->done, 1, __ATOMIC_SEQ_CST);
}

/* What the fates say must be what the accounts say */
static void check_fates(struct stress *s, struct ctlchart_accounts *sum)
{
	u64 count[REFUSED + 1] = { 0 }, i;

	for (i = 0; i < round_size * SOURCES; i++)
		count[s->fate[i]]++;
	ck_assert_uint_eq(count[PUT] + count[TAKEN] + count[REFUSED],
			  ACCOUNT(sum, starts));
	ck_assert_uint_eq(count[TAKEN], ACCOUNT(sum, paired));
	ck_assert_uint_eq(count[REFUSED],
			  ACCOUNT(sum, refused) + ACCOUNT(sum, missed));
	ck_assert_uint_eq(count[PUT], ACCOUNT(sum, replaced) +
					      ACCOUNT(sum, evicted) +
					      in_flight(&s->f));
}

/* Return: pairs made */
static u64 stress_round(struct stress *s)
{
	struct ctlchart_accounts sum = { 0 };
	pthread_t thread[THREADS];
	struct source *me;
	u64 key, rest = 0;
	int i;

	memset(s->fate, UNUSED, round_size * SOURCES);
	memset(s->reported, 0, round_size * SOURCES);
	s->done = 0;
	for (i = 0; i < SOURCES; i++) {
		me = &s->source[i];
		memset(&me->accounts, 0, sizeof(me->accounts));
		memset(me->last, 0, sizeof(me->last));
		me->s = s;
		me->next = i;
		me->seed += 0x9e3779b97f4a7c15 * (i + 1);
		me->who = (struct ctlchart_who){ .owner = i % THREADS + 1,
						 .nmi = i >= THREADS,
						 .accounts = &me->accounts };
	}
	for (i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, stress_thread,
						&s->source[i]),
				 0);
	disturb(s, thread);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);

	for (i = 0; i < SOURCES; i++) {
		add_accounts(&sum, &s->source[i].accounts);
		/* only a signal's context finds a lock that it must not wait for */
		if (i < THREADS) {
			ck_assert_uint_eq(
				ACCOUNT(&s->source[i].accounts, missed), 0);
			ck_assert_uint_eq(ACCOUNT(&s->source[i].accounts,
						  ends_missed),
					  0);
		}
	}
	check_sums(&s->f, &sum);
	check_fates(s, &sum);
	if (!s->replace && s->stale == NEVER) {
		ck_assert_uint_eq(ACCOUNT(&sum, replaced), 0);
		ck_assert_uint_eq(ACCOUNT(&sum, evicted), 0);
	}

	/* no residue once the ends have come */
	for (key = 0; key < SHARED_KEYS; key++) {
		while (stress_take(&s->source[0], key) >= 0)
			rest++;
	}
	ck_assert_uint_eq(in_flight(&s->f), 0);
	ck_assert_uint_eq(count_free(&s->f), s->f.table.size);
	return ACCOUNT(&sum, paired) + rest;
}

/* How many pairs a test is to make */
static u64 pairs_wanted(void)
{
#ifdef __SANITIZE_ADDRESS__
	return 1000000;
#else
	if (RUNNING_ON_VALGRIND)
		return 20000;
	return getenv("TRACERIG_FULL") ? 1000000000 : 8000000;
#endif
}

static void stress(u32 size, bool replace, u64 stale, u64 pairs)
{
	struct sigaction action = { .sa_handler = on_signal,
				    .sa_flags = SA_RESTART };
	struct stress *s = calloc(1, sizeof(*s));
	u64 made = 0;

	round_size = RUNNING_ON_VALGRIND ? 5000 : 250000;
	ck_assert(s != NULL);
	sigaction(SIGUSR1, &action, NULL);
	setup(&s->f, size, 2);
	s->fate = malloc(round_size * SOURCES);
	s->reported = malloc(round_size * SOURCES);
	ck_assert(s->fate && s->reported);
	s->replace = replace;
	s->stale = stale;
	while (made < pairs)
		made += stress_round(s);
	free(s->fate);
	free(s->reported);
	free(s->f.table.entry);
	free(s->f.table.bucket);
	free(s);
}

START_TEST(stress_fifo)
{
	/* room for all but the worst moments */
	stress(4096, false, NEVER, pairs_wanted());
}
END_TEST

START_TEST(stress_full)
{
	stress(16, false, NEVER, pairs_wanted() / 16);
}
END_TEST

START_TEST(stress_stale)
{
	stress(32, false, 200, pairs_wanted() / 16);
}
END_TEST

START_TEST(stress_dup_last)
{
	stress(48, true, 1000, pairs_wanted() / 16);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("table");
	TCase *tc = tcase_create("table");

	/* 10^9 pairs take a while */
	tcase_set_timeout(tc, getenv("TRACERIG_FULL") ? 3600 : 300);
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
	tcase_add_test(tc, stress_fifo);
	tcase_add_test(tc, stress_full);
	tcase_add_test(tc, stress_stale);
	tcase_add_test(tc, stress_dup_last);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
