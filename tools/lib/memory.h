/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory for programs that cannot do without it: when there is none, the program ends
 * with status 1 and one line, "TOOL: out of memory: what was being done".
 *
 * That includes the allocations of libraries, few of which check every result of
 * malloc(): without memory they crash, or report a sound file as damaged.
 * malloc(), calloc(), realloc() and mmap() are therefore replaced by functions that
 * end the program likewise; see interpose.c. Code that can continue without memory uses
 * try_calloc() and try_realloc().
 */
#ifndef LIB_MEMORY_H
#define LIB_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <linux/types.h>

/* Make room in @array for one more element than @nr; @room is its allocated size */
#define GROW(array, nr, room)                                      \
	do {                                                       \
		if ((nr) == (room)) {                              \
			(room) = (room) ? 2 * (room) : 4;          \
			(array) = xreallocarray((array), (room),   \
						sizeof(*(array))); \
		}                                                  \
	} while (0)

void *xzalloc(size_t size);
void *xcalloc(size_t nr, size_t size);
void *xreallocarray(void *p, size_t nr, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t len);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));
FILE *text_open(char **text, size_t *len);
void text_close(FILE *f);

void *try_calloc(size_t nr, size_t size);
void *try_realloc(void *p, size_t size);
bool memory_reserve(size_t size);
bool memory_use_reserve(void);

void memory_doing(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
void memory_on_failure(void (*report)(const char *doing, void *arg), void *arg);
void memory_failed(void) __attribute__((noreturn));

/* For tests: the call of try_calloc() and try_realloc() that fails; 0: none */
extern unsigned int memory_fail_nth;

#endif
