// SPDX-License-Identifier: GPL-2.0
/*
 * lbrprof: the branches of a sample, as few bytes.
 *
 * The newest branch comes first. Of each there is the address FROM; then TO, if the
 * sample has the flag LBRPROF_TO. Behind the addresses of all are the cycles of all,
 * if it has LBRPROF_CYCLES. All numbers are little-endian.
 *
 * Both sides know two addresses, the last new one and another one: at the beginning
 * both are the sample's ip. An address begins with a byte of which the lowest bits
 * say what it is:
 *
 *	.......0  2 bytes: it less the last new one, from -2^14 to 2^14 - 1, in 15 bits
 *	......01  3 bytes: that, from -2^21 to 2^21 - 1, in 22 bits
 *	.....011  4 bytes: that, from -2^28 to 2^28 - 1, in 29 bits
 *	11101111  the last new one and the other one change places; one of the first
 *		  three forms follows
 *	11110111  7 bytes: the address, a signed number of 48 bits. The last new one
 *		  becomes the other one
 *	11111111  9 bytes: that, in 64 bits
 *
 * and then the address is the last new one; or it is not new:
 *
 *	DDDDD111  1 byte, D < 28: the address D + 1 addresses before
 *	11100111  2 bytes, behind one of those: so are as many more as the second byte
 *		  says, and one
 *
 * Programs do things again, call what is near, and go to and fro between a program and
 * a library, or between a user and the kernel. Nothing outside of a sample is needed to
 * unpack it.
 *
 * Cycles C below 192 are the byte C. Below 192 + 63 * 256 they are 192 and the upper
 * byte of C - 192; then the lower one. Else they are the byte 255, and two of C.
 *
 * Unpacking takes any bytes: it reads only as many as there are, and writes only
 * as many branches as it is told. An address may be longer than need be.
 */
#include <linux/string.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include "lbrpack.h"

#define LONG_BITS 29
#define FAR_BITS 48

/* Above LBRPACK_LONG; less than LBRPACK_AGAIN is a distance less one */
#define OTHER 29
#define FAR 30
#define FARTHER 31

#define CYCLES_2 192
#define CYCLES_3 255

static u8 long_form(unsigned int what)
{
	return what << 3 | LBRPACK_LONG;
}

/* @diff has LONG_BITS. Three bytes are four less one: there is room for a longer form */
static u8 *put_difference(u8 *to, u64 diff)
{
	if (lbrpack_is_within(diff, LBRPACK_SHORT_BITS)) {
		put_unaligned_le16(diff << 1, to);
		return to + 2;
	}
	if (lbrpack_is_within(diff, LBRPACK_MIDDLE_BITS)) {
		put_unaligned_le32(diff << 2 | 1, to);
		return to + 3;
	}
	put_unaligned_le32(diff << 3 | 3, to);
	return to + 4;
}

/**
 * lbrpack_put_distant - write an address that needs more than three bytes
 * @p: the packer's memory
 * @to: room for LBRPROF_ADDRESS_MAX bytes
 * @address: it
 * @last: the last new one
 *
 * Context: any.
 * Return: behind what was written.
 */
u8 *lbrpack_put_distant(struct lbrpack *p, u8 *to, u64 address, u64 last)
{
	u64 diff = address - last;

	if (lbrpack_is_within(diff, LONG_BITS))
		return put_difference(to, diff);
	diff = address - p->other;
	p->other = last;
	if (lbrpack_is_within(diff, LONG_BITS)) {
		*to = long_form(OTHER);
		return put_difference(to + 1, diff);
	}
	put_unaligned_le64(address, to + 1);
	if (lbrpack_is_within(address, FAR_BITS)) {
		*to = long_form(FAR);
		return to + 7;
	}
	*to = long_form(FARTHER);
	return to + 9;
}

