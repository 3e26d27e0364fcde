/* SPDX-License-Identifier: GPL-2.0 */
/* Symbols: internal to symbols*.c. */
#ifndef LBRTIME_SYMBOLS_H
#define LBRTIME_SYMBOLS_H

#include "elffile.h"
#include "hash.h"
#include "kallsyms.h"
#include "lbrtime.h"

#define PATH_ROOM 4096

/* Space of the kernel's addresses, and of functions of which only the name is known */
#define SPACE_KERNEL 0
#define SPACE_NAMED 1
#define SPACE_FIRST 2

/**
 * struct object - a mapped file
 * @path:	path
 * @name:	last component of the path
 * @id:		build ID, if @id_len
 * @id_len:	bytes of the build ID
 * @anonymous:	there is no file: generated code
 * @elf:	the file, once it was opened
 * @addresses:	number of addresses that were looked up in it
 */
struct object {
	char *path;
	const char *name;
	u8 id[BUILD_ID_MAX];
	u32 id_len;
	bool anonymous;
	struct elffile *elf;
	u64 addresses;
};

/**
 * struct map - a mapping of a file in a process
 * @start:	first address
 * @end:	address after the last byte
 * @pgoff:	offset of @start in the file
 * @object:	number of the file
 * @born:	generation of the process in which it was mapped
 * @died:	generation in which it was replaced, or NONE
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
 * struct process - a process
 * @tgid:	process ID
 * @generation:	number of times that a mapping replaced another one
 * @space:	space of this generation, or 0 if it is not used yet
 * @map:	mappings
 * @maps:	number of mappings
 * @room:	allocated entries of @map
 */
struct process {
	s32 tgid;
	u32 generation;
	u32 space;
	struct map *map;
	u64 maps;
	u64 room;
};

/* A process and a generation; @written: by symtab_write_maps() */
struct space {
	u32 process;
	u32 generation;
	bool written;
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
	u32 *inlined; /* lists of functions, for struct place */
	u64 inlineds, inlined_room;
	struct kallsyms *kernel;
	u64 vmlinux_shift;
	u32 vmlinux; /* number of the object, or NONE */
	u64 no_map, no_kernel;
	struct code *code;
};

/* symbols.c */
u32 symtab_find_object(struct symbols *s, const char *path, const u8 *id,
		       u32 id_len);
u32 symtab_find_function(struct symbols *s, const char *name,
			 const char *object, bool known);

#endif
