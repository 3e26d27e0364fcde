/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages for a browser that load nothing from elsewhere: the frame page.html with common
 * colours, type and the functions of page.js, the data as JSON, and the style and script
 * of the tool. Data from a trace are never markup: the scripts make text of them.
 */
#ifndef LIB_PAGE_H
#define LIB_PAGE_H

#include <json-c/json.h>
#include <stdio.h>

/**
 * PAGE_TEXT - include a file as a string constant
 * @name: of the constant
 * @file: path in tools/; the Makefile knows that objects named *html.o and page.o depend
 *	on these files
 */
#define PAGE_TEXT(name, file)                        \
	__asm__(".pushsection .rodata\n" #name ":\n" \
		".incbin \"" file "\"\n.byte 0\n"    \
		".popsection\n");                    \
	extern const char name[]

/**
 * page_open - write a page up to where its data begin
 * @out: the page
 * @style: the tool's style sheet
 *
 * The caller then writes JSON, without "<" outside of page_json().
 */
void page_open(FILE *out, const char *style);

/**
 * page_room - the room that a string takes on a page
 * @s: the string
 *
 * Return: bytes, with its escapes and quotation marks.
 */
size_t page_room(const char *s);

/**
 * page_json - write data so that no string in them can end the script element
 * @out: the page
 * @o: the data; not freed
 */
void page_json(FILE *out, struct json_object *o);

/**
 * page_close - write the rest of a page, after its data
 * @out: the page
 * @script: the tool's script
 */
void page_close(FILE *out, const char *script);

#endif
