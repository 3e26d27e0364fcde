// SPDX-License-Identifier: GPL-2.0
/* ELF files: functions, inlined functions and source lines. See elffile.h. */
#include <dwarf.h>
#include <gelf.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <libiberty/demangle.h>

#include "elffile.h"
#include "hash.h"
#include "memory.h"
#include "order.h"
#include "regular.h"
#include "text.h"

/* Maximum length of a demangled name: a short one can stand for an endless one */
#define NAME_MAX_LEN 8191

/* Maximum depth of blocks and inlined functions in a function */
#define DEPTH_MAX 128

/**
 * struct span - code of a unit or a function
 * @low:	first address
 * @high:	address after the last byte
 * @die:	the unit or function
 * @unit:	the unit, or NULL
 */
struct span {
	Dwarf_Addr low;
	Dwarf_Addr high;
	Dwarf_Die die;
	struct unit *unit;
};

/* Code of all units, or of all functions of a unit, by address */
struct spans {
	struct span *span;
	u64 nr, room;
};

/**
 * struct unit - a compilation unit
 * @read:	@functions was read
 * @functions:	its functions
 */
struct unit {
	bool read;
	struct spans functions;
};

/* Sources of an address that was looked up */
struct looked_up {
	u64 addr;
	u32 nr;
	struct elffile_source *source;
};

/**
 * struct elffile - a file
 * @trouble:	why it cannot be used, or NULL
 * @demangle:	names are to be demangled
 * @debug_path:	where elfutils looks for debug files
 * @callbacks:	for elfutils
 * @dwfl:	elfutils' session
 * @module:	the file in it
 * @elf:	the file
 * @image:	its contents, or NULL if there is no code in them
 * @size:	bytes of these
 * @symbol:	functions, by address, one for each
 * @symbols:	number of functions
 * @named:	number of symbols that they are from
 * @has_units:	@units was read
 * @units:	compilation units
 * @unit:	struct unit, in their order
 * @bias:	added to addresses of the debug information
 * @cache:	struct looked_up
 */
struct elffile {
	const char *trouble;
	bool demangle;
	char *debug_path;
	Dwfl_Callbacks callbacks;
	Dwfl *dwfl;
	Dwfl_Module *module;
	Elf *elf;
	const u8 *image;
	size_t size;
	struct elffile_symbol *symbol;
	u64 symbols, named;
	bool has_units;
	struct spans units;
	struct hash unit;
	Dwarf_Addr bias;
	struct hash cache;
};

/* ------------------------------------------------------------------------- */
/* Names */

struct name {
	jmp_buf too_long;
	size_t len;
	char text[NAME_MAX_LEN + 1];
};

static void add_text(const char *s, size_t len, void *arg)
{
	struct name *n = arg;

	if (len > NAME_MAX_LEN - n->len)
		longjmp(n->too_long, 1);
	memcpy(n->text + n->len, s, len);
	n->len += len;
}

static void demangle(struct name *n, const char *name)
{
	/* At most a buffer of a non-ASCII Rust name is left when it is too long */
	if (setjmp(n->too_long)) {
		n->len = 0;
		return;
	}
	if (rust_demangle_callback(name, DMGL_NO_OPTS, add_text, n))
		return;
	n->len = 0;
	if (!cplus_demangle_v3_callback(name, DMGL_NO_OPTS, add_text, n))
		n->len = 0;
}

/**
 * elffile_demangle - demangle the name of a C++ or Rust function
 * @name:	name
 *
 * As perf, without parameters, Rust's hashes and disambiguators. Rust's older names are
 * C++ names, too.
 *
 * Return: a copy without control characters, to be freed with free(), or NULL if it is
 * not such a name.
 */
char *elffile_demangle(const char *name)
{
	struct name *n;
	char *text = NULL;

	if (strncmp(name, "_Z", 2) != 0 && strncmp(name, "_R", 2) != 0)
		return NULL;
	n = xzalloc(sizeof(*n));
	demangle(n, name);
	if (n->len) {
		text = xstrndup(n->text, n->len);
		clean_text(text);
	}
	free(n);
	return text;
}

