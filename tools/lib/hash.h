/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hash table: finds the entries of a set by their keys, in constant time.
 *
 * The table knows entries by their numbers, 0, 1, 2 and so on in the order in which they
 * were added, and keys by their hashes; the caller has the keys, and compares them.
 * Entries are elements of an array of the caller's, or allocated by hash_new(). They
 * cannot be removed one by one. A table of zeroes is an empty one.
 *
 * Hashes differ from one process to the next, so that the author of a hostile file cannot
 * choose keys that collide. Results must not depend on them: walk over entries by their
 * numbers.
 */
#ifndef LIB_HASH_H
#define LIB_HASH_H

#include <linux/limits.h>
#include <linux/types.h>
#include <stddef.h>
#include <string.h>

/* No entry */
#define HASH_NONE U32_MAX

/**
 * struct hash_slot - a place in a table
 * @hash:	lower half of an entry's hash
 * @used:	the entry's number plus one; 0: none
 */
struct hash_slot {
	u32 hash;
	u32 used;
};

/**
 * struct hash - a table
 * @slot:	its slots, or NULL; an entry is in the first free one from its hash on
 * @mask:	number of slots minus one, of which at most half are in use
 * @nr:		number of entries
 * @entry:	entries that hash_new() has allocated, by number
 * @room:	allocated elements of @entry
 */
struct hash {
	struct hash_slot *slot;
	u32 mask;
	u32 nr;
	void **entry;
	u32 room;
};

extern u64 hash_seed[2];

/**
 * hash_mix - spread the bits of a number
 * @n:	number
 *
 * The finaliser of splitmix64, Stafford's variant 13 (Steele, Lea and Flood, "Fast
 * splittable pseudorandom number generators", OOPSLA 2014). Of different numbers the
 * results are different, and the same in each process.
 */
static inline u64 hash_mix(u64 n)
{
	n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9ull;
	n = (n ^ n >> 27) * 0x94d049bb133111ebull;
	return n ^ n >> 31;
}

/**
 * hash_more - hash of a key with one more part
 * @hash:	hash of the parts before
 * @n:		the part
 *
 * The product with a secret odd number collides rarely in its upper bits, for any keys
 * (Dietzfelbinger et al., "A reliable randomized algorithm for the closest-pair problem",
 * J. Algorithms 25, 1997); hash_mix() spreads these.
 */
static inline u64 hash_more(u64 hash, u64 n)
{
	return hash_mix((hash ^ n) * hash_seed[1]);
}

/**
 * hash_u64 - hash of a number
 * @n:	number
 */
static inline u64 hash_u64(u64 n)
{
	return hash_more(hash_seed[0], n);
}

/**
 * hash_pair - hash of two numbers
 * @a:	one number
 * @b:	the other
 */
static inline u64 hash_pair(u64 a, u64 b)
{
	return hash_more(hash_u64(a), b);
}

u64 hash_bytes(const void *data, size_t size);

/**
 * hash_string - hash of a string
 * @s:	string
 */
static inline u64 hash_string(const char *s)
{
	return hash_bytes(s, strlen(s));
}

/**
 * hash_next - find the next entry that may have a key
 * @h:		table
 * @hash:	hash of the key
 * @at:		where to look; at first the hash
 *
 * Return: its number, or HASH_NONE.
 */
static inline u32 hash_next(const struct hash *h, u64 hash, u64 *at)
{
	const struct hash_slot *s;

	if (!h->slot)
		return HASH_NONE;
	while ((s = &h->slot[(*at)++ & h->mask])->used) {
		if (s->hash == (u32)hash)
			return s->used - 1;
	}
	return HASH_NONE;
}

/**
 * hash_entry - an entry of hash_new()
 * @h:	table
 * @nr:	its number
 *
 * Return: the entry, or NULL if there is none with this number.
 */
static inline void *hash_entry(const struct hash *h, u32 nr)
{
	return nr < h->nr ? h->entry[nr] : NULL;
}

/**
 * hash_for_each_possible - walk over the entries that may have a key
 * @h:		table
 * @hash:	hash of the key
 * @i:		u32, set to the number of each
 *
 * Some of them have another key with the same hash. The loop must not add entries.
 */
#define hash_for_each_possible(h, hash, i) \
	for (u64 at_ = (hash); ((i) = hash_next(h, hash, &at_)) != HASH_NONE;)

/**
 * hash_for_each_possible_entry - the same for entries of hash_new()
 * @h:		table
 * @hash:	hash of the key
 * @e:		pointer, set to each
 */
#define hash_for_each_possible_entry(h, hash, e) \
	for (u64 at_ = (hash); ((e) = hash_entry(h, hash_next(h, hash, &at_)));)

/**
 * hash_for_each - walk over the entries of hash_new(), in the order of their numbers
 * @h:	table
 * @i:	u32, set to the number of each
 * @e:	pointer, set to each
 *
 * Includes entries that the loop adds.
 */
#define hash_for_each(h, i, e) for ((i) = 0; ((e) = hash_entry(h, i)); (i)++)

u32 hash_add(struct hash *h, u64 hash);
void *hash_new(struct hash *h, u64 hash, size_t size);
void hash_free(struct hash *h);

#endif
