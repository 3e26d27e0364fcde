// SPDX-License-Identifier: GPL-2.0
/* How tools write names and numbers. See text.h. */
#include <json-c/json.h>
#include <linux/kernel.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "text.h"

/* Length of the valid UTF-8 sequence of several bytes at @s, or 0 */
static size_t utf8_len(const unsigned char *s)
{
	static const u32 least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len = *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : 2, i;
	u32 c = *s & (0x7f >> len);

	if (*s < 0xc2 || *s > 0xf4)
		return 0;
	for (i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	return len;
}

/* Is a valid character neither a control nor a directional formatting character? */
static bool is_fit(const unsigned char *c)
{
	if (*c < ' ' || *c == 0x7f)
		return false;
	/* C1 controls, U+0080 to U+009F: a terminal may take U+009B for ESC [ */
	if (c[0] == 0xc2 && c[1] < 0xa0)
		return false;
	/* Directional: U+202A to U+202E, and U+2066 to U+2069 */
	return !(c[0] == 0xe2 &&
		 ((c[1] == 0x80 && c[2] >= 0xaa && c[2] <= 0xae) ||
		  (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9)));
}

/**
 * clean_text - make a text of a trace fit for terminals, JSON and XML
 * @s: the text; control characters, directional formatting characters and invalid UTF-8 in
 *	it become '?'
 */
void clean_text(char *s)
{
	unsigned char *c = (unsigned char *)s;

	for (;;) {
		size_t len;

		while (*c >= ' ' && *c < 0x7f)
			c++;
		if (!*c)
			return;
		len = *c < 0x80 ? 1 : utf8_len(c);
		if (len && is_fit(c)) {
			c += len;
			continue;
		}
		*c++ = '?';
		if (len > 1)
			memmove(c, c + len - 1,
				strlen((char *)c + len - 1) + 1);
	}
}

/**
 * text_copy - copy a text, as snprintf() does by "%s", in fewer instructions
 * @to: where to put it
 * @size: its size, at least 1; a longer text is cut off
 * @from: the text
 */
void text_copy(char *to, size_t size, const char *from)
{
	size_t len = strnlen(from, size - 1);

	memcpy(to, from, len);
	to[len] = '\0';
}

/**
 * format_count - 1234567 as "1,234,567"
 * @buf: where to put it
 * @size: its size
 * @n: the number
 *
 * Return: @buf.
 */
const char *format_count(char *buf, size_t size, u64 n)
{
	char digits[24], *to = buf;
	int len = snprintf(digits, sizeof(digits), "%llu", n), i;

	for (i = 0; i < len && to + 2 < buf + size; i++) {
		if (i && (len - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return buf;
}

/**
 * plural - the ending of a noun after a number
 * @n: the number
 *
 * Return: "", as in "1 chart", or "s", as in "0 charts".
 */
const char *plural(u64 n)
{
	return n == 1 ? "" : "s";
}

/**
 * format_bytes - as "779.1 KB"
 * @buf: where to put it
 * @size: its size
 * @n: the number
 *
 * Return: @buf.
 */
const char *format_bytes(char *buf, size_t size, u64 n)
{
	if (n < 10000)
		snprintf(buf, size, "%llu byte%s", n, plural(n));
	else if (n < 1000000)
		snprintf(buf, size, "%.1f KB", n / 1e3);
	else
		snprintf(buf, size, "%.1f MB", n / 1e6);
	return buf;
}

/**
 * format_value - four significant digits: "7.010 s", "23.40 ms"
 * @buf: where to put it
 * @size: its size
 * @value: the value, ns if it is a time
 * @is_time: the value is a time
 *
 * Return: @buf.
 */
const char *format_value(char *buf, size_t size, u64 value, bool is_time)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 } };
	size_t i;

	if (!is_time) {
		snprintf(buf, size, "%llu", value);
		return buf;
	}
	for (i = 0; i < ARRAY_SIZE(units); i++) {
		double v = value / units[i].ns;

		if (v < 1 && i + 1 < ARRAY_SIZE(units))
			continue;
		if (v < 1)
			break;
		snprintf(buf, size, "%.*f %s",
			 v < 10	 ? 3 :
			 v < 100 ? 2 :
				   1,
			 v, units[i].name);
		return buf;
	}
	snprintf(buf, size, "%llu ns", value);
	return buf;
}

/**
 * csv_string - write a field
 * @out: where to
 * @s: the field, quoted if it must be
 */
void csv_string(FILE *out, const char *s)
{
	if (!s[strcspn(s, ",\"\r\n")]) {
		fputs(s, out);
		return;
	}
	fputc('"', out);
	for (; *s; s++) {
		if (*s == '"')
			fputc('"', out);
		fputc(*s, out);
	}
	fputc('"', out);
}

/**
 * shell_string - write a word of a shell's command
 * @out: where to
 * @s: the word; it is put into single quotes
 */
void shell_string(FILE *out, const char *s)
{
	fputc('\'', out);
	for (; *s; s++) {
		if (*s == '\'')
			fputs("'\\''", out);
		else
			fputc(*s, out);
	}
	fputc('\'', out);
}

/**
 * html_string - write a JSON string that is safe within <script>
 * @out: where to
 * @s: the string; what is not fit for JSON is replaced
 */
void html_string(FILE *out, const char *s)
{
	char *clean = xstrdup(s), *c;

	clean_text(clean);
	fputc('"', out);
	for (c = clean; *c; c++) {
		if (strchr("\"\\<>&'", *c))
			fprintf(out, "\\u%04x", (unsigned char)*c);
		else
			fputc(*c, out);
	}
	fputc('"', out);
	free(clean);
}

/**
 * list_name - write a name as part of a list
 * @out: where to
 * @name: the name; an underscore replaces each character of @separators
 * @separators: the characters between parts of the list
 */
void list_name(FILE *out, const char *name, const char *separators)
{
	for (; *name; name++)
		fputc(strchr(separators, *name) ? '_' : *name, out);
}

/**
 * folded_frame - write a frame of a folded stack
 * @out: where to
 * @name: its name
 * @before: what comes before it: "" if it is the first one, ";" from then on
 */
void folded_frame(FILE *out, const char *name, const char **before)
{
	fputs(*before, out);
	*before = ";";
	/* A semicolon ends a frame, a blank the stack */
	list_name(out, name, "; ");
}

/**
 * json_number - add a member
 * @o: the object
 * @key: the member's name
 * @n: its value
 */
void json_number(struct json_object *o, const char *key, u64 n)
{
	json_object_object_add(o, key, json_object_new_uint64(n));
}

/**
 * json_signed - add a member
 * @o: the object
 * @key: the member's name
 * @n: its value
 */
void json_signed(struct json_object *o, const char *key, s64 n)
{
	json_object_object_add(o, key, json_object_new_int64(n));
}

/**
 * json_boolean - add a member
 * @o: the object
 * @key: the member's name
 * @value: its value
 */
void json_boolean(struct json_object *o, const char *key, bool value)
{
	json_object_object_add(o, key, json_object_new_boolean(value));
}

/**
 * json_double - add a member with six digits
 * @o: the object
 * @key: the member's name
 * @value: its value; 0 replaces NaN and infinity, which JSON does not have
 */
void json_double(struct json_object *o, const char *key, double value)
{
	char text[40];

	snprintf(text, sizeof(text), "%.6g", isfinite(value) ? value : 0);
	json_object_object_add(o, key, json_object_new_double_s(value, text));
}

/**
 * json_string - add a member
 * @o: the object
 * @key: the member's name
 * @s: its value; what is not fit for JSON is replaced
 */
void json_string(struct json_object *o, const char *key, const char *s)
{
	char *clean = xstrdup(s);

	clean_text(clean); /* the name of a file can be anything */
	json_object_object_add(o, key, json_object_new_string(clean));
	free(clean);
}

/**
 * json_member - find a member of a value of any type
 * @o:		value, or NULL
 * @key:	name of the member
 *
 * Return: the member, or NULL if @o is no object or does not have it.
 */
struct json_object *json_member(struct json_object *o, const char *key)
{
	struct json_object *value = NULL;

	if (json_object_is_type(o, json_type_object))
		json_object_object_get_ex(o, key, &value);
	return value;
}

/**
 * json_u64 - read a member that is a whole number
 * @o:		value of any type, or NULL
 * @key:	name of the member
 *
 * Return: the number; 0 if there is none, or it is negative.
 */
u64 json_u64(struct json_object *o, const char *key)
{
	o = json_member(o, key);
	if (!json_object_is_type(o, json_type_int) ||
	    json_object_get_int64(o) < 0)
		return 0;
	return json_object_get_uint64(o);
}

/**
 * json_text - read a member that is a string
 * @o:		value of any type, or NULL
 * @key:	name of the member
 *
 * Return: the string, which is the member's; "" if there is none.
 */
const char *json_text(struct json_object *o, const char *key)
{
	o = json_member(o, key);
	return json_object_is_type(o, json_type_string) ?
		       json_object_get_string(o) :
		       "";
}

/**
 * json_length - the number of items of an array
 * @array:	value of any type, or NULL
 *
 * Return: the number; 0 if it is no array.
 */
size_t json_length(struct json_object *array)
{
	return json_object_is_type(array, json_type_array) ?
		       json_object_array_length(array) :
		       0;
}

/**
 * json_item - an item of an array
 * @array:	value of any type, or NULL
 * @i:		its number, from 0
 *
 * Return: the item; NULL if there is none.
 */
struct json_object *json_item(struct json_object *array, size_t i)
{
	return i < json_length(array) ? json_object_array_get_idx(array, i) :
					NULL;
}

/**
 * json_write - write an object, and free it
 * @o: the object
 * @out: where to
 */
void json_write(struct json_object *o, FILE *out)
{
	fprintf(out, "%s\n",
		json_object_to_json_string_ext(
			o, JSON_C_TO_STRING_PRETTY |
				   JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
}
