// SPDX-License-Identifier: GPL-2.0
/* The cache model of the coherence bench: sequences of accesses with known answers. */
#include <check.h>

#include "suite.h"

#include "tests/bench/mesi.c"

#define LINE 0xffff888012345680ULL

/* Instructions: only their addresses count */
static const char loads, stores, adds;

static struct mesi mesi;

static void set_up(void)
{
	ck_assert(mesi_init(&mesi, 10));
}

static void tear_down(void)
{
	mesi_free(&mesi);
}

static enum mesi_event load_of(unsigned int cpu, uint64_t address)
{
	return mesi_access(&mesi, cpu, &loads, address, false);
}

static enum mesi_event store_of(unsigned int cpu, uint64_t address)
{
	return mesi_access(&mesi, cpu, &stores, address, true);
}

/* The effect of a read-modify-write, if it had exactly one */
static enum mesi_event add_of(unsigned int cpu, uint64_t address)
{
	enum mesi_event load = mesi_access(&mesi, cpu, &adds, address, false);
	enum mesi_event store = mesi_access(&mesi, cpu, &adds, address, true);

	ck_assert(load == MESI_HIT || store == MESI_HIT);
	return load == MESI_HIT ? store : load;
}

static void is(unsigned int cpu, enum mesi_state state)
{
	ck_assert_int_eq(mesi_state(&mesi, cpu, LINE), state);
}

START_TEST(alone)
{
	is(0, MESI_INVALID);
	ck_assert_int_eq(load_of(0, LINE), MESI_COLD);
	is(0, MESI_EXCLUSIVE);
	ck_assert_int_eq(load_of(0, LINE + 63), MESI_HIT);
	/* From exclusive to modified: no other cache is asked */
	ck_assert_int_eq(store_of(0, LINE + 8), MESI_HIT);
	is(0, MESI_MODIFIED);
	ck_assert_int_eq(load_of(0, LINE), MESI_HIT);
	is(0, MESI_MODIFIED);
	/* Another line */
	ck_assert_int_eq(store_of(0, LINE + 64), MESI_COLD);
	ck_assert_int_eq(store_of(0, LINE + 64), MESI_HIT);
	ck_assert_int_eq(store_of(0, LINE - 1), MESI_COLD);
	ck_assert_uint_eq(mesi.used, 3);
}
END_TEST

START_TEST(readers)
{
	unsigned int cpu;

	ck_assert_int_eq(load_of(0, LINE), MESI_COLD);
	for (cpu = 1; cpu < MESI_CPUS_MAX; cpu++)
		ck_assert_int_eq(load_of(cpu, LINE), MESI_MOVED);
	for (cpu = 0; cpu < MESI_CPUS_MAX; cpu++) {
		ck_assert_int_eq(load_of(cpu, LINE), MESI_HIT);
		is(cpu, MESI_SHARED);
	}
	/* One writes: the others lose it, and get it back one by one */
	ck_assert_int_eq(store_of(63, LINE), MESI_UPGRADED);
	is(63, MESI_MODIFIED);
	for (cpu = 0; cpu < 63; cpu++)
		is(cpu, MESI_INVALID);
	ck_assert_int_eq(store_of(63, LINE), MESI_HIT);
	for (cpu = 0; cpu < 63; cpu++)
		ck_assert_int_eq(load_of(cpu, LINE), MESI_MOVED);
	is(63, MESI_SHARED);
	ck_assert_int_eq(load_of(63, LINE), MESI_HIT);
}
END_TEST

START_TEST(writers)
{
	int i;

	/* Blind stores of two CPUs: each takes the line from the other */
	ck_assert_int_eq(store_of(0, LINE), MESI_COLD);
	for (i = 1; i < 1000; i++) {
		ck_assert_int_eq(store_of(i & 1, LINE), MESI_MOVED);
		is(i & 1, MESI_MODIFIED);
		is(~i & 1, MESI_INVALID);
	}
}
END_TEST

