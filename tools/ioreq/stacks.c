// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks: what their numbers in records stand for, from the events io_stack and io_map.
 * They are written before the first record that needs them and again while they are in
 * use, so a file may have them often, and a ring that was overwritten has them later.
 */
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>

#include "ioreq.h"
#include "text.h"

/* The kernel does not go further */
#define FRAMES_MAX 256

#define FRAME_SHIFT 48
#define FRAME_OFFSET ((1ull << FRAME_SHIFT) - 1)

/**
 * struct stacks - see stacks_new()
 * @guard:	for what is to be told
 * @symfs:	directory in which files are looked for
 * @stack:	stacks by host and number
 * @mapped:	files by host and number; the latest one of a number first
 */
struct stacks {
	struct guard *guard;
	const char *symfs;
	struct stack *stack[BUCKETS];
	struct mapped *mapped[BUCKETS];
};

/**
 * stacks_new - no stacks yet
 * @g: the guard
 * @symfs: directory in which files are looked for, "" for /
 *
 * Return: that; stacks_free() frees it.
 */
struct stacks *stacks_new(struct guard *g, const char *symfs)
{
	struct stacks *s = allocate(sizeof(*s));

	s->guard = g;
	s->symfs = symfs;
	return s;
}

/* ------------------------------------------------------------------------- */
/* Formats */

static bool find_stack_fields(struct stack_layout *l, const struct records *r,
			      struct tep_event *event)
{
	return event && number_find(&l->common_type, r, event, "common_type") &&
	       number_find(&l->id, r, event, "id") &&
	       number_find(&l->end, r, event, "end") &&
	       number_find(&l->guessed, r, event, "guessed") &&
	       dynamic_find(&l->frames, event, "frames", &l->id);
}

static bool find_map_fields(struct stack_layout *l, const struct records *r,
			    struct tep_event *event)
{
	struct tep_format_field *id =
		event ? tep_find_field(event, "build_id") : NULL;

	if (!id || id->offset < 0 || id->size < 1 || id->size > BUILD_ID_MAX ||
	    !number_find(&l->common_type, r, event, "common_type") ||
	    !number_find(&l->map_id, r, event, "id") ||
	    !number_find(&l->ino, r, event, "ino") ||
	    !number_find(&l->dev, r, event, "dev") ||
	    !number_find(&l->build_id_size, r, event, "build_id_size") ||
	    !dynamic_find(&l->path, event, "path", &l->map_id))
		return false;
	l->build_id_offset = id->offset;
	l->build_id_room = id->size;
	return true;
}

/**
 * stacks_layout - where the fields of the two events are in a file's records
 * @l: set to that; if the file has no such event, its number is -1
 * @r: the file
 */
void stacks_layout(struct stack_layout *l, const struct records *r)
{
	struct tep_event *stack = tep_find_event_by_name(records_tep(r),
							 "iosys", "io_stack"),
			 *map = tep_find_event_by_name(records_tep(r), "iosys",
						       "io_map");

	memset(l, 0, sizeof(*l));
	l->stack = find_stack_fields(l, r, stack) ? stack->id : -1;
	l->map = find_map_fields(l, r, map) ? map->id : -1;
	if (l->stack >= 0)
		symbols_find(l->end_name, ENDS_MAX, stack, "end");
}

/* ------------------------------------------------------------------------- */
/* Records */

static struct mapped **mapped_bucket(struct stacks *s, u32 host, u32 id)
{
	return &s->mapped[mix(host, id)];
}

static struct mapped *find_mapped(struct stacks *s, u32 host, u32 id)
{
	struct mapped *m = *mapped_bucket(s, host, id);

	while (m && (m->host != host || m->id != id))
		m = m->next;
	return m;
}

static struct stack *find_stack(const struct stacks *s, u32 host, u32 id)
{
	struct stack *stack = s->stack[mix(host, id)];

	while (stack && (stack->host != host || stack->id != id))
		stack = stack->next;
	return stack;
}

static bool dynamic_fits(const struct number *n, const struct record *rec,
			 u32 *at, u32 *len)
{
	u64 where = number_get(n, rec);

	*at = where & 0xffff;
	*len = where >> 16 & 0xffff;
	return *at <= rec->size && *len <= rec->size - *at;
}