static char *shown_name(const struct elffile *f, const char *name)
{
	char *text = f->demangle ? elffile_demangle(name) : NULL;

	if (!text) {
		text = xstrdup(name);
		clean_text(text);
	}
	return text;
}

/* ------------------------------------------------------------------------- */
/* The file */

/* Consumes @fd */
static void load(struct elffile *f, const char *name, int fd, const u8 *id,
		 u32 id_len)
{
	const u8 *bits;
	GElf_Addr bias;
	u32 len;

	dwfl_report_begin(f->dwfl);
	f->module = dwfl_report_elf(f->dwfl, name, name, fd, 0, true);
	dwfl_report_end(f->dwfl, NULL, NULL);
	if (!f->module)
		close(fd);
	f->elf = f->module ? dwfl_module_getelf(f->module, &bias) : NULL;
	f->trouble = f->elf ? NULL : "not an ELF file";
	if (!f->elf || !id_len)
		return;
	bits = elffile_build_id(f, &len);
	if (len != id_len || memcmp(bits, id, len))
		f->trouble = "its build ID is not the recorded one";
}

static void load_by_id(struct elffile *f, const u8 *id, u32 id_len)
{
	const char *trouble = f->trouble;
	Dwfl_Module *m;
	char *path = NULL;
	Elf *elf = NULL;
	int fd;

	dwfl_report_begin(f->dwfl);
	m = dwfl_report_module(f->dwfl, "build ID", 0, 1);
	dwfl_report_end(f->dwfl, NULL, NULL);
	if (!m || dwfl_module_report_build_id(m, id, id_len, 0))
		return;
	fd = dwfl_build_id_find_elf(m, NULL, NULL, 0, &path, &elf);
	elf_end(elf);
	free(path);
	if (fd < 0)
		return;
	load(f, "found by build ID", fd, id, id_len);
	if (f->trouble)
		f->trouble = trouble;
}

/* A file with symbols or debug information alone: other bytes are at the code's offsets */
static bool lacks_code(Elf *elf)
{
	bool lacks = false;
	Elf_Scn *scn = NULL;
	GElf_Shdr h;

	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		if (!gelf_getshdr(scn, &h) || !(h.sh_flags & SHF_EXECINSTR))
			continue;
		if (h.sh_type != SHT_NOBITS)
			return false;
		lacks = true;
	}
	return lacks;
}

/* Use the file that a copy without code was made of, if it is still there */
static void load_original(struct elffile *f, const char *copy, const char *path,
			  const u8 *id, u32 id_len)
{
	int fd = *path == '/' ? open_regular(path, &f->trouble) : -1;

	if (fd >= 0)
		load(f, path, fd, id, id_len);
	if (!f->trouble)
		return;
	f->trouble = NULL;
	if (fd < 0)
		return;
	fd = open_regular(copy, &f->trouble);
	if (fd >= 0)
		load(f, copy, fd, id, id_len);
}

static int by_start(const void *a, const void *b)
{
	const struct elffile_symbol *x = a, *y = b;
	int order = ORDER(x->start, y->start);

	order = order ?: !x->name - !y->name;
	if (order || !x->name)
		return order;
	/* Of several names prefer one with a size, then the shortest */
	order = !x->size - !y->size;
	order = order ?: ORDER(strlen(x->name), strlen(y->name));
	return order ?: strcmp(x->name, y->name);
}

