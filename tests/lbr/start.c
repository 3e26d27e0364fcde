// SPDX-License-Identifier: GPL-2.0
/*
 * Makes the plugin branches.c begin its list, prints CLOCK_MONOTONIC_RAW at that time, and
 * continues for 300 samples' time with 0 to 33 calls and returns in each, without waiting:
 * this relates the clock to the plugin's count.
 */
#include <stdio.h>
#include <time.h>

#define PERIOD 30000

__attribute__((noinline, noclone)) static void callee(void)
{
	__asm__ volatile("");
}

int main(void)
{
	struct timespec t;
	int i, j;

	/* The second time, nothing is mapped that was not before */
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	__asm__ volatile(".byte 0x0f, 0x1f, 0x80\n"
			 ".ascii \"LBR!\"\n");
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	for (i = 0; i < 300; i++) {
		for (j = 0; j < i % 18; j++)
			callee();
		for (j = 0; j < PERIOD / 2; j++)
			__asm__ volatile("");
	}
	printf("%lld\n", t.tv_sec * 1000000000LL + t.tv_nsec);
	return 0;
}
