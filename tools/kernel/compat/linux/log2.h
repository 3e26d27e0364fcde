/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _COMPAT_LINUX_LOG2_H
#define _COMPAT_LINUX_LOG2_H

#include <linux/bitops.h>

/* not for 0 */
static inline unsigned long roundup_pow_of_two(unsigned long n)
{
	return 1UL << fls64(n - 1);
}

#endif
