// SPDX-License-Identifier: GPL-2.0
/* Symbols: the functions of places, from mapped files, kallsyms and vmlinux. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols.h"
#include "text.h"

/* Maximum size of an x86 instruction */
#define INSN_MAX 15

static void name_place(struct symbols *s, struct place *p, const char *name,
		       const char *object, bool known)
{
	p->function = symtab_find_function(s, name, object, known);
}

/* Without a symbol: "[FILE+OFFSET]" of the function, or of the address itself */
static void name_by_file(struct symbols *s, struct place *p, struct object *o,
			 u64 offset)
{
	char name[PATH_ROOM + 40];

	snprintf(name, sizeof(name), "[%s+0x%llx]", o->name, offset);
	name_place(s, p, name, o->path, false);
}

static void name_by_address(struct symbols *s, struct place *p,
			    const char *what)
{
	char name[64];

	snprintf(name, sizeof(name), "[%s0x%llx]", what, p->addr);
	name_place(s, p, name, "", false);
}

static void open_object(struct symbols *s, struct object *o,
			const struct elffile_options *options)
{
	if (o->elf || o->anonymous)
		return;
	o->elf = elffile_open(options, o->path, o->id, o->id_len);
	guard_alive(s->guard, GUARD_NOWHERE);
}

/* The code at an offset, up to *@len bytes, or NULL */
static const u8 *code_at(const struct object *o, u64 offset, u64 *len)
{
	const u8 *code = o->elf ? elffile_bytes(o->elf, offset, len) : NULL;

	if (code && *len > INSN_MAX)
		*len = INSN_MAX;
	return code;
}

/* For call chains: the functions that a call is in, as perf script names them */
static void find_inlined(struct symbols *s, struct place *p, struct object *o,
			 u64 addr)
{
	const struct elffile_source *source;
	u32 nr = elffile_sources(o->elf, addr, &source), i;
	char name[PATH_ROOM];

	p->inlined = s->inlineds;
	for (i = 0; i < nr && source[i].inlined; i++) {
		snprintf(name, sizeof(name), "%s (inlined)",
			 source[i].function ?: "?");
		GROW(s->inlined, s->inlineds, s->inlined_room);
		s->inlined[s->inlineds++] =
			symtab_find_function(s, name, o->path, false);
		p->nr_inlined++;
	}
}

/* @offset in the file, @addr in its segments */
static void resolve_in(struct symbols *s, struct place *p, struct object *o,
		       u64 offset, u64 addr)
{
	const struct elffile_symbol *symbol = elffile_symbol(o->elf, addr);
	u64 len;
	const u8 *code = code_at(o, offset, &len);

	if (code)
		code_decode(s->code, code, len, elffile_is_wide(o->elf), p);
	if (symbol)
		p->start = p->addr - (addr - symbol->start);
	if (symbol && symbol->name)
		name_place(s, p, symbol->name, o->path, true);
	else
		name_by_file(s, p, o, symbol ? symbol->start : addr);
	if (p->kind == KIND_CALL)
		find_inlined(s, p, o, addr);
}

static const struct map *find_map(const struct symbols *s, u32 space, u64 addr)
{
	const struct process *p = &s->process[s->space[space].process];
	u32 generation = s->space[space].generation;
	const struct map *late = NULL;
	u64 i;

	for (i = p->maps; i--;) {
		const struct map *m = &p->map[i];

		if (addr < m->start || addr >= m->end)
			continue;
		if (m->born <= generation && generation < m->died)
			return m;
		late = m;
	}
	/* The record of its mapping may be too late */
	return late && late->born > generation ? late : NULL;
}

static void use_hint(struct symbols *s, u32 i)
{
	struct place *p = &s->place[i];

	p->function = s->hint[i];
	p->start = p->addr - s->hint_offset[i];
}

static void resolve_user(struct symbols *s, u32 i)
{
	struct place *p = &s->place[i];
	const struct map *m = find_map(s, p->space, p->addr);
	struct object *o = m ? &s->object[m->object] : NULL;
	u64 offset, addr;

	if (o) {
		open_object(s, o, &s->files.elf);
		o->addresses++;
		offset = p->addr - m->start + m->pgoff;
		if (o->elf && elffile_convert(o->elf, offset, true, &addr)) {
			resolve_in(s, p, o, offset, addr);
			if (!s->function[p->function].known &&
			    s->hint[i] != NONE)
				use_hint(s, i);
			return;
		}
	}
	if (s->hint[i] != NONE) {
		use_hint(s, i);
	} else if (o && !o->anonymous) {
		name_by_file(s, p, o, p->addr - m->start + m->pgoff);
	} else {
		if (!o)
			s->no_map++;
		name_by_address(s, p, o && *o->path == '[' ? o->path : "");
	}
}

