// SPDX-License-Identifier: GPL-2.0
/*
 * Reads a copy of the kernel's file iosys_stacks: stacks, and files of their frames, whose
 * events are not in the recording, since the kernel writes these only now and then.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "read.h"
#include "regular.h"
#include "stackfile.h"

/* Numbers begin anew with each boot */
static bool is_same(const struct stack *stack, const struct stackfile_line *l)
{
	u32 i;

	if (stack->nr != l->nr)
		return false;
	for (i = 0; i < l->nr; i++) {
		if (stack->frame[i].map != l->map[i] ||
		    stack->frame[i].offset != l->offset[i])
			return false;
	}
	return true;
}

/* Return: false if the recording has another stack with this number */
static bool add_stack(struct stacks *s, u32 host,
		      const struct stackfile_line *l)
{
	struct stack *stack = stacks_add(s, host, l->id, l->nr);
	u32 i;

	if (!stack)
		return is_same(stacks_find(s, stack_key(host, l->id)), l);
	stack->end = strcmp(l->end, "complete") != 0;
	stack->guessed = l->guessed;
	snprintf(stack->end_name, sizeof(stack->end_name), "%s", l->end);
	for (i = 0; i < l->nr; i++)
		stack->frame[i] = (struct frame){ .map = l->map[i],
						  .offset = l->offset[i] };
	return true;
}

/* Return: false if the recording has another file with this number */
static bool add_map(struct stacks *s, u32 host, struct stackfile_line *l)
{
	struct mapped_file m = { .host = host,
				 .dev = l->dev,
				 .ino = l->ino,
				 .path = l->path,
				 .build_id_size = l->build_id_size };

	memcpy(m.build_id, l->build_id, l->build_id_size);
	return stacks_map(s, l->id, &m);
}

static int read_lines(struct guard *g, struct stacks *s, u32 host, FILE *f)
{
	struct stackfile_line *l = xzalloc(sizeof(*l));
	char *text = xzalloc(STACKFILE_LINE);
	bool same = true;
	int status = 0;
	u64 at = 0;

	for (; !status && fgets(text, STACKFILE_LINE, f); at += strlen(text)) {
		guard_alive(g, at);
		switch (stackfile_parse(text, l)) {
		case STACKFILE_STACK:
			same = add_stack(s, host, l);
			break;
		case STACKFILE_MAP:
			same = add_map(s, host, l);
			break;
		case STACKFILE_COMMENT:
			break;
		case STACKFILE_DAMAGED:
			status = guard_fail(
				g, at,
				"is not a line of the file iosys_stacks");
		}
		if (!same)
			status = guard_fail(
				g, at,
				"stack or file %u differs from that in the recording: is this file from another boot?",
				l->id);
	}
	if (!status && ferror(f))
		status = guard_fail(g, at, "%s", strerror(errno));
	free(text);
	free(l);
	return status;
}

/**
 * known_stacks_read - read what the kernel knew, after the recording
 * @g:		guard
 * @m:		model
 * @host:	number of the host
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int known_stacks_read(struct guard *g, struct model *m, u32 host)
{
	const char *name = m->host[host].known_stacks, *trouble;
	int status, fd;
	FILE *f;

	if (!name || !m->stacks)
		return 0;
	guard_file(g, name);
	fd = open_regular(name, &trouble);
	if (fd < 0)
		return guard_fail(g, GUARD_NOWHERE, "%s", trouble);
	f = fdopen(fd, "r");
	if (!f)
		memory_failed();
	status = read_lines(g, m->stacks, host, f);
	fclose(f);
	if (!status)
		guard_file(g, m->host[host].file);
	return status;
}
