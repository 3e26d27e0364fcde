// SPDX-License-Identifier: GPL-2.0
/*
 * gen_large FILE EVENTS
 *
 * Writes a trace.dat of about EVENTS block events (58 bytes each) on 4 CPUs, to
 * see how fast and in how much memory a tool reads it: reads of about 100 us,
 * 8 at a time on each CPU, of which one in 10,000 takes 50 ms. Only a page of
 * it is in memory at a time. Prints how many there are: events=, slow=.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "prng.h"
#include "scenario.h"

#define CPUS 4
#define DEPTH 8

struct read {
	uint64_t end;
	uint64_t sector;
};

static uint64_t state = 88172645463325252ULL;

static double rnd(void)
{
	return unit_interval(xorshift64(&state));
}

static uint64_t duration(bool *slow)
{
	double r = rnd();

	*slow = rnd() < 1e-4;
	return *slow ? 50000000 :
		       100000 * exp(0.25 * sqrt(-2 * log(r)) *
				    cos(2 * M_PI * rnd()));
}

static int earliest(const struct read *r)
{
	int i, found = 0;

	for (i = 1; i < DEPTH; i++) {
		if (r[i].end < r[found].end)
			found = i;
	}
	return found;
}

/* Each read begins when one ends; a CPU's sectors are its own. */
static void write_cpu(struct td *td, unsigned int cpu, uint64_t reads,
		      uint64_t *slow)
{
	uint64_t sector = (uint64_t)cpu << 32, now = SC_BASE + cpu * 97, n;
	struct read in_flight[DEPTH] = { { 0, 0 } };
	bool is_slow;
	int i;

	for (n = 0; n < reads; n++) {
		i = n < DEPTH ? (int)n : earliest(in_flight);
		if (n >= DEPTH) {
			if (in_flight[i].end > now)
				now = in_flight[i].end;
			sc_rq_complete(td, cpu, now, 0, SC_BLOCK_DEV,
				       in_flight[i].sector);
		}
		now += 1000;
		sector += 8;
		in_flight[i].sector = sector;
		in_flight[i].end = now + duration(&is_slow);
		*slow += is_slow;
		sc_bio_queue(td, cpu, now, 1000 + i, SC_BLOCK_DEV, sector);
	}
	for (i = 0; i < DEPTH; i++) {
		int k = earliest(in_flight);

		if (in_flight[k].end > now)
			now = in_flight[k].end;
		sc_rq_complete(td, cpu, now, 0, SC_BLOCK_DEV,
			       in_flight[k].sector);
		in_flight[k].end = UINT64_MAX;
	}
	td_stream_cpu(td, cpu);
}

int main(int argc, char **argv)
{
	struct td_layout layout = { .page_size = 4096, .clock = "local" };
	uint64_t reads = argc == 3 ? strtoull(argv[2], NULL, 10) / 2 / CPUS : 0;
	uint64_t slow = 0;
	unsigned int cpu;
	struct td td;

	if (reads < DEPTH) {
		fprintf(stderr, "usage: gen_large FILE EVENTS\n");
		return 2;
	}
	td_init(&td, &layout, CPUS);
	td.cmdlines = "1000 reader-1000\n";
	sc_formats(&td, false);
	if (!td_stream(&td, argv[1])) {
		perror(argv[1]);
		return 1;
	}
	for (cpu = 0; cpu < CPUS; cpu++)
		write_cpu(&td, cpu, reads, &slow);
	if (!td_stream_end(&td)) {
		perror(argv[1]);
		return 1;
	}
	td_free(&td);
	printf("events=%llu\nslow=%llu\n",
	       (unsigned long long)(2 * CPUS * reads),
	       (unsigned long long)slow);
	return 0;
}
