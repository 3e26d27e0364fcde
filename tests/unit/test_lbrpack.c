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

#define NR LBRPROF_DEPTH_MAX

#define TEXT 0xffffffff81000000
#define PROGRAM 0x0000555555554000
#define LIBRARY 0x00007ffff7dd0000

static struct lbrpack pack;

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

/* A new one, one of those before, or the one as far back as last time */
static u64 next_address(const u64 *seen, size_t n, size_t *distance)
{
	unsigned int what = rnd() % 8;

	if (n && what < 2)
		*distance = 1 + rnd() % n;
	if (*distance > n || what > 5)
		return any_address();
	return seen[n - *distance];
}

static void make_branches(struct lbrprof_branch *branch, size_t nr, u8 flags)
{
	u64 seen[2 * NR];
	size_t i, n = 0, distance = 2 * NR;

	memset(branch, 0, nr * sizeof(*branch));
	for (i = 0; i < nr; i++) {
		branch[i].from = seen[n] = next_address(seen, n, &distance);
		n++;
		if (flags & LBRPROF_TO) {
			branch[i].to = seen[n] =
				next_address(seen, n, &distance);
			n++;
		}
		if (flags & LBRPROF_CYCLES)
			branch[i].cycles = rnd() >> rnd() % 16;
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
		len = lbrprof_pack(&pack, data, ip, flags, in, nr);
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
	struct lbrprof_branch branch[4];
	unsigned int nr;
	size_t len;
	u8 data[28];
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
	  6,
	  { 0xfd, 0xff, 0xfe, 0x01, 0x00, 0x01 } },
	{ "as far as three bytes go",
	  0x40000000,
	  0,
	  { { .from = 0x40000000 - 0x200000 }, { .from = 0x40000000 - 1 } },
	  2,
	  6,
	  { 0x01, 0x00, 0x80, 0xfd, 0xff, 0x7f } },
	{ "a byte farther than that",
	  0x40000000,
	  0,
	  { { .from = 0x40000000 - 0x200001 }, { .from = 0x40000000 - 1 } },
	  2,
	  8,
	  { 0xfb, 0xff, 0xff, 0xfe, 0x03, 0x00, 0x00, 0x01 } },
	{ "as far as four bytes go",
	  0x40000000,
	  0,
	  { { .from = 0x30000000 }, { .from = 0x3fffffff } },
	  2,
	  8,
	  { 0x03, 0x00, 0x00, 0x80, 0xfb, 0xff, 0xff, 0x7f } },
	/* From the kernel to a user and back */
	{ "halves",
	  TEXT,
	  0,
	  { { .from = TEXT + 3 }, { .from = 5 }, { .from = TEXT + 4 } },
	  3,
	  12,
	  { 6, 0, 0xf7, 5, 0, 0, 0, 0, 0, 0xef, 2, 0 } },
	{ "as far as seven bytes go",
	  1ULL << 62,
	  0,
	  { { .from = (1ULL << 47) - 1 }, { .from = 0xffff800000000000 } },
	  2,
	  14,
	  { 0xf7, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0xf7, 0, 0, 0, 0, 0,
	    0x80 } },
	{ "and a byte farther",
	  1ULL << 62,
	  0,
	  { { .from = 1ULL << 47 }, { .from = 0xffff7fffffffffff } },
	  2,
	  18,
	  { 0xff, 0, 0, 0, 0, 0, 0x80, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	    0x7f, 0xff, 0xff } },
	{ "TO and cycles",
	  TEXT,
	  LBRPROF_TO | LBRPROF_CYCLES,
	  { { TEXT + 2, TEXT + 5, 0x1234 }, { TEXT + 5, TEXT + 2, 191 } },
	  2,
	  9,
	  { 4, 0, 6, 0, 0x07, 0x17, 0xd1, 0x74, 191 } },
	{ "the ends of cycles",
	  TEXT,
	  LBRPROF_CYCLES,
	  { { TEXT, 0, 192 },
	    { TEXT, 0, 16319 },
	    { TEXT, 0, 16320 },
	    { TEXT, 0, 0 } },
	  4,
	  13,
	  { 0, 0, 0x07, 0xe7, 1, 192, 0, 254, 255, 255, 0xc0, 0x3f, 0 } },
	/* A program and a library take turns */
	{ "far once",
	  PROGRAM,
	  0,
	  { { .from = LIBRARY },
	    { .from = PROGRAM + 1 },
	    { .from = LIBRARY },
	    { .from = PROGRAM } },
	  4,
	  13,
	  { 0xf7, 0x00, 0x00, 0xdd, 0xf7, 0xff, 0x7f, 0xef, 2, 0, 0x0f, 0xfe,
	    0xff } },
	{ "two again",
	  8,
	  0,
	  { { .from = 8 }, { .from = 9 }, { .from = 8 }, { .from = 9 } },
	  4,
	  6,
	  { 0, 0, 2, 0, 0x0f, 0x0f } },
};

