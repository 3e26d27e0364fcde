// SPDX-License-Identifier: GPL-2.0
/*
 * The table of starts in flight under a stress of many threads that knows of every start
 * where it must have gone.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <valgrind/valgrind.h>

#include "prng.h"
#include "table_fixture.h"

/*
 * The stress. Threads stand for CPUs, signals for NMIs on them. Every start
 * has a number of its own, as its time; its fate is recorded separately.
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
	uint64_t seed;
	u64 next; /* number of its next start */
	/* the last number of each source, by key: numbers arrive in order */
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
	if (!remove_key(&me->s->f, me->who, keys, me->next, me->s->stale,
			&start))
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
	compat_nmi = true;
	stress_put(my_nmi, xorshift64_star(&my_nmi->seed) % SHARED_KEYS);
	stress_shared(my_nmi, xorshift64_star(&my_nmi->seed) % SHARED_KEYS);
	compat_nmi = false;
}

/* A key that only this thread uses, several times at once */
static void stress_private(struct source *me, u64 key)
{
	u64 count = 1 + xorshift64_star(&me->seed) % 8;
	u64 first = me->next, i, n = 0;
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
						   xorshift64_star(&me->seed) %
							   100);
			continue;
		}
		stress_put(me, xorshift64_star(&me->seed) % SHARED_KEYS);
		/* not always the same */
		key = xorshift64_star(&me->seed);
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
		if (bucket % 4 == 0) {
			pthread_kill(thread[bucket / 4 % THREADS], SIGUSR1);
			usleep(20);
		}
	}
	__atomic_add_fetch(&s->done, 1, __ATOMIC_SEQ_CST);
}

/* The accounts must agree with the recorded fates */
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
	struct stress *s = aligned_alloc(__alignof__(*s), sizeof(*s));
	u64 made = 0;

	round_size = RUNNING_ON_VALGRIND ? 5000 : 250000;
	ck_assert(s != NULL);
	memset(s, 0, sizeof(*s));
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
	Suite *s = suite_create("table_stress");
	TCase *tc = tcase_create("table_stress");

	/* 10^9 pairs take a while */
	tcase_set_timeout(tc, getenv("TRACERIG_FULL") ? 3600 : 300);
	tcase_add_test(tc, stress_fifo);
	tcase_add_test(tc, stress_full);
	tcase_add_test(tc, stress_stale);
	tcase_add_test(tc, stress_dup_last);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
