// SPDX-License-Identifier: GPL-2.0
/* Numbers, arrays and strings in records. See records.h. */
#include <byteswap.h>
#include <string.h>

#include <event-parse.h>

#include "records.h"

/**
 * number_of - how to read a field that is a number
 * @n: where to put it; of size 0 if it is none
 * @tep: the event formats of the file
 * @f: the field, or NULL
 *
 * Return: true if it is one.
 */
bool number_of(struct number *n, struct tep_handle *tep,
	       const struct tep_format_field *f)
{
	memset(n, 0, sizeof(*n));
	if (!f || f->offset < 0 || f->offset >= 4096 ||
	    (f->size != 1 && f->size != 2 && f->size != 4 && f->size != 8) ||
	    f->flags & (TEP_FIELD_IS_STRING | TEP_FIELD_IS_DYNAMIC))
		return false;
	n->offset = f->offset;
	n->size = f->size;
	n->is_signed = f->flags & TEP_FIELD_IS_SIGNED;
	n->swap = tep_is_file_bigendian(tep) != tep_is_local_bigendian(tep);
	return true;
}

/**
 * number_find - find a field that is a number
 * @n: where to put it; of size 0 if there is none
 * @r: the file
 * @event: the event, or NULL
 * @name: the field's name
 *
 * Return: true if there is one.
 */
bool number_find(struct number *n, const struct records *r,
		 struct tep_event *event, const char *name)
{
	return number_of(n, records_tep(r),
			 event ? tep_find_any_field(event, name) : NULL);
}

/**
 * number_named - read the number in a field of a record
 * @event: the event
 * @name: the field's name
 * @rec: the record
 *
 * To look up the field takes longer than to read it: see number_find().
 *
 * Return: as number_in().
 */
u64 number_named(struct tep_event *event, const char *name,
		 const struct record *rec)
{
	struct number n;

	number_of(&n, event->tep, tep_find_any_field(event, name));
	return number_in(&n, rec);
}

/**
 * number_swapped - read a number of another size or byte order than number_get() handles
 * @n: the field
 * @from: where it is
 */
u64 number_swapped(const struct number *n, const u8 *from)
{
	unsigned int shift = 64 - 8 * n->size;
	u64 value = 0;
	u16 half;
	u32 word;

	switch (n->size) {
	case 1:
		value = *from;
		break;
	case 2:
		memcpy(&half, from, sizeof(half));
		value = n->swap ? bswap_16(half) : half;
		break;
	case 4:
		memcpy(&word, from, sizeof(word));
		value = n->swap ? bswap_32(word) : word;
		break;
	case 8:
		memcpy(&value, from, sizeof(value));
		return n->swap ? bswap_64(value) : value;
	}
	return n->is_signed && n->size ? (u64)((s64)(value << shift) >> shift) :
					 value;
}

/**
 * array_find - find a field that is an array or a string
 * @event: the event, or NULL
 * @name: the field's name
 *
 * Return: the field, or NULL if there is none.
 */
struct tep_format_field *array_find(struct tep_event *event, const char *name)
{
	struct tep_format_field *f = event ? tep_find_field(event, name) : NULL;

	return f && f->flags & TEP_FIELD_IS_ARRAY ? f : NULL;
}

/**
 * array_get - find an array or a string in a record
 * @f: the field, or NULL
 * @record: the record's fields
 * @size: their size
 * @data: where to put its address
 * @len: where to put its size in bytes
 *
 * Return: false if it is not within the record.
 */
bool array_get(const struct tep_format_field *f, const void *record, u32 size,
	       const u8 **data, u32 *len)
{
	u32 at, loc;

	if (!f || f->offset < 0 || f->size < 0 || (u32)f->offset > size ||
	    (u32)f->size > size - f->offset)
		return false;
	at = f->offset;
	*len = f->size;
	if (f->flags & TEP_FIELD_IS_DYNAMIC) {
		if (f->size != 4)
			return false;
		loc = tep_read_number(f->event->tep, (u8 *)record + at, 4);
		at = (loc & 0xffff) +
		     (f->flags & TEP_FIELD_IS_RELATIVE ? at + 4 : 0);
		*len = loc >> 16;
	}
	*data = (const u8 *)record + at;
	return at <= size && *len <= size - at;
}

/**
 * array_text - copy a string from a record
 * @f: the field, or NULL
 * @rec: the record
 * @buf: where to put it; empty if it is not within the record
 * @size: size of @buf; a longer string is cut off
 *
 * Return: false if it is not within the record.
 */
bool array_text(const struct tep_format_field *f, const struct record *rec,
		char *buf, size_t size)
{
	const u8 *data;
	u32 len;

	*buf = '\0';
	if (!array_get(f, rec->data, rec->size, &data, &len))
		return false;
	if (len > size - 1)
		len = size - 1;
	memcpy(buf, data, len);
	buf[len] = '\0';
	return true;
}
