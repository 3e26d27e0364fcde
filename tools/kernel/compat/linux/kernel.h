/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _COMPAT_LINUX_KERNEL_H
#define _COMPAT_LINUX_KERNEL_H

#include <linux/compiler.h>
#include <linux/types.h>

#define lower_32_bits(n) ((u32)((n)&0xffffffff))
#define upper_32_bits(n) ((u32)((u64)(n) >> 32))

#define min_t(type, x, y)              \
	({                             \
		type __x = (x);        \
		type __y = (y);        \
		__x < __y ? __x : __y; \
	})

#define max_t(type, x, y)              \
	({                             \
		type __x = (x);        \
		type __y = (y);        \
		__x > __y ? __x : __y; \
	})

#define min(x, y) min_t(__typeof__(x), x, y)
#define max(x, y) max_t(__typeof__(x), x, y)
#define clamp(x, low, high) min(max(x, low), high)

#define DIV_ROUND_UP(n, d) (((n) + (d)-1) / (d))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
