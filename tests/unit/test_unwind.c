// SPDX-License-Identifier: GPL-2.0
/* Unwinding: made-up stacks, and no harm from any memory, registers and tables. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ehtables.h"

#define STACK 0x7fff0000
#define WORDS 512

static u64 stack[WORDS];
static const struct ustack_table *table_of_code;
static u32 reads;

static u32 finds;

static int find(void *arg, u64 address, struct ustack_code *code)
{
	u64 pc;

	(void)arg;
	finds++;
	*code = (struct ustack_code){ 0 };
	/* Code with a table, without one, and with one that is added later */
	code->size = 0x1000;
	code->start = address & ~0xfffULL;
	switch (code->start) {
	case 0x10000:
		return 0;
	case 0x20000:
		code->table = table_of_code;
		ck_assert(ustack_linked_at(code->table, IMAGE_CODE, &pc));
		code->to_linked = pc - code->start;
		code->object = ustack_object(9);
		code->to_file = 0x5000 - code->start;
		return 0;
	case 0x30000:
		code->object = ustack_object(7);
		code->to_file = 0x1000 - code->start;
		return -EAGAIN;
	default:
		return -ENOENT;
	}
}

static int read_stack(void *arg, u64 address, u64 *value)
{
	(void)arg;
	reads++;
	if (address < STACK || address > STACK + sizeof(stack) - 8)
		return -EFAULT;
	memcpy(value, (u8 *)stack + (address - STACK), 8);
	return 0;
}

/* What code at 0x20000 is among the frames */
static u64 in_code(u64 ip)
{
	return ustack_object(9) | (ip - 0x20000 + 0x5000);
}

static const struct ustack_ops ops = { .find = find, .read = read_stack };

/*
 * 0: pushes rbp, rbx, 8 more; 64: has rbp as its frame pointer; 128: _start; 320: pushes
 * r15 and r12; 512: a signal frame, without a context; others are on rbx, rax, r12 and r15
 */
static void code_for_stacks(void)
{
	u32 cie;

	image_begin(&image);
	cie = image_cie(&image, "zR", NULL, 0);
	image_fde(&image, cie, 0, 64,
		  PROGRAM(0x41, 0x0e, 16, 0x86, 2, 0x41, 0x0e, 24, 0x83, 3,
			  0x41, 0x0e, 32));
	image_fde(&image, cie, 64, 64, PROGRAM(0x0c, 6, 16, 0x86, 2));
	image_fde(&image, cie, 128, 64, PROGRAM(0x07, 16));
	image_fde(&image, cie, 192, 64, PROGRAM(0x0c, 3, 8));
	image_fde(&image, cie, 256, 64, PROGRAM(0x0c, 0, 8));
	image_fde(&image, cie, 320, 64,
		  PROGRAM(0x41, 0x0e, 16, 0x8f, 2, 0x41, 0x0e, 24, 0x8c, 3));
	image_fde(&image, cie, 384, 64, PROGRAM(0x0c, 12, 8, 0x8d, 4));
	image_fde(&image, cie, 448, 64, PROGRAM(0x0c, 15, 8, 0x8e, 4));
	cie = image_cie(&image, "zRS", NULL, 0);
	image_fde(&image, cie, 512, 64, PROGRAM(0x0e, 8));
	image_end(&image);
	table_of_code = must_build();
	memset(stack, 0, sizeof(stack));
	reads = 0;
	finds = 0;
}

