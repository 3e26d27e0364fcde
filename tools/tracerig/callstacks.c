// SPDX-License-Identifier: GPL-2.0
/* The stacks of a window. See callstacks.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "part.h"
#include "stackfile.h"
#include "callstacks.h"

/* Of a window; the kernel has room for some 40,000 stacks and 2048 files */
#define NUMBERS_MAX 65536

/* Frames in memory of no file, of all stacks of a window */
#define ADDRESSES_MAX 262144

/* Bytes of the copy, and which of them stacks may have: their files come after them */
#define BYTES_MAX (4u << 20)
#define STACKS_BYTES_MAX (3u << 20)

/* A frame in a file: that bit, the file's number, and the offset in it */
#define FRAME_IN_FILE (1ull << 63)
#define FRAME_SHIFT 32

/**
 * struct number - the number of a stack or of a file
 * @id:		the number
 * @wanted:	something of the window refers to it
 * @known:	the window has what it stands for
 * @addr:	of a stack's frames in memory of no file, what was executed
 * @nr:		number of these
 */
struct number {
	u32 id;
	bool wanted;
	bool known;
	u64 *addr;
	size_t nr, room;
};

/**
 * struct caller - a process that has calls with a stack
 * @id:		the stack's number
 * @tgid:	the process
 */
struct caller {
	u32 id;
	s32 tgid;
};

/**
 * struct account - the numbers that are wanted, by result
 * @wanted:	number of all of them
 * @unknown:	neither the window nor the kernel knows them
 * @left_out:	the copy has no room for them
 */
struct account {
	u64 wanted, unknown, left_out;
};

static struct number *find(const struct hash *h, u32 id)
{
	struct number *n;

	hash_for_each_possible_entry(h, hash_u64(id), n) {
		if (n->id == id)
			return n;
	}
	return NULL;
}

/* NULL if there is no room */
static struct number *get(struct hash *h, u32 id)
{
	struct number *n = find(h, id);

	if (n || h->nr == NUMBERS_MAX)
		return n;
	n = hash_new(h, hash_u64(id), sizeof(*n));
	n->id = id;
	return n;
}

static void add_caller(struct callstacks *s, u32 id, s32 tgid)
{
	u64 hash = hash_pair(id, tgid);
	struct caller *c;

	hash_for_each_possible_entry(&s->callers, hash, c) {
		if (c->id == id && c->tgid == tgid)
			return;
	}
	if (s->callers.nr == NUMBERS_MAX)
		return;
	c = hash_new(&s->callers, hash, sizeof(*c));
	c->id = id;
	c->tgid = tgid;
}

/**
 * callstacks_called - note the stack of a call in the window
 * @s: the stacks
 * @id: its number; 0: it has none
 * @tgid: the process that called; 0: not known
 */
void callstacks_called(struct callstacks *s, u32 id, s32 tgid)
{
	struct number *n = id ? get(&s->stacks, id) : NULL;

	if (n) {
		n->wanted = true;
		add_caller(s, id, tgid);
	}
	s->left_out += id && !n;
}

/* A frame in memory of no file: if it is a caller's, the address is that after the call */
static void add_address(struct callstacks *s, struct number *n, u64 addr,
			size_t frame)
{
	if (s->addresses == ADDRESSES_MAX)
		return;
	s->addresses++;
	GROW(n->addr, n->nr, n->room);
	n->addr[n->nr++] = addr - !!frame;
}

static void want_map(struct callstacks *s, u32 id)
{
	struct number *n = id ? get(&s->maps, id) : NULL;

	if (n)
		n->wanted = true;
}

/**
 * callstacks_defined - note that the window has the definition of a stack
 * @s: the stacks
 * @id: the number
 * @frame: its frames, as in the event io_stack
 * @nr: number of these
 */
void callstacks_defined(struct callstacks *s, u32 id, const u64 *frame,
			size_t nr)
{
	struct number *n = get(&s->stacks, id);
	bool is_new = n && !n->known;
	size_t i;

	if (n)
		n->known = true;
	for (i = 0; i < nr; i++) {
		if (frame[i] & FRAME_IN_FILE)
			want_map(s, (frame[i] & ~FRAME_IN_FILE) >> FRAME_SHIFT);
		else if (is_new)
			add_address(s, n, frame[i], i);
	}
}

/**
 * callstacks_mapped - note that the window has the definition of a file
 * @s: the stacks
 * @id: the number
 */
void callstacks_mapped(struct callstacks *s, u32 id)
{
	struct number *n = get(&s->maps, id);

	if (n)
		n->known = true;
}

/* Note what the kernel's line of a stack or of a file refers to */
static void add_line(struct callstacks *s, const struct stackfile_line *l,
		     struct number *n, bool is_map, struct elfcopy *symbols)
{
	u32 i;

