// SPDX-License-Identifier: GPL-2.0
/*
 * Which function an address is in, and what the code there does.
 *
 * A process's addresses mean something else after an exec, or when a library takes
 * another one's place: an address belongs to a space, which is a process and how often
 * that has happened to it. Files are looked at when all addresses are known, once each.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elfutils/libdwfl.h>

#include "lbrtime.h"
#include "text.h"

#define ID_MAX 20
#define PATH_ROOM 4096

/* Space of the kernel's addresses, and of functions known by name */
#define SPACE_KERNEL 0
#define SPACE_NAMED 1
#define SPACE_FIRST 2

/* Bytes of an x86 instruction, at most */
#define INSN_MAX 15

/**
 * enum trouble - why a file's symbols are not there
 * @TROUBLE_NONE:	they are
 * @TROUBLE_GONE:	the file cannot be opened
 * @TROUBLE_OTHER:	its build-id is another one
 * @TROUBLE_BAD:	it is no ELF file
 * @TROUBLE_STRIPPED:	it has no symbols, but its unwind tables tell functions apart
 * @TROUBLE_ANON:	there is no file: generated code
 */
enum trouble {
	TROUBLE_NONE,
	TROUBLE_GONE,
	TROUBLE_OTHER,
	TROUBLE_BAD,
	TROUBLE_STRIPPED,
	TROUBLE_ANON,
};

/**
 * struct symbol - a function of a file
 * @start:	address in the file
 * @size:	bytes, 0 if nobody knows
 * @name:	name
 */
struct symbol {
	u64 start;
	u64 size;
	char *name;
};

/**
 * struct object - a file that is mapped
 * @path:	where it was
 * @name:	its last part
 * @id:		build-id, if @id_len
 * @id_len:	bytes of it
 * @opened:	it was tried
 * @trouble:	why there are no symbols
 * @why:	errno of TROUBLE_GONE
 * @fd:		the file, or -1
 * @wide:	it has 64 bits
 * @dwfl:	elfutils' view of it
 * @module:	likewise
 * @symbol:	its functions, by address
 * @symbols:	how many
 * @frame:	those that its unwind table tells of, for where no symbol is
 * @frames:	how many
 * @addresses:	that were looked up in it
 */
struct object {
	char *path;
	const char *name;
	u8 id[ID_MAX];
	u32 id_len;
	bool opened;
	enum trouble trouble;
	int why;
	int fd;
	bool wide;
	Dwfl *dwfl;
	Dwfl_Module *module;
	struct symbol *symbol;
	u64 symbols;
	struct range *frame;
	u64 frames;
	u64 addresses;
};

/**
 * struct map - where a process has a file
 * @start:	first address
 * @end:	behind the last one
 * @pgoff:	offset in the file, of @start
 * @object:	which file
 * @born:	generation of the process in which it came
 * @died:	and went, or NONE
 */
struct map {
	u64 start;
	u64 end;
	u64 pgoff;
	u32 object;
	u32 born;
	u32 died;
};

/**
 * struct process - the maps of one
 * @tgid:	which
 * @generation:	how often a map took another's place
 * @space:	number of the space of this generation, or 0 if it is not used yet
 * @map:	they
 * @maps:	how many
 * @room:	for so many
 */
struct process {
	s32 tgid;
	u32 generation;
	u32 space;
	struct map *map;
	u64 maps;
	u64 room;
};

/* A process and a generation; @told: symbols_write_maps() has */
struct space {
	u32 process;
	u32 generation;
	bool told;
};

/**
 * struct hash - from keys to numbers
 * @slot:	numbers, NONE where there is none
 * @size:	slots, a power of two
 * @used:	of them
 */
struct hash {
	u32 *slot;
	u64 size;
	u64 used;
};

struct symbols {
	struct guard *guard;
	struct symbol_files files;
	struct process *process;
	u64 processes, process_room;
	struct space *space;
	u64 spaces, space_room;
	struct object *object;
	u64 objects, object_room;
	struct place *place;
	u64 places, place_room;
	struct function *function;
	u64 functions, function_room;
	u32 *hint; /* by place: function that the input named, or NONE */
	u64 hint_room;
	u64 *hint_offset;
	u64 hint_offset_room;
	struct hash by_tgid, by_addr, by_name;
	struct symbol *kernel;
	u64 kernels, kernel_room;
	u64 vmlinux_shift;
	u32 vmlinux; /* object, or NONE */
	u64 no_map, no_kernel;
	struct code *code;
};