START_TEST(a_stack)
{
	struct ustack_regs regs = { .ip = 0x20010 };
	struct ustack_result result;
	u64 frames[16];

	code_for_stacks();
	/* 0x20010 called by 0x20020, by 0x20041, whose rbp is saved twice, by _start */
	regs.reg[USTACK_RSP] = STACK;
	regs.reg[USTACK_RBP] = 0xbad;
	stack[1] = 77;
	stack[2] = STACK + 10 * 8;
	stack[3] = 0x20020;
	stack[5] = 78;
	stack[6] = STACK + 10 * 8;
	stack[7] = 0x20041;
	stack[10] = 0;
	stack[11] = 0x20081;
	ustack_walk(&ops, &regs, frames, 16, &result);
	ck_assert_int_eq(result.end, USTACK_COMPLETE);
	ck_assert_int_eq(result.nr, 4);
	ck_assert_uint_eq(frames[3], in_code(0x20081));
	ck_assert_int_eq(result.guessed, 0);
	/* A return address each, and rbp once; all of them are in one object */
	ck_assert_int_eq(reads, 4);
	ck_assert_int_eq(finds, 1);
	/* A call that does not return, at the end of its function */
	stack[11] = 0x20000 + 192;
	ustack_walk(&ops, &regs, frames, 16, &result);
	ck_assert_int_eq(result.end, USTACK_COMPLETE);
	ck_assert_int_eq(result.nr, 4);
	/* rbp, saved by the innermost frame, is not touched by the next one */
	stack[3] = 0x20001;
	stack[4] = 0x20041;
	ustack_walk(&ops, &regs, frames, 16, &result);
	ck_assert_int_eq(result.end, USTACK_COMPLETE);
	ck_assert_int_eq(result.nr, 4);
	ck_assert_uint_eq(frames[2], in_code(0x20041));
	ck_assert_uint_eq(frames[3], in_code(0x20000 + 192));
	/* rbx, saved by the innermost frame, is read when it is needed */
	stack[3] = 0x20000 + 193;
	stack[1] = STACK + 10 * 8;
	ustack_walk(&ops, &regs, frames, 16, &result);
	ck_assert_int_eq(result.end, USTACK_COMPLETE);
	ck_assert_int_eq(result.nr, 2);
	stack[1] = 0;
	ustack_walk(&ops, &regs, frames, 16, &result);
	ck_assert_int_eq(result.end, USTACK_BAD_MEMORY);
	ck_assert_int_eq(result.nr, 2);
	ehframe_free((struct ustack_table *)table_of_code);
}
END_TEST

START_TEST(stacks_that_end_early)
{
	static const struct {
		u64 ra;
		enum ustack_end end;
	} cases[] = {
		{ 0, USTACK_COMPLETE },		{ 5, USTACK_NO_MAP },
		{ 0x20081, USTACK_COMPLETE },	{ 0x20fff, USTACK_NO_RULE },
		{ 0x10001, USTACK_NO_TABLE },	{ 0x20101, USTACK_NO_REGISTER },
		{ 0x200c1, USTACK_BAD_MEMORY }, { 0x30010, USTACK_PENDING },
		{ 0x21001, USTACK_NO_MAP },
	};
	struct ustack_regs regs = { .ip = 0x20000 };
	struct ustack_result result;
	u64 frames[4];
	bool pending = false;
	size_t i;

	code_for_stacks();
	regs.reg[USTACK_RSP] = STACK;
	regs.reg[USTACK_RBP] = 3;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		stack[0] = cases[i].ra;
		ustack_walk(&ops, &regs, frames, 4, &result);
		ck_assert_msg(result.end == cases[i].end,
			      "return to %llx: %d instead of %d", cases[i].ra,
			      result.end, cases[i].end);
		ck_assert_int_eq(result.nr, 1 + (cases[i].ra &&
						 result.end != USTACK_NO_MAP));
		pending |= result.end == USTACK_PENDING &&
			   frames[1] == (ustack_object(7) | 0x1010);
	}
	/* Its object is known, though not what is next */
	ck_assert(pending);
	/* What was interrupted is on rax, which is lost since the innermost frame has called */
	stack[0] = 0x20201;
	stack[1] = 0x20100;
	ustack_walk(&ops, &regs, frames, 4, &result);
	ck_assert_int_eq(result.end, USTACK_NO_REGISTER);
	ck_assert_int_eq(result.nr, 3);
	/* One that calls itself, or seems to */
	for (i = 0; i < WORDS; i++)
		stack[i] = 0x20001;
	regs.ip = 0x20000;
	ustack_walk(&ops, &regs, frames, 4, &result);
	ck_assert_int_eq(result.end, USTACK_DEEP);
	ck_assert_int_eq(result.nr, 4);
	regs.reg[USTACK_RSP] = U64_MAX - 3;
	ustack_walk(&ops, &regs, frames, 4, &result);
	ck_assert_int_eq(result.end, USTACK_BAD_STACK);
	regs.ip = 5;
	ustack_walk(&ops, &regs, frames, 4, &result);
	ck_assert_int_eq(result.end, USTACK_NO_MAP);
	ck_assert_int_eq(result.nr, 1);
	ehframe_free((struct ustack_table *)table_of_code);
}
END_TEST

