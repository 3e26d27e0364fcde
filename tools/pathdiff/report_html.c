// SPDX-License-Identifier: GPL-2.0
/*
 * The result as one page for a browser, without external resources (lib/page.h), with
 * JSON: what report_json.c writes, the durations of executions, and for each cause the
 * slow path and the nearest normal one side by side.
 */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"
#include "pathdiff.h"

/* Executions that are drawn, and lines of two paths side by side, at most */
#define MAX_POINTS 20000
#define MAX_ROWS 20000

PAGE_TEXT(pathdiff_style, "pathdiff/page.css");
PAGE_TEXT(pathdiff_script, "pathdiff/page.js");

static void add_int(struct json_object *a, double v)
{
	json_object_array_add(a, json_object_new_int64(v + 0.5));
}

/* [start after the first record, duration, slow] of executions at equal steps */
static struct json_object *points_array(const struct result *r)
{
	struct json_object *all = json_object_new_array(), *one;
	const struct limit *l = &r->limit;
	u64 step[2], seen[2] = { 0 };
	u32 i;

	step[0] = l->nr[0] / MAX_POINTS + 1;
	step[1] = l->nr[1] / MAX_POINTS + 1;
	for (i = 0; i < r->paths.nr; i++) {
		const struct exec *e = &r->paths.exec[i];

		if (e->side != SIDE_TRACE ||
		    seen[e->abnormal]++ % step[e->abnormal])
			continue;
		one = json_object_new_array();
		add_int(one, (double)e->start - r->source[SIDE_TRACE].first);
		add_int(one, e->duration);
		add_int(one, e->abnormal);
		json_object_array_add(all, one);
	}
	return all;
}

static void add_name(struct json_object *o, const char *key,
		     const struct result *r, u32 name)
{
	if (name != NONE)
		json_string(o, key, r->paths.names.name[name]);
}

static struct json_object *wait_object(const struct result *r,
				       const struct wait *w)
{
	struct json_object *o = json_object_new_object();

	json_string(o, "kind", wait_name(w->kind));
	json_number(o, "at", w->at);
	json_number(o, "time", w->time);
	json_number(o, "queued", w->queued);
	add_name(o, "who", r, w->who);
	add_name(o, "lock", r, w->lock);
	add_name(o, "device", r, w->device);
	add_name(o, "other", r, w->other);
	if (w->stack != NONE)
		json_object_object_add(o, "stack", stack_array(r, w->stack));
	return o;
}

static struct json_object *waits_array(const struct result *r,
				       const struct exec *e, u32 pos)
{
	struct json_object *a = NULL;
	u32 i;

	for (i = e->wait; i < e->wait + e->waits; i++) {
		if (r->paths.wait[i].pos != pos)
			continue;
		if (!a)
			a = json_object_new_array();
		json_object_array_add(a, wait_object(r, &r->paths.wait[i]));
	}
	return a;
}

/* [function, depth, when called and self time of the slow one or null, usual self
 * time or null, waits or null]
 */
static void add_row(struct json_object *rows, const struct result *r,
		    const struct exec *e, u32 pos, const struct pattern *near,
		    u32 near_pos)
{
	const struct pattern *q = &r->paths.patterns.p[e->pattern];
	struct json_object *row = json_object_new_array();
	u32 function = pos == NONE ? near->function[near_pos] :
				     q->function[pos];

	json_object_array_add(
		row, json_object_new_string(r->paths.functions.name[function]));
	add_int(row, pos == NONE ? near->depth[near_pos] : q->depth[pos]);
	if (pos == NONE) {
		json_object_array_add(row, NULL);
		json_object_array_add(row, NULL);
	} else {
		add_int(row, e->data[pos]);
		add_int(row, e->data[q->len + pos]);
	}
	if (near_pos == NONE)
		json_object_array_add(row, NULL);
	else
		add_int(row, near->stat[near_pos].self);
	json_object_array_add(row, pos == NONE ? NULL : waits_array(r, e, pos));
	json_object_array_add(rows, row);
}

/* Common functions are side by side; functions of the normal path alone come before */
static struct json_object *rows_array(const struct result *r,
				      const struct cause *c)
{
	const struct paths *p = &r->paths;
	const struct exec *e = &p->exec[c->worst];
	const struct pattern *q = &p->patterns.p[e->pattern];
	const struct pattern *near = &p->patterns.p[q->near];
	struct json_object *rows = json_object_new_array();
	u32 i, j = 0;

	for (i = 0; i < q->len; i++) {
		u32 m = q->match ? q->match[i] : i;

		for (; m != NONE && j < m; j++)
			add_row(rows, r, e, NONE, near, j);
		if (m != NONE)
			j = m + 1;
		add_row(rows, r, e, i, near, m);
		if (json_object_array_length(rows) > MAX_ROWS)
			return rows;
	}
	for (; j < near->len; j++)
		add_row(rows, r, e, NONE, near, j);
	return rows;
}

static void add_paths(struct json_object *o, const struct result *r)
{
	struct json_object *causes, *one;
	char text[1024];
	u32 i;

	json_object_object_get_ex(o, "causes", &causes);
	for (i = 0; i < r->ranking.named; i++) {
		const struct cause *c = &r->ranking.cause[i];

		one = json_object_array_get_idx(causes, i);
		json_object_object_add(one, "rows", rows_array(r, c));
		cause_waits(r, c, text, sizeof(text));
		json_string(one, "waits", text);
		json_number(one, "worst_pos", c->worst_pos);
	}
}

/**
 * result_html - write the page
 * @r: the result
 */
void result_html(struct result *r)
{
	struct json_object *o = result_object(r);

	json_object_object_add(o, "points", points_array(r));
	add_paths(o, r);
	page_open(r->out, pathdiff_style);
	page_json(r->out, o);
	page_close(r->out, pathdiff_script);
	json_object_put(o);
}
