/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How tools write names and numbers: for people, for shells, in CSV, JSON and HTML.
 */
#ifndef LIB_TEXT_H
#define LIB_TEXT_H

#include <linux/types.h>
#include <stdio.h>

struct json_object;

void clean_text(char *s);
void text_copy(char *to, size_t size, const char *from);
const char *format_count(char *buf, size_t size, u64 n);
const char *plural(u64 n);
const char *format_bytes(char *buf, size_t size, u64 n);
const char *format_value(char *buf, size_t size, u64 value, bool is_time);
void csv_string(FILE *out, const char *s);
void shell_string(FILE *out, const char *s);
void html_string(FILE *out, const char *s);
void list_name(FILE *out, const char *name, const char *separators);
void folded_frame(FILE *out, const char *name, const char **before);
void json_number(struct json_object *o, const char *key, u64 n);
void json_signed(struct json_object *o, const char *key, s64 n);
void json_boolean(struct json_object *o, const char *key, bool value);
void json_double(struct json_object *o, const char *key, double value);
void json_string(struct json_object *o, const char *key, const char *s);
struct json_object *json_member(struct json_object *o, const char *key);
u64 json_u64(struct json_object *o, const char *key);
const char *json_text(struct json_object *o, const char *key);
size_t json_length(struct json_object *array);
struct json_object *json_item(struct json_object *array, size_t i);
void json_write(struct json_object *o, FILE *out);

#endif
