// SPDX-License-Identifier: GPL-2.0
/* Memory, and the message when there is none. See memory.h. */
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "interpose.h"
#include "memory.h"

/* A stack that cannot grow is a crash, so it grows before memory is used up. */
#define STACK_ROOM (512 << 10)

unsigned int memory_fail_nth;

static char doing[256] = "starting";
static void (*on_failure)(const char *doing, void *arg);
static void *on_failure_arg;
static void *reserve;
static size_t reserve_size;

/**
 * memory_doing - set what the message says that was being done when memory ran out
 * @format: as in "reading %s"
 */
void memory_doing(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(doing, sizeof(doing), format, ap);
	va_end(ap);
}

static void __attribute__((noinline)) grow_stack(void)
{
	volatile char room[STACK_ROOM];
	size_t i;

	for (i = 0; i < sizeof(room); i += 1024)
		room[i] = 0;
}

/* Before main(), so that no program can forget it */
static void __attribute__((constructor)) check_stack(void)
{
	void *p = mmap(NULL, 2 * STACK_ROOM, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		memory_failed();
	munmap(p, 2 * STACK_ROOM);
	grow_stack();
}

/**
 * memory_on_failure - report failures by another way than standard error
 * @report: reports it, without memory; the process ends when it returns
 * @arg: passed to it
 */
void memory_on_failure(void (*report)(const char *doing, void *arg), void *arg)
{
	on_failure = report;
	on_failure_arg = arg;
}

/**
 * memory_failed - end the program, because there is no memory
 *
 * An abort() would be taken for a crash over a damaged file, and exit() would write an
 * incomplete result.
 */
void memory_failed(void)
{
	char line[sizeof(doing) + 100];
	int len;

	if (on_failure) {
		on_failure(doing, on_failure_arg);
	} else {
		/* dprintf() allocates a buffer */
		len = snprintf(line, sizeof(line), "%.60s: out of memory: %s\n",
			       program_invocation_short_name, doing);
		(void)!write(STDERR_FILENO, line, len);
	}
	_exit(EXIT_FAILURE);
}

/**
 * memory_use_reserve - free the reserve, for an allocation that must not fail
 *
 * Return: false if there was none.
 */
bool memory_use_reserve(void)
{
	bool there = reserve;

	free(reserve);
	reserve = NULL;
	return there;
}

/**
 * xzalloc - allocate zeroed memory
 * @size: bytes; if 0, the result is not NULL either
 */
void *xzalloc(size_t size)
{
	return xcalloc(1, size);
}

/**
 * xcalloc - allocate a zeroed array
 * @nr: number of elements
 * @size: bytes of one
 */
void *xcalloc(size_t nr, size_t size)
{
	void *p = calloc(nr ? nr : 1, size ? size : 1);

	if (!p)
		memory_failed();
	return p;
}

#define HUGE_PAGE (2ul << 20)

/* A larger array is not copied when it grows, or its memory would be needed twice */
#define HUGE_COPY_MAX (32ul << 20)

/*
 * Arrays of records are filled from one end and read from many places. With small pages
 * that is a page fault for each 4 KiB, and TLB misses. Return: NULL if there is no memory
 * for a copy, or no need for one.
 */
static void *grow_in_huge_pages(void *p, size_t nr, size_t size)
{
	size_t bytes, old = p ? malloc_usable_size(p) : 0;
	void *to;

#ifdef __SANITIZE_ADDRESS__
	/* It would not see an access between the array's end and the page's */
	return NULL;
#endif
	if (__builtin_mul_overflow(nr, size, &bytes) || bytes < HUGE_PAGE ||
	    bytes > HUGE_COPY_MAX || old >= bytes)
		return NULL;
	bytes = (bytes + HUGE_PAGE - 1) & -HUGE_PAGE;
	to = aligned_alloc(HUGE_PAGE, bytes);
	if (!to)
		return NULL;
	/* Before its first use. Without huge pages in the system it has small ones */
	madvise(to, bytes, MADV_HUGEPAGE);
	if (p)
		memcpy(to, p, old);
	free(p);
	return to;
}

/**
 * xreallocarray - change the size of an array
 * @p: the array, or NULL
 * @nr: number of elements
 * @size: bytes of one
 */
void *xreallocarray(void *p, size_t nr, size_t size)
{
	void *to = grow_in_huge_pages(p, nr, size);

	if (!to)
		to = reallocarray(p, nr ? nr : 1, size ? size : 1);
	if (!to)
		memory_failed();
	return to;
}

/**
 * xstrdup - copy a string
 * @s: the string, or NULL, of which the copy is NULL
 */
char *xstrdup(const char *s)
{
	return s ? xstrndup(s, strlen(s)) : NULL;
}

/**
 * xstrndup - copy the beginning of a string
 * @s: the string
 * @len: at most this number of bytes of it
 */
char *xstrndup(const char *s, size_t len)
{
	char *p = strndup(s, len);

	if (!p)
		memory_failed();
	return p;
}

/**
 * xasprintf - print into a new string
 * @format: as for printf()
 */
char *xasprintf(const char *format, ...)
{
	va_list ap;
	char *s;
	int len;

	va_start(ap, format);
	len = vasprintf(&s, format, ap);
	va_end(ap);
	if (len < 0)
		memory_failed();
	return s;
}

/**
 * text_open - open a stream that writes to a string
 * @text: the string, after text_close(); to be freed
 * @len: bytes of it
 */
FILE *text_open(char **text, size_t *len)
{
	FILE *f = open_memstream(text, len);

	if (!f)
		memory_failed();
	return f;
}

/**
 * text_close - end the text
 * @f: what text_open() has returned
 */
void text_close(FILE *f)
{
	bool failed = ferror(f);

	/* There is no other reason for either to fail */
	if (fclose(f) || failed)
		memory_failed();
}

/**
 * memory_reserve - reserve memory for allocations that must not fail
 * @size: bytes; each time the same
 *
 * When there is no other memory, allocations that must not fail use the reserve, also
 * those of libraries. Call this before each piece of work, which may use at most @size.
 *
 * Return: false if the reserve was used and there is no memory for another one: until there
 * is, try_calloc() and try_realloc() fail.
 */
bool memory_reserve(size_t size)
{
	reserve_size = size;
	if (!reserve)
		reserve = next_malloc(size);
	return reserve;
}

static bool may_try(void)
{
	if (memory_fail_nth && !--memory_fail_nth)
		return false;
	return !reserve_size || memory_reserve(reserve_size);
}

/**
 * try_calloc - allocate a zeroed array, if there is memory
 * @nr: number of elements
 * @size: bytes of one
 *
 * Return: it, or NULL with errno set.
 */
void *try_calloc(size_t nr, size_t size)
{
	if (may_try())
		return next_calloc(nr ? nr : 1, size ? size : 1);
	errno = ENOMEM;
	return NULL;
}

/**
 * try_realloc - change the size of an allocation, if there is memory
 * @p: the allocation, or NULL
 * @size: bytes, at least 1
 *
 * Return: it, or NULL with errno set: @p is still there then.
 */
void *try_realloc(void *p, size_t size)
{
	if (may_try())
		return next_realloc(p, size);
	errno = ENOMEM;
	return NULL;
}
