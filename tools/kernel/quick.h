/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tracecast: records in few instructions. See wire.h.
 *
 * A QUICK datagram has the records that DATA has, in more bytes and a tenth of the
 * time: bits of fixed length, each first one of a byte at its lowest bit. What is
 * coded, in this order:
 *
 *	symbol	a bit: is it the one that came last after the symbol before? If not, 5
 *		bits, enum tracecast_symbol
 *	time	since the record before, or the header's: 4 bits, s, and 4 + 2 * s of it;
 *		for 15, 64
 *	shape	the record's length, and which of its words are not those of the last
 *		record of its event. A bit: is it the shape that came last after the
 *		shape before? If not, 3 bits: one of the last 7 of the event; or 7, and
 *		6 bits of length, in words, and a bit for each word
 *	words	the others. A bit: is it the one that came last, at this position, behind
 *		the one of these before it, or, if it is the first of them, behind word 1
 *		of the last record of its event? If not, 2 bits: among those seen, and 8
 *		bits of a hash; 8 or 16 bits of difference; 32 bits
 *
 * A record that is not whole words, or more than 32, or less than 2, is plain: time, 17
 * bits of length, bytes. The name of a task: 32 bits of pid, 16 bytes.
 *
 * Everything is known from the same datagram. Writing and reading are the same code,
 * compiled twice: what it is given only matters when it writes.
 */
#ifndef _TRACECAST_QUICK_H
#define _TRACECAST_QUICK_H

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include "wire.h"

/* Length of the longest time, and what says so */
#define TIME_BITS(s) (4 + 2 * (s))
#define TIME_ALL 15

/* Instead of a shape's number: it follows */
#define SHAPE_NEW TRACECAST_SHAPES

/* So that a word's place is of account, too */
#define WORD_STEP 0x9e3779b1

/**
 * enum word - what a word is that is not the one that was guessed
 * @WORD_SEEN: one that was seen, by its hash
 * @WORD_NEAR: 8 bits more or less than in the last record
 * @WORD_FAR: 16 bits
 * @WORD_ANY: any
 */
enum word { WORD_SEEN, WORD_NEAR, WORD_FAR, WORD_ANY };

static inline void quick_put(struct tracecast_bits *b)
{
	if (b->end - b->at >= 4) {
		put_unaligned_le32(b->acc, b->at);
		b->at += 4;
	} else {
		b->full = true;
	}
	b->acc >>= 32;
	b->nr -= 32;
}

static inline void quick_get(struct tracecast_bits *b, unsigned int bits)
{
	while (b->nr < bits) {
		if (b->at < b->end)
			b->acc |= (u64)*b->at++ << b->nr;
		else
			b->past_end++;
		b->nr += 8;
	}
}

/* @bits bits, 1 to 32 */
static __always_inline u32 quick_bits(struct tracecast_bits *b,
				      const bool reads, unsigned int bits,
				      u32 value)
{
	if (reads) {
		quick_get(b, bits);
		value = b->acc & (U32_MAX >> (32 - bits));
		b->acc >>= bits;
		b->nr -= bits;
		return value;
	}
	b->acc |= (u64)value << b->nr;
	b->nr += bits;
	if (b->nr >= 32)
		quick_put(b);
	return value;
}

/* Which of the symbols, by what came last after this one */
static __always_inline u32 quick_symbol(struct tracecast_bits *b,
					const bool reads,
					struct tracecast_quick *q, u32 symbol)
{
	u32 expected = q->after[q->place];

	if (quick_bits(b, reads, 1, symbol == expected))
		return expected;
	return quick_bits(b, reads, 5, symbol);
}

static __always_inline u64 quick_time(struct tracecast_bits *b,
				      const bool reads, u64 delta)
{
	u32 size = fls64(delta), s = size <= 4 ? 0 : (size - 3) / 2;
	u64 upper;

	s = quick_bits(b, reads, 4, min_t(u32, s, TIME_ALL));
	if (s < TIME_ALL)
		return quick_bits(b, reads, TIME_BITS(s), delta);
	upper = quick_bits(b, reads, 32, delta >> 32);
	return upper << 32 | quick_bits(b, reads, 32, delta);
}

static inline u32 quick_find_shape(const struct tracecast_place *p, u32 len,
				   u32 mask)
{
	u32 i;

	for (i = 0; i < TRACECAST_SHAPES; i++) {
		if (p->shape[i].mask == mask && p->shape[i].len == len)
			break;
	}
	return i;
}