/* ------------------------------------------------------------------------- */
/* Memory */

static u64 scramble(u64 a, u64 b)
{
	u64 h = (a ^ (b + 0x9e3779b97f4a7c15ull + (a << 6))) *
		0xff51afd7ed558ccdull;

	return h ^ h >> 32;
}

static u64 scramble_text(const char *name, const char *object)
{
	u64 h = 1;

	for (; *name; name++)
		h = scramble(h, (u8)*name);
	for (; *object; object++)
		h = scramble(h, 256 + (u8)*object);
	return h;
}

static u64 key_hash(const struct symbols *s, const struct hash *h, u32 i)
{
	if (h == &s->by_tgid)
		return scramble(s->process[i].tgid, 0);
	if (h == &s->by_addr)
		return scramble(s->place[i].addr, s->place[i].space);
	return scramble_text(s->function[i].name, s->function[i].object);
}

static void hash_put(const struct symbols *s, struct hash *h, u32 i)
{
	u64 at = key_hash(s, h, i);

	while (h->slot[at & (h->size - 1)] != NONE)
		at++;
	h->slot[at & (h->size - 1)] = i;
}

/* Room for one more, which the caller then puts at the slot that it found */
static void hash_room(const struct symbols *s, struct hash *h)
{
	u64 size = h->size, i;
	u32 *old = h->slot;

	if (h->used * 2 < size)
		return;
	h->size = size ? 2 * size : 1024;
	h->slot = allocate(h->size * sizeof(*h->slot));
	memset(h->slot, 0xff, h->size * sizeof(*h->slot));
	for (i = 0; i < size; i++) {
		if (old[i] != NONE)
			hash_put(s, h, old[i]);
	}
	free(old);
}

/* ------------------------------------------------------------------------- */
/* What the input tells */

/**
 * symbols_new - begin
 * @g: the guard
 * @files: where symbols are
 *
 * Return: nothing known yet; symbols_free() is due.
 */
struct symbols *symbols_new(struct guard *g, const struct symbol_files *files)
{
	struct symbols *s = allocate(sizeof(*s));

	s->guard = g;
	s->files = *files;
	s->vmlinux = NONE;
	s->spaces = SPACE_FIRST;
	s->space_room = 16;
	s->space = allocate(s->space_room * sizeof(*s->space));
	s->code = code_new();
	elf_version(EV_CURRENT);
	return s;
}

static struct process *find_process(struct symbols *s, s32 tgid)
{
	struct hash *h = &s->by_tgid;
	u64 at;
	u32 i;

	hash_room(s, h);
	for (at = scramble(tgid, 0); (i = h->slot[at & (h->size - 1)]) != NONE;
	     at++) {
		if (s->process[i].tgid == tgid)
			return &s->process[i];
	}
	s->process = grow(s->process, s->processes, &s->process_room,
			  sizeof(*s->process));
	s->process[s->processes] = (struct process){ .tgid = tgid };
	h->slot[at & (h->size - 1)] = s->processes;
	h->used++;
	return &s->process[s->processes++];
}

static u32 find_object(struct symbols *s, const char *path, const u8 *id,
		       u32 id_len)
{
	struct object *o;
	u64 i;

	if (id_len > ID_MAX)
		id_len = ID_MAX;
	for (i = s->objects; i--;) {
		o = &s->object[i];
		if (!strcmp(o->path, path) && o->id_len == id_len &&
		    !memcmp(o->id, id, id_len))
			return i;
	}
	s->object = grow(s->object, s->objects, &s->object_room, sizeof(*o));
	o = &s->object[s->objects];
	*o = (struct object){ .path = strdup(path), .fd = -1, .wide = true };
	if (!o->path)
		abort();
	clean_text(o->path);
	o->name = strrchr(o->path, '/') ? strrchr(o->path, '/') + 1 : o->path;
	o->id_len = id_len;
	memcpy(o->id, id, id_len);
	return s->objects++;
}

/**
 * symbols_map - a process maps a file
 * @s: symbols
 * @tgid: the process
 * @start: first address
 * @end: behind the last one
 * @pgoff: offset in the file, of @start, in bytes
 * @path: the file
 * @id: its build-id
 * @id_len: bytes of that, 0 if it is not known
 */
