/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs have in common whose calls and returns are recorded. */
#ifndef _TESTS_LBR_WORK_H
#define _TESTS_LBR_WORK_H

#define NOINLINE __attribute__((noinline, noclone))

/*
 * Execute a number of instructions, without a branch that an LBR of calls and returns records.
 * Most of them do nothing, which a model of a processor executes fast.
 */
static inline __attribute__((always_inline)) void work(long instructions)
{
	long n = instructions / 64;

	__asm__ volatile("1:	.fill 62, 1, 0x90\n"
			 "	dec %0\n"
			 "	jnz 1b\n"
			 : "+r"(n));
}

#endif
