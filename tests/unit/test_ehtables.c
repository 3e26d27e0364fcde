// SPDX-License-Identifier: GPL-2.0
/*
 * Tables for unwinding: from .eh_frame written by hand, the rules that the standard defines
 * for it; damage is named; limits hold.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ehtables.h"

/* --- files that are made to be expensive */

#define HOSTILE_MAX (256 * 1024)
#define HOSTILE_LIST 0x1000

struct hostile {
	u8 *bytes;
	u64 size;
	u32 at;
	u64 read;
	u32 pauses;
	u32 stop_at;
};

static void put_byte(struct hostile *h, u8 byte)
{
	if (h->at < HOSTILE_MAX)
		h->bytes[h->at++] = byte;
}

static void put_u32(struct hostile *h, u32 at, u32 value)
{
	if (at <= HOSTILE_MAX - 4)
		memcpy(h->bytes + at, &value, sizeof(value));
}

static void put_uleb(struct hostile *h, u32 value)
{
	for (; value > 127; value >>= 7)
		put_byte(h, value | 128);
	put_byte(h, value);
}

static int hostile_read(void *arg, u64 offset, void *to, u32 len)
{
	struct hostile *h = arg;

	memset(to, 0, len);
	if (offset < HOSTILE_MAX)
		memcpy(to, h->bytes + offset,
		       len < HOSTILE_MAX - offset ? len : HOSTILE_MAX - offset);
	h->read += len;
	return 0;
}

static int hostile_pause(void *arg)
{
	struct hostile *h = arg;

	return ++h->pauses == h->stop_at ? -EINTR : 0;
}

/* One segment, executable, of which @HOSTILE_LIST is the list of functions; and a CIE */
static u32 hostile_begin(struct hostile *h, u64 size)
{
	static const u8 cie[] = {
		20, 0,	  0,  0, 0,    0,    0, 0, 1,	 'z', 'R', 0,
		1,  0x78, 16, 1, 0x03, 0x0c, 7, 8, 0x90, 1,   0,   0,
	};
	struct elf64_hdr ehdr = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_phoff = sizeof(ehdr),
		.e_phentsize = sizeof(struct elf64_phdr),
		.e_phnum = 2,
	};
	struct elf64_phdr phdr[] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = size },
		{ .p_type = PT_GNU_EH_FRAME,
		  .p_offset = HOSTILE_LIST,
		  .p_vaddr = HOSTILE_LIST,
		  .p_filesz = size - HOSTILE_LIST },
	};

	memset(h->bytes, 0, HOSTILE_MAX);
	memcpy(h->bytes, &ehdr, sizeof(ehdr));
	memcpy(h->bytes + sizeof(ehdr), phdr, sizeof(phdr));
	memcpy(h->bytes + 0x200, cie, sizeof(cie));
	memcpy(h->bytes + HOSTILE_LIST, (const u8[]){ 1, 0x03, 3, 0x3b }, 4);
	put_u32(h, HOSTILE_LIST + 4, 0x200);
	h->size = size;
	h->read = 0;
	h->pauses = 0;
	h->stop_at = 0;
	return 0x200;
}

/* Function @i is at @pc, and its description at @at, up to @end */
static void hostile_fde(struct hostile *h, u32 i, u32 pc, u32 at, u32 end)
{
	put_u32(h, HOSTILE_LIST + 8, i + 1);
	put_u32(h, HOSTILE_LIST + 12 + 8 * i, pc - HOSTILE_LIST);
	put_u32(h, HOSTILE_LIST + 16 + 8 * i, at - HOSTILE_LIST);
	put_u32(h, at, end - at - 4);
	put_u32(h, at + 4, at + 4 - 0x200);
	put_u32(h, at + 8, pc);
	put_u32(h, at + 12, 0x7fff0000);
	h->at = at + 16;
	put_byte(h, 0);
}

