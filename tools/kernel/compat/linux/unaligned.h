/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _COMPAT_LINUX_UNALIGNED_H
#define _COMPAT_LINUX_UNALIGNED_H

#include <endian.h>
#include <string.h>
#include <linux/types.h>

#define COMPAT_UNALIGNED(order, bits)                                          \
	static inline u##bits get_unaligned_##order##bits(const void *p)       \
	{                                                                      \
		u##bits v;                                                     \
                                                                               \
		memcpy(&v, p, sizeof(v));                                      \
		return order##bits##toh(v);                                    \
	}                                                                      \
	static inline void put_unaligned_##order##bits(u##bits value, void *p) \
	{                                                                      \
		u##bits v = hto##order##bits(value);                           \
                                                                               \
		memcpy(p, &v, sizeof(v));                                      \
	}

COMPAT_UNALIGNED(le, 16)
COMPAT_UNALIGNED(le, 32)
COMPAT_UNALIGNED(le, 64)
COMPAT_UNALIGNED(be, 32)

#endif
