/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _COMPAT_LINUX_CRC32_H
#define _COMPAT_LINUX_CRC32_H

#include <zlib.h>
#include <linux/types.h>

/* The kernel leaves to its callers what zlib does before and after */
static inline u32 crc32_le(u32 crc, const u8 *p, size_t len)
{
	return ~(u32)crc32(~crc, p, len);
}

#endif
