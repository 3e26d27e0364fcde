// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "memory.h"

/* An abort() would be taken for what a damaged file does */
static void end(void)
{
	fputs("out of memory\n", stderr);
	_exit(EXIT_FAILURE);
}

/**
 * allocate - memory, of zeros
 * @size: bytes; 0 is as good as 1
 *
 * Return: it; without memory the program ends.
 */
void *allocate(size_t size)
{
	void *p = calloc(1, size ? size : 1);

	if (!p)
		end();
	return p;
}

/**
 * grow - room for one more
 * @p: an array, or NULL
 * @nr: how many are in it
 * @room: for how many it has room
 * @size: of one
 *
 * Return: it, where it is now; without memory the program ends.
 */
void *grow(void *p, u64 nr, u64 *room, size_t size)
{
	if (nr < *room)
		return p;
	*room = *room ? 2 * *room : 4;
	p = reallocarray(p, *room, size);
	if (!p)
		end();
	return p;
}
