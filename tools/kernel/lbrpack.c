// SPDX-License-Identifier: GPL-2.0
/*
 * lbrprof: the branches of a sample, as few bytes.
 *
 * The newest branch comes first. Each is the address FROM; then TO, if the
 * sample has the flag LBRPROF_TO; then the cycles in two bytes, if it has
 * LBRPROF_CYCLES. All numbers are little-endian.
 *
 * Both sides know two addresses: the last one and another one. At the beginning
 * these are the sample's ip, and the middle of the kernel's text. What is written
 * begins with 16 bits, of which the lowest ones say what they are:
 *
 *	...0	the address less the last one, from -2^14 to 2^14 - 1, in 15 bits
 *	..01	with 16 bits more: that, from -2^29 to 2^29 - 1, in 30 bits
 *	0x0003	with 64 bits more: the address. The last one becomes the other one
 *	0x0007	the last one and the other one change places; one of the first two
 *		forms follows
 *
 * and then the address is the last one. Code calls what is near, and goes to and
 * fro between a program and a library, or between a user and the kernel. So nearly
 * all addresses are in 2 bytes or 4, and any u64 is in 10 at most. A packer's time
 * is that of the first form, which is why there is nothing in it but a difference.
 *
 * Unpacking takes any bytes: it reads only as many as there are, and writes only
 * as many branches as it is told. An address may be longer than need be.
 */
#include <linux/types.h>
#include <linux/unaligned.h>

#include "lbrpack.h"

#define LONG_BITS 30
#define FAR 3
#define OTHER 7

static void lbrpack_swap(struct lbrpack *p)
{
	u64 last = p->last;

	p->last = p->other;
	p->other = last;
}

static u8 *put_difference(struct lbrpack *p, u8 *to, u64 address)
{
	u64 diff = address - p->last;

	p->last = address;
	if (lbrpack_is_within(diff, LBRPACK_SHORT_BITS)) {
		put_unaligned_le16(diff << 1, to);
		return to + 2;
	}
	put_unaligned_le32(diff << 2 | 1, to);
	return to + 4;
}

/**
 * lbrpack_put_distant - write an address that needs more than two bytes
 * @p: what both sides know before it
 * @to: room for LBRPROF_ADDRESS_MAX bytes
 * @address: it
 *
 * Context: any.
 * Return: behind what was written.
 */
u8 *lbrpack_put_distant(struct lbrpack *p, u8 *to, u64 address)
{
	if (lbrpack_is_within(address - p->last, LONG_BITS))
		return put_difference(p, to, address);
	if (lbrpack_is_within(address - p->other, LONG_BITS)) {
		lbrpack_swap(p);
		put_unaligned_le16(OTHER, to);
		return put_difference(p, to + 2, address);
	}
	p->other = p->last;
	p->last = address;
	put_unaligned_le16(FAR, to);
	put_unaligned_le64(address, to + 2);
	return to + 10;
}

static u8 *put_branches(struct lbrpack *p, u8 *to, u8 flags,
			const struct lbrprof_branch *branch,
			const struct lbrprof_branch *end)
{
	for (; branch != end; branch++) {
		to = lbrpack_put(p, to, branch->from);
		if (flags & LBRPROF_TO)
			to = lbrpack_put(p, to, branch->to);
		if (flags & LBRPROF_CYCLES) {
			put_unaligned_le16(branch->cycles, to);
			to += 2;
		}
	}
	return to;
}

/**
 * lbrprof_pack - make a sample's data
 * @to: room for LBRPROF_BRANCH_MAX * @nr bytes
 * @ip: the sample's
 * @flags: the sample's: LBRPROF_TO and LBRPROF_CYCLES matter
 * @branch: the branches, the newest one first
 * @nr: how many
 *
 * Context: any.
 * Return: bytes written.
 */
