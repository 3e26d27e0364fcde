// SPDX-License-Identifier: GPL-2.0
/*
 * The longest common subsequence of two sequences of functions, 64 cells at a
 * time.
 *
 * L[i][j], the length for the first i of a and the first j of b, grows by 0 or 1
 * from each i to the next. Bit i of V_j is 0 where L[i+1][j] - L[i][j] is 1, so
 * that zeros of V_n count the length. With M the positions of b[j] in a,
 *
 *	V' = (V + (V & M)) | (V & ~M)
 *
 * (Crochemore, Iliopoulos, Pinzon and Reid, "A fast and practical bit-vector
 * algorithm for the longest common subsequence problem", Information Processing
 * Letters 80, 2001; Hyyro, "Bit-parallel LCS-length computation revisited", 2004.)
 *
 * To know which functions are common, the V of all j are kept; where that would
 * be too much memory, b is halved as Hirschberg does ("A linear space algorithm
 * for computing maximal common subsequences", CACM 18, 1975): rows of L come from
 * V by counting its zeros. Common beginnings and ends are always part of it.
 */
#include <stdlib.h>
#include <string.h>

#include "pathdiff.h"

/* Words of V that are kept, 64 MiB */
#define KEEP_WORDS (8u << 20)

/**
 * struct lcs - memory for it
 * @row:	for each symbol, one more than its row of masks, 0: not in a
 * @symbols:	number of symbols
 * @used:	symbols in a, once each
 * @nr_used:	number of them
 * @max_used:	room
 * @mask:	rows of @words words
 * @max_mask:	room
 * @v:		V
 * @max_v:	room
 * @words:	of a
 * @a_len:	length of a
 * @kept:	all V, or NULL
 * @max_kept:	room
 */
struct lcs {
	u32 *row;
	u32 symbols;
	u32 *used;
	u32 nr_used;
	u32 max_used;
	u64 *mask;
	size_t max_mask;
	u64 *v;
	size_t max_v;
	size_t words;
	u32 a_len;
	u64 *kept;
	size_t max_kept;
};

/**
 * lcs_new - prepare
 * @symbols: all symbols are less than this
 */
struct lcs *lcs_new(u32 symbols)
{
	struct lcs *l = xzalloc(sizeof(*l));

	l->symbols = symbols;
	l->row = xzalloc(symbols * sizeof(*l->row));
	return l;
}

/**
 * lcs_free - free it
 * @l: what lcs_new() returned
 */
void lcs_free(struct lcs *l)
{
	free(l->row);
	free(l->used);
	free(l->mask);
	free(l->v);
	free(l->kept);
	free(l);
}

static void reserve(u64 **v, size_t *max, size_t words)
{
	if (words <= *max)
		return;
	free(*v);
	*max = 2 * words;
	*v = xreallocarray(NULL, *max, sizeof(**v));
}

/* As reserve(), but what is there stays */
static void extend(u64 **v, size_t *max, size_t words)
{
	if (words <= *max)
		return;
	*max = 2 * words;
	*v = xreallocarray(*v, *max, sizeof(**v));
}

/* Masks of a, or of a from its end */
static void set_first(struct lcs *l, const u32 *a, u32 len, bool backwards)
{
	u32 i;

	for (i = 0; i < l->nr_used; i++)
		l->row[l->used[i]] = 0;
	l->nr_used = 0;
	l->a_len = len;
	l->words = (len + 63) / 64;
	for (i = 0; i < len; i++) {
		u32 symbol = a[backwards ? len - 1 - i : i];

		if (!l->row[symbol]) {
			GROW(l->used, l->nr_used, l->max_used);
			l->used[l->nr_used++] = symbol;
			l->row[symbol] = l->nr_used;
			extend(&l->mask, &l->max_mask, l->nr_used * l->words);
			memset(l->mask + (l->nr_used - 1) * l->words, 0,
			       l->words * sizeof(*l->mask));
		}
		l->mask[(l->row[symbol] - 1) * l->words + i / 64] |= 1ull
								     << i % 64;
	}
	reserve(&l->v, &l->max_v, l->words);
	memset(l->v, 0xff, l->words * sizeof(*l->v));
}

/**
 * lcs_first - set the sequence that others are compared with
 * @l: what lcs_new() returned
 * @a: the sequence
 * @len: its length
 */
void lcs_first(struct lcs *l, const u32 *a, u32 len)
{
	set_first(l, a, len, false);
}

static void advance(struct lcs *l, u32 symbol)
{
	u32 row = l->row[symbol];
	const u64 *mask;
	u64 carry = 0;
	size_t w;

	if (!row)
		return;
	mask = l->mask + (row - 1) * l->words;
	for (w = 0; w < l->words; w++) {
		u64 v = l->v[w], u = v & mask[w], sum;

		carry = __builtin_add_overflow(v, carry, &sum);
		carry |= __builtin_add_overflow(sum, u, &sum);
		l->v[w] = sum | (v & ~mask[w]);
	}
}