/* All descriptions share one program, which follows the augmentation of each */
static void overlapping(struct hostile *h)
{
	u32 n = 100 + rnd() % 4000, step = 20 + rnd() % 16,
	    first = HOSTILE_LIST + 16 + 8 * n;
	u32 program = first + n * step, i, skip;

	hostile_begin(h, HOSTILE_MAX);
	for (i = 0; i < n; i++) {
		hostile_fde(h, i, 0x100 + i, first + i * step, HOSTILE_MAX);
		skip = program - (h->at + 2);
		h->at--;
		put_byte(h, skip | 128);
		put_byte(h, skip >> 7 | 128);
		put_byte(h, skip >> 14);
	}
}

/* Descriptions, and functions, that are far from each other; most of the file is a hole */
static void scattered(struct hostile *h)
{
	u32 n = 100 + rnd() % 8000, room = HOSTILE_MAX - 0x14000, i;
	u64 size = (u64)HOSTILE_MAX << rnd() % 6;

	hostile_begin(h, size);
	for (i = 0; i < n; i++) {
		u32 at = 0x14000 + i * 5003ULL % (room - 32);

		hostile_fde(h, i, (u64)i * (size - 1) / n, at, at + 20);
	}
}

/* Rules that differ in what moves the lower bits of their hash least */
static void many_rules(struct hostile *h)
{
	u32 n = 1000 + rnd() % 20000, reg = rnd() % 16, i;

	hostile_begin(h, HOSTILE_MAX);
	hostile_fde(h, 0, 0x100, 0x2000, HOSTILE_MAX);
	for (i = 0; i < n; i++) {
		put_byte(h, 0x80 | 3 << rnd() % 2);
		put_uleb(h, i / 8 % 4096);
		put_byte(h, 0x0d);
		put_byte(h, reg + i % 2);
		put_byte(h, 0x0e);
		put_uleb(h, i << rnd() % 16);
		put_byte(h, 0x41);
	}
	for (; h->at < HOSTILE_MAX;)
		put_byte(h, rnd() % 8 ? 0x41 : 0x0a + rnd() % 2);
}

/* The longest numbers and expressions that there are, and states within states */
static void long_operands(struct hostile *h)
{
	u32 i;

	hostile_begin(h, HOSTILE_MAX);
	hostile_fde(h, 0, 0x100, 0x2000, HOSTILE_MAX);
	while (h->at < HOSTILE_MAX - 64) {
		put_byte(h, (const u8[]){ 0x0f, 0x10, 0x16, 0x05, 0x0e, 0x0a,
					  0x0b, 0x41 }[rnd() % 8]);
		for (i = 0; i < rnd() % 12; i++)
			put_byte(h, rnd() % 2 ? 0x80 : 0x18);
	}
}

/* As many segments as there may be, each of which has all the same notes, of no bytes */
static void many_notes(struct hostile *h)
{
	u64 size = (u64)HOSTILE_MAX << rnd() % 6;
	struct elf64_phdr notes = { .p_type = PT_NOTE };
	struct elf64_hdr ehdr;
	u32 i;

	hostile_begin(h, size);
	hostile_fde(h, 0, 0x100, 0x2000, 0x2020);
	memcpy(&ehdr, h->bytes, sizeof(ehdr));
	ehdr.e_phoff = 0x4000;
	ehdr.e_phnum = 64;
	memcpy(h->bytes + 0x4000, h->bytes + sizeof(ehdr), 2 * sizeof(notes));
	memcpy(h->bytes, &ehdr, sizeof(ehdr));
	notes.p_offset = 0x8000;
	notes.p_filesz = rnd() % (size - 0x8000);
	for (i = 2; i < ehdr.e_phnum; i++)
		memcpy(h->bytes + 0x4000 + i * sizeof(notes), &notes,
		       sizeof(notes));
}

static const struct ustack_rule *at(const struct ustack_table *table, u32 pc)
{
	return ustack_find(table, IMAGE_BASE + IMAGE_CODE + pc);
}

/* The table of one function of 64 bytes */
static struct ustack_table *one(const char *letters, const u8 *program, u32 len)
{
	u32 cie;

