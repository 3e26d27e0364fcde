/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _COMPAT_LINUX_LIMITS_H
#define _COMPAT_LINUX_LIMITS_H

#include_next <linux/limits.h>
#include <linux/types.h>

#define U8_MAX ((u8)~0U)
#define U16_MAX ((u16)~0U)
#define S32_MIN ((s32)0x80000000)
#define S32_MAX ((s32)0x7fffffff)
#define S64_MAX ((s64)(~0ULL >> 1))
#define U32_MAX ((u32)~0U)
#define U64_MAX ((u64)~0ULL)

#endif