void symbols_map(struct symbols *s, s32 tgid, u64 start, u64 end, u64 pgoff,
		 const char *path, const u8 *id, u32 id_len)
{
	struct process *p;
	struct map *m;
	u32 object;
	bool replaces = false;
	u64 i;

	if (start >= end || start >> 63)
		return;
	object = find_object(s, path, id, id_len);
	p = find_process(s, tgid);
	for (i = 0; i < p->maps; i++) {
		m = &p->map[i];
		if (m->died != NONE || m->start >= end || start >= m->end)
			continue;
		if (m->object == object &&
		    m->start - m->pgoff == start - pgoff) {
			/* The same, or more of it */
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
	p->map = grow(p->map, p->maps, &p->room, sizeof(*p->map));
	p->map[p->maps++] = (struct map){ .start = start,
					  .end = end,
					  .pgoff = pgoff,
					  .object = object,
					  .born = p->generation,
					  .died = NONE };
}

/**
 * symbols_fork - a process has the maps of its parent
 * @s: symbols
 * @tgid: the new process
 * @parent: the other one
 */
void symbols_fork(struct symbols *s, s32 tgid, s32 parent)
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
		to->map = grow(to->map, to->maps, &to->room, sizeof(*to->map));
		to->map[to->maps] = from->map[i];
		to->map[to->maps++].born = 0;
	}
}

/**
 * symbols_kernel - a symbol of the kernel
 * @s: symbols
 * @addr: where
 * @name: what
 */
void symbols_kernel(struct symbols *s, u64 addr, const char *name)
{
	struct symbol *k;

	s->kernel = grow(s->kernel, s->kernels, &s->kernel_room,
			 sizeof(*s->kernel));
	k = &s->kernel[s->kernels++];
	*k = (struct symbol){ .start = addr, .name = strdup(name) };
	if (!k->name)
		abort();
	clean_text(k->name);
}

/**
 * symbols_kernel_place - go through the kernel's places
 * @s: symbols
 * @i: begin with this place; set to that of what is returned
 *
 * Return: one of the kernel's, or NULL if there are no more.
 */
const struct place *symbols_kernel_place(const struct symbols *s, u32 *i)
{
	for (; *i < s->places; ++*i) {
		if (s->place[*i].space == SPACE_KERNEL)
			return &s->place[*i];
	}
	return NULL;
}

static u32 space_of(struct symbols *s, s32 tgid, u64 addr)
{
	struct process *p;

	if (addr >> 63)
		return SPACE_KERNEL;
	p = find_process(s, tgid);
	if (p->space)
		return p->space;
	s->space = grow(s->space, s->spaces, &s->space_room, sizeof(*s->space));
	s->space[s->spaces] = (struct space){ .process = p - s->process,
					      .generation = p->generation };
	p->space = s->spaces++;
	return p->space;
}

static u32 find_place(struct symbols *s, u32 space, u64 addr)
{
	struct hash *h = &s->by_addr;
	struct place *p;
	u64 at;
	u32 i;

	hash_room(s, h);
	for (at = scramble(addr, space);
	     (i = h->slot[at & (h->size - 1)]) != NONE; at++) {
		if (s->place[i].addr == addr && s->place[i].space == space)
			return i;
	}
	s->place = grow(s->place, s->places, &s->place_room, sizeof(*s->place));
	s->hint = grow(s->hint, s->places, &s->hint_room, sizeof(*s->hint));
	s->hint_offset = grow(s->hint_offset, s->places, &s->hint_offset_room,
			      sizeof(*s->hint_offset));
	p = &s->place[s->places];
	*p = (struct place){ .addr = addr, .space = space, .function = NONE };
	s->hint[s->places] = NONE;
	h->slot[at & (h->size - 1)] = s->places;
	h->used++;
	return s->places++;
}

/**
 * symbols_place - note an address
 * @s: symbols
 * @tgid: the process
 * @addr: its address, or the kernel's
 *
 * Return: its number, for symbols_at().
 */
u32 symbols_place(struct symbols *s, s32 tgid, u64 addr)
{
	return find_place(s, space_of(s, tgid, addr), addr);
}

