// SPDX-License-Identifier: GPL-2.0
/* Symbols: the functions of places, from mapped files, kallsyms and vmlinux. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols.h"

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

static void read_code(struct symbols *s, struct object *o, struct place *p,
		      u64 offset)
{
	u8 bytes[INSN_MAX];
	ssize_t n = pread(o->fd, bytes, sizeof(bytes), offset);

	if (n > 0)
		code_decode(s->code, bytes, n, o->wide, p);
}

/* @offset in the file, @addr in its segments */
static void resolve_in(struct symbols *s, struct place *p, struct object *o,
		       u64 offset, u64 addr)
{
	const struct symbol *symbol =
		symbol_lookup(o->symbol, o->symbols, addr);
	const struct range *frame = frames_find(o->frame, o->frames, addr);

	read_code(s, o, p, offset);
	if (symbol) {
		p->start = p->addr - (addr - symbol->start);
		name_place(s, p, symbol->name, o->path, true);
	} else if (frame) {
		p->start = p->addr - (addr - frame->start);
		name_by_file(s, p, o, frame->start);
	} else {
		name_by_file(s, p, o, addr);
	}
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
		object_open(s, o);
		o->addresses++;
		offset = p->addr - m->start + m->pgoff;
		if (o->fd >= 0 && object_convert(o, offset, true, &addr)) {
			resolve_in(s, p, o, offset, addr);
			if (!s->function[p->function].known &&
			    s->hint[i] != NONE)
				use_hint(s, i);
			return;
		}
	}
	if (s->hint[i] != NONE) {
		use_hint(s, i);
	} else if (o && o->trouble != TROUBLE_ANON) {
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
	const struct symbol *symbol;
	u64 addr = p->addr - s->vmlinux_shift, offset;

	if (s->vmlinux != NONE && s->object[s->vmlinux].fd >= 0 &&
	    object_convert(&s->object[s->vmlinux], addr, false, &offset)) {
		resolve_in(s, p, &s->object[s->vmlinux], offset, addr);
		if (s->function[p->function].known)
			return;
	}
	symbol = symbol_lookup(s->kernel, s->kernels, p->addr);
	if (symbol) {
		p->start = symbol->start;
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
	char line[1024], name[512], type;
	unsigned long long addr;
	FILE *f;

	if (!s->files.kallsyms)
		return 0;
	f = fopen(s->files.kallsyms, "re");
	if (!f)
		return guard_fail(s->guard, GUARD_NOWHERE, "--kallsyms=%s: %s",
				  s->files.kallsyms, strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %c %511s", &addr, &type, name) == 3 &&
		    strchr("tTwW", type) && addr)
			symtab_kernel(s, addr, name);
	}
	fclose(f);
	if (!s->kernels)
		return guard_fail(
			s->guard, GUARD_NOWHERE,
			"--kallsyms=%s has no addresses (see kptr_restrict in proc(5))",
			s->files.kallsyms);
	return 0;
}

/* The kernel may run at another address than it was linked for */
static void find_shift(struct symbols *s, const struct object *o)
{
	const char *const text = "_stext";
	u64 here = 0, there = 0, i;

	for (i = 0; i < s->kernels && !here; i++) {
		if (!strcmp(s->kernel[i].name, text))
			here = s->kernel[i].start;
	}
	for (i = 0; i < (u64)dwfl_module_getsymtab(o->module) && !there; i++) {
		GElf_Sym sym;
		const char *name = dwfl_module_getsym(o->module, i, &sym, NULL);

		if (name && !strcmp(name, text))
			there = sym.st_value;
	}
	s->vmlinux_shift = here && there ? here - there : 0;
}

static int open_vmlinux(struct symbols *s)
{
	const char *root = s->files.root;
	struct object *o;
	char path[PATH_ROOM];

	if (!s->files.vmlinux)
		return 0;
	if (!realpath(s->files.vmlinux, path))
		return guard_fail(s->guard, GUARD_NOWHERE, "--vmlinux=%s: %s",
				  s->files.vmlinux, strerror(errno));
	s->vmlinux = symtab_find_object(s, path, (const u8 *)"", 0);
	o = &s->object[s->vmlinux];
	s->files.root = "";
	object_open(s, o);
	s->files.root = root;
	if (o->fd < 0)
		return guard_fail(s->guard, GUARD_NOWHERE,
				  "--vmlinux=%s: not an ELF file",
				  s->files.vmlinux);
	find_shift(s, o);
	return 0;
}

static void note_object(const struct symbols *s, const struct object *o)
{
	static const char *const text[] = {
		[TROUBLE_OTHER] =
			"differs from the file that was sampled: its build ID is another one",
		[TROUBLE_BAD] = "is not an ELF file",
		[TROUBLE_STRIPPED] =
			"has no symbols: functions are named by their offsets",
		[TROUBLE_ANON] =
			"is code without a file (generated?): shown as addresses",
	};

	if (!o->addresses || o->trouble == TROUBLE_NONE)
		return;
	if (o->trouble == TROUBLE_GONE)
		guard_note(s->guard,
			   "%s: %s; its functions are shown as offsets",
			   o->path, strerror(o->why));
	else
		guard_note(s->guard, "%s %s", *o->path ? o->path : "memory",
			   text[o->trouble]);
}

static void note_problems(const struct symbols *s)
{
	u64 i;

	for (i = 0; i < s->objects; i++)
		note_object(s, &s->object[i]);
	if (s->no_map)
		guard_note(
			s->guard,
			"%llu addresses are in no mapping in the trace: shown as addresses",
			s->no_map);
	if (s->no_kernel)
		guard_note(
			s->guard,
			"%llu addresses of the kernel have no symbols (--kallsyms, --vmlinux): shown as addresses",
			s->no_kernel);
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
	if (s->kernels)
		qsort(s->kernel, s->kernels, sizeof(*s->kernel),
		      symbol_by_start);
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
	u64 offset = 0;
	u8 bytes[INSN_MAX];
	ssize_t n;

	i->size = 0;
	if (i->space >= SPACE_FIRST) {
		m = find_map(s, i->space, i->addr);
		o = m ? &s->object[m->object] : NULL;
		offset = m ? i->addr - m->start + m->pgoff : 0;
	} else if (i->space == SPACE_KERNEL && s->vmlinux != NONE) {
		o = &s->object[s->vmlinux];
		if (o->fd < 0 || !object_convert(o, i->addr - s->vmlinux_shift,
						 false, &offset))
			return;
	}
	if (!o || o->fd < 0)
		return;
	n = pread(o->fd, bytes, sizeof(bytes), offset);
	if (n > 0)
		code_insn(s->code, bytes, n, o->wide, i);
}