static bool is_function(const GElf_Sym *sym)
{
	int type = GELF_ST_TYPE(sym->st_info);

	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

static void add_symbols(struct elffile *f, u64 *room)
{
	int nr = dwfl_module_getsymtab(f->module), i;

	for (i = 1; i < nr; i++) {
		GElf_Addr addr;
		GElf_Sym sym;
		GElf_Word shndx;
		const char *name = dwfl_module_getsym_info(
			f->module, i, &sym, &addr, &shndx, NULL, NULL);

		if (!name || !*name || shndx == SHN_UNDEF || !is_function(&sym))
			continue;
		GROW(f->symbol, f->symbols, *room);
		f->symbol[f->symbols++] = (struct elffile_symbol){
			.start = addr, .size = sym.st_size, .name = name
		};
	}
	f->named = f->symbols;
}

static u32 get32(const u8 *at)
{
	return at[0] | at[1] << 8 | at[2] << 16 | (u32)at[3] << 24;
}

static const u8 *get_bytes(const struct elffile *f, u64 offset, u64 nr)
{
	u64 len;
	const u8 *at = elffile_bytes(f, offset, &len);

	return at && len >= nr ? at : NULL;
}

/*
 * Functions by the table of .eh_frame_hdr (Linux Standard Base, 10.6.2), as linkers
 * write it: pairs of a function's begin and its FDE, relative to the table. In the FDE,
 * with relative pointers of 4 bytes, are the same begin, and the size.
 */
static void add_unwind_table(struct elffile *f, u64 *room)
{
	static const u8 usual[] = { 1, DW_EH_PE_pcrel | DW_EH_PE_sdata4,
				    DW_EH_PE_udata4,
				    DW_EH_PE_datarel | DW_EH_PE_sdata4 };
	const u8 *head = NULL, *at, *fde;
	u64 start, where, offset, i, nr;
	GElf_Phdr ph;
	size_t phs;

	if (elf_getphdrnum(f->elf, &phs) || f->size <= EI_DATA ||
	    f->image[EI_DATA] != ELFDATA2LSB)
		return;
	for (i = 0; i < phs && !head; i++) {
		if (gelf_getphdr(f->elf, i, &ph) &&
		    ph.p_type == PT_GNU_EH_FRAME)
			head = get_bytes(f, ph.p_offset, 12);
	}
	if (!head || memcmp(head, usual, sizeof(usual)) != 0)
		return;
	nr = get32(head + 8);
	for (i = 0; i < nr; i++) {
		at = get_bytes(f, ph.p_offset + 12 + 8 * i, 8);
		if (!at)
			break;
		start = ph.p_vaddr + (s32)get32(at);
		where = ph.p_vaddr + (s32)get32(at + 4);
		fde = elffile_convert(f, where, false, &offset) ?
			      get_bytes(f, offset, 16) :
			      NULL;
		if (!fde || where + 8 + (s32)get32(fde + 8) != start ||
		    !get32(fde + 12))
			continue;
		GROW(f->symbol, f->symbols, *room);
		f->symbol[f->symbols++] =
			(struct elffile_symbol){ .start = start,
						 .size = get32(fde + 12) };
	}
}

static void read_symbols(struct elffile *f)
{
	u64 room = 0, nr = 0, reach = 0, i;

	add_symbols(f, &room);
	add_unwind_table(f, &room);
	if (f->symbols)
		qsort(f->symbol, f->symbols, sizeof(*f->symbol), by_start);
	for (i = 0; i < f->symbols; i++) {
		struct elffile_symbol s = f->symbol[i];

		/* One name for each, or none if it is part of a function */
		if ((nr && f->symbol[nr - 1].start == s.start) ||
		    (!s.name && s.start < reach))
			continue;
		if (s.size <= U64_MAX - s.start && s.start + s.size > reach)
			reach = s.start + s.size;
		s.reach = reach;
		f->symbol[nr++] = s;
	}
	f->symbols = nr;
}

/**
 * elffile_open - open a file
 * @options:	how it is looked up
 * @path:	absolute path
 * @id:		build ID
 * @id_len:	bytes of the build ID, 0 if unknown
 *
 * Return: the file, to be closed with elffile_close(); it may be in trouble.
 */
struct elffile *elffile_open(const struct elffile_options *options,
			     const char *path, const u8 *id, u32 id_len)
{
	struct elffile *f = xzalloc(sizeof(*f));
	char *full = xasprintf("%s%s", options->root, path);
	int fd = open_regular(full, &f->trouble);

	f->demangle = !options->no_demangle;
	/* "+": separate files need the right checksum; ":": and beside the file */
	f->debug_path = *options->root == '/' ?
				xasprintf("+:.debug:%s/usr/lib/debug:"
					  "/usr/lib/debug",
					  options->root) :
				NULL;
	f->callbacks = (Dwfl_Callbacks){
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &f->debug_path,
	};
	elf_version(EV_CURRENT);
	f->dwfl = dwfl_begin(&f->callbacks);
	if (!f->dwfl)
		memory_failed();
	if (fd >= 0)
		load(f, full, fd, id, id_len);
	if (!f->trouble && *options->root && id_len && lacks_code(f->elf))
		load_original(f, full, path, id, id_len);
	if (f->trouble && id_len)
		load_by_id(f, id, id_len);
	if (!f->trouble && !lacks_code(f->elf))
		f->image = (const u8 *)elf_rawfile(f->elf, &f->size);
	if (!f->trouble)
		read_symbols(f);
	free(full);
	return f;
}

/**
 * elffile_trouble - why a file cannot be used
 * @f:	file
 *
 * Return: reason, or NULL. If there is one, nothing is found by other functions.
 */
const char *elffile_trouble(const struct elffile *f)
{
	return f->trouble;
}

/**
 * elffile_is_stripped - whether a file has no functions but those of its unwind table
 * @f:	file
 */
bool elffile_is_stripped(const struct elffile *f)
{
	return !f->named;
}

/**
 * elffile_is_wide - whether a file has 64-bit code
 * @f:	file
 */
bool elffile_is_wide(const struct elffile *f)
{
	return gelf_getclass(f->elf) == ELFCLASS64;
}

/**
 * elffile_convert - convert between offsets in the file and addresses
 * @f:		file
 * @from:	offset or address
 * @to_addr:	@from is an offset
 * @to:		set to the address or offset
 *
 * Return: false if it is in no segment.
 */
bool elffile_convert(const struct elffile *f, u64 from, bool to_addr, u64 *to)
{
	GElf_Phdr ph;
	size_t nr, i;

	if (f->trouble || elf_getphdrnum(f->elf, &nr))
		return false;
	for (i = 0; i < nr; i++) {
		u64 base;

		if (!gelf_getphdr(f->elf, i, &ph) || ph.p_type != PT_LOAD)
			continue;
		base = to_addr ? ph.p_offset : ph.p_vaddr;
		if (from < base || from - base >= ph.p_filesz)
			continue;
		*to = from - base + (to_addr ? ph.p_vaddr : ph.p_offset);
		return true;
	}
	return false;
}

/**
 * elffile_bytes - contents of a file
 * @f:		file
 * @offset:	offset
 * @len:	set to the number of bytes from there on
 *
 * Return: the contents, or NULL if there are none, or no code in them.
 */
const u8 *elffile_bytes(const struct elffile *f, u64 offset, u64 *len)
{
	if (!f->image || offset >= f->size)
		return NULL;
	*len = f->size - offset;
	return f->image + offset;
}

/**
 * elffile_find - find a symbol that the file defines
 * @f:		file
 * @name:	name; one with a version is found without it, too
 * @function:	find functions only
 * @addr:	set to the address
 *
 * Return: the symbol's type, STT_..., or -1 if there is no such symbol.
 */
int elffile_find(const struct elffile *f, const char *name, bool function,
		 u64 *addr)
{
	int nr = f->trouble ? 0 : dwfl_module_getsymtab(f->module), i;
	size_t len = strlen(name);

	for (i = 1; i < nr; i++) {
		GElf_Sym sym;
		const char *other =
			dwfl_module_getsym(f->module, i, &sym, NULL);

		if (!other || sym.st_shndx == SHN_UNDEF ||
		    (function && !is_function(&sym)) ||
		    strncmp(other, name, len) != 0 ||
		    (other[len] && other[len] != '@'))
			continue;
		*addr = sym.st_value;
		return GELF_ST_TYPE(sym.st_info);
	}
	return -1;
}

/**
 * elffile_build_id - the build ID of a file
 * @f:		file
 * @len:	set to its bytes, 0 if it has none
 */
const u8 *elffile_build_id(const struct elffile *f, u32 *len)
{
	const u8 *id = NULL;
	GElf_Addr where;
	int nr = f->trouble ? 0 : dwfl_module_build_id(f->module, &id, &where);

	*len = nr > 0 ? nr : 0;
	return id;
}

/**
 * elffile_symbol - find the function of an address
 * @f:		file
 * @addr:	address
 *
 * Return: the function, or NULL.
 */
const struct elffile_symbol *elffile_symbol(const struct elffile *f, u64 addr)
{
	u64 i = FIRST(n, 0, f->symbols, f->symbol[n].start > addr);
	bool last = true;

	/* It may be within a longer one that began before */
	for (; i && (last || f->symbol[i - 1].reach > addr); i--) {
		const struct elffile_symbol *s = &f->symbol[i - 1];

		if (s->size ? addr - s->start < s->size : last)
			return s;
		last = false;
	}
	return NULL;
}

/* ------------------------------------------------------------------------- */
/* Debug information */

static void add_spans(struct spans *all, Dwarf_Die *die, struct unit *unit)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		if (low >= high)
			continue;
		GROW(all->span, all->nr, all->room);
		all->span[all->nr++] = (struct span){
			.low = low, .high = high, .die = *die, .unit = unit
		};
	}
}