	image_begin(&image);
	cie = image_cie(&image, letters, NULL, 0);
	image_fde(&image, cie, 0, 64, program, len);
	image_end(&image);
	return must_build();
}

static void expect_cfa(const struct ustack_table *table, u32 pc, u8 cfa, u8 reg,
		       s32 offset, s16 add)
{
	const struct ustack_rule *rule = at(table, pc);

	ck_assert_msg(rule->cfa == cfa &&
			      (cfa < USTACK_REG ||
			       (rule->reg == reg && rule->offset == offset &&
				rule->add == add)),
		      "at %u: %d, register %d, %d, %d", pc, rule->cfa,
		      rule->reg, rule->offset, rule->add);
}

START_TEST(a_function_that_pushes)
{
	/* push %rbp; push %rbx; sub $24, %rsp; and back, in two ways */
	struct ustack_table *t = one(
		"zR", PROGRAM(0x41, 0x0e, 16, 0x86, 2, /* 1: rbp */
			      0x42, 0x0e, 24, 0x83, 3, /* 3: rbx */
			      0x02, 4, 0x0e, 48, /* 7 */
			      0x0a, 0x03, 20, 0, 0x0e, 8, 0xc3, 0xc6, /* 27 */
			      0x04, 1, 0, 0, 0, 0x0b, /* 28 */
			      0x41, 0x0d, 6)); /* 29: on rbp */

	expect_cfa(t, 0, USTACK_REG, USTACK_RSP, 8, 0);
	expect_cfa(t, 1, USTACK_REG, USTACK_RSP, 16, 0);
	expect_cfa(t, 2, USTACK_REG, USTACK_RSP, 16, 0);
	expect_cfa(t, 3, USTACK_REG, USTACK_RSP, 24, 0);
	expect_cfa(t, 26, USTACK_REG, USTACK_RSP, 48, 0);
	expect_cfa(t, 27, USTACK_REG, USTACK_RSP, 8, 0);
	expect_cfa(t, 28, USTACK_REG, USTACK_RSP, 48, 0);
	expect_cfa(t, 29, USTACK_REG, USTACK_RBP, 48, 0);
	expect_cfa(t, 63, USTACK_REG, USTACK_RBP, 48, 0);
	expect_cfa(t, 64, USTACK_NONE, 0, 0, 0);
	ck_assert_int_eq(at(t, 0)->place[0], USTACK_SAME);
	ck_assert_int_eq(at(t, 1)->place[1], -16);
	ck_assert_int_eq(at(t, 3)->place[0], -24);
	ck_assert_int_eq(at(t, 27)->place[0], USTACK_SAME);
	ck_assert_int_eq(at(t, 27)->place[1], USTACK_SAME);
	ck_assert_int_eq(at(t, 28)->place[0], -24);
	ck_assert_int_eq(at(t, 28)->place[USTACK_PLACE_RA], -8);
	ck_assert_int_eq(report.odd, 0);
	ck_assert_ptr_eq(ustack_find(t, IMAGE_BASE), &t->rules[0]);
	ehframe_free(t);
}
END_TEST

