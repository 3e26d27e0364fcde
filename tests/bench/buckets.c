// SPDX-License-Identifier: GPL-2.0
/*
 * usage: buckets
 *
 * How many cache lines with buckets of ctlchart's table move between CPUs for each pair
 * of events, in the load "same" of tests/bench/coherence?  Calculated: a CPU puts four
 * starts, then takes their ends, and CPUs take turns at random.  Keys recur after 16
 * such rounds of their CPU, or are new each time.  With 16 and 64 CPUs and recurring
 * keys in a table of 4096 entries, that bench counts 0.35 and 1.1.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "table.h"

#define BATCH 4
#define ROUNDS 16
#define CPUS_MAX 64
#define LINE 64
/* Of each CPU: rounds to warm up, then those that are counted */
#define WARM 128
#define COUNTED 1536
#define RUNS 8

static uint64_t state = 88172645463325252ULL;

/* Marsaglia's xorshift; the same numbers in every run */
static uint64_t number(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static uint64_t key_of(unsigned int cpu, unsigned int step, int recurs)
{
	unsigned int round = step / (2 * BATCH);

	if (recurs)
		round %= ROUNDS;
	/* As that load's, which recur: few enough for these bits */
	return cpu << 16 | (round * BATCH + step % BATCH);
}

static double lines_per_pair(unsigned int cpus, unsigned int size,
			     unsigned int bucket, int recurs)
{
	unsigned int step[CPUS_MAX] = { 0 }, cpu;
	uint64_t seed = number(), key, line;
	/* The CPU that used a line last, plus one */
	uint8_t *last = calloc((uint64_t)size * bucket / LINE, 1);
	unsigned long n, moved = 0;

	if (!last)
		abort();
	for (n = 0; n < 2UL * BATCH * cpus * (WARM + COUNTED); n++) {
		cpu = number() % cpus;
		key = key_of(cpu, step[cpu]++, recurs);
		/* size is a power of two */
		line = ctlchart_table_hash_key(seed, key) >>
		       (64 - __builtin_ctz(size));
		line = line * bucket / LINE;
		if (n >= 2UL * BATCH * cpus * WARM && last[line])
			moved += last[line] != cpu + 1;
		last[line] = cpu + 1;
	}
	free(last);
	return (double)moved / ((double)BATCH * cpus * COUNTED);
}

static double mean(unsigned int cpus, unsigned int size, unsigned int bucket,
		   int recurs)
{
	double sum = 0;
	int i;

	for (i = 0; i < RUNS; i++)
		sum += lines_per_pair(cpus, size, bucket, recurs);
	return sum / RUNS;
}

int main(void)
{
	static const unsigned int cpus[] = { 2, 16, 64 };
	static const unsigned int sizes[] = { 4096, 16384, 65536 };
	const unsigned int bucket = sizeof(struct ctlchart_bucket);
	size_t i, j;

	printf("CPUs  size=   recurring keys  new keys  recurring, a line per bucket\n");
	for (i = 0; i < sizeof(cpus) / sizeof(*cpus); i++) {
		for (j = 0; j < sizeof(sizes) / sizeof(*sizes); j++)
			printf("%4u  %6u  %14.2f  %8.2f  %28.2f\n", cpus[i],
			       sizes[j], mean(cpus[i], sizes[j], bucket, 1),
			       mean(cpus[i], sizes[j], bucket, 0),
			       mean(cpus[i], sizes[j], LINE, 1));
	}
	return 0;
}
