// SPDX-License-Identifier: GPL-2.0
/*
 * Begin and end of functions, by a file's unwind table, which has a description (FDE)
 * of each. elfutils looks up the row for an address, which is only a part of a
 * function; so this file reads the FDEs itself.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include <elfutils/libdw.h>

#include "lbrtime.h"

/**
 * struct table - .eh_frame
 * @ident:	e_ident of the file
 * @data:	contents
 * @addr:	address in the file's segments
 * @wide:	pointers have 64 bits
 */
struct table {
	const unsigned char *ident;
	Elf_Data *data;
	u64 addr;
	bool wide;
};

static bool find_table(Elf *elf, struct table *t)
{
	Elf_Scn *scn = NULL;
	size_t names;
	GElf_Shdr sh;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, sh.sh_name);
		if (name && !strcmp(name, ".eh_frame"))
			break;
	}
	*t = (struct table){ .addr = scn ? sh.sh_addr : 0,
			     .wide = gelf_getclass(elf) == ELFCLASS64 };
	t->data = scn ? elf_getdata(scn, NULL) : NULL;
	t->ident = (const unsigned char *)elf_getident(elf, NULL);
	return t->data && t->data->d_buf && t->ident &&
	       t->ident[EI_DATA] == ELFDATA2LSB;
}

/* Encoding of pointers: the byte for 'R' in a CIE */
static int pointer_encoding(const Dwarf_CIE *cie)
{
	const char *what = cie->augmentation;
	const u8 *data = cie->augmentation_data;
	size_t left = cie->augmentation_data_size;

	if (!*what)
		return DW_EH_PE_absptr;
	if (*what++ != 'z')
		return DW_EH_PE_omit;
	for (; *what; what++) {
		static const u8 bytes[16] = { 8, 0, 2, 4, 8, 0, 0, 0,
					      0, 0, 2, 4, 8, 0, 0, 0 };

		if (*what == 'S')
			continue;
		if (!left || !data)
			return DW_EH_PE_omit;
		if (*what == 'R')
			return *data;
		if (*what == 'P') {
			/* Encoding of the personality routine, and its address */
			u8 skip = 1 + bytes[*data & 0xf];

			if (skip == 1 || skip > left)
				return DW_EH_PE_omit;
			data += skip;
			left -= skip;
		} else if (*what == 'L') {
			data++;
			left--;
		} else {
			return DW_EH_PE_omit;
		}
	}
	return DW_EH_PE_absptr;
}

/* Return: size in bytes, or 0 if it cannot be read */
static u32 get_pointer(const struct table *t, const u8 *at, const u8 *end,
		       int encoding, s64 *value)
{
	u32 size = 0;
	s32 four;

	switch (encoding & 0xf) {
	case DW_EH_PE_absptr:
		size = t->wide ? 8 : 4;
		break;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		size = 4;
		break;
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		size = 8;
		break;
	}
	if (!size || at > end || (size_t)(end - at) < size)
		return 0;
	if (size == 8) {
		memcpy(value, at, size);
		return size;
	}
	memcpy(&four, at, size);
	*value = encoding & DW_EH_PE_signed || encoding & DW_EH_PE_pcrel ?
			 four :
			 (s64)(u32)four;
	return size;
}

static bool find_range(const struct table *t, const Dwarf_FDE *fde,
		       struct range *range)
{
	const u8 *at = fde->start, *begin = t->data->d_buf;
	Dwarf_CFI_Entry cie;
	s64 start, size;
	Dwarf_Off next;
	int encoding;
	u32 len;

	if (fde->CIE_pointer >= t->data->d_size ||
	    dwarf_next_cfi(t->ident, t->data, true, fde->CIE_pointer, &next,
			   &cie) ||
	    !dwarf_cfi_cie_p(&cie))
		return false;
	encoding = pointer_encoding(&cie.cie);
	if (encoding & 0xf0 && (encoding & 0xf0) != DW_EH_PE_pcrel)
		return false;
	len = get_pointer(t, at, fde->end, encoding, &start);
	if (!len)
		return false;
	if (encoding & DW_EH_PE_pcrel)
		start += t->addr + (at - begin);
	if (!get_pointer(t, at + len, fde->end, encoding & 0x7, &size) ||
	    size <= 0 || (u64)size > U64_MAX - (u64)start)
		return false;
	range->start = start;
	range->end = (u64)start + size;
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/**
 * frames_read - read the functions of a file's unwind table
 * @elf:	file
 * @nr:		set to their number
 *
 * FDEs that cannot be read are skipped.
 *
 * Return: functions, sorted by address, to be freed with free().
 */
struct range *frames_read(Elf *elf, u64 *nr)
{
	struct range *range = NULL, one;
	Dwarf_Off at = 0, next;
	Dwarf_CFI_Entry entry;
	struct table t;
	u64 room = 0;
	int status;

	*nr = 0;
	if (!find_table(elf, &t))
		return NULL;
	for (; at < t.data->d_size; at = next) {
		next = at;
		status = dwarf_next_cfi(t.ident, t.data, true, at, &next,
					&entry);
		if (status > 0 || next <= at)
			break;
		if (status || dwarf_cfi_cie_p(&entry) ||
		    !find_range(&t, &entry.fde, &one))
			continue;
		GROW(range, *nr, room);
		range[(*nr)++] = one;
	}
	if (*nr)
		qsort(range, *nr, sizeof(*range), by_start);
	return range;
}

/**
 * frames_find - find the function of an address
 * @range:	from frames_read()
 * @nr:		number of functions
 * @addr:	address
 *
 * Return: the function, or NULL.
 */
const struct range *frames_find(const struct range *range, u64 nr, u64 addr)
{
	u64 low = 0, high = nr;

	while (low < high) {
		u64 mid = low + (high - low) / 2;

		if (range[mid].start <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low && addr < range[low - 1].end ? &range[low - 1] : NULL;
}