START_TEST(all_kinds_of_offsets)
{
	struct ustack_table *t = one(
		"zR", PROGRAM(0x05, 3, 2, /* rbx at cfa-16 */
			      0x11, 6, 0x7d, /* rbp at cfa+24 */
			      0x2f, 12, 3, /* r12 at cfa+24 */
			      0x12, 10, 0x7e, /* cfa r10+16 */
			      0x41, 0x13, 0x7c, /* 1: r10+32 */
			      0x07, 13, 0x09, 14, 15, 0x08, 15, 0x2e, 7, /* */
			      0x41, 0x06, 3, 0x14, 6, 2, /* 2 */
			      0x41, 0x07, 16, /* 3: outermost */
			      0x41, 0x09, 16, 1, /* 4: in rdx */
			      0x41, 0x08, 16)); /* 5 */

	expect_cfa(t, 0, USTACK_REG, 10, 16, 0);
	expect_cfa(t, 1, USTACK_REG, 10, 32, 0);
	ck_assert_int_eq(at(t, 0)->place[0], -16);
	ck_assert_int_eq(at(t, 0)->place[1], 24);
	ck_assert_int_eq(at(t, 0)->place[2], 24);
	ck_assert_int_eq(at(t, 0)->place[3], USTACK_SAME);
	ck_assert_int_eq(at(t, 1)->place[3], USTACK_UNDEFINED);
	ck_assert_int_eq(at(t, 1)->place[4], 15 << 3 | USTACK_IN_REG);
	ck_assert_int_eq(at(t, 2)->place[0], USTACK_SAME);
	ck_assert_int_eq(at(t, 2)->place[1], USTACK_LOST);
	ck_assert_int_eq(at(t, 3)->place[USTACK_PLACE_RA], USTACK_UNDEFINED);
	ck_assert_int_eq(at(t, 4)->place[USTACK_PLACE_RA],
			 1 << 3 | USTACK_IN_REG);
	ck_assert_int_eq(at(t, 5)->place[USTACK_PLACE_RA], USTACK_LOST);
	ehframe_free(t);
}
END_TEST

START_TEST(expressions)
{
	struct ustack_table *t = one(
		"zR", PROGRAM(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b,
			      0x2a, 0x33, 0x24, 0x22, /* PLT */
			      0x41, 0x0f, 3, 0x76, 0x78, 0x06, /* 1: *(rbp-8) */
			      0x10, 6, 2, 0x76, 0, /* rbp at rbp */
			      0x10, 3, 2, 0x77, 0x10, /* rbx at rsp+16 */
			      0x10, 12, 2, 0x71, 0x10, /* r12 at rdx+16 */
			      0x41, 0x0f, 6, 0x77, 0x90, 1, 0x06, 0x23,
			      8, /* 2: *(rsp+144)+8 */
			      0x41, 0x0f, 2, 0x7a, 0x70, /* 3: r10-16 */
			      0x41, 0x0f, 1, 0x30, /* 4: lit0, no address */
			      0x41, 0x0c, 7, 8, /* 5 */
			      0x16, 3, 1, 0x30));

	expect_cfa(t, 0, USTACK_PLT, USTACK_RSP, 8, 11);
	expect_cfa(t, 1, USTACK_DEREF, USTACK_RBP, -8, 0);
	expect_cfa(t, 2, USTACK_DEREF, USTACK_RSP, 144, 8);
	expect_cfa(t, 3, USTACK_REG, 10, -16, 0);
	expect_cfa(t, 4, USTACK_ODD, 0, 0, 0);
	expect_cfa(t, 5, USTACK_REG, USTACK_RSP, 8, 0);
	ck_assert_int_eq(at(t, 1)->place[1], USTACK_AT_RBP);
	ck_assert_int_eq(at(t, 1)->place[0], 16 | USTACK_AT_RSP);
	ck_assert_int_eq(at(t, 1)->place[2], USTACK_LOST);
	ck_assert_int_eq(at(t, 5)->place[0], USTACK_LOST);
	ck_assert_int_eq(report.odd, 1);
	ehframe_free(t);
}
END_TEST

START_TEST(what_cannot_be_represented)
{
	/* An unknown instruction; rsp somewhere else; half of an expression */
	struct ustack_table *t = one("zR", PROGRAM(0x41, 0x1f, 0x41, 0x0e, 16));

	expect_cfa(t, 0, USTACK_REG, USTACK_RSP, 8, 0);
	expect_cfa(t, 1, USTACK_ODD, 0, 0, 0);
	expect_cfa(t, 63, USTACK_ODD, 0, 0, 0);
	expect_cfa(t, 64, USTACK_NONE, 0, 0, 0);
	ehframe_free(t);
	t = one("zR", PROGRAM(0x0a, 0x87, 2, 0x41, 0x0c, 7, 16, 0x41, 0x0b));
	expect_cfa(t, 0, USTACK_ODD, 0, 0, 0);
	expect_cfa(t, 1, USTACK_ODD, 0, 0, 0);
	expect_cfa(t, 2, USTACK_REG, USTACK_RSP, 8, 0);
	ehframe_free(t);
	t = one("zR", PROGRAM(0x41, 0x0f, 3, 0x76, 0x78, 0x06, 0x0e, 16));
	expect_cfa(t, 0, USTACK_REG, USTACK_RSP, 8, 0);
	expect_cfa(t, 1, USTACK_ODD, 0, 0, 0);
	ehframe_free(t);
	/* Nine states; the maximum is eight */
	t = one("zR", PROGRAM(0x41, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a,
			      0x0a, 0x41, 0x0a, 0x41));
	expect_cfa(t, 1, USTACK_REG, USTACK_RSP, 8, 0);
	expect_cfa(t, 2, USTACK_ODD, 0, 0, 0);
	ehframe_free(t);
}
END_TEST

