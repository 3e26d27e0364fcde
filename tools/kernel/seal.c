// SPDX-License-Identifier: GPL-2.0
/*
 * tracecast: seals, the last bytes of each datagram of a session with a key.
 *
 * A seal is the number of the datagram, the number of the last one that came from the
 * other side, and a tag, by which only who has the key could write it: SipHash-2-4 of
 * all that is before the tag. The kinds of datagrams of the two sides differ, and so do
 * the random numbers of sessions, so that a tag is worth nothing elsewhere.
 *
 * Neither side believes what was recorded earlier. The receiver's numbers begin at
 * a random one for each receiver: who sends one back has received it. Each of
 * the sender's numbers counts once. To the sender, an ACK is new if it has a later
 * number than the ACKs before, or is itself later than ACKs with the same one.
 */
#include <linux/siphash.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include "wire.h"

/**
 * tracecast_seal - put a seal behind a datagram
 * @to: the datagram, with room for TRACECAST_SEAL bytes behind it
 * @len: bytes of it
 * @key: what both sides have
 * @seal: what it says
 *
 * Context: any.
 * Return: bytes of it with the seal.
 */
u32 tracecast_seal(u8 *to, u32 len, const siphash_key_t *key,
		   const struct tracecast_seal *seal)
{
	to[2] |= TRACECAST_SEALED;
	put_unaligned_le64(seal->number, to + len);
	put_unaligned_le64(seal->echo, to + len + 8);
	put_unaligned_le64(siphash(to, len + 16, key), to + len + 16);
	return len + TRACECAST_SEAL;
}

/**
 * tracecast_unseal - check the seal of a datagram
 * @from: the datagram, of which tracecast_get_header() said that it is one
 * @len: bytes of it
 * @key: what both sides have
 * @seal: where to
 *
 * Return: bytes of it without the seal; 0 if there is none, or somebody else wrote it.
 */
u32 tracecast_unseal(const u8 *from, size_t len, const siphash_key_t *key,
		     struct tracecast_seal *seal)
{
	if (!(from[2] & TRACECAST_SEALED) ||
	    len < TRACECAST_HEADER + TRACECAST_SEAL)
		return 0;
	len -= TRACECAST_SEAL;
	if (siphash(from, len + 16, key) != get_unaligned_le64(from + len + 16))
		return 0;
	seal->number = get_unaligned_le64(from + len);
	seal->echo = get_unaligned_le64(from + len + 8);
	return len;
}
