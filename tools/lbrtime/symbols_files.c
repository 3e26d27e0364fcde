// SPDX-License-Identifier: GPL-2.0
/* Symbols: mapped files and their functions. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols.h"
#include "text.h"

int symbol_by_start(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	/* Of several names prefer one with a size, then the shortest */
	if (!x->size != !y->size)
		return x->size ? -1 : 1;
	if (strlen(x->name) != strlen(y->name))
		return strlen(x->name) < strlen(y->name) ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* The last symbol at or before an address; the first one of that address */
const struct symbol *symbol_lookup(const struct symbol *symbol, u64 nr,
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
		GROW(o->symbol, o->symbols, room);
		o->symbol[o->symbols] =
			(struct symbol){ .start = addr,
					 .size = sym.st_size,
					 .name = xstrdup(name) };
		clean_text(o->symbol[o->symbols++].name);
	}
	if (o->symbols)
		qsort(o->symbol, o->symbols, sizeof(*o->symbol),
		      symbol_by_start);
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

void object_open(struct symbols *s, struct object *o)
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
		memory_failed();
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

/* Convert between an offset in the file and an address of its segments */
bool object_convert(struct object *o, u64 from, bool to_addr, u64 *to)
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