/* Rows are sorted, and each belongs to its page */
static bool in_order(const struct ustack_table *table)
{
	u64 pc, before = 0;
	u32 page, i, end;

	for (page = 0, i = 0; page < table->pages_nr; page++) {
		end = table->pages[page + 1];
		for (; i < end; i++) {
			pc = ((u64)page << USTACK_PAGE_BITS) +
			     table->rows[i].pc;
			if ((i && pc <= before) ||
			    table->rows[i].pc > USTACK_PAGE_MASK)
				return false;
			before = pc;
		}
	}
	return i == table->rows_nr;
}

START_TEST(functions_that_overlap_end_early)
{
	struct ustack_table *t;
	u32 cie;

	image_begin(&image);
	cie = image_cie(&image, "zR", NULL, 0);
	image_fde(&image, cie, 0, 64, PROGRAM(0x41, 0x0e, 16, 0x5f, 0x0e, 24));
	image_fde(&image, cie, 16, 16, PROGRAM(0x0e, 32));
	image_fde(&image, cie, 0xff0, 64, PROGRAM(0x0e, 40));
	image_fde(&image, cie, 0x3000, 64, PROGRAM(0x0e, 48));
	image_end(&image);
	t = must_build();
	expect_cfa(t, 15, USTACK_REG, USTACK_RSP, 16, 0);
	expect_cfa(t, 16, USTACK_REG, USTACK_RSP, 32, 0);
	expect_cfa(t, 31, USTACK_REG, USTACK_RSP, 32, 0);
	expect_cfa(t, 32, USTACK_NONE, 0, 0, 0);
	ck_assert(in_order(t));
	/* Nor after the code */
	expect_cfa(t, 0xfff, USTACK_REG, USTACK_RSP, 40, 0);
	expect_cfa(t, 0x1000, USTACK_NONE, 0, 0, 0);
	expect_cfa(t, 0x3000, USTACK_NONE, 0, 0, 0);
	ck_assert_int_eq(report.functions, 3);
	ck_assert_int_eq(report.outside, 1);
	ehframe_free(t);
}
END_TEST

static void two_functions(void)
{
	u32 cie;

	image_begin(&image);
	cie = image_cie(&image, "zR", NULL, 0);
	image_fde(&image, cie, 0, 64, PROGRAM(0x41, 0x0e, 16, 0x41, 0x0e, 24));
	image_fde(&image, cie, 64, 64, PROGRAM(0x41, 0x0e, 32, 0x41, 0x0e, 40));
	image_end(&image);
}