static bool take_stack(struct stacks *s, u32 host, const struct stack_layout *l,
		       const struct record *rec)
{
	struct number n = { .size = 8, .swap = l->frames.swap };
	struct stack *stack;
	u32 id, at, len, i;

	if (!number_fits(&l->id, rec) || !number_fits(&l->end, rec) ||
	    !number_fits(&l->guessed, rec) || !number_fits(&l->frames, rec) ||
	    !dynamic_fits(&l->frames, rec, &at, &len) || len % 8 ||
	    len > 8 * FRAMES_MAX)
		return false;
	id = number_get(&l->id, rec);
	if (find_stack(s, host, id))
		return true;
	stack = allocate(sizeof(*stack));
	stack->host = host;
	stack->id = id;
	stack->end = number_get(&l->end, rec);
	stack->guessed = number_get(&l->guessed, rec);
	snprintf(stack->end_name, sizeof(stack->end_name), "%s",
		 stack->end < ENDS_MAX && *l->end_name[stack->end] ?
			 l->end_name[stack->end] :
			 "unknown");
	stack->nr = len / 8;
	stack->frame = allocate((stack->nr + 1) * sizeof(*stack->frame));
	for (i = 0; i < stack->nr; i++) {
		u64 frame;

		n.offset = at + 8 * i;
		frame = number_get(&n, rec);
		stack->frame[i].map = frame >> FRAME_SHIFT;
		stack->frame[i].offset = frame & FRAME_OFFSET;
		/* Its number may stand for another file afterwards */
		if (stack->frame[i].map)
			stack->frame[i].mapped =
				find_mapped(s, host, stack->frame[i].map);
	}
	stack->next = s->stack[mix(host, id)];
	s->stack[mix(host, id)] = stack;
	return true;
}

static bool take_map(struct stacks *s, u32 host, const struct stack_layout *l,
		     const struct record *rec)
{
	struct mapped *m, **bucket;
	char path[4096];
	u32 id, at, len, size;
	u64 ino;

	if (!number_fits(&l->map_id, rec) || !number_fits(&l->ino, rec) ||
	    !number_fits(&l->dev, rec) || !number_fits(&l->path, rec) ||
	    !number_fits(&l->build_id_size, rec) ||
	    l->build_id_offset + l->build_id_room > rec->size ||
	    !dynamic_fits(&l->path, rec, &at, &len))
		return false;
	size = number_get(&l->build_id_size, rec);
	if (size > l->build_id_room)
		return false;
	id = number_get(&l->map_id, rec);
	ino = number_get(&l->ino, rec);
	snprintf(path, sizeof(path), "%.*s", (int)len,
		 (const char *)rec->data + at);
	m = find_mapped(s, host, id);
	if (!m || m->ino != ino || m->dev != number_get(&l->dev, rec) ||
	    strcmp(m->path, path) != 0) {
		bucket = mapped_bucket(s, host, id);
		m = allocate(sizeof(*m));
		m->host = host;
		m->id = id;
		m->ino = ino;
		m->dev = number_get(&l->dev, rec);
		m->path = strdup(path);
		if (!m->path)
			abort();
		m->next = *bucket;
		*bucket = m;
	}
	/* It may become known later */
	m->build_id_size = size;
	memcpy(m->build_id, rec->data + l->build_id_offset, size);
	return true;
}

/**
 * stacks_take - a record that is no call's
 * @s: stacks
 * @host: which file
 * @l: its layout
 * @type: number of the record's event
 * @rec: the record
 *
 * Return: whether it is none of the two events, or whole.
 */
bool stacks_take(struct stacks *s, u32 host, const struct stack_layout *l,
		 u64 type, const struct record *rec)
{
	if (l->stack >= 0 && type == (u64)l->stack)
		return take_stack(s, host, l, rec);
	if (l->map >= 0 && type == (u64)l->map)
		return take_map(s, host, l, rec);
	return true;
}

/**
 * stacks_finish - all files are read
 * @s: stacks
 *
 * What was told only after the stack is what is left.
 */
void stacks_finish(struct stacks *s)
{
	struct stack *stack;
	u32 i, j;

	for (i = 0; i < BUCKETS; i++) {
		for (stack = s->stack[i]; stack; stack = stack->next) {
			for (j = 0; j < stack->nr; j++) {
				struct frame *f = &stack->frame[j];

				if (f->map && !f->mapped)
					f->mapped = find_mapped(s, stack->host,
								f->map);
			}
		}
	}
}

