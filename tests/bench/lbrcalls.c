// SPDX-License-Identifier: GPL-2.0
/*
 * usage: lbrcalls ROUNDS
 *
 * Calls functions of some hundred instructions in an order that looks random, as the
 * test program of the paper that lbrprof grew from, and prints how many nanoseconds
 * that took: instructions, in a guest under --icount.  Executes the instructions at which
 * the plugin lbr_msrs.c begins and ends.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../guest/work.h"

#define NOINLINE __attribute__((noinline))

static NOINLINE void work(unsigned int n)
{
	while (n--)
		__asm__ volatile("");
}

static NOINLINE void f1(void)
{
	work(100);
}

static NOINLINE void f2(void)
{
	work(200);
}

static NOINLINE void f3(void)
{
	work(300);
}

int main(int argc, char **argv)
{
	static void (*const functions[])(void) = { f1, f2, f3 };
	long i, rounds = argc == 2 ? atol(argv[1]) : 0;
	uint32_t seed = 1;
	uint64_t begin;

	if (rounds < 1) {
		fprintf(stderr, "usage: lbrcalls ROUNDS\n");
		return 2;
	}
	__asm__ volatile(".byte 0x0f, 0x1f, 0x80; .ascii \"LBR!\"");
	begin = now();
	for (i = 0; i < rounds; i++) {
		seed = seed * 1664525 + 1013904223;
		functions[(seed >> 16) % 3]();
	}
	begin = now() - begin;
	__asm__ volatile(".byte 0x0f, 0x1f, 0x80; .ascii \"LBR.\"");
	printf("%llu\n", (unsigned long long)begin);
	return 0;
}