static int by_low(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return ORDER(x->low, y->low);
}

static struct span *find_span(const struct spans *all, Dwarf_Addr pc)
{
	u64 nr = FIRST(i, 0, all->nr, all->span[i].low > pc);

	return nr && pc < all->span[nr - 1].high ? &all->span[nr - 1] : NULL;
}

static void sort_spans(struct spans *all)
{
	if (all->nr)
		qsort(all->span, all->nr, sizeof(*all->span), by_low);
}

/* .debug_aranges is not used: Clang and rustc do not write it */
static void read_units(struct elffile *f)
{
	Dwarf_Die *die = NULL;

	f->has_units = true;
	while ((die = dwfl_module_nextcu(f->module, die, &f->bias)))
		add_spans(&f->units, die,
			  hash_new(&f->unit, hash_u64(f->unit.nr),
				   sizeof(struct unit)));
	sort_spans(&f->units);
}

static int add_function(Dwarf_Die *die, void *arg)
{
	add_spans(arg, die, NULL);
	return DWARF_CB_OK;
}

static struct span *find_function(struct span *unit, Dwarf_Addr pc)
{
	struct unit *u = unit->unit;

	if (!u->read) {
		u->read = true;
		dwarf_getfuncs(&unit->die, add_function, &u->functions, 0);
		sort_spans(&u->functions);
	}
	return find_span(&u->functions, pc);
}