/* Zeros of the first @len bits of V */
static u32 zeros(const u64 *v, u32 len)
{
	u32 n = 0, w;

	for (w = 0; w < len / 64; w++)
		n += __builtin_popcountll(~v[w]);
	if (len % 64)
		n += __builtin_popcountll(~v[w] & ((1ull << len % 64) - 1));
	return n;
}

/**
 * lcs_length - length of the longest common subsequence
 * @l: with lcs_first()
 * @b: the other sequence
 * @len: its length
 */
u32 lcs_length(struct lcs *l, const u32 *b, u32 len)
{
	u32 j;

	memset(l->v, 0xff, l->words * sizeof(*l->v));
	for (j = 0; j < len; j++)
		advance(l, b[j]);
	return zeros(l->v, l->a_len);
}

/* L[0..a_len][b_len], or of both from their ends */
static u32 *last_row(struct lcs *l, const u32 *a, u32 a_len, const u32 *b,
		     u32 b_len, bool backwards)
{
	u32 *row = xzalloc((a_len + 1) * sizeof(*row)), i;

	set_first(l, a, a_len, backwards);
	for (i = 0; i < b_len; i++)
		advance(l, b[backwards ? b_len - 1 - i : i]);
	for (i = 0; i < a_len; i++)
		row[i + 1] = row[i] + !(l->v[i / 64] >> i % 64 & 1);
	return row;
}

static void match_kept(struct lcs *l, const u32 *a, u32 a_len, const u32 *b,
		       u32 b_len, u32 a_at, u32 b_at, u32 *match)
{
	u32 i = a_len, j;

	set_first(l, a, a_len, false);
	reserve(&l->kept, &l->max_kept, l->words * b_len);
	for (j = 0; j < b_len; j++) {
		advance(l, b[j]);
		memcpy(l->kept + j * l->words, l->v, l->words * sizeof(*l->v));
	}
	/* From the end: where L does not change without a[i], or without b[j],
	 * it is not needed; else both are, and are equal.
	 */
	for (j = b_len; i && j;) {
		const u64 *v = l->kept + (j - 1) * l->words;
		u64 bit = 1ull << (i - 1) % 64;
		size_t w = (i - 1) / 64;

		if (v[w] & bit) {
			i--;
			continue;
		}
		if (j > 1 && !(v[w - l->words] & bit)) {
			j--;
			continue;
		}
		match[a_at + i - 1] = b_at + j - 1;
		i--;
		j--;
	}
}

static void match_part(struct lcs *l, const u32 *a, u32 a_len, const u32 *b,
		       u32 b_len, u32 a_at, u32 b_at, u32 *match)
{
	u32 *before, *behind, half = b_len / 2, best = 0, i;

	if (!a_len || !b_len)
		return;
	if ((u64)((a_len + 63) / 64) * b_len <= KEEP_WORDS || b_len == 1) {
		match_kept(l, a, a_len, b, b_len, a_at, b_at, match);
		return;
	}
	before = last_row(l, a, a_len, b, half, false);
	behind = last_row(l, a, a_len, b + half, b_len - half, true);
	for (i = 1; i <= a_len; i++) {
		if (before[i] + behind[a_len - i] >
		    before[best] + behind[a_len - best])
			best = i;
	}
	free(before);
	free(behind);
	match_part(l, a, best, b, half, a_at, b_at, match);
	match_part(l, a + best, a_len - best, b + half, b_len - half,
		   a_at + best, b_at + half, match);
}

/**
 * lcs_match - which elements are common
 * @l: what lcs_new() returned; lcs_first() is to be called again
 * @a: a sequence
 * @a_len: its length
 * @b: the other one
 * @b_len: its length
 * @match: for each element of @a, its place in @b or NONE
 *
 * Return: the length of the longest common subsequence.
 */
u32 lcs_match(struct lcs *l, const u32 *a, u32 a_len, const u32 *b, u32 b_len,
	      u32 *match)
{
	u32 begin = 0, end = 0, n = 0, i;

	for (i = 0; i < a_len; i++)
		match[i] = NONE;
	while (begin < a_len && begin < b_len && a[begin] == b[begin]) {
		match[begin] = begin;
		begin++;
	}
	while (end < a_len - begin && end < b_len - begin &&
	       a[a_len - 1 - end] == b[b_len - 1 - end]) {
		match[a_len - 1 - end] = b_len - 1 - end;
		end++;
	}
	match_part(l, a + begin, a_len - begin - end, b + begin,
		   b_len - begin - end, begin, begin, match);
	for (i = 0; i < a_len; i++)
		n += match[i] != NONE;
	return n;
}
