// SPDX-License-Identifier: GPL-2.0
/* Finds a function of a program or library in its file, by libelf. */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>
#include <sodium/utils.h>

#include "memory.h"
#include "plan.h"

/* Whether symbol i of a table is the function SYMBOL or SYMBOL@VERSION */
static bool is_function(Elf *elf, Elf_Data *data, size_t strings, int i,
			const char *symbol, GElf_Sym *sym)
{
	size_t len = strlen(symbol);
	const char *name;
	int type;

	if (!gelf_getsym(data, i, sym) || sym->st_shndx == SHN_UNDEF)
		return false;
	type = GELF_ST_TYPE(sym->st_info);
	if (type != STT_FUNC && type != STT_GNU_IFUNC)
		return false;
	name = elf_strptr(elf, strings, sym->st_name);
	return name && !strncmp(name, symbol, len) &&
	       (!name[len] || name[len] == '@');
}

static bool find_symbol(Elf *elf, unsigned int table, const char *symbol,
			GElf_Sym *sym)
{
	Elf_Scn *scn = NULL;
	Elf_Data *data;
	GElf_Shdr shdr;
	size_t i, nr;

	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != table ||
		    !shdr.sh_entsize)
			continue;
		data = elf_getdata(scn, NULL);
		nr = data ? data->d_size / shdr.sh_entsize : 0;
		for (i = 0; i < nr; i++) {
			if (is_function(elf, data, shdr.sh_link, i, symbol,
					sym))
				return true;
		}
	}
	return false;
}

static bool file_offset(Elf *elf, u64 address, u64 *offset)
{
	GElf_Phdr phdr;
	size_t i, nr;

	if (elf_getphdrnum(elf, &nr))
		return false;
	for (i = 0; i < nr; i++) {
		if (gelf_getphdr(elf, i, &phdr) && phdr.p_type == PT_LOAD &&
		    phdr.p_flags & PF_X && address >= phdr.p_vaddr &&
		    address - phdr.p_vaddr < phdr.p_filesz) {
			*offset = address - phdr.p_vaddr + phdr.p_offset;
			return true;
		}
	}
	return false;
}

static char *find_in(Elf *elf, const char *file, const char *symbol,
		     u64 *offset)
{
	GElf_Sym sym;

	if (!find_symbol(elf, SHT_SYMTAB, symbol, &sym) &&
	    !find_symbol(elf, SHT_DYNSYM, symbol, &sym))
		return xasprintf("%s has no function %s (is it stripped?)",
				 file, symbol);
	if (GELF_ST_TYPE(sym.st_info) == STT_GNU_IFUNC)
		return xasprintf(
			"%s: %s is chosen when the program starts (IFUNC); probe the function that is chosen",
			file, symbol);
	if (!file_offset(elf, sym.st_value, offset))
		return xasprintf("%s: the address of %s is not in the file",
				 file, symbol);
	return NULL;
}

/**
 * uprobe_find - find a function in a file
 * @file: program or library
 * @symbol: the function's name, as nm(1) prints it
 * @offset: where to put its offset in the file, in bytes
 * @build_id: where to put the file's build-id in hexadecimal, for free(); NULL if it
 *	has none
 *
 * Return: NULL, or what is wrong, for free().
 */
char *uprobe_find(const char *file, const char *symbol, u64 *offset,
		  char **build_id)
{
	const void *id;
	char *error;
	ssize_t len;
	Elf *elf;
	int fd;

	*build_id = NULL;
	elf_version(EV_CURRENT);
	fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return xasprintf("%s: %s", file, strerror(errno));
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		error = xasprintf("%s is not an ELF file", file);
	} else {
		error = find_in(elf, file, symbol, offset);
		len = error ? 0 : dwelf_elf_gnu_build_id(elf, &id);
		if (len > 0) {
			*build_id = xzalloc(2 * len + 1);
			sodium_bin2hex(*build_id, 2 * len + 1, id, len);
		}
	}
	elf_end(elf);
	close(fd);
	return error;
}
