/* SPDX-License-Identifier: GPL-2.0 */
/*
 * lbrprof: the branches of a sample, as few bytes. lbrpack.c says how.
 */
#ifndef _LBRPACK_H
#define _LBRPACK_H

#include <linux/compiler.h>
#include <linux/types.h>
#include <linux/unaligned.h>

/**
 * enum lbrprof_flags - the field flags of lbrprof_sample
 * @LBRPROF_LOST: branches were recorded since the sample before that are not in
 *	this one, or it is not known whether there were any
 * @LBRPROF_COUNTED: the fields calls and returns are valid
 * @LBRPROF_TO: the data has where branches went
 * @LBRPROF_CYCLES: the data has cycles since the branch before
 * @LBRPROF_SWITCH: taken because the task was switched out, not by the clock
 * @LBRPROF_PLAIN: there is no LBR, only ip means something
 */
enum lbrprof_flags {
	LBRPROF_LOST = 1 << 0,
	LBRPROF_COUNTED = 1 << 1,
	LBRPROF_TO = 1 << 2,
	LBRPROF_CYCLES = 1 << 3,
	LBRPROF_SWITCH = 1 << 4,
	LBRPROF_PLAIN = 1 << 5,
};

/* Branches that can be packed: no LBR is deeper */
#define LBRPROF_DEPTH_MAX 64

/* Bytes of a packed address, and of a packed branch, at most */
#define LBRPROF_ADDRESS_MAX 9
#define LBRPROF_BRANCH_MAX (2 * LBRPROF_ADDRESS_MAX + 3)

/**
 * struct lbrprof_branch - a recorded branch
 * @from: address of the branch
 * @to: address it went to; 0 where there is no LBRPROF_TO
 * @cycles: since the branch before, 65535 stands for that many or more; 0 where
 *	there is no LBRPROF_CYCLES
 */
struct lbrprof_branch {
	u64 from;
	u64 to;
	u16 cycles;
};

/**
 * enum lbrprof_error - why data cannot be unpacked
 * @LBRPROF_OK: it can
 * @LBRPROF_CUT: it ends within a branch
 * @LBRPROF_NO_ADDRESS: addresses are to be those before, but there are none, or
 *	there would be too many
 * @LBRPROF_REST: bytes are left over
 */
enum lbrprof_error {
	LBRPROF_OK,
	LBRPROF_CUT,
	LBRPROF_NO_ADDRESS,
	LBRPROF_REST,
};

/* The lowest bits of the long forms' first byte, and what is above them */
#define LBRPACK_LONG 7
#define LBRPACK_AGAIN 28

/* An address that is farther back than this is not found again */
#define LBRPACK_DISTANCE_MAX 28

#define LBRPACK_SHORT_BITS 15
#define LBRPACK_MIDDLE_BITS 22

/**
 * struct lbrpack - a packer's memory
 * @other: the address that both sides know besides the last new one
 * @seen: the addresses of the sample that it packs
 * @at: for the low byte of an address, where in @seen one may be. Anything may be in it:
 *	it is only believed if the address is there
 */
struct lbrpack {
	u64 other;
	u64 seen[2 * LBRPROF_DEPTH_MAX];
	u8 at[256];
};

/* Fetches address @i of a sample */
typedef u64 (*lbrpack_get_fn)(const void *from, unsigned int i);

/* Whether @diff is a signed number of @bits */
static __always_inline bool lbrpack_is_within(u64 diff, unsigned int bits)
{
	return diff + (1ULL << (bits - 1)) < 1ULL << bits;
}

u8 *lbrpack_put_distant(struct lbrpack *p, u8 *to, u64 address, u64 last);
/* Write an address that is not one of those before; they are @last and p->other */
static __always_inline u8 *lbrpack_put_new(struct lbrpack *p, u8 *to,
					   u64 address, u64 last)
{
	u64 diff = address - last;

	if (lbrpack_is_within(diff, LBRPACK_SHORT_BITS)) {
		put_unaligned_le16(diff << 1, to);
		return to + 2;
	}
	if (likely(lbrpack_is_within(diff, LBRPACK_MIDDLE_BITS))) {
		/* A byte more than it is: there is room for a longer one */
		put_unaligned_le32(diff << 2 | 1, to);
		return to + 3;
	}
	return lbrpack_put_distant(p, to, address, last);
}

/* Write @nr addresses, each of which is the one @distance before */
static __always_inline u8 *lbrpack_put_seen(u8 *to, unsigned int distance,
					    unsigned int nr)
{
	u8 seen = (distance - 1) << 3 | LBRPACK_LONG;

	*to++ = seen;
	if (nr == 1)
		return to;
	if (nr == 2) {
		*to++ = seen;
		return to;
	}
	*to++ = LBRPACK_AGAIN << 3 | LBRPACK_LONG;
	*to++ = nr - 2;
	return to;
}

