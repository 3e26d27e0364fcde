/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model of cache coherence: MESI, with a private cache of unlimited size for each CPU,
 * and nothing between these caches and memory.
 *
 * A line that a CPU has once held leaves its cache only when another CPU writes to it.
 * So every miss but the first access of all to a line is answered by another cache: a
 * line moved. A store to a line that others hold, too, moves no data, but has them give
 * up their copies: an upgrade. What a shared cache, a cache of limited size, prefetching
 * or a store buffer add or hide is not modelled.
 */
#ifndef MESI_H
#define MESI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MESI_LINE_SHIFT 6
#define MESI_CPUS_MAX 64

/**
 * enum mesi_state - how a CPU holds a line
 * @MESI_INVALID: not at all
 * @MESI_SHARED: unchanged, perhaps as others do
 * @MESI_EXCLUSIVE: unchanged, alone
 * @MESI_MODIFIED: changed, alone
 */
enum mesi_state {
	MESI_INVALID,
	MESI_SHARED,
	MESI_EXCLUSIVE,
	MESI_MODIFIED,
};

/**
 * enum mesi_event - what an access did
 * @MESI_HIT: nothing: the CPU held the line as it had to
 * @MESI_COLD: the first access of all to the line, which came from memory
 * @MESI_MOVED: the line came from another CPU's cache
 * @MESI_UPGRADED: the CPU held the line, and others gave up their copies
 * @MESI_FULL: not known: there is no room for another line
 */
enum mesi_event {
	MESI_HIT,
	MESI_COLD,
	MESI_MOVED,
	MESI_UPGRADED,
	MESI_FULL,
};

/**
 * struct mesi_line - a line that a CPU has accessed
 * @number: its address >> MESI_LINE_SHIFT, plus one; 0: no line
 * @holders: a bit for each CPU that holds it
 * @moved: how often it has moved since mesi_clear_counts()
 * @upgraded: how often it was upgraded since then
 * @modified: the only holder has changed it
 * @exclusive: the only holder knows that it is the only one
 */
struct mesi_line {
	uint64_t number;
	uint64_t holders;
	uint32_t moved;
	uint32_t upgraded : 30;
	uint32_t modified : 1;
	uint32_t exclusive : 1;
};

/**
 * struct mesi - the caches of all CPUs
 * @lines: a hash table with open addressing
 * @mask: its size, a power of two, less one
 * @used: how many lines are in it
 * @last: of each CPU the instruction of its last access, and the line that it loaded
 */
struct mesi {
	struct mesi_line *lines;
	size_t mask;
	size_t used;
	struct {
		const void *insn;
		uint64_t number;
	} last[MESI_CPUS_MAX];
};

/**
 * mesi_init() - make empty caches
 * @mesi: the caches
 * @shift: room for three quarters of 2^@shift lines
 * Return: false if there is no memory
 */
bool mesi_init(struct mesi *mesi, unsigned int shift);

/**
 * mesi_free() - free what mesi_init() allocated
 * @mesi: the caches
 */
void mesi_free(struct mesi *mesi);

/**
 * mesi_clear() - empty the caches
 * @mesi: the caches
 */
void mesi_clear(struct mesi *mesi);

/**
 * mesi_clear_counts() - set the counts of all lines to 0, and leave the lines where they are
 * @mesi: the caches
 */
void mesi_clear_counts(struct mesi *mesi);

/**
 * mesi_access() - a load or store within one line
 * @mesi: the caches
 * @cpu: the CPU, less than MESI_CPUS_MAX
 * @insn: the instruction, by any address that is its own
 * @address: where
 * @store: whether it is a store
 *
 * An instruction that loads from a line and then stores to it asks for the line once, and
 * alone, as a locked one does: its store never is an event of its own after a load that was.
 *
 * Return: what it did
 */
enum mesi_event mesi_access(struct mesi *mesi, unsigned int cpu,
			    const void *insn, uint64_t address, bool store);

/**
 * mesi_state() - how a CPU holds a line
 * @mesi: the caches
 * @cpu: the CPU
 * @address: an address in the line
 * Return: the state
 */
enum mesi_state mesi_state(const struct mesi *mesi, unsigned int cpu,
			   uint64_t address);

#endif
