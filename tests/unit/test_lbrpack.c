// SPDX-License-Identifier: GPL-2.0
/*
 * lbrprof's packed branches: they come out as they went in, whatever they are;
 * the bytes are those that lbrpack.c describes; damage does no harm.
 */
#include <stdlib.h>
#include <string.h>

#include "lbrpack.h"
#include "random.h"
#include "suite.h"

#define NR 255

#define TEXT 0xffffffff81000000
#define PROGRAM 0x0000555555554000
#define LIBRARY 0x00007ffff7dd0000

/* Like what programs do, or any bits, and their like at the ends of the halves */
static u64 any_address(void)
{
	switch (rnd() % 8) {
	case 0:
		return rnd();
	case 1:
		return rnd() >> rnd() % 64;
	case 2:
		return (rnd() % 2 << 63) + rnd() % 3 - 1;
	case 3:
		return LIBRARY + rnd() % 0x200000;
	case 4:
		return PROGRAM + rnd() % 0x100000;
	default:
		return TEXT + rnd() % 0x1000000;
	}
}

static u8 any_flags(void)
{
	return rnd() & (LBRPROF_TO | LBRPROF_CYCLES | LBRPROF_LOST);
}

static void make_branches(struct lbrprof_branch *branch, size_t nr, u8 flags)
{
	size_t i;

	memset(branch, 0, nr * sizeof(*branch));
	for (i = 0; i < nr; i++) {
		branch[i].from = any_address();
		if (flags & LBRPROF_TO)
			branch[i].to = any_address();
		if (flags & LBRPROF_CYCLES)
			branch[i].cycles = rnd();
	}
}

static bool same(const struct lbrprof_branch *a, const struct lbrprof_branch *b,
		 size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (a[i].from != b[i].from || a[i].to != b[i].to ||
		    a[i].cycles != b[i].cycles)
			return false;
	}
	return true;
}

START_TEST(branches_come_out)
{
	static struct lbrprof_branch in[NR], out[NR];
	static u8 data[NR * LBRPROF_BRANCH_MAX];
	size_t len, at;
	u8 flags;
	u64 ip;
	int i, nr;

	for (i = 0; i < 30000; i++) {
		flags = any_flags();
		ip = any_address();
		nr = rnd() % (i % 100 ? 33 : NR + 1);
		make_branches(in, nr, flags);
		len = lbrprof_pack(data, ip, flags, in, nr);
		expect(len <= nr * (size_t)LBRPROF_BRANCH_MAX);
		memset(out, 0xa5, sizeof(out));
		expect(!lbrprof_unpack(data, len, ip, flags, out, nr, &at));
		expect(at == len);
		expect(same(in, out, nr));
	}
}
END_TEST

struct example {
	const char *what;
	u64 ip;
	u8 flags;
	struct lbrprof_branch branch[3];
	unsigned int nr;
	size_t len;
	u8 data[24];
};

/* By hand, from what lbrpack.c says */
static const struct example examples[] = {
	{ "none", 42, LBRPROF_TO, {}, 0, 0, {} },
	{ "ip itself", TEXT, 0, { { .from = TEXT } }, 1, 1, { 0 } },
	/* z = 2 and 1 */
	{ "back and forth",
	  TEXT,
	  0,
	  { { .from = TEXT + 1 }, { .from = TEXT } },
	  2,
	  2,
	  { 2 << 1, 1 << 1 } },
	/* z = 63, then z = 64 */
	{ "one byte, two bytes",
	  0x100000,
	  0,
	  { { .from = 0x100000 - 32 }, { .from = 0x100000 } },
	  2,
	  3,
	  { 0x7e, 0x80, 0x01 } },
	/* From the kernel to a user (z = 2 * 5) and back (near to the first one) */
	{ "halves",
	  TEXT,
	  0,
	  { { .from = TEXT + 3 }, { .from = 5 }, { .from = TEXT + 4 } },
	  3,
	  3,
	  { 6 << 1, 10 << 1 | 1, 2 << 1 | 1 } },
	/* The first in the kernel is near to 0: -2 is z = 3 */
	{ "the end of the kernel's half",
	  PROGRAM,
	  0,
	  { { .from = -2ULL } },
	  1,
	  1,
	  { 3 << 1 | 1 } },
	{ "TO and cycles",
	  TEXT,
	  LBRPROF_TO | LBRPROF_CYCLES,
	  { { .from = TEXT + 2, .to = TEXT + 5, .cycles = 0x1234 } },
	  1,
	  4,
	  { 4 << 1, 6 << 1, 0x34, 0x12 } },
	/* 2^62 from 0 is z = 2^63, and -2^62 is z = 2^63 - 1 */
	{ "far",
	  -1ULL << 63,
	  0,
	  { { .from = -1ULL << 63 }, { .from = 1ULL << 62 }, { .from = 0 } },
	  3,
	  21,
	  { 0x00, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02,
	    0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01 } },
};

