// SPDX-License-Identifier: GPL-2.0
/*
 * The function of each address, and the code there.
 *
 * Addresses of a process change their meaning after an exec, or when another library is
 * mapped in the same place: an address belongs to a space, which is a process and the
 * number of times that this has happened to it. Files are opened once each, when all
 * addresses are known.
 */
#include <stdlib.h>
#include <string.h>

#include "symbols.h"
#include "text.h"

static u64 name_hash(const char *name, const char *object)
{
	return hash_more(hash_string(name), hash_string(object));
}

/**
 * symtab_new - create an empty symbol table
 * @g:		guard
 * @files:	where symbols are
 *
 * Return: the table, to be freed with symtab_free().
 */
struct symbols *symtab_new(struct guard *g, const struct symbol_files *files)
{
	struct symbols *s = xzalloc(sizeof(*s));

	s->guard = g;
	s->files = *files;
	s->vmlinux = NONE;
	s->spaces = SPACE_FIRST;
	s->space_room = 16;
	s->space = xzalloc(s->space_room * sizeof(*s->space));
	s->code = code_new();
	return s;
}

static struct process *find_process(struct symbols *s, s32 tgid)
{
	u64 hash = hash_u64(tgid);
	u32 i;

	hash_for_each_possible(&s->by_tgid, hash, i) {
		if (s->process[i].tgid == tgid)
			return &s->process[i];
	}
	GROW(s->process, s->processes, s->process_room);
	s->process[s->processes] = (struct process){ .tgid = tgid };
	hash_add(&s->by_tgid, hash);
	return &s->process[s->processes++];
}

static bool is_anonymous(const char *path)
{
	return *path != '/' || !strncmp(path, "//", 2) ||
	       !strncmp(path, "/memfd:", 7) || !strncmp(path, "/dev/zero", 9) ||
	       !strncmp(path, "/SYSV", 5);
}

u32 symtab_find_object(struct symbols *s, const char *path, const u8 *id,
		       u32 id_len)
{
	struct object *o;
	u64 i;

	if (id_len > BUILD_ID_MAX)
		id_len = BUILD_ID_MAX;
	for (i = s->objects; i--;) {
		o = &s->object[i];
		if (!strcmp(o->path, path) && o->id_len == id_len &&
		    !memcmp(o->id, id, id_len))
			return i;
	}
	GROW(s->object, s->objects, s->object_room);
	o = &s->object[s->objects];
	*o = (struct object){ .path = xstrdup(path),
			      .anonymous = is_anonymous(path) };
	clean_text(o->path);
	o->name = strrchr(o->path, '/') ? strrchr(o->path, '/') + 1 : o->path;
	o->id_len = id_len;
	memcpy(o->id, id, id_len);
	return s->objects++;
}

/**
 * symtab_map - add a mapping of a file
 * @s:		symbols
 * @tgid:	process
 * @start:	first address
 * @end:	address after the last byte
 * @pgoff:	offset of @start in the file, bytes
 * @path:	path of the file
 * @id:		build ID
 * @id_len:	bytes of the build ID, 0 if unknown
 */
void symtab_map(struct symbols *s, s32 tgid, u64 start, u64 end, u64 pgoff,
		const char *path, const u8 *id, u32 id_len)
{
	struct process *p;
	struct map *m;
	u32 object;
	bool replaces = false;
	u64 i;

	if (start >= end || start >> 63)
		return;
	object = symtab_find_object(s, path, id, id_len);
	p = find_process(s, tgid);
	for (i = 0; i < p->maps; i++) {
		m = &p->map[i];
		if (m->died != NONE || m->start >= end || start >= m->end)
			continue;
		if (m->object == object &&
		    m->start - m->pgoff == start - pgoff) {
			/* The same mapping, or more of it */
			if (start < m->start) {
				m->pgoff -= m->start - start;
				m->start = start;
			}
			if (end > m->end)
				m->end = end;
			return;
		}
		m->died = p->generation + 1;
		replaces = true;
	}
	if (replaces) {
		p->generation++;
		p->space = 0;
	}
	GROW(p->map, p->maps, p->room);
	p->map[p->maps++] = (struct map){ .start = start,
					  .end = end,
					  .pgoff = pgoff,
					  .object = object,
					  .born = p->generation,
					  .died = NONE };
}

/**
 * symtab_fork - copy the mappings of the parent
 * @s:		symbols
 * @tgid:	new process
 * @parent:	its parent
 */