START_TEST(counters)
{
	int i;

	/* A counter of three CPUs in turn, incremented by one instruction */
	ck_assert_int_eq(add_of(0, LINE), MESI_COLD);
	for (i = 1; i < 1000; i++)
		ck_assert_int_eq(add_of(i % 3, LINE), MESI_MOVED);
	/* Twice by the same CPU: the second time is free */
	ck_assert_int_eq(add_of(0, LINE), MESI_HIT);
	/* By a load and a store: both ask */
	ck_assert_int_eq(load_of(1, LINE), MESI_MOVED);
	is(0, MESI_SHARED);
	ck_assert_int_eq(store_of(1, LINE), MESI_UPGRADED);
	is(0, MESI_INVALID);
	/* By one instruction where others have a copy */
	ck_assert_int_eq(load_of(2, LINE), MESI_MOVED);
	ck_assert_int_eq(add_of(1, LINE), MESI_UPGRADED);
	is(2, MESI_INVALID);
}
END_TEST

START_TEST(one_instruction_two_lines)
{
	/* A copy loads from one line and stores to another */
	ck_assert_int_eq(store_of(1, LINE), MESI_COLD);
	ck_assert_int_eq(store_of(1, LINE + 64), MESI_COLD);
	ck_assert_int_eq(load_of(0, LINE + 64), MESI_MOVED);
	ck_assert_int_eq(mesi_access(&mesi, 0, &adds, LINE, false), MESI_MOVED);
	ck_assert_int_eq(mesi_access(&mesi, 0, &adds, LINE + 64, true),
			 MESI_UPGRADED);
	/* Another access of the CPU in between: that load was not for this store */
	ck_assert_int_eq(mesi_access(&mesi, 2, &adds, LINE, false), MESI_MOVED);
	ck_assert_int_eq(load_of(2, LINE), MESI_HIT);
	ck_assert_int_eq(mesi_access(&mesi, 2, &adds, LINE, true),
			 MESI_UPGRADED);
	/* Another CPU in between: the line is gone */
	ck_assert_int_eq(mesi_access(&mesi, 3, &adds, LINE, false), MESI_MOVED);
	ck_assert_int_eq(store_of(2, LINE), MESI_UPGRADED);
	ck_assert_int_eq(mesi_access(&mesi, 3, &adds, LINE, true), MESI_MOVED);
}
END_TEST

START_TEST(false_sharing)
{
	uint64_t i, moved = 0;

	/* 8 CPUs with a counter each in the same line, then in lines of their own */
	for (i = 0; i < 8000; i++)
		moved += add_of(i % 8, LINE + i % 8 * 8) == MESI_MOVED;
	ck_assert_uint_eq(moved, 7999);
	moved = 0;
	for (i = 0; i < 8000; i++)
		moved += add_of(i % 8, LINE + 64 + i % 8 * 64) == MESI_MOVED;
	ck_assert_uint_eq(moved, 0);
}
END_TEST

START_TEST(counts)
{
	const struct mesi_line *line;

	store_of(0, LINE);
	load_of(1, LINE);
	store_of(1, LINE);
	store_of(0, LINE);
	line = find(&mesi, (LINE >> MESI_LINE_SHIFT) + 1);
	ck_assert_uint_eq(line->moved, 2);
	ck_assert_uint_eq(line->upgraded, 1);
	mesi_clear_counts(&mesi);
	ck_assert_uint_eq(line->moved, 0);
	ck_assert_uint_eq(line->upgraded, 0);
	/* The line's holder stays */
	is(0, MESI_MODIFIED);
	ck_assert_int_eq(load_of(1, LINE), MESI_MOVED);
	mesi_clear(&mesi);
	is(1, MESI_INVALID);
	ck_assert_int_eq(load_of(1, LINE), MESI_COLD);
}
END_TEST

START_TEST(full)
{
	uint64_t i, room = 0;

	while (store_of(0, LINE + 64 * room) == MESI_COLD)
		room++;
	ck_assert_uint_eq(room, 1024 / 4 * 3);
	/* The cached lines are still known */
	for (i = 0; i < room; i++)
		ck_assert_int_eq(store_of(1, LINE + 64 * i), MESI_MOVED);
	for (i = room; i < room + 100; i++)
		ck_assert_int_eq(load_of(1, LINE + 64 * i), MESI_FULL);
	ck_assert_uint_eq(mesi.used, room);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mesi");
	TCase *tc = tcase_create("mesi");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, alone);
	tcase_add_test(tc, readers);
	tcase_add_test(tc, writers);
	tcase_add_test(tc, counters);
	tcase_add_test(tc, one_instruction_two_lines);
	tcase_add_test(tc, false_sharing);
	tcase_add_test(tc, counts);
	tcase_add_test(tc, full);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
