// SPDX-License-Identifier: GPL-2.0
/* One of three functions, in random order: a case of docs/lbrtime.md */
#include <stdint.h>

volatile uint64_t sink;

static __attribute__((noinline)) void spin(long n)
{
	for (long i = 0; i < n; i++)
		sink += i;
}

__attribute__((noinline)) void p1_f1(void)
{
	spin(3000);
	sink++;
}

__attribute__((noinline)) void p1_f2(void)
{
	spin(1500);
	sink++;
}

__attribute__((noinline)) void p1_f3(void)
{
	spin(6000);
	sink++;
}

__attribute__((noinline)) void p1_A(int k)
{
	if (k == 0)
		p1_f1();
	else if (k == 1)
		p1_f2();
	else
		p1_f3();
	sink++;
}

int main(void)
{
	uint64_t s = 1;

	for (int i = 0; i < 4000; i++) {
		s ^= s << 13;
		s ^= s >> 7;
		s ^= s << 17;
		p1_A(s % 3);
	}
	return 0;
}
