// SPDX-License-Identifier: GPL-2.0
/* Frames of stacks: their order, their names, and which one is the call site. */
#include <linux/kernel.h>
#include <string.h>

#include "read.h"
#include "text.h"

static int by_name(const struct frame *a, const struct frame *b)
{
	const char *x = a->source ? a->source->function : NULL,
		   *y = b->source ? b->source->function : NULL;

	return x && y ? strcmp(x, y) : !!x - !!y;
}

/**
 * frame_order - compare frames, possibly of several hosts, by file and offset
 * @a:	a frame
 * @b:	another one
 *
 * Return: less than, equal to, or greater than 0.
 */
int frame_order(const struct frame *a, const struct frame *b)
{
	const struct mapped_file *x = a->mapped_file, *y = b->mapped_file;
	int order;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	if (x != y && (!x || !y))
		return x ? 1 : -1;
	/* Several processes may have different code at an address */
	if (!x)
		return a->map != b->map ? (a->map > b->map ? 1 : -1) :
					  by_name(a, b);
	order = x == y ? 0 : strcmp(x->path, y->path);
	if (order || x->build_id_size != y->build_id_size)
		return order				   ? order :
		       x->build_id_size < y->build_id_size ? -1 :
							     1;
	return memcmp(x->build_id, y->build_id, x->build_id_size);
}

/**
 * frame_name - location of a frame
 * @buf:	set to "FILE+0xOFFSET"
 * @size:	size of @buf
 * @f:		frame
 * @whole:	with the whole path
 *
 * Return: @buf.
 */
const char *frame_name(char *buf, size_t size, const struct frame *f,
		       bool whole)
{
	const char *path = f->mapped_file ? f->mapped_file->path : NULL, *name;

	if (!f->map) {
		snprintf(buf, size, "0x%llx", f->offset);
	} else if (!path) {
		snprintf(buf, size, "object-%u+0x%llx", f->map, f->offset);
	} else {
		name = whole ? NULL : strrchr(path, '/');
		snprintf(buf, size, "%s+0x%llx", name ? name + 1 : path,
			 f->offset);
	}
	clean_text(buf);
	return buf;
}

/**
 * source_name - the name of a function, as perf script writes it
 * @buf:	set to the name
 * @size:	size of @buf
 * @p:		source
 *
 * Return: @buf.
 */
const char *source_name(char *buf, size_t size, const struct elffile_source *p)
{
	snprintf(buf, size, "%s%s", p->function ?: "?",
		 p->inlined ? " (inlined)" : "");
	return buf;
}

/**
 * source_text - a source as text
 * @buf:	set to the text
 * @size:	size of @buf
 * @p:		source
 *
 * Return: @buf.
 */
const char *source_text(char *buf, size_t size, const struct elffile_source *p)
{
	size_t len = strlen(source_name(buf, size, p));

	if (p->file)
		snprintf(buf + len, size - len, " at %s:%d", p->file, p->line);
	return buf;
}

/* The C library's wrapper of a call is not where the program makes it */
static bool is_c_library(const struct frame *f)
{
	static const char *const names[] = { "libc.so", "libc-", "libpthread",
					     "ld-linux", "ld-musl" };
	const char *path = f->mapped_file ? f->mapped_file->path : "", *name;
	size_t i;

	name = strrchr(path, '/');
	name = name ? name + 1 : path;
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	}
	return false;
}

/**
 * stacks_caller - find the call site
 * @stack:	stack with frames
 *
 * Return: index of the innermost frame outside of the C library, or 0 if there is none.
 */
u32 stacks_caller(const struct stack *stack)
{
	u32 i;

	for (i = 0; i < stack->nr; i++) {
		if (!is_c_library(&stack->frame[i]))
			return i;
	}
	return 0;
}
