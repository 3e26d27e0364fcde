/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _COMPAT_LINUX_COMPILER_H
#define _COMPAT_LINUX_COMPILER_H

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define noinline __attribute__((__noinline__))

#ifndef __always_inline
#define __always_inline inline __attribute__((__always_inline__))
#endif

/* one access, never torn, repeated or left out; no order */
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value) __atomic_store_n(&(x), value, __ATOMIC_RELAXED)

/* a race that the kernel's detector of races need not report */
#define data_race(x) (x)

#define __aligned(x) __attribute__((__aligned__(x)))

#endif