/*
 * A sample begins with @a and @b: find the first address from the third one on that
 * does not go on with these two in turns, which is in *@address then, or @nr.
 */
static __always_inline unsigned int
lbrpack_follow_two(lbrpack_get_fn get, const void *from, unsigned int first,
		   unsigned int nr, u64 a, u64 b, u64 *address)
{
	unsigned int i, k;

	for (i = 2; i + 6 <= nr; i += 6) {
#pragma GCC unroll 6
		for (k = 0; k < 6; k++) {
			*address = get(from, first + i + k);
			if (unlikely(*address != (k & 1 ? b : a)))
				return i + k;
		}
	}
	for (; i < nr; i++) {
		*address = get(from, first + i);
		if (*address != (i & 1 ? b : a))
			break;
	}
	return i;
}

/*
 * A loop that calls a function looks like this, often all of a sample: the first address
 * was *@last, and the second one is *@address. Write it, and as many as are these two in
 * turns. The next one, if there is one, is in *@address then, and *@i says which it is.
 */
static __always_inline u8 *lbrpack_put_two(struct lbrpack *p, u8 *to,
					   lbrpack_get_fn get, const void *from,
					   unsigned int first, unsigned int nr,
					   u64 *last, u64 *address,
					   unsigned int *i)
{
	const u64 a = *last, b = *address;
	unsigned int end, k;

	to = lbrpack_put_new(p, to, b, a);
	*last = b;
	end = lbrpack_follow_two(get, from, first, nr, a, b, address);
	*i = end;
	if (end > 2)
		to = lbrpack_put_seen(to, 2, end - 2);
	if (end == nr)
		return to;
	for (k = 0; k < end; k++)
		p->seen[k] = k & 1 ? b : a;
	for (k = end - 2; k < end; k++)
		p->at[(u8)p->seen[k]] = k;
	return to;
}

/*
 * Address @i is the one @distance before, and so it goes on: find the first one that is
 * another one, which is in *@address then, or @nr. Unless that is @nr, p->seen has all of
 * them then.
 */
static __always_inline unsigned int
lbrpack_follow(struct lbrpack *p, lbrpack_get_fn get, const void *from,
	       unsigned int first, unsigned int i, unsigned int nr,
	       unsigned int distance, u64 *address)
{
	while (++i < nr) {
		*address = get(from, first + i);
		if (*address != p->seen[i - distance])
			break;
		p->seen[i] = *address;
	}
	return i;
}

/**
 * lbrpack_put - write the addresses of a sample
 * @p: the packer's memory
 * @to: room for LBRPROF_ADDRESS_MAX * @nr bytes
 * @ip: the sample's
 * @get: fetches an address; inlined, as all of this is, so that who reads registers
 *	packs as they are read
 * @from: an argument for @get
 * @first: another one, of the first address; that of the next is one more
 * @nr: addresses, 2 * LBRPROF_DEPTH_MAX at most
 * @until_0: whether an address of 0 is behind the last one
 * @used: addresses written
 *
 * Context: any; @p is the caller's.
 * Return: behind what was written.
 */
static __always_inline u8 *lbrpack_put(struct lbrpack *p, u8 *to, u64 ip,
				       lbrpack_get_fn get, const void *from,
				       unsigned int first, unsigned int nr,
				       bool until_0, unsigned int *used)
{
	unsigned int i = 0, at, end;
	u64 address, last;

	p->other = ip;
	if (!nr)
		goto done;
	last = get(from, first);
	if (until_0 && !last)
		goto done;
	to = lbrpack_put_new(p, to, last, ip);
	if (++i == nr)
		goto done;
	address = get(from, first + 1);
	if (address != last && (!until_0 || address)) {
		to = lbrpack_put_two(p, to, get, from, first, nr, &last,
				     &address, &i);
	} else {
		p->seen[0] = last;
		p->at[(u8)last] = 0;
	}
	while (i < nr && (!until_0 || address)) {
		at = p->at[(u8)address];
		p->at[(u8)address] = i;
		p->seen[i] = address;
		if (at < i && p->seen[at] == address &&
		    i - at <= LBRPACK_DISTANCE_MAX) {
			end = lbrpack_follow(p, get, from, first, i, nr, i - at,
					     &address);
			to = lbrpack_put_seen(to, i - at, end - i);
			i = end;
			continue;
		}
		to = lbrpack_put_new(p, to, address, last);
		last = address;
		if (++i == nr)
			break;
		address = get(from, first + i);
	}
done:
	*used = i;
	return to;
}

size_t lbrprof_pack(struct lbrpack *p, u8 *to, u64 ip, u8 flags,
		    const struct lbrprof_branch *branch, unsigned int nr);
enum lbrprof_error lbrprof_unpack(const u8 *data, size_t len, u64 ip, u8 flags,
				  struct lbrprof_branch *branch,
				  unsigned int nr, size_t *at);

#endif