static u32 find_function(struct symbols *s, const char *name,
			 const char *object, bool known)
{
	struct hash *h = &s->by_name;
	struct function *f;
	u64 at;
	u32 i;

	hash_room(s, h);
	for (at = scramble_text(name, object);
	     (i = h->slot[at & (h->size - 1)]) != NONE; at++) {
		if (!strcmp(s->function[i].name, name) &&
		    !strcmp(s->function[i].object, object))
			return i;
	}
	s->function = grow(s->function, s->functions, &s->function_room,
			   sizeof(*s->function));
	f = &s->function[s->functions];
	*f = (struct function){ .name = strdup(name),
				.object = object,
				.known = known };
	if (!f->name)
		abort();
	h->slot[at & (h->size - 1)] = s->functions;
	h->used++;
	return s->functions++;
}

/**
 * symbols_named - note a place that is known by name only
 * @s: symbols
 * @name: of the function
 * @offset: in it
 *
 * Return: its number, for symbols_at().
 */
u32 symbols_named(struct symbols *s, const char *name, u64 offset)
{
	u32 function = find_function(s, name, "", true);
	u32 place = find_place(s, SPACE_NAMED,
			       (u64)(function + 1) << 32 | (offset & U32_MAX));

	s->hint[place] = function;
	s->hint_offset[place] = offset;
	return place;
}

/**
 * symbols_hint - the input has a name for a place
 * @s: symbols
 * @place: from symbols_place()
 * @name: of the function
 * @offset: of the place in it
 *
 * It counts where no file tells more.
 */
void symbols_hint(struct symbols *s, u32 place, const char *name, u64 offset)
{
	u32 function = find_function(s, name, "", true);

	s->hint[place] = function;
	s->hint_offset[place] = offset;
}

/* ------------------------------------------------------------------------- */
/* Files */

static int by_start(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	/* Of several names the one that tells a size, then the shortest */
	if (!x->size != !y->size)
		return x->size ? -1 : 1;
	if (strlen(x->name) != strlen(y->name))
		return strlen(x->name) < strlen(y->name) ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* The last one that begins at an address or before it; the first of that address */
static const struct symbol *lookup(const struct symbol *symbol, u64 nr,
				   u64 addr)
{
	u64 low = 0, high = nr;

	while (low < high) {
		u64 mid = low + (high - low) / 2;

		if (symbol[mid].start <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return NULL;
	while (low > 1 && symbol[low - 2].start == symbol[low - 1].start)
		low--;
	symbol += low - 1;
	return symbol->size && addr - symbol->start >= symbol->size ? NULL :
								      symbol;
}

static void read_symbols(struct object *o)
{
	int nr = dwfl_module_getsymtab(o->module), i;
	u64 room = 0;

	for (i = 1; i < nr; i++) {
		GElf_Addr addr;
		GElf_Sym sym;
		GElf_Word shndx;
		const char *name = dwfl_module_getsym_info(
			o->module, i, &sym, &addr, &shndx, NULL, NULL);
		int type = GELF_ST_TYPE(sym.st_info);

		if (!name || !*name || shndx == SHN_UNDEF ||
		    (type != STT_FUNC && type != STT_GNU_IFUNC))
			continue;
		o->symbol =
			grow(o->symbol, o->symbols, &room, sizeof(*o->symbol));
		o->symbol[o->symbols] = (struct symbol){ .start = addr,
							 .size = sym.st_size,
							 .name = strdup(name) };
		if (!o->symbol[o->symbols].name)
			abort();
		clean_text(o->symbol[o->symbols++].name);
	}
	if (o->symbols)
		qsort(o->symbol, o->symbols, sizeof(*o->symbol), by_start);
	else
		o->trouble = TROUBLE_STRIPPED;
}

static bool is_anonymous(const char *path)
{
	return *path != '/' || !strncmp(path, "//", 2) ||
	       !strncmp(path, "/memfd:", 7) || !strncmp(path, "/dev/zero", 9) ||
	       !strncmp(path, "/SYSV", 5);
}

static void fail_object(struct object *o, enum trouble trouble)
{
	o->trouble = trouble;
	if (o->fd >= 0)
		close(o->fd);
	o->fd = -1;
}

static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		errno = EINVAL;
		return -1;
	}
	return fd;
}

static bool same_id(const struct object *o)
{
	const unsigned char *bits;
	GElf_Addr vaddr;
	int len;

	if (!o->id_len)
		return true;
	len = dwfl_module_build_id(o->module, &bits, &vaddr);
	return len == (int)o->id_len && !memcmp(bits, o->id, len);
}

static void open_object(struct symbols *s, struct object *o)
{
	static char *debuginfo_path;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &debuginfo_path,
	};
	char path[2 * PATH_ROOM];
	GElf_Addr bias;
	Elf *elf;

	if (o->opened)
		return;
	o->opened = true;
	if (is_anonymous(o->path)) {
		fail_object(o, TROUBLE_ANON);
		return;
	}
	snprintf(path, sizeof(path), "%s%s", s->files.root, o->path);
	o->fd = open_regular(path);
	if (o->fd < 0) {
		o->why = errno;
		fail_object(o, TROUBLE_GONE);
		return;
	}
	o->dwfl = dwfl_begin(&callbacks);
	if (!o->dwfl)
		abort();
	dwfl_report_begin(o->dwfl);
	o->module = dwfl_report_elf(o->dwfl, o->name, path, -1, 0, true);
	dwfl_report_end(o->dwfl, NULL, NULL);
	elf = o->module ? dwfl_module_getelf(o->module, &bias) : NULL;
	if (!elf) {
		fail_object(o, TROUBLE_BAD);
		return;
	}
	o->wide = gelf_getclass(elf) == ELFCLASS64;
	if (!same_id(o)) {
		fail_object(o, TROUBLE_OTHER);
		return;
	}
	read_symbols(o);
	o->frame = frames_read(elf, &o->frames);
	guard_alive(s->guard, GUARD_NOWHERE);
}

