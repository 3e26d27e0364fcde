/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ELF files, with elfutils: the functions of addresses, functions that were inlined
 * there, and source lines.
 *
 * A file is looked up by its path. If that is missing, or if its build ID is another one,
 * the file is looked up by build ID in /usr/lib/debug, and on the servers of
 * $DEBUGINFOD_URLS. If there is no code in a file below another root, as in the copies that
 * cases have, the file at its path below / is used instead, should that have the build ID.
 * Separate debug files are found by build ID, there too, or by
 * .gnu_debuglink.
 *
 * Addresses are those of the file's segments (p_vaddr).
 */
#ifndef LIB_ELFFILE_H
#define LIB_ELFFILE_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#define BUILD_ID_MAX 20

struct elffile;

/**
 * struct elffile_options - how files are looked up, and names written
 * @root:		directory in which files are looked up, "" for /
 * @no_demangle:	C++ and Rust names stay as in the file
 */
struct elffile_options {
	const char *root;
	bool no_demangle;
};

/**
 * struct elffile_symbol - a function
 * @start:	address
 * @size:	bytes, 0 if unknown
 * @reach:	largest end of this function and those before it, or 0
 * @name:	name as in the file, or NULL: only the unwind table has the function
 */
struct elffile_symbol {
	u64 start;
	u64 size;
	u64 reach;
	const char *name;
};

/**
 * struct elffile_source - source of an instruction
 * @function:	function, or NULL if unknown
 * @file:	source file, or NULL if unknown
 * @line:	line in @file
 * @inlined:	@function was inlined into that of the next element
 */
struct elffile_source {
	char *function;
	char *file;
	int line;
	bool inlined;
};

struct elffile *elffile_open(const struct elffile_options *options,
			     const char *path, const u8 *id, u32 id_len);
void elffile_close(struct elffile *f);
const char *elffile_trouble(const struct elffile *f);
bool elffile_is_stripped(const struct elffile *f);
bool elffile_is_wide(const struct elffile *f);
bool elffile_convert(const struct elffile *f, u64 from, bool to_addr, u64 *to);
const u8 *elffile_bytes(const struct elffile *f, u64 offset, u64 *len);
int elffile_find(const struct elffile *f, const char *name, bool function,
		 u64 *addr);
const u8 *elffile_build_id(const struct elffile *f, u32 *len);
const struct elffile_symbol *elffile_symbol(const struct elffile *f, u64 addr);
u32 elffile_sources(struct elffile *f, u64 addr,
		    const struct elffile_source **source);
char *elffile_demangle(const char *name);

#endif
