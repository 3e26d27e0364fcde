/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's symbols: from a copy of /proc/kallsyms, or from a trace.dat. */
#ifndef LIB_KALLSYMS_H
#define LIB_KALLSYMS_H

#include <linux/types.h>

struct kallsyms;
struct tep_handle;

/**
 * struct kallsym - a symbol
 * @addr:	address
 * @name:	name
 * @module:	its module, or NULL
 * @nth:	its ordinal among symbols of this name, by address, from 1; 0: it is the only
 *		one
 */
struct kallsym {
	u64 addr;
	char *name;
	char *module;
	u32 nth;
};

struct kallsyms *kallsyms_load(const char *file);
struct kallsyms *kallsyms_of_trace(struct tep_handle *tep);
void kallsyms_free(struct kallsyms *k);
u32 kallsyms_nr(const struct kallsyms *k);
const struct kallsym *kallsyms_find(const struct kallsyms *k, u64 addr);
const struct kallsym *kallsyms_named(const struct kallsyms *k,
				     const char *name);

#endif
