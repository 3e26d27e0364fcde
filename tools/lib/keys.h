/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A chart's keys as people write them: devices as 254:0, functions by name.
 *
 * In a header, because a plugin of libtraceevent is made of one C file.
 */
#ifndef LIB_KEYS_H
#define LIB_KEYS_H

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>

/* The kernel's dev_t in memory, which trace events record as it is */
#define KEY_MINORBITS 20

/* Whether an argument of a print format is this field, under any casts */
static inline bool key_is_arg(const struct tep_print_arg *arg, const char *name)
{
	while (arg && arg->type == TEP_PRINT_TYPE)
		arg = arg->typecast.item;
	return arg && arg->type == TEP_PRINT_FIELD &&
	       !strcmp(arg->field.name, name);
}

/**
 * key_is_function - does an event's own print format show a field as a function?
 * @event: the event
 * @name: the field
 *
 * The conversion is %pS or another one for symbols. A field's type and value cannot show
 * it: a size can be equal to an address.
 */
static inline bool key_is_function(const struct tep_event *event,
				   const char *name)
{
	const struct tep_print_arg *arg = event->print_fmt.args;
	const char *s = event->print_fmt.format;

	while (s && arg && (s = strchr(s, '%')) != NULL) {
		if (*++s == '%') {
			s++;
			continue;
		}
		for (; *s && !isalpha((unsigned char)*s); s++) {
			if (*s == '*' && arg)
				arg = arg->next;
		}
		if (!arg)
			return false;
		if (*s == 'p' && s[1] && strchr("sSfFB", s[1]) &&
		    key_is_arg(arg, name))
			return true;
		s += strspn(s, "hlLqjzt");
		arg = arg->next;
	}
	return false;
}

/**
 * key_function - name the function that an address is in
 * @tep: has the kernel's symbols
 * @value: the address
 * @buf: where to put "vfs_read+0x1c"
 * @size: its size
 *
 * Return: false if there is none.
 */
static inline bool key_function(struct tep_handle *tep,
				unsigned long long value, char *buf,
				size_t size)
{
	const char *name = tep_find_function(tep, value);
	unsigned long long from;

	if (!name)
		return false;
	from = tep_find_function_address(tep, value);
	if (value == from)
		snprintf(buf, size, "%s", name);
	else
		snprintf(buf, size, "%s+0x%llx", name, value - from);
	return true;
}

/**
 * key_text - one key's value as people write it
 * @event: the event
 * @field: its field
 * @value: the value
 * @buf: where to put the text
 * @size: its size
 *
 * Return: false if the text is the number itself.
 */
static inline bool key_text(struct tep_event *event,
			    const struct tep_format_field *field,
			    unsigned long long value, char *buf, size_t size)
{
	if (!strcmp(field->type, "dev_t")) {
		snprintf(buf, size, "%llu:%llu", value >> KEY_MINORBITS,
			 value & ((1ULL << KEY_MINORBITS) - 1));
		return true;
	}
	return key_is_function(event, field->name) &&
	       key_function(event->tep, value, buf, size);
}

/* A key's value at @data, and how many bytes it takes; 0 if that is not known */
static inline size_t key_unpack(struct tep_handle *tep, const char *type,
				const char *data, size_t len, char *buf,
				size_t size)
{
	size_t text = strnlen(data, len), bytes = (text / 4 + 1) * 4;
	size_t wide = !strncmp(type, "u64", 3) || !strncmp(type, "s64", 3) ? 8 :
									     4;
	unsigned long long value;

	if (!strncmp(type, "string", 6)) {
		snprintf(buf, size, "%.*s", (int)text, data);
		return bytes < len ? bytes : len;
	}
	if (len < wide ||
	    (wide == 4 && strncmp(type, "u32", 3) && strncmp(type, "s32", 3)))
		return 0;
	value = tep_read_number(tep, data, wide);
	if (*type == 'u')
		snprintf(buf, size, "%llu", value);
	else
		snprintf(buf, size, "%lld",
			 wide == 4 ? (int)value : (long long)value);
	return wide;
}

/**
 * keys_unpack - the words of an alarm's keys as text
 * @tep: knows the byte order
 * @types: names and types of the keys: "dev:u32 sector:u64"; "" if not known
 * @data: the words
 * @len: their size in bytes
 * @buf: where to put the text, "dev=266338240 sector=1234"
 * @size: its size, not 0
 *
 * A number has one word, or two if its type is s64 or u64; a string ends with a
 * NUL and is filled up to whole words. Words that are of no known type follow as
 * numbers: "0xfe00000,0x4d2".
 */
static inline void keys_unpack(struct tep_handle *tep, const char *types,
			       const char *data, size_t len, char *buf,
			       size_t size)
{
	const char *space = "";
	char value[256];
	size_t pos = 0;

	*buf = '\0';
	while (*types && len && pos < size) {
		size_t name = strcspn(types, ": "), bytes;

		if (types[name] != ':')
			break;
		bytes = key_unpack(tep, types + name + 1, data, len, value,
				   sizeof(value));
		if (!bytes)
			break;
		pos += snprintf(buf + pos, size - pos, "%s%.*s=%s", space,
				(int)name, types, value);
		data += bytes;
		len -= bytes;
		types += name + strcspn(types + name, " ");
		types += *types == ' ';
		space = " ";
	}
	for (; len >= 4 && pos < size; data += 4, len -= 4) {
		pos += snprintf(buf + pos, size - pos, "%s0x%llx", space,
				tep_read_number(tep, data, 4));
		space = ",";
	}
}

/**
 * keys_text - keys as people write them
 * @event: the event that has these keys, or NULL if it is not known
 * @keys: as the kernel writes them: "dev=266338240 sector=1234"
 * @buf: where to put the text, at most @size - 1 bytes
 * @size: its size, not 0
 *
 * Where a string begins the rest stays as it is: a task may be called
 * "x dev=266338240".
 */
static inline void keys_text(struct tep_event *event, const char *keys,
			     char *buf, size_t size)
{
	size_t pos = 0;

	while (event && pos < size) {
		struct tep_format_field *field;
		unsigned long long value;
		char name[64], text[128];
		size_t len = strcspn(keys, "="), end;

		if (!keys[len] || len >= sizeof(name))
			break;
		memcpy(name, keys, len);
		name[len] = '\0';
		field = tep_find_any_field(event, name);
		end = len + 1 + strspn(keys + len + 1, "-0123456789");
		if (!field || field->flags & TEP_FIELD_IS_STRING ||
		    end == len + 1 || (keys[end] && keys[end] != ' '))
			break;
		value = strtoull(keys + len + 1, NULL, 10);
		if (key_text(event, field, value, text, sizeof(text)))
			pos += snprintf(buf + pos, size - pos, "%s=%s", name,
					text);
		else
			pos += snprintf(buf + pos, size - pos, "%.*s", (int)end,
					keys);
		keys += end;
		if (*keys && pos < size) {
			buf[pos++] = ' ';
			keys++;
		}
	}
	if (pos < size)
		snprintf(buf + pos, size - pos, "%s", keys);
}

#endif
