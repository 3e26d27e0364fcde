// SPDX-License-Identifier: GPL-2.0
/*
 * usage: needle REQUESTS EVERY SEED
 *
 * A server without a client: one request after the other, 300 us each if an instruction
 * takes a third of a nanosecond. One in EVERY (at a random place) needs resize(): nine
 * functions of 1 to 2 us, one after the other, 13.5 us together. The others differ by
 * 3 us at most, by the size of what they carry. The case of docs/lbrtime.md.
 *
 * Prints what requests had the needle, "needle NUMBER" for each, and last "total NS
 * REQUESTS", of CLOCK_MONOTONIC: instructions, under qemu/vm --icount.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../guest/work.h"
#include "work.h"

#define US 3000 /* instructions */

static uint64_t random_state;

static inline uint64_t draw(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % below;
}

/* What the steps of a request use */
NOINLINE void hash(long n)
{
	work(n);
}

NOINLINE void copy(long n)
{
	work(n);
}

NOINLINE void compare(long n)
{
	work(n);
}

#define STEP(name, helper, before, inside, after) \
	NOINLINE void name(long more)             \
	{                                         \
		work((before)*US / 10 + more);    \
		helper((inside)*US / 10);         \
		work((after)*US / 10);            \
	}

/* In tenths of a us */
STEP(parse, copy, 50, 80, 20)
STEP(authorize, hash, 20, 70, 30)
STEP(lookup, hash, 40, 60, 30)
STEP(price, compare, 60, 40, 60)
STEP(match, compare, 70, 60, 20)
STEP(book, copy, 40, 70, 40)
STEP(route, hash, 30, 50, 40)
STEP(encode, copy, 60, 90, 20)
STEP(account, compare, 50, 50, 30)
STEP(notify, copy, 30, 60, 40)

/* The needle's path */
#define PART(name, tenths)              \
	NOINLINE void name(void)        \
	{                               \
		work((tenths)*US / 10); \
	}

PART(resize_count, 10)
PART(resize_reserve, 18)
PART(resize_clear, 12)
PART(resize_split, 20)
PART(resize_move, 16)
PART(resize_link, 14)
PART(resize_publish, 10)
PART(resize_release, 20)

NOINLINE void resize(void)
{
	resize_count();
	resize_reserve();
	resize_clear();
	resize_split();
	resize_move();
	resize_link();
	resize_publish();
	resize_release();
	work(15 * US / 10);
}

static void (*const steps[])(long) = {
	parse,	authorize, lookup, price, match,   book,   route,
	encode, account,   notify, parse, lookup,  price,  match,
	book,	encode,	   parse,  price, account, lookup, notify,
};

#define STEPS (sizeof(steps) / sizeof(*steps))

/* Watched by probes: where a request begins, and where it ends */
NOINLINE void request(uint64_t number)
{
	__asm__ volatile("" : : "r"(number));
}

NOINLINE void reply(uint64_t number)
{
	__asm__ volatile("" : : "r"(number));
}

static void serve(uint64_t number, int needle)
{
	unsigned char order[STEPS];
	long more = draw(6 * US) / STEPS;
	unsigned int i, j;

	for (i = 0; i < STEPS; i++) {
		j = draw(i + 1);
		order[i] = order[j];
		order[j] = i;
	}
	j = draw(STEPS);
	request(number);
	for (i = 0; i < STEPS; i++) {
		if (needle && i == j)
			resize();
		steps[order[i]](more);
	}
	reply(number);
}

int main(int argc, char **argv)
{
	uint64_t requests = argc == 4 ? strtoull(argv[1], NULL, 0) : 0;
	uint64_t every = argc == 4 ? strtoull(argv[2], NULL, 0) : 0;
	uint64_t i, at = 0, begin, *found;

	random_state = argc == 4 ? strtoull(argv[3], NULL, 0) : 0;
	if (!requests || !every || !random_state) {
		fprintf(stderr, "usage: needle REQUESTS EVERY SEED\n");
		return 2;
	}
	/* Printed at the end: nothing but requests runs until then */
	found = calloc(requests, sizeof(*found));
	if (!found)
		return 1;
	begin = now();
	for (i = 0; i < requests; i++) {
		if (i % every == 0)
			at = i + draw(every);
		found[i] = i == at;
		serve(i, found[i]);
	}
	begin = now() - begin;
	for (i = 0; i < requests; i++) {
		if (found[i])
			printf("needle %llu\n", (unsigned long long)i);
	}
	printf("total %llu %llu\n", (unsigned long long)begin,
	       (unsigned long long)requests);
	return 0;
}