START_TEST(bytes_are_these)
{
	const struct example *e = &examples[_i];
	u8 data[3 * LBRPROF_BRANCH_MAX];
	struct lbrprof_branch out[3];
	size_t i, len = lbrprof_pack(data, e->ip, e->flags, e->branch, e->nr);

	ck_assert_msg(len == e->len, "%s: %zu bytes", e->what, len);
	for (i = 0; i < len; i++)
		ck_assert_msg(data[i] == e->data[i], "%s: byte %zu is %#x",
			      e->what, i, data[i]);
	ck_assert_int_eq(LBRPROF_OK,
			 lbrprof_unpack(e->data, len, e->ip, e->flags, out,
					e->nr, NULL));
	ck_assert(same(e->branch, out, e->nr));
}
END_TEST

/* Within 64 MiB an address takes 4 bytes at most, and the first of the kernel 5 */
START_TEST(kernel_addresses_are_short)
{
	struct lbrprof_branch near = { .from = TEXT + 0x3ffffff };
	struct lbrprof_branch first = { .from = TEXT };
	u8 data[LBRPROF_BRANCH_MAX];

	ck_assert_uint_eq(4, lbrprof_pack(data, TEXT, 0, &near, 1));
	near.from = TEXT - 0x4000000;
	ck_assert_uint_eq(4, lbrprof_pack(data, TEXT, 0, &near, 1));
	near.from = TEXT + 0x4000000;
	ck_assert_uint_eq(5, lbrprof_pack(data, TEXT, 0, &near, 1));
	ck_assert_uint_eq(5, lbrprof_pack(data, PROGRAM, 0, &first, 1));
}
END_TEST

struct wrong {
	const char *what;
	u8 flags;
	unsigned int nr;
	size_t len;
	size_t at;
	enum lbrprof_error error;
	u8 data[12];
};

/* Of a sample whose ip is 16 */
static const struct wrong wrongs[] = {
	{ "no branch", 0, 1, 0, 0, LBRPROF_CUT, {} },
	{ "half a number", 0, 2, 2, 1, LBRPROF_CUT, { 0, 0x80 } },
	{ "no TO", LBRPROF_TO, 1, 1, 1, LBRPROF_CUT, { 0 } },
	{ "no cycles", LBRPROF_CYCLES, 1, 2, 1, LBRPROF_CUT, { 0, 1 } },
	{ "a branch more", 0, 1, 2, 1, LBRPROF_REST, { 0, 0 } },
	{ "anything for none", 0, 0, 1, 0, LBRPROF_REST, { 0 } },
	{ "not in this half", 0, 1, 1, 0, LBRPROF_NO_ADDRESS, { 33 << 1 } },
	{ "not in the other half",
	  0,
	  1,
	  1,
	  0,
	  LBRPROF_NO_ADDRESS,
	  { 2 << 1 | 1 } },
	{ "66 bits",
	  0,
	  1,
	  10,
	  0,
	  LBRPROF_NO_ADDRESS,
	  { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 4 } },
	{ "eleven bytes",
	  0,
	  1,
	  11,
	  0,
	  LBRPROF_NO_ADDRESS,
	  { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0 } },
};

START_TEST(nonsense_is_refused)
{
	const struct wrong *w = &wrongs[_i];
	u8 *data = malloc(w->len); /* so that a byte too far is noticed */
	struct lbrprof_branch out[2];
	enum lbrprof_error error;
	size_t at;

	memcpy(data, w->data, w->len);
	error = lbrprof_unpack(data, w->len, 16, w->flags, out, w->nr, &at);
	ck_assert_msg(error == w->error, "%s: %d", w->what, error);
	ck_assert_msg(at == w->at, "%s: at %zu", w->what, at);
	free(data);
}
END_TEST

/* Whatever is taken can be packed again, and is the same then */
START_TEST(any_bytes_do_no_harm)
{
	struct lbrprof_branch out[33], again[33];
	u8 packed[33 * LBRPROF_BRANCH_MAX];
	size_t len, at, taken = 0;
	unsigned int i, j, nr;
	u64 ip;
	u8 flags;

	for (i = 0; i < 100000; i++) {
		u8 *data;

		len = rnd() % 60;
		nr = (len >> rnd() % 3) % 34;
		ip = any_address();
		flags = any_flags();
		data = malloc(len);
		for (j = 0; j < len; j++)
			data[j] = rnd() & (rnd() % 8 ? 0x3e : 0xff);
		if (lbrprof_unpack(data, len, ip, flags, out, nr, &at) ==
		    LBRPROF_OK) {
			taken++;
			at = lbrprof_pack(packed, ip, flags, out, nr);
			expect(at <= len);
			expect(!lbrprof_unpack(packed, at, ip, flags, again, nr,
					       NULL));
			expect(same(out, again, nr));
		} else {
			expect(at <= len);
		}
		free(data);
	}
	expect(taken > 500);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lbrpack");
	TCase *tc = tcase_create("lbrpack");

	tcase_add_checked_fixture(tc, rnd_restart, NULL);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, branches_come_out);
	tcase_add_loop_test(tc, bytes_are_these, 0,
			    sizeof(examples) / sizeof(examples[0]));
	tcase_add_test(tc, kernel_addresses_are_short);
	tcase_add_loop_test(tc, nonsense_is_refused, 0,
			    sizeof(wrongs) / sizeof(wrongs[0]));
	tcase_add_test(tc, any_bytes_do_no_harm);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
