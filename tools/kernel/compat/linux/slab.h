/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _COMPAT_LINUX_SLAB_H
#define _COMPAT_LINUX_SLAB_H

#include <stdbool.h>
#include <stdlib.h>

#define GFP_KERNEL 0
#define GFP_KERNEL_ACCOUNT 0
#define __GFP_NORETRY 0
#define __GFP_NOWARN 0

/* Tests make the Nth allocation from now fail; 0: none */
__attribute__((weak)) unsigned int kv_fail_nth;

static inline bool kv_fails(void)
{
	return kv_fail_nth && !--kv_fail_nth;
}

#define kvmalloc(size, flags) (kv_fails() ? NULL : malloc(size))
#define kvzalloc(size, flags) (kv_fails() ? NULL : calloc(1, size))
#define kvmalloc_array(nr, size, flags) \
	(kv_fails() ? NULL : reallocarray(NULL, nr, size))
#define kvcalloc(nr, size, flags) (kv_fails() ? NULL : calloc(nr, size))
#define kvfree(p) free(p)

#endif
