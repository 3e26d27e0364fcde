// SPDX-License-Identifier: GPL-2.0
/* Finds a function of a program or library in its file. */
#include <elf.h>
#include <sodium/utils.h>

#include "elffile.h"
#include "memory.h"
#include "plan.h"

static char *find_in(const struct elffile *f, const char *file,
		     const char *symbol, u64 *offset)
{
	u64 address;
	int type;

	if (elffile_trouble(f))
		return xasprintf("%s: %s", file, elffile_trouble(f));
	type = elffile_find(f, symbol, true, &address);
	if (type < 0)
		return xasprintf("%s has no function %s (is it stripped?)",
				 file, symbol);
	if (type == STT_GNU_IFUNC)
		return xasprintf(
			"%s: %s is chosen when the program starts (IFUNC); probe the function that is chosen",
			file, symbol);
	if (!elffile_convert(f, address, false, offset))
		return xasprintf("%s: the address of %s is not in the file",
				 file, symbol);
	return NULL;
}

/**
 * uprobe_find - find a function in a file, or in its separate debug file
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
	const struct elffile_options here = { .root = "" };
	struct elffile *f = elffile_open(&here, file, NULL, 0);
	char *error = find_in(f, file, symbol, offset);
	const u8 *id;
	u32 len;

	*build_id = NULL;
	id = elffile_build_id(f, &len);
	if (!error && len) {
		*build_id = xzalloc(2 * len + 1);
		sodium_bin2hex(*build_id, 2 * len + 1, id, len);
	}
	elffile_close(f);
	return error;
}