void symtab_fork(struct symbols *s, s32 tgid, s32 parent)
{
	struct process *from, *to;
	u64 i;

	if (tgid == parent)
		return;
	find_process(s, tgid);
	from = find_process(s, parent);
	to = find_process(s, tgid);
	if (to->maps)
		return;
	for (i = 0; i < from->maps; i++) {
		if (from->map[i].died != NONE)
			continue;
		GROW(to->map, to->maps, to->room);
		to->map[to->maps] = from->map[i];
		to->map[to->maps++].born = 0;
	}
}

/**
 * symtab_has_kernel - whether there are addresses of the kernel
 * @s:	symbols
 */
bool symtab_has_kernel(const struct symbols *s)
{
	u64 i;

	for (i = 0; i < s->places; i++) {
		if (s->place[i].space == SPACE_KERNEL)
			return true;
	}
	return false;
}

/**
 * symtab_kernel - set the symbols of the kernel
 * @s:		symbols
 * @kernel:	symbols of the kernel, which symtab_free() frees
 */
void symtab_kernel(struct symbols *s, struct kallsyms *kernel)
{
	kallsyms_free(s->kernel);
	s->kernel = kernel;
}

static u32 space_of(struct symbols *s, s32 tgid, u64 addr)
{
	struct process *p;

	if (addr >> 63)
		return SPACE_KERNEL;
	p = find_process(s, tgid);
	if (p->space)
		return p->space;
	GROW(s->space, s->spaces, s->space_room);
	s->space[s->spaces] = (struct space){ .process = p - s->process,
					      .generation = p->generation };
	p->space = s->spaces++;
	return p->space;
}

static u32 find_place(struct symbols *s, u32 space, u64 addr)
{
	u64 hash = hash_pair(addr, space);
	struct place *p;
	u32 i;

	hash_for_each_possible(&s->by_addr, hash, i) {
		if (s->place[i].addr == addr && s->place[i].space == space)
			return i;
	}
	GROW(s->place, s->places, s->place_room);
	GROW(s->hint, s->places, s->hint_room);
	GROW(s->hint_offset, s->places, s->hint_offset_room);
	p = &s->place[s->places];
	*p = (struct place){ .addr = addr, .space = space, .function = NONE };
	s->hint[s->places++] = NONE;
	return hash_add(&s->by_addr, hash);
}

/**
 * symtab_place - add an address
 * @s:		symbols
 * @tgid:	process
 * @addr:	address of the process or the kernel
 *
 * Return: number of the place, for symtab_at().
 */
u32 symtab_place(struct symbols *s, s32 tgid, u64 addr)
{
	return find_place(s, space_of(s, tgid, addr), addr);
}

u32 symtab_find_function(struct symbols *s, const char *name,
			 const char *object, bool known)
{
	u64 hash = name_hash(name, object);
	struct function *f;
	u32 i;

	hash_for_each_possible(&s->by_name, hash, i) {
		if (!strcmp(s->function[i].symbol, name) &&
		    !strcmp(s->function[i].object, object))
			return i;
	}
	GROW(s->function, s->functions, s->function_room);
	f = &s->function[s->functions++];
	*f = (struct function){ .symbol = xstrdup(name),
				.object = object,
				.known = known };
	clean_text(f->symbol);
	if (known && !s->files.elf.no_demangle)
		f->name = elffile_demangle(name);
	if (!f->name)
		f->name = f->symbol;
	return hash_add(&s->by_name, hash);
}

/**
 * symtab_named - add a place of which only the name is known
 * @s:		symbols
 * @name:	name of the function
 * @offset:	offset in the function
 *
 * Return: number of the place, for symtab_at().
 */
u32 symtab_named(struct symbols *s, const char *name, u64 offset)
{
	u32 function = symtab_find_function(s, name, "", true);
	u32 place = find_place(s, SPACE_NAMED,
			       (u64)(function + 1) << 32 | (offset & U32_MAX));

	s->hint[place] = function;
	s->hint_offset[place] = offset;
	return place;
}

/**
 * symtab_is_kernel - whether a place is in the kernel
 * @s:		symbols
 * @place:	number of the place
 *
 * Return: false also if only the name is known.
 */
bool symtab_is_kernel(const struct symbols *s, u32 place)
{
	return s->place[place].space == SPACE_KERNEL;
}