START_TEST(frame_pointers)
{
	struct ustack_regs regs = { .ip = 0x10010 };
	struct ustack_result result;
	u64 frames[8];

	code_for_stacks();
	regs.reg[USTACK_RSP] = STACK;
	regs.reg[USTACK_RBP] = STACK + 4 * 8;
	stack[4] = STACK + 8 * 8;
	stack[5] = 0x10020;
	stack[8] = 0;
	stack[9] = 0x20010;
	/* and from the one without frame pointer: it saved the outermost rbp */
	stack[11] = 0;
	stack[12] = 0;
	stack[13] = 0x10030;
	ustack_walk(&ops, &regs, frames, 8, &result);
	ck_assert_int_eq(result.end, USTACK_COMPLETE);
	ck_assert_int_eq(result.nr, 4);
	ck_assert_int_eq(frames[3], 0x10030);
	ck_assert_int_eq(result.guessed, 3);
	ehframe_free((struct ustack_table *)table_of_code);
}
END_TEST

/* Any memory and registers */
static void any_stack(struct ustack_regs *regs)
{
	u32 i;

	for (i = 0; i < WORDS; i++)
		stack[i] = rnd() % 2 ? 0x20000 + rnd() % 576 :
				       STACK + rnd() % sizeof(stack);
	for (i = 0; i < USTACK_REGS; i++)
		regs->reg[i] = STACK + rnd() % sizeof(stack);
	regs->ip = 0x20000 + rnd() % 576;
}

/* A table of the same rules, without their short ways; returns how many had one */
static u32 without_near(struct ustack_table *table)
{
	struct ustack_rule *rules = (struct ustack_rule *)table->rules;
	u32 i, nr = 0;

	for (i = 0; i < table->rules_nr; i++) {
		nr += rules[i].flags & USTACK_NEAR ? 1 : 0;
		rules[i].flags &= ~(USTACK_NEAR | USTACK_SAVED);
	}
	return nr;
}

/* The fast path finds the same frame as the slow one, and reads the same memory */
START_TEST(the_short_way)
{
	const struct ustack_table *near;
	struct ustack_table *far;
	struct ustack_result result[2];
	struct ustack_regs regs;
	u64 frames[2][64] = { 0 };
	u32 near_reads, deep = 0;
	int round;

	code_for_stacks();
	near = table_of_code;
	far = must_build();
	/* All but the outermost one, the signal frame's, NONE and ODD */
	ck_assert_int_eq(without_near(far), far->rules_nr - 4);
	for (round = 0; round < 5000; round++) {
		any_stack(&regs);
		reads = 0;
		table_of_code = near;
		ustack_walk(&ops, &regs, frames[0], 64, &result[0]);
		near_reads = reads;
		reads = 0;
		table_of_code = far;
		ustack_walk(&ops, &regs, frames[1], 64, &result[1]);
		expect(!memcmp(&result[0], &result[1], sizeof(result[0])));
		expect(!memcmp(frames[0], frames[1],
			       result[0].nr * sizeof(frames[0][0])));
		expect(near_reads == reads);
		deep += result[0].nr > 8;
	}
	ck_assert_int_gt(deep, 10);
	ehframe_free((struct ustack_table *)near);
	ehframe_free(far);
}
END_TEST

