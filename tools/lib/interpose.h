/* SPDX-License-Identifier: GPL-2.0 */
/* The C library's allocator, behind the functions that interpose.c replaces. */
#ifndef LIB_INTERPOSE_H
#define LIB_INTERPOSE_H

#include <stdlib.h>

/* AddressSanitizer replaces them itself. */
#if defined(__SANITIZE_ADDRESS__)
#define next_malloc malloc
#define next_calloc calloc
#define next_realloc realloc
#else
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nr, size_t size);
void *__libc_realloc(void *p, size_t size);
#define next_malloc __libc_malloc
#define next_calloc __libc_calloc
#define next_realloc __libc_realloc
#endif

#endif