START_TEST(loops_are_short)
{
	struct lbrprof_branch in[64], out[64];
	unsigned int nr, i, period;
	u8 data[64 * LBRPROF_BRANCH_MAX];
	size_t len;

	for (period = 1; period < 33; period++) {
		for (nr = period; nr <= 64; nr++) {
			for (i = 0; i < nr; i++)
				in[i] = (struct lbrprof_branch){
					.from = PROGRAM + 8 * (i % period)
				};
			len = lbrprof_pack(&pack, data, PROGRAM, 0, in, nr);
			expect(!lbrprof_unpack(data, len, PROGRAM, 0, out, nr,
					       NULL));
			expect(same(in, out, nr));
			if (period > 28)
				expect(len == 2 * nr);
			else if (nr > period + 2)
				expect(len == 2 * period + 3);
		}
	}
}
END_TEST

/* Wherever a loop ends, what comes next is right */
START_TEST(loops_end)
{
	struct lbrprof_branch in[64], out[64];
	unsigned int end, i, period;
	u8 data[64 * LBRPROF_BRANCH_MAX];
	size_t len;

	for (period = 1; period < 9; period++) {
		for (end = period; end < 63; end++) {
			for (i = 0; i < 64; i++)
				in[i] = (struct lbrprof_branch){
					.from = LIBRARY + 8 * (i % period) +
						(i >= end) * 0x10000
				};
			len = lbrprof_pack(&pack, data, PROGRAM, 0, in, 64);
			expect(len < 8 + 3 + 2 * 2 * period + 2 * 3);
			expect(!lbrprof_unpack(data, len, PROGRAM, 0, out, 64,
					       NULL));
			expect(same(in, out, 64));
		}
	}
}
END_TEST

/* What other samples left in the packer's memory changes nothing */
START_TEST(samples_are_independent)
{
	static u8 data[2][NR * LBRPROF_BRANCH_MAX];
	static struct lbrprof_branch in[NR];
	static struct lbrpack other;
	unsigned int i, j;
	size_t len;
	u8 flags;

	for (i = 0; i < 3000; i++) {
		flags = any_flags();
		make_branches(in, NR, flags);
		for (j = 0; j < sizeof(other.at); j++)
			other.at[j] = rnd();
		for (j = 0; j < 2 * NR; j++)
			other.seen[j] = rnd() % 3 ? in[rnd() % NR].from : rnd();
		len = lbrprof_pack(&pack, data[0], TEXT, flags, in, NR);
		expect(len ==
		       lbrprof_pack(&other, data[1], TEXT, flags, in, NR));
		expect(!memcmp(data[0], data[1], len));
	}
}
END_TEST

