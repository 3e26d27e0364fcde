/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _COMPAT_LINUX_SIPHASH_H
#define _COMPAT_LINUX_SIPHASH_H

#include <sodium/crypto_shorthash.h>
#include <linux/types.h>
#include <linux/unaligned.h>

typedef struct {
	u64 key[2];
} siphash_key_t;

/* SipHash-2-4, of which libsodium has the bytes, and the kernel the number */
static inline u64 siphash(const void *data, size_t len,
			  const siphash_key_t *key)
{
	u8 hash[crypto_shorthash_BYTES], k[crypto_shorthash_KEYBYTES];

	put_unaligned_le64(key->key[0], k);
	put_unaligned_le64(key->key[1], k + 8);
	crypto_shorthash(hash, data, len, k);
	return get_unaligned_le64(hash);
}

#endif
