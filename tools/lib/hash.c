// SPDX-License-Identifier: GPL-2.0
/* Hash table. See hash.h. */
#include <stdlib.h>
#include <sys/auxv.h>

#include <sodium/crypto_shorthash.h>

#include "hash.h"
#include "memory.h"

#define SLOTS_MIN 32u

/* Twice this number would need 2^32 slots, one for each value of a 32-bit hash */
#define ENTRIES_MAX (1u << 31)

u64 hash_seed[2];

/* The kernel gives 16 random bytes to each process; see getauxval(3) */
static void __attribute__((constructor)) make_seed(void)
{
	memcpy(hash_seed, (void *)getauxval(AT_RANDOM), sizeof(hash_seed));
	hash_seed[1] |= 1;
}

/**
 * hash_bytes - hash of bytes
 * @data:	bytes
 * @size:	number of bytes
 *
 * SipHash-2-4, designed for tables whose keys an attacker may choose (Aumasson and Bernstein,
 * "SipHash: a fast short-input PRF", INDOCRYPT 2012).
 */
u64 hash_bytes(const void *data, size_t size)
{
	u64 hash;

	_Static_assert(sizeof(hash) == crypto_shorthash_BYTES &&
			       sizeof(hash_seed) == crypto_shorthash_KEYBYTES,
		       "sizes of SipHash");
	crypto_shorthash((u8 *)&hash, data, size, (const u8 *)hash_seed);
	return hash;
}

static void put(struct hash *h, struct hash_slot s)
{
	u32 at = s.hash;

	while (h->slot[at & h->mask].used)
		at++;
	h->slot[at & h->mask] = s;
}

static void grow(struct hash *h)
{
	struct hash_slot *old = h->slot;
	u64 slots = old ? h->mask + 1ull : 0, i;

	if (h->nr == ENTRIES_MAX)
		memory_failed();
	h->mask = old ? 2 * h->mask + 1 : SLOTS_MIN - 1;
	h->slot = xcalloc(h->mask + 1ull, sizeof(*h->slot));
	for (i = 0; i < slots; i++) {
		if (old[i].used)
			put(h, old[i]);
	}
	free(old);
}

/**
 * hash_add - add an entry of the caller's
 * @h:		table
 * @hash:	hash of its key, which no other entry has
 *
 * Return: its number.
 */
u32 hash_add(struct hash *h, u64 hash)
{
	if (!h->slot || 2ull * h->nr > h->mask)
		grow(h);
	put(h, (struct hash_slot){ .hash = hash, .used = h->nr + 1 });
	return h->nr++;
}

/**
 * hash_new - allocate and add an entry; a table has only such entries, or none
 * @h:		table
 * @hash:	hash of its key, which no other entry has
 * @size:	bytes
 *
 * Return: the entry, zeroed, to be freed by hash_free().
 */
void *hash_new(struct hash *h, u64 hash, size_t size)
{
	GROW(h->entry, h->nr, h->room);
	h->entry[h->nr] = xzalloc(size);
	return h->entry[hash_add(h, hash)];
}

/**
 * hash_free - free a table and the entries that hash_new() has allocated
 * @h:	table; empty afterwards
 */
void hash_free(struct hash *h)
{
	u32 i;

	for (i = 0; h->entry && i < h->nr; i++)
		free(h->entry[i]);
	free(h->entry);
	free(h->slot);
	*h = (struct hash){ 0 };
}