static u8 *put_cycles(u8 *to, const struct lbrprof_branch *branch,
		      unsigned int nr)
{
	unsigned int i, cycles;

	for (i = 0; i < nr; i++) {
		cycles = branch[i].cycles;
		if (cycles < CYCLES_2) {
			*to++ = cycles;
			continue;
		}
		if (cycles >= CYCLES_2 + (CYCLES_3 - CYCLES_2) * 256) {
			*to++ = CYCLES_3;
			*to++ = cycles;
			*to++ = cycles >> 8;
			continue;
		}
		cycles -= CYCLES_2;
		*to++ = CYCLES_2 + (cycles >> 8);
		*to++ = cycles;
	}
	return to;
}

static u64 get_from(const void *branches, unsigned int i)
{
	const struct lbrprof_branch *branch = branches;

	return branch[i].from;
}

static u64 get_either(const void *branches, unsigned int i)
{
	const struct lbrprof_branch *branch = branches;

	return i & 1 ? branch[i / 2].to : branch[i / 2].from;
}

/**
 * lbrprof_pack - make a sample's data
 * @p: the packer's memory, with anything in it
 * @to: room for LBRPROF_BRANCH_MAX * @nr bytes
 * @ip: the sample's
 * @flags: the sample's: LBRPROF_TO and LBRPROF_CYCLES matter
 * @branch: the branches, the newest one first
 * @nr: how many, LBRPROF_DEPTH_MAX at most
 *
 * Context: any; @p is the caller's.
 * Return: bytes written.
 */
size_t lbrprof_pack(struct lbrpack *p, u8 *to, u64 ip, u8 flags,
		    const struct lbrprof_branch *branch, unsigned int nr)
{
	u8 *begin = to;
	unsigned int used;

	if (flags & LBRPROF_TO)
		to = lbrpack_put(p, to, ip, get_either, branch, 0, 2 * nr,
				 false, &used);
	else
		to = lbrpack_put(p, to, ip, get_from, branch, 0, nr, false,
				 &used);
	if (flags & LBRPROF_CYCLES)
		to = put_cycles(to, branch, nr);
	return to - begin;
}

/* ------------------------------------------------------------------------- */
/* Unpacking */

/**
 * struct unpacker - what is known between two addresses
 * @data: the sample's
 * @len: how many bytes
 * @at: how many of them were taken
 * @branch: where addresses go
 * @stride: addresses of a branch
 * @i: addresses that are there
 * @nr: how many there are to be
 * @distance: of the last address from the one that it is, 0 for none
 * @last: the last new address
 * @other: the other one
 */
struct unpacker {
	const u8 *data;
	size_t len;
	size_t at;
	struct lbrprof_branch *branch;
	unsigned int stride;
	unsigned int i;
	unsigned int nr;
	unsigned int distance;
	u64 last;
	u64 other;
};

static u64 *place(struct unpacker *u, unsigned int i)
{
	if (u->stride == 1)
		return &u->branch[i].from;
	return i & 1 ? &u->branch[i / 2].to : &u->branch[i / 2].from;
}

static void take(struct unpacker *u, u64 address)
{
	*place(u, u->i++) = address;
}

static void take_new(struct unpacker *u, u64 address)
{
	u->last = address;
	take(u, address);
}

/* Behind @skipped bytes, where *@base is what the difference is added to */
static enum lbrprof_error get_difference(struct unpacker *u, size_t skipped,
					 u64 base)
{
	const u8 *data = u->data + u->at + skipped;
	size_t len = u->len - u->at - skipped;
	s64 diff;

	if (!len)
		return LBRPROF_CUT;
	if ((data[0] & LBRPACK_LONG) == LBRPACK_LONG)
		return LBRPROF_NO_ADDRESS;
	if (len < 2 || (data[0] & 1 && len < (data[0] & 2 ? 4 : 3)))
		return LBRPROF_CUT;
	u->at += skipped;
	if (!(data[0] & 1)) {
		diff = (s16)get_unaligned_le16(data) >> 1;
		u->at += 2;
	} else if (!(data[0] & 2)) {
		diff = (s32)((u32)data[2] << 24 | get_unaligned_le16(data)
							  << 8) >>
		       10;
		u->at += 3;
	} else {
		diff = (s32)get_unaligned_le32(data) >> 3;
		u->at += 4;
	}
	take_new(u, base + diff);
	return LBRPROF_OK;
}