static const struct damage {
	u32 at;
	u8 bytes[4];
	int error;
	const char *reason;
} damages[] = {
	{ 0, { 0 }, -ENOEXEC, "not an object for x86-64" },
	{ 0x12, { 3, 0 }, -ENOEXEC, "not an object for x86-64" },
	{ 0x38, { 0xff, 0xff }, -EINVAL, "its program headers are wrong" },
	{ 0x20, { 0xff, 0xff, 0xff, 0x7f }, -EINVAL, "the file ends here" },
	{ 0x40 + 0x20,
	  { 1, 0x20, 0, 0 },
	  -EINVAL,
	  "a segment is not in the file" },
	{ 0x40 + 0x38 + 4, { 4 }, -ENODATA, "nothing is executable" },
	{ 0x40 + 0x70, { 1 }, -ENODATA, "no list of functions (.eh_frame_hdr)" },
	{ IMAGE_HDR,
	  { 2, 0x1b, 3, 0x3b },
	  -ENODATA,
	  "functions are not listed in a known way" },
	{ IMAGE_HDR + 4,
	  { 0, 0, 0, 0x40 },
	  -EINVAL,
	  ".eh_frame is in no segment" },
	{ IMAGE_HDR + 8,
	  { 3, 0, 0, 0 },
	  -EINVAL,
	  "the list of functions is too short" },
	{ IMAGE_HDR + 20,
	  { 0, 0, 0, 0 },
	  -EINVAL,
	  "the list of functions is not sorted" },
	{ IMAGE_HDR + 16,
	  { 0, 0, 0, 0x40 },
	  -EINVAL,
	  "a description that is not in .eh_frame" },
	{ IMAGE_EH_FRAME,
	  { 0xff, 0xff, 0, 0 },
	  -EINVAL,
	  "the length of a description is wrong" },
	{ IMAGE_EH_FRAME + 4,
	  { 1, 0, 0, 0 },
	  -EINVAL,
	  "this is not a common description" },
	{ IMAGE_EH_FRAME + 8,
	  { 2, 'z', 'R', 0 },
	  -EINVAL,
	  "an unknown kind of description" },
	{ IMAGE_EH_FRAME + 8,
	  { 1, 'z', 'X', 0 },
	  -EINVAL,
	  "an unknown augmentation" },
	{ IMAGE_EH_FRAME + 8,
	  { 1, 'e', 'h', 0 },
	  -EINVAL,
	  "an unknown augmentation" },
	{ IMAGE_EH_FRAME + 14,
	  { 15, 1, 0x1b, 0x0c },
	  -EINVAL,
	  "return addresses have another number" },
	{ IMAGE_EH_FRAME + 14,
	  { 16, 0x40, 0x1b, 0x0c },
	  -EINVAL,
	  "a description ends too early" },
	{ IMAGE_EH_FRAME + 14,
	  { 16, 1, 0x9b, 0x0c },
	  -EINVAL,
	  "addresses are indirect" },
	{ IMAGE_EH_FRAME + 14,
	  { 16, 1, 0x1d, 0x0c },
	  -EINVAL,
	  "an unknown encoding of addresses" },
	{ IMAGE_EH_FRAME + 17,
	  { 0x41, 7, 8, 0x90 },
	  -EINVAL,
	  "a location that is not behind the one before it" },
	{ IMAGE_EH_FRAME + 28,
	  { 0, 0, 0, 0 },
	  -EINVAL,
	  "no common description" },
	{ IMAGE_EH_FRAME + 32,
	  { 0, 0, 0, 0 },
	  -EINVAL,
	  "it is listed for another address" },
	{ IMAGE_EH_FRAME + 40,
	  { 0x60, 0, 0, 0 },
	  -EINVAL,
	  "a description ends too early" },
	{ IMAGE_EH_FRAME + 41,
	  { 0x0b, 0, 0, 0 },
	  -EINVAL,
	  "a state is restored that was not remembered" },
	{ IMAGE_EH_FRAME + 44,
	  { 0x0e, 0xff, 0xff, 0xff },
	  -EINVAL,
	  "a description ends too early" },
};

START_TEST(damage_is_named)
{
	const struct damage *d = &damages[_i];
	struct ustack_table *table;
	int error;

	two_functions();
	ck_assert_int_eq(build(&table, NULL), 0);
	ehframe_free(table);
	memcpy(image.bytes + d->at, d->bytes, sizeof(d->bytes));
	error = build(&table, NULL);
	ck_assert_msg(error == d->error && report.reason &&
			      !strcmp(report.reason, d->reason),
		      "byte %#x: %d, %s instead of %s", d->at, error,
		      report.reason, d->reason);
	ck_assert_ptr_null(table);
}
END_TEST

