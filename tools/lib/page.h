/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all pages for a browser begin with: colours, type, the data as JSON and a few
 * functions to show them. A tool's own title, style and script come after it.
 */
#ifndef PAGE_H
#define PAGE_H

#include <json-c/json.h>
#include <stdio.h>

/**
 * page_open - write a page up to where its data begin
 * @out: the page
 *
 * What is written next is JSON, without "<" outside of page_json().
 */
void page_open(FILE *out);

/**
 * page_json - write data so that no text in them can end the element they are in
 * @out: the page
 * @o: the data; the caller's as before
 */
void page_json(FILE *out, struct json_object *o);

/**
 * page_close_data - the data are written: the tool's part of the page may follow
 * @out: the page
 */
void page_close_data(FILE *out);

#endif