	for (i = 0; !is_map && i < l->nr; i++) {
		if (l->map[i])
			want_map(s, l->map[i]);
		else if (!n->known)
			add_address(s, n, l->offset[i], i);
	}
	n->known = true;
	if (is_map)
		elfcopy_add(symbols, l->path, l->build_id, l->build_id_size);
}

/* Copy a line that is wanted; false if there is no room for it */
static bool copy_line(const char *text, FILE *to, size_t most, size_t *bytes)
{
	size_t len = strlen(text);

	if (*bytes + len > most)
		return false;
	fputs(text, to);
	*bytes += len;
	return true;
}

/* The kernel lists stacks before files */
static void copy(struct callstacks *s, FILE *from, FILE *to,
		 struct elfcopy *symbols, struct account *account)
{
	struct stackfile_line *l = xzalloc(sizeof(*l));
	char *text = xzalloc(STACKFILE_LINE);
	enum stackfile_kind kind;
	size_t bytes = 0;
	struct number *n;
	bool is_map;

	while (fgets(text, STACKFILE_LINE, from)) {
		kind = stackfile_parse(text, l);
		if (kind != STACKFILE_STACK && kind != STACKFILE_MAP)
			continue;
		is_map = kind == STACKFILE_MAP;
		n = find(is_map ? &s->maps : &s->stacks, l->id);
		if (!n || !n->wanted)
			continue;
		if (copy_line(text, to, is_map ? BYTES_MAX : STACKS_BYTES_MAX,
			      &bytes)) {
			add_line(s, l, n, is_map, symbols);
		} else {
			n->known = true;
			account[is_map].left_out++;
		}
	}
	free(text);
	free(l);
}

static void count(const struct hash *h, struct account *a)
{
	const struct number *n;
	u32 i;

	hash_for_each(h, i, n) {
		a->wanted += n->wanted;
		a->unknown += n->wanted && !n->known;
	}
}

static void print_account(FILE *to, const char *what, const struct account *a)
{
	fprintf(to,
		"# %s: %llu, of which the kernel no longer knows: %llu, without room here: %llu\n",
		what, (unsigned long long)a->wanted,
		(unsigned long long)a->unknown,
		(unsigned long long)a->left_out);
}

/* Which process has what code */
static void add_code(const struct callstacks *s, struct jitmaps *code)
{
	const struct caller *c;
	const struct number *n;
	u32 i;

	code->left_out |= s->addresses == ADDRESSES_MAX ||
			  s->callers.nr == NUMBERS_MAX;
	hash_for_each(&s->callers, i, c) {
		n = find(&s->stacks, c->id);
		if (n)
			jitmaps_add(code, c->tgid, n->addr, n->nr);
	}
}

/**
 * callstacks_write - copy what the window needs of the kernel's file into a case
 * @s: the stacks of the window
 * @known: the kernel's file
 * @dir: the case
 * @symbols: the files that frames are in, and other addresses of frames, are added
 * @missing: array; the name of the file is added if the case lacks some of it
 *
 * Return: false, with errno set, if it could not be written.
 */
bool callstacks_write(struct callstacks *s, const char *known, const char *dir,
		      struct elfcopy *symbols, struct json_object *missing)
{
	struct account account[2] = { 0 };
	FILE *from, *to;
	bool good = true;

	count(&s->stacks, &account[0]);
	if (!account[0].wanted)
		return true;
	account[0] = (struct account){ 0 };
	from = known ? fopen(known, "re") : NULL;
	to = from ? part_open(dir, STACKS_FILE) : NULL;
	good = !from || to;
	if (to)
		copy(s, from, to, symbols, account);
	count(&s->stacks, &account[0]);
	count(&s->maps, &account[1]);
	if (to) {
		print_account(to, "stacks of the window's calls", &account[0]);
		print_account(to, "files of their frames", &account[1]);
		if (s->left_out)
			fprintf(to,
				"# calls that have other stacks than the first %d: %llu\n",
				NUMBERS_MAX, (unsigned long long)s->left_out);
		good = part_close(to, true);
	}
	if (from)
		fclose(from);
	add_code(s, &symbols->code);
	symbols->left_out |= account[1].unknown || account[1].left_out;
	if (s->left_out || account[0].unknown || account[0].left_out ||
	    account[1].unknown || account[1].left_out)
		json_object_array_add(missing,
				      json_object_new_string(STACKS_FILE));
	return good;
}

/**
 * callstacks_free - free what is in it
 * @s: the stacks
 */
void callstacks_free(struct callstacks *s)
{
	struct number *n;
	u32 i;

	hash_for_each(&s->stacks, i, n)
		free(n->addr);
	hash_free(&s->callers);
	hash_free(&s->stacks);
	hash_free(&s->maps);
}