/* The block or inlined function in @die that an instruction is in, into @die */
static bool descend(Dwarf_Die *die, Dwarf_Addr pc)
{
	Dwarf_Die child;

	if (dwarf_child(die, &child))
		return false;
	do {
		int tag = dwarf_tag(&child);

		if ((tag == DW_TAG_inlined_subroutine ||
		     tag == DW_TAG_lexical_block) &&
		    dwarf_haspc(&child, pc) > 0) {
			*die = child;
			return true;
		}
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

static char *die_name(const struct elffile *f, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name = dwarf_formstring(
		dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ?:
			dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name,
					     &attr));

	name = name ?: dwarf_diename(die);
	return name ? shown_name(f, name) : NULL;
}

static Dwarf_Word number_of(Dwarf_Die *die, unsigned int which)
{
	Dwarf_Attribute attr;
	Dwarf_Word n = 0;

	dwarf_formudata(dwarf_attr(die, which, &attr), &n);
	return n;
}

static void set_place(struct elffile_source *s, const char *file, int line)
{
	s->line = line;
	s->file = file ? xstrdup(file) : NULL;
	if (file)
		clean_text(s->file);
}

/* Sources by debug information, innermost one first. Return: their number */
static u32 read_sources(struct elffile *f, Dwarf_Addr pc,
			struct elffile_source *source)
{
	struct span *unit = find_span(&f->units, pc), *function;
	Dwarf_Die inlined[DEPTH_MAX], die;
	Dwarf_Files *files = NULL;
	const char *file;
	Dwarf_Line *line;
	int at = 0;
	u32 nr = 0, depth, i;

	if (!unit)
		return 0;
	line = dwarf_getsrc_die(&unit->die, pc);
	file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	if (line)
		dwarf_lineno(line, &at);
	function = find_function(unit, pc);
	if (function) {
		die = function->die;
		for (depth = 0; depth < DEPTH_MAX && descend(&die, pc); depth++)
			if (dwarf_tag(&die) == DW_TAG_inlined_subroutine)
				inlined[nr++] = die;
		dwarf_getsrcfiles(&unit->die, &files, NULL);
	}
	for (i = 0; i < nr; i++) {
		Dwarf_Die *call = &inlined[nr - 1 - i];

		source[i].inlined = true;
		source[i].function = die_name(f, call);
		set_place(&source[i], file, at);
		file = files ? dwarf_filesrc(files,
					     number_of(call, DW_AT_call_file),
					     NULL, NULL) :
			       NULL;
		at = number_of(call, DW_AT_call_line);
	}
	set_place(&source[nr], file, at);
	if (function)
		source[nr].function = die_name(f, &function->die);
	return nr + 1;
}

/**
 * elffile_sources - find the sources of an instruction
 * @f:		file
 * @addr:	address of the instruction
 * @source:	set to the functions there, innermost first, which elffile_close() frees;
 *		all but the last one are inlined
 *
 * Return: number of functions; 0 if nothing is known.
 */
u32 elffile_sources(struct elffile *f, u64 addr,
		    const struct elffile_source **source)
{
	struct elffile_source all[DEPTH_MAX + 1] = { 0 };
	const struct elffile_symbol *symbol;
	u64 hash = hash_u64(addr);
	struct looked_up *l;

	hash_for_each_possible_entry(&f->cache, hash, l) {
		if (l->addr == addr) {
			*source = l->source;
			return l->nr;
		}
	}
	l = hash_new(&f->cache, hash, sizeof(*l));
	l->addr = addr;
	if (f->trouble)
		return 0;
	if (!f->has_units)
		read_units(f);
	l->nr = read_sources(f, addr - f->bias, all);
	symbol = elffile_symbol(f, addr);
	/* Debug information has no name for a part of a function, such as its cold one */
	if (symbol && symbol->name) {
		l->nr += !l->nr;
		free(all[l->nr - 1].function);
		all[l->nr - 1].function = shown_name(f, symbol->name);
	}
	l->source = xcalloc(l->nr + 1, sizeof(*all));
	memcpy(l->source, all, l->nr * sizeof(*all));
	*source = l->source;
	return l->nr;
}

/**
 * elffile_close - close a file
 * @f:	file, or NULL
 */
void elffile_close(struct elffile *f)
{
	struct looked_up *l;
	struct unit *u;
	u32 i, j;

	if (!f)
		return;
	hash_for_each(&f->cache, i, l) {
		for (j = 0; j < l->nr; j++) {
			free(l->source[j].function);
			free(l->source[j].file);
		}
		free(l->source);
	}
	hash_for_each(&f->unit, i, u)
		free(u->functions.span);
	hash_free(&f->cache);
	hash_free(&f->unit);
	free(f->units.span);
	free(f->symbol);
	dwfl_end(f->dwfl);
	free(f->debug_path);
	free(f);
}
