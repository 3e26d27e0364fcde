/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _COMPAT_ASM_LOCAL64_H
#define _COMPAT_ASM_LOCAL64_H

#include <linux/atomic.h>

/* written by one thread and its signal handlers, read by others */
typedef struct {
	atomic64_t a;
} local64_t;

static inline s64 local64_read(const local64_t *l)
{
	return atomic64_read(&l->a);
}

static inline void local64_inc(local64_t *l)
{
	__atomic_add_fetch(&l->a.counter, 1, __ATOMIC_RELAXED);
}

#endif
