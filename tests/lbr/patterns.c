// SPDX-License-Identifier: GPL-2.0
/*
 * usage: patterns p1|p2|p3 ROUNDS
 *
 * The test programs of the paper that lbrtime grew from: p1 calls one of three functions
 * that last alike, in random order (its figure 12 and table 2); p2 calls several from one
 * (figure 7); p3 nests calls, and calls several from the innermost (figures 7 and 10).
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

#define LEAF(name, instructions)    \
	NOINLINE void name(void)    \
	{                           \
		work(instructions); \
	}

LEAF(p1_f1, 60000)
LEAF(p1_f2, 60000)
LEAF(p1_f3, 60000)

NOINLINE void p1_A(unsigned int which)
{
	if (which == 0)
		p1_f1();
	else if (which == 1)
		p1_f2();
	else
		p1_f3();
	__asm__ volatile("");
}

NOINLINE void p1(long rounds)
{
	uint64_t s = 20261122;

	while (rounds--) {
		s ^= s << 13;
		s ^= s >> 7;
		s ^= s << 17;
		p1_A(s % 3);
	}
}

LEAF(p2_A, 18000)
LEAF(p2_B, 54000)
LEAF(p2_C, 6000)
LEAF(p2_D, 90000)

NOINLINE void p2(long rounds)
{
	while (rounds--) {
		p2_A();
		p2_B();
		p2_C();
		p2_D();
	}
}

LEAF(p3_B, 36000)
LEAF(p3_C, 84000)

NOINLINE void p3_f2(void)
{
	p3_B();
	p3_C();
	work(4000);
}

NOINLINE void p3_f1(void)
{
	work(12000);
	p3_f2();
	work(8000);
}

NOINLINE void p3_A(void)
{
	p3_f1();
	work(16000);
}

NOINLINE void p3(long rounds)
{
	while (rounds--)
		p3_A();
}

int main(int argc, char **argv)
{
	long rounds = argc == 3 ? atol(argv[2]) : 0;

	if (rounds > 0 && !strcmp(argv[1], "p1"))
		p1(rounds);
	else if (rounds > 0 && !strcmp(argv[1], "p2"))
		p2(rounds);
	else if (rounds > 0 && !strcmp(argv[1], "p3"))
		p3(rounds);
	else
		return fprintf(stderr, "usage: patterns p1|p2|p3 ROUNDS\n"), 2;
	return 0;
}
