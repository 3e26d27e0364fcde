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

/* Bytes of a packed address, and of a packed branch, at most */
#define LBRPROF_ADDRESS_MAX 10
#define LBRPROF_BRANCH_MAX (2 * LBRPROF_ADDRESS_MAX + 2)

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
 * @LBRPROF_NO_ADDRESS: the first 16 bits of an address are of no known form
 * @LBRPROF_REST: bytes are left over
 */
enum lbrprof_error {
	LBRPROF_OK,
	LBRPROF_CUT,
	LBRPROF_NO_ADDRESS,
	LBRPROF_REST,
};

/* Of x86-64: 512 MiB to either side are wherever the kernel's text can be */
#define LBRPACK_KERNEL_TEXT 0xffffffffa0000000ULL

#define LBRPACK_SHORT_BITS 15

/**
 * struct lbrpack - what both sides know before an address
 * @last: the last address
 * @other: the one from which @last was far away
 */
struct lbrpack {
	u64 last;
	u64 other;
};

static __always_inline void lbrpack_init(struct lbrpack *p, u64 ip)
{
	p->last = ip;
	p->other = LBRPACK_KERNEL_TEXT;
}

/* Whether @diff is a signed number of @bits */
static __always_inline bool lbrpack_is_within(u64 diff, unsigned int bits)
{
	return diff + (1ULL << (bits - 1)) < 1ULL << bits;
}

u8 *lbrpack_put_distant(struct lbrpack *p, u8 *to, u64 address);

/* Write an address; who reads registers does so as they are read */
static __always_inline u8 *lbrpack_put(struct lbrpack *p, u8 *to, u64 address)
{
	u64 diff = address - p->last;
	struct lbrpack copy;

	if (!lbrpack_is_within(diff, LBRPACK_SHORT_BITS)) {
		/* Of a copy, so that the caller's can be in registers */
		copy = *p;
		to = lbrpack_put_distant(&copy, to, address);
		*p = copy;
		return to;
	}
	put_unaligned_le16(diff << 1, to);
	p->last = address;
	return to + 2;
}

size_t lbrprof_pack(u8 *to, u64 ip, u8 flags,
		    const struct lbrprof_branch *branch, unsigned int nr);
enum lbrprof_error lbrprof_unpack(const u8 *data, size_t len, u64 ip, u8 flags,
				  struct lbrprof_branch *branch,
				  unsigned int nr, size_t *at);

#endif
