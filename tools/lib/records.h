/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads the records of a trace.dat, or of one of its trace instances, in order of time,
 * many millions a second: libtraceevent's kbuffer over the file's own pages.
 * Files whose pages are compressed, or whose time stamps must be converted, are
 * read through libtracecmd instead, with the same result.
 */
#ifndef LIB_RECORDS_H
#define LIB_RECORDS_H

#include <linux/types.h>

#include "guard.h"

struct blocks;
struct records;
struct tracefile_info;
struct tracecmd_input;
struct tep_handle;
struct tep_event;
struct tep_format_field;

/**
 * struct record - one record
 * @ts:		its time stamp, ns of the trace clock
 * @data:	its fields, as in the event's format; unaligned
 * @size:	of @data
 * @stored:	bytes in the ring buffer, with the record's header
 * @cpu:	where it was written
 * @lost:	records were lost on this CPU before it
 * @missed:	number of these, 0 if the file does not have it
 * @offset:	where it is in the file, for diagnostics
 */
struct record {
	u64 ts;
	const u8 *data;
	u32 size;
	u32 stored;
	u32 cpu;
	bool lost;
	u64 missed;
	u64 offset;
};

/**
 * struct number - a number in a record
 * @offset:	where
 * @size:	in bytes: 1, 2, 4 or 8; 0: there is no such field
 * @swap:	it is in the other byte order
 * @is_signed:	it is signed
 */
struct number {
	u32 offset;
	u8 size;
	bool swap;
	bool is_signed;
};

struct records *records_open(struct guard *g, const char *file,
			     const char *instance);
struct records *records_open_clock(struct guard *g, const char *file,
				   const char *instance);
struct records *records_open_expanded(struct guard *g, const char *file,
				      const char *instance);
int records_expand(struct records *r, bool strict);
void records_close(struct records *r);
int records_rewind(struct records *r);
void records_only(struct records *r, u32 cpu);
bool records_next(struct records *r, struct record *rec);
int records_status(const struct records *r);
void records_quiet(struct records *r);
void records_go_after(struct records *r, u32 cpu, u64 offset);

const struct tracefile_info *records_outline(const struct records *r);
struct tracecmd_input *records_handle(const struct records *r);
struct tep_handle *records_tep(const struct records *r);
u32 records_cpus(const struct records *r);
const u8 *records_map(const struct records *r);
struct blocks *records_blocks(const struct records *r);

bool number_of(struct number *n, struct tep_handle *tep,
	       const struct tep_format_field *f);
bool number_find(struct number *n, const struct records *r,
		 struct tep_event *event, const char *name);
u64 number_named(struct tep_event *event, const char *name,
		 const struct record *rec);
u64 number_swapped(const struct number *n, const u8 *from);

struct tep_format_field *array_find(struct tep_event *event, const char *name);
bool array_get(const struct tep_format_field *f, const void *record, u32 size,
	       const u8 **data, u32 *len);
bool array_text(const struct tep_format_field *f, const struct record *rec,
		char *buf, size_t size);

/**
 * number_fits - whether a record is long enough for a field
 * @n: the field
 * @rec: the record
 */
static inline bool number_fits(const struct number *n, const struct record *rec)
{
	return n->offset + n->size <= rec->size;
}

/**
 * number_get - read a number of a record, without looking at its size
 * @n: the field, which fits
 * @rec: the record
 *
 * Return: the number, sign-extended if it is signed.
 */
static inline u64 number_get(const struct number *n, const struct record *rec)
{
	const u8 *from = rec->data + n->offset;
	u64 wide;
	u32 word;

	if (!n->swap && n->size == 8) {
		__builtin_memcpy(&wide, from, sizeof(wide));
		return wide;
	}
	if (!n->swap && n->size == 4) {
		__builtin_memcpy(&word, from, sizeof(word));
		return n->is_signed ? (u64)(s64)(s32)word : word;
	}
	return number_swapped(n, from);
}

/**
 * number_in - read a number of a record
 * @n: the field
 * @rec: the record
 *
 * Return: the number; 0 if there is no such field, or the record is too short.
 */
static inline u64 number_in(const struct number *n, const struct record *rec)
{
	return number_fits(n, rec) ? number_get(n, rec) : 0;
}

#endif