/**
 * symtab_hint - add a name for a place from the input
 * @s:		symbols
 * @place:	from symtab_place()
 * @name:	name of the function
 * @offset:	offset of the place in the function
 *
 * It is used if no file has a symbol.
 */
void symtab_hint(struct symbols *s, u32 place, const char *name, u64 offset)
{
	u32 function = symtab_find_function(s, name, "", true);

	s->hint[place] = function;
	s->hint_offset[place] = offset;
}

/**
 * symtab_at - get a place
 * @s:		symbols, after symtab_resolve()
 * @place:	number of the place
 */
const struct place *symtab_at(const struct symbols *s, u32 place)
{
	return &s->place[place];
}

/**
 * symtab_function - get a function
 * @s:		symbols, after symtab_resolve()
 * @function:	number of the function
 */
const struct function *symtab_function(const struct symbols *s, u32 function)
{
	return &s->function[function];
}

/**
 * symtab_inlined - functions that are inlined at a call
 * @s:		symbols, after symtab_resolve()
 * @place:	number of the call's place
 * @nr:		set to the number of functions
 *
 * Return: functions, innermost first; all were inlined into the function of the place.
 */
const u32 *symtab_inlined(const struct symbols *s, u32 place, u32 *nr)
{
	*nr = s->place[place].nr_inlined;
	return s->inlined + s->place[place].inlined;
}

/**
 * symtab_is_named - whether a function has a name, as shown or as in its file
 * @s:		symbols, after symtab_resolve()
 * @function:	number of the function
 * @name:	name
 */
bool symtab_is_named(const struct symbols *s, u32 function, const char *name)
{
	return !strcmp(s->function[function].name, name) ||
	       !strcmp(s->function[function].symbol, name);
}

/**
 * symtab_functions - number of functions
 * @s:	symbols, after symtab_resolve()
 */
u32 symtab_functions(const struct symbols *s)
{
	return s->functions;
}

static void write_map(const struct symbols *s, s32 tgid, const struct map *m,
		      FILE *out)
{
	const struct object *o = &s->object[m->object];
	u32 i;

	fprintf(out, "PERF_RECORD_MMAP2 %d/%d: [0x%llx(0x%llx) @ 0x%llx ", tgid,
		tgid, m->start, m->end - m->start, m->pgoff);
	if (!o->id_len)
		fputs("00:00 0 0", out);
	for (i = 0; i < o->id_len; i++)
		fprintf(out, "%s%02x%s", i ? "" : "<", o->id[i],
			i + 1 < o->id_len ? "" : ">");
	fprintf(out, "]: r-xp %s\n", o->path);
}

/**
 * symtab_write_maps - write the mappings of a process, as perf script does
 * @s:		symbols
 * @place:	an address of the process
 * @comm:	name of the thread
 * @ts:		time, ns
 * @out:	output; nothing is written if this was done before
 */
void symtab_write_maps(struct symbols *s, u32 place, const char *comm, u64 ts,
		       FILE *out)
{
	struct space *space = &s->space[s->place[place].space];
	const struct process *p;
	u64 i;

	if (s->place[place].space < SPACE_FIRST || space->written)
		return;
	space->written = true;
	p = &s->process[space->process];
	for (i = 0; i < p->maps; i++) {
		const struct map *m = &p->map[i];

		if (m->born > space->generation || m->died <= space->generation)
			continue;
		fprintf(out, "%16s %7d/%-7d [000] %5llu.%09llu: ", comm,
			p->tgid, p->tgid, ts / 1000000000, ts % 1000000000);
		write_map(s, p->tgid, m, out);
	}
}

/**
 * symtab_free - free the symbol table
 * @s:	symbols, or NULL
 */
void symtab_free(struct symbols *s)
{
	u64 i;

	if (!s)
		return;
	for (i = 0; i < s->objects; i++) {
		elffile_close(s->object[i].elf);
		free(s->object[i].path);
	}
	for (i = 0; i < s->processes; i++)
		free(s->process[i].map);
	for (i = 0; i < s->functions; i++) {
		if (s->function[i].name != s->function[i].symbol)
			free(s->function[i].name);
		free(s->function[i].symbol);
	}
	kallsyms_free(s->kernel);
	free(s->inlined);
	free(s->object);
	free(s->process);
	free(s->function);
	free(s->space);
	free(s->place);
	free(s->hint);
	free(s->hint_offset);
	hash_free(&s->by_tgid);
	hash_free(&s->by_addr);
	hash_free(&s->by_name);
	code_free(s->code);
	free(s);
}
