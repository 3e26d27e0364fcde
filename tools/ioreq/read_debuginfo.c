// SPDX-License-Identifier: GPL-2.0
/*
 * Functions and source lines, with libdwfl. A file's debug information may be in
 * another file, which elfutils finds by build id or by .gnu_debuglink.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elfutils/libdwfl.h>

#include "read.h"
#include "text.h"

/**
 * struct debuginfo - symbols and lines of a file
 * @dwfl:	elfutils' session
 * @module:	the file in it; NULL: not usable
 * @trouble:	why not, or NULL if there is nothing to report
 */
struct debuginfo {
	Dwfl *dwfl;
	Dwfl_Module *module;
	const char *trouble;
};

static const char *look_at(const char *path)
{
	/* Opening a FIFO or a device must not block */
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

static bool other_build(const struct mapped_file *m, Dwfl_Module *module)
{
	const unsigned char *bits;
	GElf_Addr vaddr;
	int len;

	if (!m->build_id_size)
		return false;
	len = dwfl_module_build_id(module, &bits, &vaddr);
	return len != (int)m->build_id_size || memcmp(bits, m->build_id, len);
}

static void open_code(const struct mapped_file *m, const char *symfs,
		      struct debuginfo *c)
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

	/* The vdso, and files without a path */
	if (*m->path != '/')
		return;
	snprintf(path, sizeof(path), "%s%s", symfs, m->path);
	c->trouble = look_at(path);
	if (c->trouble)
		return;
	elf_version(EV_CURRENT);
	c->dwfl = dwfl_begin(&callbacks);
	if (!c->dwfl)
		memory_failed();
	dwfl_report_begin(c->dwfl);
	module = dwfl_report_elf(c->dwfl, m->path, path, -1, 0, true);
	dwfl_report_end(c->dwfl, NULL, NULL);
	if (!module || !dwfl_module_getelf(module, &bias))
		c->trouble = "not an ELF file";
	else if (other_build(m, module))
		c->trouble =
			"another one than was recorded: its build-id differs";
	else
		c->module = module;
}

/* The address of an offset in the file, by its segments */
static bool to_address(const struct debuginfo *c, u64 offset, GElf_Addr *addr)
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
 * debuginfo_source - find the source of an instruction
 * @m:		file
 * @symfs:	directory in which it is looked up
 * @offset:	offset of the instruction in the file
 * @source:	function, file and line are set as far as known
 */
void debuginfo_source(struct mapped_file *m, const char *symfs, u64 offset,
		      struct source *source)
{
	const char *name;
	GElf_Addr addr;
	GElf_Off at;
	GElf_Sym sym;
	Dwfl_Line *line;

	if (!m->debuginfo) {
		m->debuginfo = xzalloc(sizeof(*m->debuginfo));
		open_code(m, symfs, m->debuginfo);
	}
	if (!m->debuginfo->module || !to_address(m->debuginfo, offset, &addr))
		return;
	name = dwfl_module_addrinfo(m->debuginfo->module, addr, &at, &sym, NULL,
				    NULL, NULL);
	/* A symbol that ends before it does not apply */
	if (name && (!sym.st_size || at < sym.st_size))
		copy_clean(source->function, sizeof(source->function), name);
	line = dwfl_module_getsrc(m->debuginfo->module, addr);
	name = line ? dwfl_lineinfo(line, NULL, &source->line, NULL, NULL,
				    NULL) :
		      NULL;
	if (name)
		copy_clean(source->file, sizeof(source->file), name);
}

/**
 * debuginfo_trouble - why a file was not usable
 * @m:	file
 *
 * Return: reason, or NULL if it was, or was not looked up.
 */
const char *debuginfo_trouble(const struct mapped_file *m)
{
	return m->debuginfo ? m->debuginfo->trouble : NULL;
}

/**
 * debuginfo_free - free symbols and lines
 * @c:	code, or NULL
 */
void debuginfo_free(struct debuginfo *c)
{
	if (c && c->dwfl)
		dwfl_end(c->dwfl);
	free(c);
}