START_TEST(caps_hold)
{
	struct ehframe_caps enough = {
		.functions = 2, .rows = 7, .rules = 7, .work = 1000
	};
	struct ehframe_caps caps[4];
	struct ustack_table *table;
	size_t i;

	two_functions();
	ck_assert_int_eq(build(&table, &enough), 0);
	ck_assert_int_eq(report.odd, 0);
	ehframe_free(table);
	/* 14 instructions, and what is read */
	ck_assert_int_ge(report.work, 14 + IMAGE_SIZE / 2 / 64);
	enough.work = report.work;
	ck_assert_int_eq(build(&table, &enough), 0);
	ehframe_free(table);
	for (i = 0; i < ARRAY_SIZE(caps); i++)
		caps[i] = enough;
	caps[0].functions--;
	caps[1].rows--;
	caps[2].work--;
	/* The limit by size is one byte too low */
	caps[3].base = report.work - 1;
	caps[3].bytes = IMAGE_SIZE + 1;
	for (i = 0; i < ARRAY_SIZE(caps); i++) {
		ck_assert_int_eq(build(&table, &caps[i]), -E2BIG);
		ck_assert_ptr_null(table);
	}
	/* Rules beyond the limit are marked as odd */
	enough.work = 1000;
	enough.rules--;
	ck_assert_int_eq(build(&table, &enough), 0);
	ck_assert_int_eq(report.odd, 1);
	expect_cfa(table, 65, USTACK_REG, USTACK_RSP, 32, 0);
	expect_cfa(table, 66, USTACK_ODD, 0, 0, 0);
	ehframe_free(table);
}
END_TEST

/* Enough rules that all tables grow */
static void many_states(void)
{
	u8 program[3] = { 0x41, 0x0e };
	u32 i, j, cie;

	image_begin(&image);
	cie = image_cie(&image, "zR", NULL, 0);
	for (i = 0; i < 30; i++) {
		u8 pushes[60];

		for (j = 0; j < 20; j++) {
			program[2] = 8 + (i * 20 + j) % 120;
			memcpy(pushes + 3 * j, program, 3);
		}
		pushes[1] = 0x0d;
		pushes[2] = i % 16;
		image_fde(&image, cie, 64 * i, 64, pushes, sizeof(pushes));
	}
	image_end(&image);
}

START_TEST(no_memory)
{
	struct ustack_table *table;
	u32 nth = 0;
	int error;

	many_states();
	do {
		kv_fail_nth = ++nth;
		error = build(&table, NULL);
		ck_assert_msg(!error || error == -ENOMEM, "%d: %s", error,
			      report.reason);
		ck_assert_int_eq(!table, error != 0);
		ck_assert_int_lt(nth, 100);
	} while (error);
	ck_assert_int_ge(nth, 9);
	kv_fail_nth = 0;
	ehframe_free(table);
}
END_TEST

/* --- memory that is held for the work */

static long held, held_most, held_limit;

static int count_held(void *arg, long bytes)
{
	(void)arg;
	if (held + bytes > held_limit)
		return -EDQUOT;
	held += bytes;
	ck_assert_int_ge(held, 0);
	if (held > held_most)
		held_most = held;
	return 0;
}

/* What is not to be allocated is not; whatever comes of it, nothing is held after it */
START_TEST(memory_is_counted)
{
	struct ehframe_source source = { .read = image_read,
					 .hold = count_held,
					 .size = IMAGE_SIZE,
					 .arg = &image };
	struct ustack_table *table;
	u32 refused = 0, nth;
	int error;

	many_states();
	for (held_limit = 0;; held_limit += 64) {
		held_most = 0;
		error = ehframe_build(&source, &ehframe_caps_default, &table,
				      &report);
		ck_assert_int_eq(held, 0);
		ck_assert_int_le(held_most, held_limit);
		if (!error)
			break;
		ck_assert_int_eq(error, -EDQUOT);
		ck_assert_ptr_null(table);
		refused++;
	}
	ck_assert_int_gt(refused, 100);
	/* Rows and the table are there at the same time */
	ck_assert_int_ge(held_most,
			 table->bytes + table->rows_nr * sizeof(*table->rows));
	ehframe_free(table);
	/* Likewise where there is none */
	for (nth = 1; nth < 9; nth++) {
		kv_fail_nth = nth;
		error = ehframe_build(&source, &ehframe_caps_default, &table,
				      &report);
		ck_assert_int_eq(error, -ENOMEM);
		ck_assert_int_eq(held, 0);
	}
	kv_fail_nth = 0;
}
END_TEST