/* With return addresses that were met before, all is as without them */
START_TEST(any_stack_met_before)
{
	static struct ustack_seen seen[USTACK_SEEN];
	const struct ustack_ops with = { find, read_stack, NULL, seen, 1 };
	struct ustack_result result[2];
	struct ustack_regs regs;
	u64 frames[2][64] = { 0 };
	u32 without_reads, nr = 0, i;
	int round;

	code_for_stacks();
	for (round = 0; round < 5000; round++) {
		any_stack(&regs);
		reads = 0;
		ustack_walk(&ops, &regs, frames[0], 64, &result[0]);
		without_reads = reads;
		reads = 0;
		ustack_walk(&with, &regs, frames[1], 64, &result[1]);
		expect(!memcmp(&result[0], &result[1], sizeof(result[0])));
		expect(!memcmp(frames[0], frames[1],
			       result[0].nr * sizeof(frames[0][0])));
		expect(without_reads == reads);
	}
	for (i = 0; i < USTACK_SEEN; i++)
		nr += seen[i].round == 1;
	ck_assert_int_gt(nr, USTACK_SEEN / 2);
	ehframe_free((struct ustack_table *)table_of_code);
}
END_TEST

START_TEST(met_before)
{
	static struct ustack_seen seen[USTACK_SEEN];
	struct ustack_ops with = { find, read_stack, NULL, seen, 1 };
	struct ustack_regs regs = { .ip = 0x10010 };
	struct ustack_result result;
	u64 frames[4];
	int walk;

	code_for_stacks();
	regs.reg[USTACK_RSP] = STACK;
	regs.reg[USTACK_RBP] = STACK;
	stack[1] = 0x20001;
	stack[2] = 0;
	/* Of two walks in a round only the first one looks it up */
	for (walk = 0; walk < 4; walk++) {
		with.round = 1 + walk / 2;
		finds = 0;
		frames[1] = 0;
		ustack_walk(&with, &regs, frames, 4, &result);
		ck_assert_int_eq(result.end, USTACK_COMPLETE);
		ck_assert_int_eq(result.nr, 2);
		ck_assert_uint_eq(frames[1], in_code(0x20001));
		ck_assert_int_eq(finds, 2 - walk % 2);
	}
	/* No return address: what is next is behind the push, not before it */
	regs.ip = 0x20001;
	stack[0] = 0x20001;
	stack[1] = 0;
	for (walk = 0; walk < 2; walk++) {
		finds = 0;
		ustack_walk(&with, &regs, frames, 4, &result);
		ck_assert_int_eq(result.end, USTACK_COMPLETE);
		ck_assert_int_eq(result.nr, 1);
		ck_assert_uint_eq(frames[0], in_code(0x20001));
		ck_assert_int_eq(finds, 1 - walk);
	}
	ehframe_free((struct ustack_table *)table_of_code);
}
END_TEST

/* With any memory and registers, unwinding ends */
START_TEST(any_stack_ends)
{
	struct ustack_regs regs;
	struct ustack_result result;
	u64 frames[64];
	u32 deep = 0;
	int round;

	code_for_stacks();
	for (round = 0; round < 5000; round++) {
		any_stack(&regs);
		reads = 0;
		ustack_walk(&ops, &regs, frames, 64, &result);
		expect(result.nr >= 1 && result.nr <= 64);
		expect(reads <= 32 * result.nr);
		deep += result.nr > 8;
	}
	ck_assert_int_gt(deep, 10);
	ehframe_free((struct ustack_table *)table_of_code);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("unwind");
	TCase *tc = tcase_create("stacks");

	tcase_add_checked_fixture(tc, rnd_restart, NULL);
	tcase_add_test(tc, a_stack);
	tcase_add_test(tc, stacks_that_end_early);
	tcase_add_test(tc, frame_pointers);
	tcase_add_test(tc, the_short_way);
	tcase_add_test(tc, any_stack_met_before);
	tcase_add_test(tc, met_before);
	tcase_add_test(tc, any_stack_ends);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