static void resolve_kernel(struct symbols *s, u32 i)
{
	struct place *p = &s->place[i];
	const struct kallsym *symbol;
	u64 addr = p->addr - s->vmlinux_shift, offset;

	if (s->vmlinux != NONE &&
	    elffile_convert(s->object[s->vmlinux].elf, addr, false, &offset)) {
		resolve_in(s, p, &s->object[s->vmlinux], offset, addr);
		if (s->function[p->function].known)
			return;
	}
	symbol = kallsyms_find(s->kernel, p->addr);
	if (symbol) {
		p->start = symbol->addr;
		name_place(s, p, symbol->name, "[kernel]", true);
	} else if (s->hint[i] != NONE) {
		use_hint(s, i);
	} else {
		s->no_kernel++;
		name_by_address(s, p, "kernel ");
	}
}

static int read_kallsyms(struct symbols *s)
{
	if (!s->files.kallsyms)
		return 0;
	symtab_kernel(s, kallsyms_load(s->files.kallsyms));
	if (!s->kernel)
		return guard_fail(s->guard, GUARD_NOWHERE, "--kallsyms=%s: %s",
				  s->files.kallsyms, strerror(errno));
	if (!kallsyms_nr(s->kernel))
		return guard_fail(
			s->guard, GUARD_NOWHERE,
			"--kallsyms=%s has no addresses (see kptr_restrict in proc(5))",
			s->files.kallsyms);
	return 0;
}

static int open_vmlinux(struct symbols *s)
{
	struct elffile_options here = s->files.elf;
	const struct kallsym *symbol;
	struct object *o;
	char path[PATH_ROOM];
	u64 addr;

	if (!s->files.vmlinux)
		return 0;
	if (!realpath(s->files.vmlinux, path))
		return guard_fail(s->guard, GUARD_NOWHERE, "--vmlinux=%s: %s",
				  s->files.vmlinux, strerror(errno));
	s->vmlinux = symtab_find_object(s, path, (const u8 *)"", 0);
	o = &s->object[s->vmlinux];
	here.root = "";
	open_object(s, o, &here);
	if (!o->elf || elffile_trouble(o->elf))
		return guard_fail(s->guard, GUARD_NOWHERE,
				  "--vmlinux=%s: not an ELF file",
				  s->files.vmlinux);
	/* The kernel may run at another address than it was linked for */
	symbol = kallsyms_named(s->kernel, "_stext");
	if (symbol && elffile_find(o->elf, symbol->name, false, &addr) >= 0)
		s->vmlinux_shift = symbol->addr - addr;
	return 0;
}

static void note_object(const struct symbols *s, const struct object *o)
{
	if (!o->addresses)
		return;
	if (o->anonymous)
		guard_note(
			s->guard,
			"%s is code without a file (generated?): shown as addresses",
			*o->path ? o->path : "memory");
	else if (elffile_trouble(o->elf))
		guard_note(
			s->guard,
			"%s: %s; its functions are named by their offsets (--symfs)",
			o->path, elffile_trouble(o->elf));
	else if (elffile_is_stripped(o->elf))
		guard_note(
			s->guard,
			"%s has no symbols: functions are named by their offsets",
			o->path);
}

static void note_problems(const struct symbols *s)
{
	u64 i;

	for (i = 0; i < s->objects; i++)
		note_object(s, &s->object[i]);
	if (s->no_map)
		guard_note(
			s->guard,
			"%llu address%s in no mapping in the trace: shown as such",
			s->no_map, s->no_map == 1 ? "" : "es");
	if (s->no_kernel)
		guard_note(
			s->guard,
			"%llu address%s of the kernel without symbols (--kallsyms, --vmlinux): shown as such",
			s->no_kernel, s->no_kernel == 1 ? "" : "es");
}

/**
 * symtab_resolve - find the functions of all places
 * @s:	symbols
 *
 * Reports files without usable symbols to the user.
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int symtab_resolve(struct symbols *s)
{
	u32 i;

	if (read_kallsyms(s) || open_vmlinux(s))
		return EXIT_FAILURE;
	for (i = 0; i < s->places; i++) {
		if (s->place[i].space == SPACE_NAMED)
			use_hint(s, i);
		else if (s->place[i].space == SPACE_KERNEL)
			resolve_kernel(s, i);
		else
			resolve_user(s, i);
		if (i % 4096 == 0)
			guard_alive(s->guard, GUARD_NOWHERE);
	}
	note_problems(s);
	return 0;
}

/**
 * symtab_decode - decode an instruction
 * @s:	symbols, after symtab_resolve()
 * @i:	instruction, with @addr and @space set; @size is set to 0 if the code cannot be
 *	read
 */
void symtab_decode(struct symbols *s, struct insn *i)
{
	const struct map *m = NULL;
	struct object *o = NULL;
	u64 offset = 0, len;
	const u8 *code;

	i->size = 0;
	if (i->space >= SPACE_FIRST) {
		m = find_map(s, i->space, i->addr);
		o = m ? &s->object[m->object] : NULL;
		offset = m ? i->addr - m->start + m->pgoff : 0;
	} else if (i->space == SPACE_KERNEL && s->vmlinux != NONE) {
		o = &s->object[s->vmlinux];
		if (!elffile_convert(o->elf, i->addr - s->vmlinux_shift, false,
				     &offset))
			return;
	}
	code = o ? code_at(o, offset, &len) : NULL;
	if (code)
		code_insn(s->code, code, len, elffile_is_wide(o->elf), i);
}