/* Whatever a file is, the steps made for it, and bytes read, are what its size allows */
START_TEST(hostile_files_are_bounded)
{
	static void (*const make[])(struct hostile *) = {
		overlapping, scattered, many_rules, long_operands, many_notes,
	};
	struct hostile h = { .bytes = malloc(HOSTILE_MAX) };
	u32 i, refused[ARRAY_SIZE(make)] = { 0 };
	const struct ehframe_caps *caps = &ehframe_caps_default;

	ck_assert_ptr_nonnull(h.bytes);
	for (i = 0; i < 1000; i++) {
		struct ehframe_source source = { .read = hostile_read,
						 .pause = hostile_pause,
						 .size = 0,
						 .arg = &h };
		struct ustack_table *table;
		u64 most;
		int error;

		make[i % ARRAY_SIZE(make)](&h);
		source.size = h.size;
		h.stop_at = rnd() % 4 ? 0 : 1 + rnd() % 16;
		most = caps->base + h.size / caps->bytes;
		if (most > caps->work)
			most = caps->work;
		error = ehframe_build(&source, caps, &table, &report);
		/* The last step may be one of many: things that are moved, pages without rows */
		expect(report.work <= most + HOSTILE_MAX);
		expect(h.read <= 64 * (most + 64));
		expect(h.pauses >= report.work / EHFRAME_PAUSE / 2 || error);
		expect(!h.stop_at || h.pauses <= h.stop_at);
		expect(error == -EINTR || h.pauses != h.stop_at || !h.stop_at);
		refused[i % ARRAY_SIZE(make)] +=
			error == -E2BIG &&
			!strcmp(report.reason,
				"it costs too much for its size");
		ehframe_free(table);
	}
	/* They are expensive */
	ck_assert_int_gt(refused[0], 100);
	ck_assert_int_gt(refused[1], 10);
	ck_assert_int_gt(refused[4], 100);
	free(h.bytes);
}
END_TEST

/* Any bytes: the resulting table is in order, and can be used to unwind */
START_TEST(damage_does_no_harm)
{
	struct ustack_table *table;
	u32 i, n, tables = 0;
	int round;

	for (round = 0; round < 5000; round++) {
		two_functions();
		for (n = 1 + rnd() % 4; n; n--)
			image.bytes[IMAGE_HDR + rnd() % 0x180] = rnd();
		if (build(&table, NULL))
			continue;
		tables++;
		expect(in_order(table));
		for (i = 0; i < table->rows_nr; i++)
			expect(table->rows[i].rule < table->rules_nr);
		for (i = 0; i < 0x1100; i++)
			expect(at(table, i) < table->rules + table->rules_nr);
		ehframe_free(table);
	}
	ck_assert_int_gt(tables, 500);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ehtables");
	TCase *tc = tcase_create("tables");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, rnd_restart, NULL);
	tcase_add_test(tc, a_function_that_pushes);
	tcase_add_test(tc, all_kinds_of_offsets);
	tcase_add_test(tc, expressions);
	tcase_add_test(tc, what_cannot_be_represented);
	tcase_add_test(tc, functions_that_overlap_end_early);
	tcase_add_loop_test(tc, damage_is_named, 0, ARRAY_SIZE(damages));
	tcase_add_test(tc, caps_hold);
	tcase_add_test(tc, hostile_files_are_bounded);
	tcase_add_test(tc, no_memory);
	tcase_add_test(tc, memory_is_counted);
	tcase_add_test(tc, damage_does_no_harm);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