START_TEST(bytes_are_these)
{
	const struct example *e = &examples[_i];
	u8 data[4 * LBRPROF_BRANCH_MAX];
	struct lbrprof_branch out[4];
	size_t i, len = lbrprof_pack(&pack, data, e->ip, e->flags, e->branch,
				     e->nr);

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
	{ "two of three bytes", 0, 1, 2, 0, LBRPROF_CUT, { 1, 0 } },
	{ "three of four bytes", 0, 1, 3, 0, LBRPROF_CUT, { 3, 0, 0 } },
	{ "six of seven bytes",
	  0,
	  1,
	  6,
	  0,
	  LBRPROF_CUT,
	  { 0xf7, 1, 2, 3, 4, 5 } },
	{ "eight of nine bytes",
	  0,
	  1,
	  8,
	  0,
	  LBRPROF_CUT,
	  { 0xff, 1, 2, 3, 4, 5, 6, 7 } },
	{ "no other one", 0, 1, 1, 0, LBRPROF_CUT, { 0xef } },
	{ "half of the other one", 0, 1, 2, 0, LBRPROF_CUT, { 0xef, 0 } },
	{ "no TO", LBRPROF_TO, 1, 2, 2, LBRPROF_CUT, { 0, 0 } },
	{ "no cycles", LBRPROF_CYCLES, 1, 2, 2, LBRPROF_CUT, { 0, 0 } },
	{ "half of cycles", LBRPROF_CYCLES, 1, 3, 2, LBRPROF_CUT, { 0, 0, 192 } },
	{ "two thirds of cycles",
	  LBRPROF_CYCLES,
	  1,
	  4,
	  2,
	  LBRPROF_CUT,
	  { 0, 0, 255, 1 } },
	{ "a branch more", 0, 1, 4, 2, LBRPROF_REST, { 0, 0, 0, 0 } },
	{ "anything for none", 0, 0, 1, 0, LBRPROF_REST, { 0 } },
	{ "before the first", 0, 1, 1, 0, LBRPROF_NO_ADDRESS, { 7 } },
	{ "before it, later", 0, 2, 3, 2, LBRPROF_NO_ADDRESS, { 0, 0, 0x0f } },
	{ "more of none", 0, 1, 2, 0, LBRPROF_NO_ADDRESS, { 0xe7, 0 } },
	{ "more of a new one",
	  0,
	  2,
	  4,
	  2,
	  LBRPROF_NO_ADDRESS,
	  { 0, 0, 0xe7, 0 } },
	{ "more of more",
	  0,
	  4,
	  7,
	  5,
	  LBRPROF_NO_ADDRESS,
	  { 0, 0, 7, 0xe7, 0, 0xe7, 0 } },
	{ "no number of more", 0, 3, 4, 3, LBRPROF_CUT, { 0, 0, 7, 0xe7 } },
	{ "more than there are",
	  0,
	  3,
	  5,
	  3,
	  LBRPROF_NO_ADDRESS,
	  { 0, 0, 7, 0xe7, 1 } },
	{ "places changed twice",
	  0,
	  1,
	  4,
	  0,
	  LBRPROF_NO_ADDRESS,
	  { 0xef, 0xef, 0, 0 } },
	{ "places changed for a far one",
	  0,
	  1,
	  8,
	  0,
	  LBRPROF_NO_ADDRESS,
	  { 0xef, 0xf7, 0, 0, 0, 0, 0, 0 } },
};

START_TEST(nonsense_is_refused)
{
	const struct wrong *w = &wrongs[_i];
	u8 *data = malloc(w->len); /* so that a byte too far is noticed */
	struct lbrprof_branch out[4];
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
			data[j] = rnd() & (rnd() % 4 ? 0x0f : 0xff);
		if (lbrprof_unpack(data, len, ip, flags, out, nr, &at) ==
		    LBRPROF_OK) {
			taken++;
			at = lbrprof_pack(&pack, packed, ip, flags, out, nr);
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
	tcase_add_test(tc, loops_are_short);
	tcase_add_test(tc, loops_end);
	tcase_add_test(tc, samples_are_independent);
	tcase_add_loop_test(tc, nonsense_is_refused, 0,
			    sizeof(wrongs) / sizeof(wrongs[0]));
	tcase_add_test(tc, any_bytes_do_no_harm);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