/**
 * stacks_find - what a number stands for
 * @s: stacks
 * @key: of a call, see stack_key()
 *
 * Return: the stack, or NULL: the file does not tell.
 */
const struct stack *stacks_find(const struct stacks *s, u64 key)
{
	return find_stack(s, (key >> 32) - 1, key);
}

/**
 * frame_order - compare places in files, which may be of several hosts
 * @a: a frame
 * @b: another one
 *
 * Return: less than, equal to, or more than 0.
 */
int frame_order(const struct frame *a, const struct frame *b)
{
	const struct mapped *x = a->mapped, *y = b->mapped;
	int order;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	if (!x || !y)
		return x != y ? (x ? 1 : -1) :
				(a->map > b->map) - (a->map < b->map);
	order = x == y ? 0 : strcmp(x->path, y->path);
	if (order || x->build_id_size != y->build_id_size)
		return order				   ? order :
		       x->build_id_size < y->build_id_size ? -1 :
							     1;
	return memcmp(x->build_id, y->build_id, x->build_id_size);
}

/**
 * frame_name - where a frame is
 * @buf: where to put "file+0xOFFSET"
 * @size: its size
 * @f: the frame
 * @whole: with the whole path
 *
 * Return: @buf.
 */
const char *frame_name(char *buf, size_t size, const struct frame *f,
		       bool whole)
{
	const char *path = f->mapped ? f->mapped->path : NULL, *name;

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
 * stacks_place - the source of a frame
 * @s: stacks
 * @stack: the stack
 * @i: which frame of it, from the innermost one on
 * @place: set to it, as far as it is known
 */
void stacks_place(struct stacks *s, const struct stack *stack, u32 i,
		  struct place *place)
{
	const struct frame *f = &stack->frame[i];

	memset(place, 0, sizeof(*place));
	if (!f->mapped)
		return;
	/* What it returns to is behind the call */
	code_place(f->mapped, s->symfs, f->offset - !!i, place);
	guard_alive(s->guard, GUARD_NOWHERE);
}

/**
 * place_text - a place as text
 * @buf: set to it, or to ""
 * @size: of that
 * @p: the place
 *
 * Return: @buf.
 */
const char *place_text(char *buf, size_t size, const struct place *p)
{
	if (*p->file)
		snprintf(buf, size, "%s at %s:%d",
			 *p->function ? p->function : "?", p->file, p->line);
	else
		snprintf(buf, size, "%s", p->function);
	return buf;
}

/* The C library's wrapper of a call tells nothing of who wants it */
static bool is_c_library(const struct frame *f)
{
	static const char *const names[] = { "libc.so", "libc-", "libpthread",
					     "ld-linux", "ld-musl" };
	const char *path = f->mapped ? f->mapped->path : "", *name;
	size_t i;

	name = strrchr(path, '/');
	name = name ? name + 1 : path;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	}
	return false;
}

/**
 * stacks_caller - who called
 * @stack: a stack with frames
 *
 * Return: the innermost frame that is not in the C library, or that there is.
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

/**
 * stacks_tell - say which files could not help
 * @sums: with stacks, of which all places that matter were looked at
 */
void stacks_tell(const struct sums *sums)
{
	const struct stacks *s = sums->stacks;
	struct mapped *m;
	u32 i;

	for (i = 0; i < BUCKETS; i++) {
		for (m = s->mapped[i]; m; m = m->next) {
			char path[4096];

			if (!code_trouble(m))
				continue;
			snprintf(path, sizeof(path), "%s", m->path);
			clean_text(path);
			guard_file(s->guard, sums->host[m->host].file);
			guard_note(s->guard, "%s%s: %s: kept as offsets",
				   s->symfs, path, code_trouble(m));
		}
	}
	guard_file(s->guard, "");
}

/**
 * stacks_free - free all of it
 * @s: stacks, or NULL
 */
void stacks_free(struct stacks *s)
{
	struct stack *stack;
	struct mapped *m;
	u32 i;

	if (!s)
		return;
	for (i = 0; i < BUCKETS; i++) {
		while ((stack = s->stack[i])) {
			s->stack[i] = stack->next;
			free(stack->frame);
			free(stack);
		}
		while ((m = s->mapped[i])) {
			s->mapped[i] = m->next;
			code_free(m->code);
			free(m->path);
			free(m);
		}
	}
	free(s);
}