static enum lbrprof_error get_other(struct unpacker *u)
{
	u64 last = u->last;
	enum lbrprof_error error = get_difference(u, 1, u->other);

	if (!error)
		u->other = last;
	return error;
}

static enum lbrprof_error get_far(struct unpacker *u, size_t size)
{
	u64 address = 0;
	size_t i;

	if (u->len - u->at < size)
		return LBRPROF_CUT;
	for (i = size; --i;)
		address = address << 8 | u->data[u->at + i];
	if (size == 7)
		address = (s64)(address << 16) >> 16;
	u->at += size;
	u->other = u->last;
	take_new(u, address);
	return LBRPROF_OK;
}

static enum lbrprof_error get_seen(struct unpacker *u, unsigned int distance)
{
	if (distance > u->i)
		return LBRPROF_NO_ADDRESS;
	take(u, *place(u, u->i - distance));
	u->at++;
	u->distance = distance;
	return LBRPROF_OK;
}

static enum lbrprof_error get_again(struct unpacker *u, unsigned int distance)
{
	unsigned int n;

	if (u->len - u->at < 2)
		return LBRPROF_CUT;
	n = u->data[u->at + 1] + 1;
	if (!distance || n > u->nr - u->i)
		return LBRPROF_NO_ADDRESS;
	while (n--)
		take(u, *place(u, u->i - distance));
	u->at += 2;
	return LBRPROF_OK;
}

/* One or more addresses; @u->at stays if something is wrong */
static enum lbrprof_error get_addresses(struct unpacker *u)
{
	unsigned int distance = u->distance;
	u8 first;

	if (u->at == u->len)
		return LBRPROF_CUT;
	u->distance = 0;
	first = u->data[u->at];
	if ((first & LBRPACK_LONG) != LBRPACK_LONG)
		return get_difference(u, 0, u->last);
	switch (first >> 3) {
	case LBRPACK_AGAIN:
		return get_again(u, distance);
	case OTHER:
		return get_other(u);
	case FAR:
		return get_far(u, 7);
	case FARTHER:
		return get_far(u, 9);
	default:
		return get_seen(u, (first >> 3) + 1);
	}
}

static enum lbrprof_error get_cycles(struct unpacker *u, u16 *cycles)
{
	const u8 *data = u->data + u->at;
	size_t len = u->len - u->at;

	if (!len || len < (data[0] < CYCLES_2 ? 1 : data[0] < CYCLES_3 ? 2 : 3))
		return LBRPROF_CUT;
	if (data[0] < CYCLES_2) {
		*cycles = data[0];
		u->at += 1;
	} else if (data[0] < CYCLES_3) {
		*cycles = CYCLES_2 + (data[0] - CYCLES_2) * 256 + data[1];
		u->at += 2;
	} else {
		*cycles = get_unaligned_le16(data + 1);
		u->at += 3;
	}
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
	struct unpacker u = { .data = data, .len = len, .branch = branch };
	enum lbrprof_error error = LBRPROF_OK;
	unsigned int i;

	u.stride = flags & LBRPROF_TO ? 2 : 1;
	u.nr = nr * u.stride;
	u.last = ip;
	u.other = ip;
	memset(branch, 0, nr * sizeof(*branch));
	while (!error && u.i < u.nr)
		error = get_addresses(&u);
	if (flags & LBRPROF_CYCLES)
		for (i = 0; i < nr && !error; i++)
			error = get_cycles(&u, &branch[i].cycles);
	if (!error && u.at != len)
		error = LBRPROF_REST;
	if (at)
		*at = u.at;
	return error;
}
