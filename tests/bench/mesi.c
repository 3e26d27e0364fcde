// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "mesi.h"

bool mesi_init(struct mesi *mesi, unsigned int shift)
{
	memset(mesi, 0, sizeof(*mesi));
	mesi->lines = calloc((size_t)1 << shift, sizeof(*mesi->lines));
	mesi->mask = ((size_t)1 << shift) - 1;
	return mesi->lines;
}

void mesi_free(struct mesi *mesi)
{
	free(mesi->lines);
	mesi->lines = NULL;
}

void mesi_clear(struct mesi *mesi)
{
	memset(mesi->lines, 0, (mesi->mask + 1) * sizeof(*mesi->lines));
	memset(mesi->last, 0, sizeof(mesi->last));
	mesi->used = 0;
}

void mesi_clear_counts(struct mesi *mesi)
{
	size_t i;

	for (i = 0; i <= mesi->mask; i++) {
		mesi->lines[i].moved = 0;
		mesi->lines[i].upgraded = 0;
	}
}

/* The line, or the free place where it would be */
static struct mesi_line *find(const struct mesi *mesi, uint64_t number)
{
	size_t i = (number * 0x9e3779b97f4a7c15ULL) >> 20 & mesi->mask;

	while (mesi->lines[i].number && mesi->lines[i].number != number)
		i = (i + 1) & mesi->mask;
	return &mesi->lines[i];
}

static enum mesi_event load(struct mesi_line *line, uint64_t bit)
{
	if (line->holders & bit)
		return MESI_HIT;
	/* If another changed it, that one writes it back and keeps it */
	line->holders |= bit;
	line->modified = 0;
	line->exclusive = 0;
	line->moved++;
	return MESI_MOVED;
}

/* @asked: the same instruction has loaded the line, in order to store */
static enum mesi_event store(struct mesi_line *line, uint64_t bit, bool asked)
{
	enum mesi_event event = MESI_HIT;

	if (!(line->holders & bit)) {
		event = MESI_MOVED;
		line->moved++;
	} else if (!line->modified && !line->exclusive && !asked) {
		event = MESI_UPGRADED;
		line->upgraded++;
	}
	line->holders = bit;
	line->modified = 1;
	line->exclusive = 0;
	return event;
}

enum mesi_event mesi_access(struct mesi *mesi, unsigned int cpu,
			    const void *insn, uint64_t address, bool is_store)
{
	uint64_t number = (address >> MESI_LINE_SHIFT) + 1, bit = 1ULL << cpu;
	struct mesi_line *line = find(mesi, number);
	enum mesi_event event;
	bool asked;

	if (!line->number) {
		if (mesi->used >= (mesi->mask + 1) / 4 * 3)
			return MESI_FULL;
		mesi->used++;
		line->number = number;
		line->holders = bit;
		line->modified = is_store;
		line->exclusive = !is_store;
		return MESI_COLD;
	}
	if (!is_store) {
		event = load(line, bit);
		mesi->last[cpu].insn = event == MESI_MOVED ? insn : NULL;
		mesi->last[cpu].number = number;
		return event;
	}
	asked = mesi->last[cpu].insn == insn &&
		mesi->last[cpu].number == number;
	mesi->last[cpu].insn = NULL;
	return store(line, bit, asked);
}

enum mesi_state mesi_state(const struct mesi *mesi, unsigned int cpu,
			   uint64_t address)
{
	const struct mesi_line *line =
		find(mesi, (address >> MESI_LINE_SHIFT) + 1);

	if (!line->number || !(line->holders >> cpu & 1))
		return MESI_INVALID;
	if (line->modified)
		return MESI_MODIFIED;
	return line->exclusive ? MESI_EXCLUSIVE : MESI_SHARED;
}
