// SPDX-License-Identifier: GPL-2.0
/*
 * The hash table: against a balanced tree of the C library, with hashes that collide and
 * hashes that do not, with the published values of its functions, and with keys in which
 * a weak function collides.
 */
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hash.h"
#include "memory.h"
#include "random.h"
#include "suite.h"

#define MANY 10000u

/**
 * struct known - an entry as the tree has it
 * @key:	its key
 * @nr:		its number
 */
struct known {
	u64 key;
	u32 nr;
};

static int by_key(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

/* Hashes of all qualities; those of one sort belong to one table */
static u64 hash_as(int sort, u64 key)
{
	switch (sort) {
	case 0:
		return hash_u64(key);
	case 1:
		return key % 5; /* nearly all entries share them */
	case 2:
		return key << 32; /* differ only where slots do not show it */
	case 3:
		return ~0ull - key % 300; /* around the end of the table */
	default:
		return key % 300 << 12 | key % 3;
	}
}

/* Number of the entry, or HASH_NONE; each number at most once, with this hash */
static u32 find(const struct hash *h, const u64 *key, int sort, u64 wanted)
{
	u64 hash = hash_as(sort, wanted);
	u32 i, found = HASH_NONE;

	hash_for_each_possible(h, hash, i) {
		expect(i < h->nr);
		expect((u32)hash_as(sort, key[i]) == (u32)hash);
		if (key[i] != wanted)
			continue;
		expect(found == HASH_NONE);
		found = i;
	}
	return found;
}

START_TEST(finds_what_a_tree_finds)
{
	u32 nr = _i ? 1500 : MANY, steps;
	u64 *key = xcalloc(nr, sizeof(*key));
	void *tree = NULL;
	struct hash h = { 0 };

	for (steps = 0; steps < 2 * nr; steps++) {
		struct known wanted = { .key = rnd() % nr }, *k, **at;
		u64 hash = hash_as(_i, wanted.key);

		at = tfind(&wanted, &tree, by_key);
		expect(find(&h, key, _i, wanted.key) ==
		       (at ? (*at)->nr : HASH_NONE));
		if (at)
			continue;
		k = xzalloc(sizeof(*k));
		*k = (struct known){ .key = wanted.key, .nr = h.nr };
		key[h.nr] = wanted.key;
		expect(hash_add(&h, hash) == k->nr);
		expect(h.nr == k->nr + 1);
		tsearch(k, &tree, by_key);
	}
	expect(h.nr > nr / 2);
	hash_free(&h);
	expect(!h.nr && !h.slot);
	expect(find(&h, key, _i, 1) == HASH_NONE);
	tdestroy(tree, free);
	free(key);
}
END_TEST

START_TEST(keeps_entries_in_order)
{
	struct hash h = { 0 };
	struct known *k;
	u32 i, n = 0;
	u64 hash;

	ck_assert_ptr_null(hash_entry(&h, 0));
	for (i = 0; i < 1000; i++) {
		hash = i % 10;
		k = hash_new(&h, hash, sizeof(*k));
		expect(!k->key && !k->nr);
		*k = (struct known){ .key = 7 * i, .nr = i };
	}
	hash_for_each(&h, i, k)
		expect(k->nr == n++ && k->key == 7 * i);
	ck_assert_uint_eq(n, 1000);
	hash = 3;
	n = 0;
	hash_for_each_possible_entry(&h, hash, k) {
		n += k->nr % 10 == 3;
	}
	ck_assert_uint_eq(n, 100);
	hash_free(&h);
}
END_TEST

/* Of the SipHash paper, appendix A; and of splitmix64 from 1234567 on, as published */
START_TEST(functions_as_published)
{
	u64 state = 1234567, golden = 0x9e3779b97f4a7c15;
	u8 data[16];
	u32 i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = i;
	memcpy(hash_seed, data, sizeof(hash_seed));
	ck_assert_uint_eq(hash_bytes(data, 15), 0xa129ca6149be45e5);
	ck_assert_uint_eq(hash_mix(state += golden), 6457827717110365317u);
	ck_assert_uint_eq(hash_mix(state += golden), 3203168211198807973u);
	ck_assert_uint_eq(hash_mix(state += golden), 9817491932198370423u);
}
END_TEST

/* Slots that are examined to find one of many keys, in the mean */
static double effort(u64 (*make)(u32 i), u64 (*hash_of)(u64 key))
{
	struct hash h = { 0 };
	u64 slots = 0, at;
	u32 i;

	for (i = 0; i < MANY; i++)
		hash_add(&h, hash_of(make(i)));
	for (i = 0; i < MANY; i++) {
		u64 hash = hash_of(make(i));

		for (at = hash; hash_next(&h, hash, &at) != i;)
			;
		slots += at - hash;
	}
	hash_free(&h);
	return (double)slots / MANY;
}

static u64 count(u32 i)
{
	return i;
}

static u64 high(u32 i)
{
	return (u64)i << 48;
}

static u64 pages(u32 i)
{
	return 0xffffffff81000000 + ((u64)i << 12);
}

/* Multiples of the inverse of a multiplier: one after the other in a weak function */
static u64 inverse(u32 i)
{
	return i * 0xf1de83e19937733du;
}

static u64 hash_high(u64 key)
{
	return hash_pair(key, key >> 32);
}

static u64 hash_of_bytes(u64 key)
{
	return hash_bytes(&key, sizeof(key));
}

static u64 hash_weak(u64 key)
{
	return key * 0x9e3779b97f4a7c15;
}

/* 1.5 with chance alone, at the fullest */
START_TEST(no_keys_collide)
{
	u64 (*const makes[])(u32 i) = { count, high, pages, inverse };
	u64 (*const hashes[])(u64 key) = { hash_u64, hash_high, hash_of_bytes };
	u32 i, j, run;

	for (run = 0; run < 4; run++) {
		for (i = 0; i < 4; i++) {
			for (j = 0; j < 3; j++)
				ck_assert_double_lt(effort(makes[i], hashes[j]),
						    1.6);
		}
		hash_seed[0] = rnd();
		hash_seed[1] = rnd() | 1;
	}
	/* This would have been seen */
	ck_assert_double_gt(effort(high, hash_weak), 100);
}
END_TEST

/* So that the line is not lost when a sanitizer ends the process */
static __attribute__((noreturn)) void print_hashes(void)
{
	printf("%llx %llx\n", hash_u64(1), hash_string("1"));
	_exit(fflush(stdout) ? 1 : 0);
}

static void hash_in_other_process(char *line, size_t size)
{
	char command[512];
	bool got_line;
	FILE *f;
	int status;

	snprintf(command, sizeof(command), "'%s' --hash",
		 program_invocation_name);
	f = popen(command, "r");
	ck_assert_ptr_nonnull(f);
	got_line = fgets(line, size, f);
	status = pclose(f);
	ck_assert_msg(got_line && !status, "%s, status 0x%x",
		      got_line ? "a line" : "no line", (unsigned int)status);
}

START_TEST(processes_differ)
{
	char a[64], b[64];

	hash_in_other_process(a, sizeof(a));
	hash_in_other_process(b, sizeof(b));
	ck_assert_str_ne(a, b);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *s = suite_create("hash");
	TCase *t = tcase_create("table");

	if (argc > 1 && !strcmp(argv[1], "--hash"))
		print_hashes();
	tcase_add_checked_fixture(t, rnd_restart, NULL);
	tcase_add_loop_test(t, finds_what_a_tree_finds, 0, 5);
	tcase_add_test(t, keeps_entries_in_order);
	suite_add_tcase(s, t);
	t = tcase_create("functions");
	tcase_add_checked_fixture(t, rnd_restart, NULL);
	tcase_add_test(t, functions_as_published);
	tcase_add_test(t, no_keys_collide);
	tcase_add_test(t, processes_differ);
	suite_add_tcase(s, t);
	return run_suite(s);
}