/* Between an offset in the file and an address of its segments, either way */
static bool convert(struct object *o, u64 from, bool to_addr, u64 *to)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(o->module, &bias);
	size_t nr, i;
	GElf_Phdr ph;

	if (!elf || elf_getphdrnum(elf, &nr))
		return false;
	for (i = 0; i < nr; i++) {
		u64 base;

		if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_LOAD)
			continue;
		base = to_addr ? ph.p_offset : ph.p_vaddr;
		if (from < base || from - base >= ph.p_filesz)
			continue;
		*to = from - base + (to_addr ? ph.p_vaddr : ph.p_offset);
		return true;
	}
	return false;
}

static void name_place(struct symbols *s, struct place *p, const char *name,
		       const char *object, bool known)
{
	p->function = find_function(s, name, object, known);
}

/* Where no symbol is: "[file+offset]" of the function, or of the address itself */
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

/* @offset in the file, @addr in its segments, which the process has at @shift more */
static void resolve_in(struct symbols *s, struct place *p, struct object *o,
		       u64 offset, u64 addr)
{
	const struct symbol *symbol = lookup(o->symbol, o->symbols, addr);
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
	/* Its map may have been told of too late */
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
		open_object(s, o);
		o->addresses++;
		offset = p->addr - m->start + m->pgoff;
		if (o->fd >= 0 && convert(o, offset, true, &addr)) {
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
	    convert(&s->object[s->vmlinux], addr, false, &offset)) {
		resolve_in(s, p, &s->object[s->vmlinux], offset, addr);
		if (s->function[p->function].known)
			return;
	}
	symbol = lookup(s->kernel, s->kernels, p->addr);
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
			symbols_kernel(s, addr, name);
	}
	fclose(f);
	if (!s->kernels)
		return guard_fail(
			s->guard, GUARD_NOWHERE,
			"--kallsyms=%s has no addresses (see kptr_restrict in proc(5))",
			s->files.kallsyms);
	return 0;
}

/* A kernel may run at another address than it was linked for */
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
	s->vmlinux = find_object(s, path, (const u8 *)"", 0);
	o = &s->object[s->vmlinux];
	s->files.root = "";
	open_object(s, o);
	s->files.root = root;
	if (o->fd < 0)
		return guard_fail(s->guard, GUARD_NOWHERE,
				  "--vmlinux=%s: is no ELF file",
				  s->files.vmlinux);
	find_shift(s, o);
	return 0;
}

