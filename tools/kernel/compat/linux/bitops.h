/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _COMPAT_LINUX_BITOPS_H
#define _COMPAT_LINUX_BITOPS_H

#include <linux/types.h>

#define BIT(nr) (1UL << (nr))
#define BIT_ULL(nr) (1ULL << (nr))

/* position of the most significant bit set, counted from 1; 0 for 0 */
/* x is not 0 */
static inline unsigned long __fls(unsigned long x)
{
	return 8 * sizeof(x) - 1 - __builtin_clzl(x);
}

static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

/* position of the least significant bit set, counted from 0; not for 0 */
static inline unsigned int __ffs64(u64 x)
{
	return __builtin_ctzll(x);
}

#endif
