// SPDX-License-Identifier: GPL-2.0
/*
 * malloc() and related functions for the whole program, libraries included: when there is
 * no memory, the program ends. See memory.h. It is linked with each tool directly: as part
 * of lib.a, every program that is linked with that would use it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>

#include "interpose.h"
#include "memory.h"

/*
 * A library that asks for more at once has read the number from a damaged file: the
 * allocation fails, and the library reports the file.
 */
#define LIBRARY_MAX (1ull << 30)

#ifndef __SANITIZE_ADDRESS__
/* The GNU C library's manual, "Replacing malloc": all of its callers get these. */
void *malloc(size_t size)
{
	void *p;

	do {
		p = next_malloc(size);
	} while (!p && memory_use_reserve());
	if (!p && size <= LIBRARY_MAX)
		memory_failed();
	return p;
}

void *calloc(size_t nr, size_t size)
{
	void *p;

	do {
		p = next_calloc(nr, size);
	} while (!p && memory_use_reserve());
	if (!p && (!size || nr <= LIBRARY_MAX / size))
		memory_failed();
	return p;
}

void *realloc(void *from, size_t size)
{
	void *p;

	/* Of 0 bytes, realloc() frees */
	do {
		p = next_realloc(from, size);
	} while (!p && size && memory_use_reserve());
	if (!p && size && size <= LIBRARY_MAX)
		memory_failed();
	return p;
}

/*
 * libtracecmd leaves out pages of a trace that it cannot map, and reports nothing.
 * Libraries call either name.
 */
void *mmap64(void *addr, size_t len, int prot, int flags, int fd,
	     off64_t offset)
{
	static void *(*next)(void *addr, size_t len, int prot, int flags,
			     int fd, off64_t offset);
	void *p;

	if (!next)
		next = dlsym(RTLD_NEXT, "mmap64");
	p = next(addr, len, prot, flags, fd, offset);
	if (p == MAP_FAILED && errno == ENOMEM)
		memory_failed();
	return p;
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	return mmap64(addr, len, prot, flags, fd, offset);
}
#endif
