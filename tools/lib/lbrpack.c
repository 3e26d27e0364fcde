// SPDX-License-Identifier: GPL-2.0
/*
 * lbrprof: the branches of a sample, as few bytes.
 *
 * The newest branch comes first. Each is the address FROM; then TO, if the
 * sample has the flag LBRPROF_TO; then the cycles in two bytes, the lower one
 * first, if it has LBRPROF_CYCLES.
 *
 * An address is written as its difference to the last one in the same half of
 * the address space (user: bit 63 is 0, kernel: it is 1), because code calls
 * what is near, and interrupts and system calls go from one half to the other
 * and back. At the beginning, the last address in the half of the sample's ip is
 * ip, and in the other half 0, which is near to the kernel's text, too: modulo
 * 2^64 it is at -2^31. The difference d, of 64 bits, becomes z = 2d if it is not
 * negative and -2d - 1 if it is, and what is written is the number
 *
 *	2z + (the address is in another half than the one before it, or ip)
 *
 * of 65 bits, in LEB128: 7 bits in each byte, from the lowest ones, with bit 7
 * set in all bytes but the last. So any u64 can be written, in 10 bytes at most,
 * of which the tenth has 2 bits. Within a half, 64 MiB to either side take
 * 4 bytes at most.
 *
 * Unpacking takes any bytes: it reads only as many as there are, and writes only
 * as many branches as it is told. A number may be longer than need be.
 */
#include <linux/types.h>
#include <linux/unaligned.h>

#include "lbrpack.h"

/**
 * struct lbrpack - what both sides know before an address
 * @last: the last address in each half: of users, of the kernel
 * @half: that of the address before
 */
struct lbrpack {
	u64 last[2];
	u8 half;
};

static void lbrpack_init(struct lbrpack *p, u64 ip)
{
	p->half = ip >> 63;
	p->last[p->half] = ip;
	p->last[!p->half] = 0;
}

static u8 *put_address(struct lbrpack *p, u8 *to, u64 address)
{
	u8 half = address >> 63;
	u64 diff = address - p->last[half];
	u64 z = diff << 1 ^ -(diff >> 63);
	u8 low = (z & 0x3f) << 1 | (half ^ p->half);

	p->last[half] = address;
	p->half = half;
	for (z >>= 6; z; z >>= 7) {
		*to++ = low | 0x80;
		low = z & 0x7f;
	}
	*to++ = low;
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
	for (; branch != end; branch++) {
		to = put_address(&p, to, branch->from);
		if (flags & LBRPROF_TO)
			to = put_address(&p, to, branch->to);
		if (flags & LBRPROF_CYCLES) {
			put_unaligned_le16(branch->cycles, to);
			to += 2;
		}
	}
	return to - begin;
}

/* The number at *@at of @data; moves *@at behind it */
static enum lbrprof_error get_address(struct lbrpack *p, const u8 *data,
				      size_t len, size_t *at, u64 *address)
{
	unsigned int shift = 6;
	size_t i = *at;
	u64 z, diff;
	u8 byte;

	if (i == len)
		return LBRPROF_CUT;
	byte = data[i++];
	p->half ^= byte & 1;
	z = byte >> 1 & 0x3f;
	for (; byte & 0x80; shift += 7) {
		if (i == len)
			return LBRPROF_CUT;
		byte = data[i++];
		if (shift == 62 && byte > 3)
			return LBRPROF_NO_ADDRESS;
		z |= (u64)(byte & 0x7f) << shift;
	}
	diff = z >> 1 ^ -(z & 1);
	*address = p->last[p->half] + diff;
	if (*address >> 63 != p->half)
		return LBRPROF_NO_ADDRESS;
	p->last[p->half] = *address;
	*at = i;
	return LBRPROF_OK;
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
