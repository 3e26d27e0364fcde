// SPDX-License-Identifier: GPL-2.0
/*
 * lbrprof's packed branches: unpacking restores any branches; the bytes are as
 * lbrpack.c describes; damage does no harm.
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

/* By hand, from the format that lbrpack.c documents */
static const struct example examples[] = {
	{ "none", 42, LBRPROF_TO, {}, 0, 0, {} },
	{ "ip itself", TEXT, 0, { { .from = TEXT } }, 1, 2, { 0, 0 } },
	{ "back and forth",
	  TEXT,
	  0,
	  { { .from = TEXT + 0x1234 }, { .from = TEXT } },
	  2,
	  4,
	  { 0x68, 0x24, 0x98, 0xdb } },
	{ "as far as two bytes go",
	  0x100000,
	  0,
	  { { .from = 0x100000 - 0x4000 }, { .from = 0x100000 - 1 } },
	  2,
	  4,
	  { 0x00, 0x80, 0xfe, 0x7f } },
	{ "a byte farther",
	  0x100000,
	  0,
	  { { .from = 0x100000 - 0x4001 }, { .from = 0x100000 - 1 } },
	  2,
	  8,
	  { 0xfd, 0xff, 0xfe, 0xff, 0x01, 0x00, 0x01, 0x00 } },
	{ "as far as four bytes go",
	  0x40000000,
	  0,
	  { { .from = 0x20000000 }, { .from = 0x3fffffff } },
	  2,
	  8,
	  { 0x01, 0x00, 0x00, 0x80, 0xfd, 0xff, 0xff, 0x7f } },
	/* From the kernel to a user and back */
	{ "halves",
	  TEXT,
	  0,
	  { { .from = TEXT + 3 }, { .from = 5 }, { .from = TEXT + 4 } },
	  3,
	  16,
	  { 6, 0, 3, 0, 5, 0, 0, 0, 0, 0, 0, 0, 7, 0, 2, 0 } },
	/* From a user: the middle of the kernel's text is known */
	{ "the beginning and the end of the kernel's text",
	  PROGRAM,
	  0,
	  { { .from = 0xffffffff80000000 }, { .from = 0xffffffffbfffffff } },
	  2,
	  16,
	  { 7, 0, 0x01, 0x00, 0x00, 0x80, 3, 0, 0xff, 0xff, 0xff, 0xbf, 0xff,
	    0xff, 0xff, 0xff } },
	{ "TO and cycles",
	  TEXT,
	  LBRPROF_TO | LBRPROF_CYCLES,
	  { { .from = TEXT + 2, .to = TEXT + 5, .cycles = 0x1234 } },
	  1,
	  6,
	  { 4, 0, 6, 0, 0x34, 0x12 } },
	/* A program and a library take turns */
	{ "far once",
	  PROGRAM,
	  0,
	  { { .from = LIBRARY }, { .from = PROGRAM + 1 }, { .from = LIBRARY } },
	  3,
	  18,
	  { 3, 0, 0x00, 0x00, 0xdd, 0xf7, 0xff, 0x7f, 0, 0, 7, 0, 2, 0, 7, 0, 0,
	    0 } },
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

/* Within 512 MiB an address takes 4 bytes at most, and the first of the kernel 6 */
START_TEST(kernel_addresses_are_short)
{
	struct lbrprof_branch near = { .from = TEXT + 0x1fffffff };
	struct lbrprof_branch first = { .from = TEXT };
	u8 data[LBRPROF_BRANCH_MAX];

	ck_assert_uint_eq(4, lbrprof_pack(data, TEXT, 0, &near, 1));
	near.from = TEXT - 0x20000000;
	ck_assert_uint_eq(4, lbrprof_pack(data, TEXT, 0, &near, 1));
	near.from = TEXT - 0x20000001;
	ck_assert_uint_eq(10, lbrprof_pack(data, TEXT, 0, &near, 1));
	ck_assert_uint_eq(6, lbrprof_pack(data, PROGRAM, 0, &first, 1));
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
	{ "half of two bytes", 0, 2, 3, 2, LBRPROF_CUT, { 0, 0, 0 } },
	{ "three of four bytes", 0, 1, 3, 0, LBRPROF_CUT, { 1, 0, 0 } },
	{ "nine of ten bytes",
	  0,
	  1,
	  9,
	  0,
	  LBRPROF_CUT,
	  { 3, 0, 1, 2, 3, 4, 5, 6, 7 } },
	{ "no other one", 0, 1, 2, 0, LBRPROF_CUT, { 7, 0 } },
	{ "half of the other one", 0, 1, 5, 0, LBRPROF_CUT, { 7, 0, 1, 0, 0 } },
	{ "no TO", LBRPROF_TO, 1, 2, 2, LBRPROF_CUT, { 0, 0 } },
	{ "no cycles", LBRPROF_CYCLES, 1, 3, 2, LBRPROF_CUT, { 0, 0, 1 } },
	{ "a branch more", 0, 1, 4, 2, LBRPROF_REST, { 0, 0, 0, 0 } },
	{ "anything for none", 0, 0, 1, 0, LBRPROF_REST, { 0 } },
	{ "no form", 0, 1, 4, 0, LBRPROF_NO_ADDRESS, { 11, 0, 0, 0 } },
	{ "no form in its upper byte",
	  0,
	  1,
	  10,
	  0,
	  LBRPROF_NO_ADDRESS,
	  { 3, 1, 0, 0, 0, 0, 0, 0, 0, 0 } },
	{ "places changed twice",
	  0,
	  1,
	  6,
	  0,
	  LBRPROF_NO_ADDRESS,
	  { 7, 0, 7, 0, 0, 0 } },
	{ "places changed for a far one",
	  0,
	  1,
	  12,
	  0,
	  LBRPROF_NO_ADDRESS,
	  { 7, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
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

/* Accepted bytes can be packed again, with the same result */
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
			data[j] = rnd() & (rnd() % 8 ? 0x06 : 0xff);
		if (lbrprof_unpack(data, len, ip, flags, out, nr, &at) ==
		    LBRPROF_OK) {
			taken++;
			at = lbrprof_pack(packed, ip, flags, out, nr);
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