size_t lbrprof_pack(u8 *to, u64 ip, u8 flags,
		    const struct lbrprof_branch *branch, unsigned int nr)
{
	const struct lbrprof_branch *end = branch + nr;
	struct lbrpack p;
	u8 *begin = to;

	lbrpack_init(&p, ip);
	if (flags & (LBRPROF_TO | LBRPROF_CYCLES))
		return put_branches(&p, to, flags, branch, end) - begin;
	for (; branch != end; branch++)
		to = lbrpack_put(&p, to, branch->from);
	return to - begin;
}

/* The difference at *@at of @data, and the address; moves *@at behind it */
static enum lbrprof_error get_difference(struct lbrpack *p, const u8 *data,
					 size_t len, size_t *at, u64 *address)
{
	size_t size;
	s64 diff;
	u16 low;

	if (len - *at < 2)
		return LBRPROF_CUT;
	low = get_unaligned_le16(data + *at);
	if ((low & 3) == 3)
		return LBRPROF_NO_ADDRESS;
	size = low & 1 ? 4 : 2;
	if (len - *at < size)
		return LBRPROF_CUT;
	if (low & 1)
		diff = (s32)get_unaligned_le32(data + *at) >> 2;
	else
		diff = (s16)low >> 1;
	*at += size;
	p->last += diff;
	*address = p->last;
	return LBRPROF_OK;
}

static enum lbrprof_error get_far(struct lbrpack *p, const u8 *data, size_t len,
				  size_t *at, u64 *address)
{
	if (len - *at < 10)
		return LBRPROF_CUT;
	p->other = p->last;
	p->last = get_unaligned_le64(data + *at + 2);
	*address = p->last;
	*at += 10;
	return LBRPROF_OK;
}

/* The address at *@at of @data; moves *@at behind it, unless something is wrong */
static enum lbrprof_error get_address(struct lbrpack *p, const u8 *data,
				      size_t len, size_t *at, u64 *address)
{
	enum lbrprof_error error;
	size_t after = *at;
	u16 low = 0;

	if (len - after >= 2)
		low = get_unaligned_le16(data + after);
	if (low == FAR)
		return get_far(p, data, len, at, address);
	if (low == OTHER) {
		lbrpack_swap(p);
		after += 2;
	}
	error = get_difference(p, data, len, &after, address);
	if (!error)
		*at = after;
	return error;
}

static enum lbrprof_error get_cycles(const u8 *data, size_t len, size_t *at,
				     u16 *cycles)
{
	if (len - *at < 2)
		return LBRPROF_CUT;
	*cycles = get_unaligned_le16(data + *at);
	*at += 2;
	return LBRPROF_OK;
}

/**
 * lbrprof_unpack - the branches of a sample
 * @data: the sample's, any bytes
 * @len: how many
 * @ip: the sample's
 * @flags: the sample's: LBRPROF_TO and LBRPROF_CYCLES matter
 * @branch: room for @nr branches; the newest one comes first
 * @nr: how many there are to be
 * @at: if not NULL, where in @data what is wrong begins, or its end
 *
 * Context: any.
 * Return: LBRPROF_OK, or what is wrong with @data.
 */
enum lbrprof_error lbrprof_unpack(const u8 *data, size_t len, u64 ip, u8 flags,
				  struct lbrprof_branch *branch,
				  unsigned int nr, size_t *at)
{
	enum lbrprof_error error = LBRPROF_OK;
	struct lbrpack p;
	unsigned int i;
	size_t pos = 0;

	lbrpack_init(&p, ip);
	for (i = 0; i < nr && !error; i++) {
		branch[i] = (struct lbrprof_branch){};
		error = get_address(&p, data, len, &pos, &branch[i].from);
		if (!error && flags & LBRPROF_TO)
			error = get_address(&p, data, len, &pos, &branch[i].to);
		if (!error && flags & LBRPROF_CYCLES)
			error = get_cycles(data, len, &pos, &branch[i].cycles);
	}
	if (!error && pos != len)
		error = LBRPROF_REST;
	if (at)
		*at = pos;
	return error;
}
