// SPDX-License-Identifier: GPL-2.0
/*
 * Functions and source lines, by libdwfl. A file's debug information may be in another
 * one, which elfutils finds by build id or by .gnu_debuglink.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elfutils/libdwfl.h>

#include "ioreq.h"
#include "text.h"

/**
 * struct code - of a file
 * @dwfl:	elfutils' view of it
 * @module:	likewise; NULL: it is of no use
 * @trouble:	why not, or NULL if there is nothing to tell
 */
struct code {
	Dwfl *dwfl;
	Dwfl_Module *module;
	const char *trouble;
};

static const char *look_at(const char *path)
{
	/* Whatever may stand there now, it must not be waited for */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	const char *why = NULL;

	if (fd < 0)
		return strerror(errno);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		why = "not a regular file";
	close(fd);
	return why;
}

static bool other_build(const struct mapped *m, Dwfl_Module *module)
{
	const unsigned char *bits;
	GElf_Addr vaddr;
	int len;

	if (!m->build_id_size)
		return false;
	len = dwfl_module_build_id(module, &bits, &vaddr);
	return len != (int)m->build_id_size || memcmp(bits, m->build_id, len);
}

static void open_code(const struct mapped *m, const char *symfs, struct code *c)
{
	static char *debuginfo_path;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &debuginfo_path,
	};
	Dwfl_Module *module;
	char path[8192];
	GElf_Addr bias;

	/* The vdso, and what has no path */
	if (*m->path != '/')
		return;
	snprintf(path, sizeof(path), "%s%s", symfs, m->path);
	c->trouble = look_at(path);
	if (c->trouble)
		return;
	elf_version(EV_CURRENT);
	c->dwfl = dwfl_begin(&callbacks);
	if (!c->dwfl)
		abort();
	dwfl_report_begin(c->dwfl);
	module = dwfl_report_elf(c->dwfl, m->path, path, -1, 0, true);
	dwfl_report_end(c->dwfl, NULL, NULL);
	if (!module || !dwfl_module_getelf(module, &bias))
		c->trouble = "no ELF file";
	else if (other_build(m, module))
		c->trouble =
			"another one than was recorded: its build-id differs";
	else
		c->module = module;
}

/* An offset in the file is at this address of its segments */
static bool to_address(const struct code *c, u64 offset, GElf_Addr *addr)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(c->module, &bias);
	GElf_Phdr ph;
	size_t nr, i;

	if (!elf || elf_getphdrnum(elf, &nr))
		return false;
	for (i = 0; i < nr; i++) {
		if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_LOAD ||
		    offset < ph.p_offset || offset - ph.p_offset >= ph.p_filesz)
			continue;
		*addr = offset - ph.p_offset + ph.p_vaddr + bias;
		return true;
	}
	return false;
}

static void copy_clean(char *to, size_t room, const char *from)
{
	snprintf(to, room, "%s", from);
	clean_text(to);
}

/**
 * code_place - which source it is
 * @m: the file
 * @symfs: directory in which it is looked for
 * @offset: in it
 * @place: of which function, file and line are set if they are known
 */
void code_place(struct mapped *m, const char *symfs, u64 offset,
		struct place *place)
{
	const char *name;
	GElf_Addr addr;
	GElf_Off at;
	GElf_Sym sym;
	Dwfl_Line *line;

	if (!m->code) {
		m->code = allocate(sizeof(*m->code));
		open_code(m, symfs, m->code);
	}
	if (!m->code->module || !to_address(m->code, offset, &addr))
		return;
	name = dwfl_module_addrinfo(m->code->module, addr, &at, &sym, NULL,
				    NULL, NULL);
	/* One that ends before it says nothing */
	if (name && (!sym.st_size || at < sym.st_size))
		copy_clean(place->function, sizeof(place->function), name);
	line = dwfl_module_getsrc(m->code->module, addr);
	name = line ? dwfl_lineinfo(line, NULL, &place->line, NULL, NULL,
				    NULL) :
		      NULL;
	if (name)
		copy_clean(place->file, sizeof(place->file), name);
}

/**
 * code_trouble - why a file was of no use
 * @m: the file
 *
 * Return: why, or NULL: it was, or nobody has asked.
 */
const char *code_trouble(const struct mapped *m)
{
	return m->code ? m->code->trouble : NULL;
}

/**
 * code_free - forget it
 * @c: code, or NULL
 */
void code_free(struct code *c)
{
	if (c && c->dwfl)
		dwfl_end(c->dwfl);
	free(c);
}
