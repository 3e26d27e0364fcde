/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _COMPAT_LINUX_CACHE_H
#define _COMPAT_LINUX_CACHE_H

#define ____cacheline_aligned_in_smp __attribute__((__aligned__(64)))

#endif