static void tell_object(const struct symbols *s, const struct object *o)
{
	static const char *const text[] = {
		[TROUBLE_OTHER] =
			"is another one than was sampled: its build-id differs",
		[TROUBLE_BAD] = "is no ELF file",
		[TROUBLE_STRIPPED] =
			"has no symbols: functions are named by their offsets",
		[TROUBLE_ANON] =
			"is code without a file (generated?): kept as addresses",
	};

	if (!o->addresses || o->trouble == TROUBLE_NONE)
		return;
	if (o->trouble == TROUBLE_GONE)
		guard_note(s->guard, "%s: %s: kept as offsets", o->path,
			   strerror(o->why));
	else
		guard_note(s->guard, "%s %s", *o->path ? o->path : "memory",
			   text[o->trouble]);
}

static void tell(const struct symbols *s)
{
	u64 i;

	for (i = 0; i < s->objects; i++)
		tell_object(s, &s->object[i]);
	if (s->no_map)
		guard_note(
			s->guard,
			"%llu addresses are in no file that the trace tells of: kept as addresses",
			s->no_map);
	if (s->no_kernel)
		guard_note(
			s->guard,
			"%llu addresses of the kernel have no symbols (--kallsyms, --vmlinux): kept as addresses",
			s->no_kernel);
}

/**
 * symbols_resolve - all places are known: find their functions
 * @s: symbols
 *
 * The user is told which files cannot help, and why.
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int symbols_resolve(struct symbols *s)
{
	u32 i;

	if (read_kallsyms(s) || open_vmlinux(s))
		return EXIT_FAILURE;
	if (s->kernels)
		qsort(s->kernel, s->kernels, sizeof(*s->kernel), by_start);
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
	tell(s);
	return 0;
}

/**
 * symbols_decode - look at an instruction
 * @s: after symbols_resolve()
 * @i: it; @addr and @space tell which. @size is 0 afterwards if no code can be read.
 */
void symbols_decode(struct symbols *s, struct insn *i)
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
		if (o->fd < 0 ||
		    !convert(o, i->addr - s->vmlinux_shift, false, &offset))
			return;
	}
	if (!o || o->fd < 0)
		return;
	n = pread(o->fd, bytes, sizeof(bytes), offset);
	if (n > 0)
		code_insn(s->code, bytes, n, o->wide, i);
}

/**
 * symbols_at - what is known of a place
 * @s: after symbols_resolve()
 * @place: its number
 */
const struct place *symbols_at(const struct symbols *s, u32 place)
{
	return &s->place[place];
}

/**
 * symbols_function - what is known of a function
 * @s: after symbols_resolve()
 * @function: its number
 */
const struct function *symbols_function(const struct symbols *s, u32 function)
{
	return &s->function[function];
}

/**
 * symbols_functions - how many functions there are
 * @s: after symbols_resolve()
 */
u32 symbols_functions(const struct symbols *s)
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
 * symbols_write_maps - tell which files a process had mapped, as perf script does
 * @s: symbols
 * @place: an address of it, then
 * @comm: name of the thread
 * @ts: when, ns
 * @out: where to; nothing if it has been told
 */
void symbols_write_maps(struct symbols *s, u32 place, const char *comm, u64 ts,
			FILE *out)
{
	struct space *space = &s->space[s->place[place].space];
	const struct process *p;
	u64 i;

	if (s->place[place].space < SPACE_FIRST || space->told)
		return;
	space->told = true;
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

static void free_symbols(struct symbol *symbol, u64 nr)
{
	u64 i;

	for (i = 0; i < nr; i++)
		free(symbol[i].name);
	free(symbol);
}

/**
 * symbols_free - free what symbols_new() and others made
 * @s: symbols, or NULL
 */
void symbols_free(struct symbols *s)
{
	u64 i;

	if (!s)
		return;
	for (i = 0; i < s->objects; i++) {
		struct object *o = &s->object[i];

		if (o->dwfl)
			dwfl_end(o->dwfl);
		if (o->fd >= 0)
			close(o->fd);
		free_symbols(o->symbol, o->symbols);
		free(o->frame);
		free(o->path);
	}
	for (i = 0; i < s->processes; i++)
		free(s->process[i].map);
	for (i = 0; i < s->functions; i++)
		free(s->function[i].name);
	free_symbols(s->kernel, s->kernels);
	free(s->object);
	free(s->process);
	free(s->function);
	free(s->space);
	free(s->place);
	free(s->hint);
	free(s->hint_offset);
	free(s->by_tgid.slot);
	free(s->by_addr.slot);
	free(s->by_name.slot);
	code_free(s->code);
	free(s);
}