/* @len in words; returns the shape's number, behind which @len and @mask are */
static __always_inline u32 quick_shape(struct tracecast_bits *b,
				       const bool reads,
				       struct tracecast_place *p, u32 len,
				       u32 mask)
{
	u32 expected = p->shape_after[p->shape_now], i = expected;

	if (!reads && (p->shape[i].mask != mask || p->shape[i].len != len))
		i = quick_find_shape(p, len, mask);
	if (quick_bits(b, reads, 1, i == expected)) {
		i = expected;
	} else {
		i = quick_bits(b, reads, 3, i);
		if (i == SHAPE_NEW) {
			i = p->nr_shapes++ % TRACECAST_SHAPES;
			len = min_t(u32, quick_bits(b, reads, 6, len),
				    TRACECAST_WORDS);
			p->shape[i].len = len;
			p->shape[i].mask =
				len ? quick_bits(b, reads, len, mask) : 0;
		}
		p->shape_after[p->shape_now] = i;
	}
	p->shape_now = i;
	return i;
}

static __always_inline u32 quick_hash(u32 word, unsigned int bits)
{
	return word * 0x61c88647 >> (32 - bits);
}

/* One that was not guessed: where it was seen, or its difference to @like */
static __always_inline u32 quick_other(struct tracecast_bits *b,
				       const bool reads,
				       struct tracecast_quick *q, u32 word,
				       u32 like)
{
	u32 at = quick_hash(word, TRACECAST_KNOWN_BITS), more = word - like;
	enum word kind = WORD_ANY;

	if (!reads) {
		if (q->known[at] == word)
			kind = WORD_SEEN;
		else if (more + 0x80 < 0x100)
			kind = WORD_NEAR;
		else if (more + 0x8000 < 0x10000)
			kind = WORD_FAR;
	}
	switch (quick_bits(b, reads, 2, kind)) {
	case WORD_SEEN:
		return q->known[quick_bits(b, reads, TRACECAST_KNOWN_BITS, at)];
	case WORD_NEAR:
		return like - 0x80 + quick_bits(b, reads, 8, more + 0x80);
	case WORD_FAR:
		word = like - 0x8000 + quick_bits(b, reads, 16, more + 0x8000);
		break;
	default:
		word = quick_bits(b, reads, 32, word);
	}
	q->known[quick_hash(word, TRACECAST_KNOWN_BITS)] = word;
	return word;
}

/*
 * @before: the word before that was not as in the last record, or word 1 of that one, and where
 * this one is
 */
static __always_inline u32 quick_word(struct tracecast_bits *b,
				      const bool reads,
				      struct tracecast_quick *q, u32 before,
				      u32 word, u32 like)
{
	u32 *guess = &q->guess[quick_hash(before, TRACECAST_GUESS_BITS)];

	if (quick_bits(b, reads, 1, word == *guess))
		return *guess;
	word = quick_other(b, reads, q, word, like);
	*guess = word;
	return word;
}

/* All of its words; returns how many bytes it has */
static __always_inline u32 quick_record(struct tracecast_bits *b,
					const bool reads,
					struct tracecast_quick *q, u8 *record,
					u32 len)
{
	struct tracecast_place *p = &q->last[q->place];
	u32 mask = 0, before, i;

	for (i = 0; !reads && i < len / 4; i++)
		mask |= (u32)(get_unaligned_le32(record + 4 * i) != p->word[i])
			<< i;
	i = quick_shape(b, reads, p, len / 4, mask);
	len = p->shape[i].len;
	before = p->word[1];
	for (mask = p->shape[i].mask; mask; mask &= mask - 1) {
		i = __ffs64(mask);
		before = quick_word(b, reads, q, before + i * WORD_STEP,
				    reads ? 0 :
					    get_unaligned_le32(record + 4 * i),
				    p->word[i]);
		p->word[i] = before;
	}
	for (i = 0; reads && i < len; i++)
		put_unaligned_le32(p->word[i], record + 4 * i);
	return 4 * len;
}

/* One with a place in @q, or that gets one; the symbol has been coded */
static __always_inline u32 quick_short(struct tracecast_bits *b,
				       const bool reads,
				       struct tracecast_quick *q, u32 symbol,
				       u64 time, u8 *record, u32 len)
{
	u32 place = symbol;

	if (symbol == TRACECAST_NEW) {
		place = q->nr++ % TRACECAST_PAST;
		memset(&q->last[place], 0, sizeof(q->last[place]));
		if (!reads)
			q->type[place] = get_unaligned_le16(record);
	}
	q->after[q->place] = place;
	q->place = place;
	q->time += quick_time(b, reads, time - q->time);
	return quick_record(b, reads, q, record, len);
}

#endif /* _TRACECAST_QUICK_H */
