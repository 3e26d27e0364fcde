// SPDX-License-Identifier: GPL-2.0
/*
 * The result as one page for a browser, without anything from elsewhere: page.html,
 * with the data as JSON in it. What comes from the trace is data there, never markup
 * (lib/page.h), and the page's script makes text of it.
 */
#include <json-c/json.h>
#include <string.h>

#include "ioreq.h"
#include "page.h"
#include "text.h"
#include "version.h"

/* Calls that are shown of a request, at most */
#define MAX_CALLS 400

/* page.html itself; the Makefile knows that this file depends on it */
__asm__(".pushsection .rodata\n"
	"ioreq_page:\n"
	".incbin \"ioreq/page.html\"\n"
	".byte 0\n"
	".popsection\n");
extern const char ioreq_page[];

/**
 * struct page - what is written
 * @s:		sums
 * @stacks:	those of the calls that are shown: frames by key
 */
struct page {
	const struct sums *s;
	struct json_object *stacks;
};

static void add_number(struct json_object *a, s64 v)
{
	json_object_array_add(a, json_object_new_int64(v));
}

static void add_string(struct json_object *a, const char *s)
{
	json_object_array_add(a, json_object_new_string(s));
}

static struct json_object *frames_array(const struct sums *s,
					const struct stack *stack)
{
	struct json_object *a = json_object_new_array();
	char name[4200], text[1400], line[5700];
	struct place place;
	u32 i;

	for (i = 0; i < stack->nr; i++) {
		stacks_place(s->stacks, stack, i, &place);
		frame_name(name, sizeof(name), &stack->frame[i], false);
		place_text(text, sizeof(text), &place);
		snprintf(line, sizeof(line), "%s%s%s", name, *text ? " " : "",
			 text);
		add_string(a, line);
	}
	if (stack->end) {
		snprintf(line, sizeof(line), "... (%s)", stack->end_name);
		add_string(a, line);
	}
	return a;
}

/* Many calls have the same */
static void add_stack(struct json_object *call, const struct page *p, u32 host,
		      u32 id)
{
	const struct stack *stack =
		stacks_find(p->s->stacks, stack_key(host, id));
	char key[32];

	if (!stack)
		return;
	snprintf(key, sizeof(key), "%u-%u", host, id);
	add_string(call, key);
	if (!json_object_object_get_ex(p->stacks, key, NULL))
		json_object_object_add(p->stacks, key,
				       frames_array(p->s, stack));
}

/* [call, object, ns after the begin, duration, bytes, result, type of the object, stack] */
static struct json_object *call_array(const struct page *p, u32 host,
				      const struct logged *c, u64 begin)
{
	const struct log *l = p->s->log;
	const struct object *o = log_object(l, c);
	struct json_object *a = json_object_new_array();
	char name[4096];

	object_name(name, sizeof(name), o->type, o->id, o->name);
	add_string(a, log_op(l, c));
	add_string(a, name);
	add_number(a, c->start - begin);
	add_number(a, c->duration);
	add_number(a, c->bytes);
	add_number(a, c->result);
	add_string(a, type_name(o->type));
	add_stack(a, p, host, c->stack);
	return a;
}

/* What the thread did meanwhile: nobody knows it of several threads */
static void add_calls(struct json_object *o, const struct page *page,
		      const struct part *p)
{
	struct json_object *all = json_object_new_array();
	const struct actor *a = log_actor(page->s->log, p->host, p->pid);
	u64 i, more = 0;

	for (i = a ? log_after(a, p->begin) : 0; a && i < a->nr; i++) {
		const struct logged *c = &a->call[i];

		if (c->start + c->duration > p->over)
			break;
		if (c->start < p->begin)
			continue;
		if (json_object_array_length(all) < MAX_CALLS)
			json_object_array_add(all, call_array(page, p->host, c,
							      p->begin));
		else
			more++;
	}
	json_object_object_add(o, "calls", all);
	json_number(o, "more", more);
}

static void add_part(struct json_object *o, const char *key,
		     const struct page *page, const struct part *p)
{
	const struct sums *s = page->s;
	struct json_object *part;

	if (!p->seen)
		return;
	part = json_object_new_object();
	/* In a damaged trace times may be any */
	json_number(part, "at", list_time(s, p->host, p->begin));
	json_number(part, "time", p->over > p->begin ? p->over - p->begin : 0);
	json_number(part, "pid", p->pid);
	json_object_object_add(
		part, "aligned",
		json_object_new_boolean(list_aligned(s, p->host)));
	json_object_object_add(part, "alone",
			       json_object_new_boolean(p->alone));
	if (p->alone)
		add_calls(part, page, p);
	json_object_object_add(o, key, part);
}

static struct json_object *request_object(const struct page *page,
					  const struct request *list,
					  const struct request *r)
{
	const struct sums *s = page->s;
	struct json_object *o = json_object_new_object();
	char name[300];

	json_number(o, "id", r - list);
	if (r->parent)
		json_number(o, "parent", r->parent - list);
	json_string(o, "from",
		    party_text(name, sizeof(name), s, r->party[ROLE_CLIENT]));
	json_string(o, "to",
		    party_text(name, sizeof(name), s, r->party[ROLE_SERVER]));
	json_string(o, "addresses", r->name);
	json_number(o, "sent", r->sent);
	json_number(o, "received", r->received);
	json_object_object_add(o, "unclear",
			       json_object_new_boolean(r->unclear));
	json_object_object_add(o, "ambiguous",
			       json_object_new_boolean(r->ambiguous));
	add_part(o, "client", page, &r->part[ROLE_CLIENT]);
	add_part(o, "server", page, &r->part[ROLE_SERVER]);
	return o;
}

static struct json_object *list_array(const struct page *page, u64 top,
				      u64 *answered)
{
	const struct sums *s = page->s;
	struct json_object *a = json_object_new_array();
	struct request *r;
	u64 nr, i;

	r = requests_list(s->requests, &nr);
	list_mark(s, r, nr, top);
	*answered = 0;
	for (i = 0; i < nr; i++) {
		*answered += r[i].answered;
		if (r[i].marked)
			json_object_array_add(a,
					      request_object(page, r, &r[i]));
	}
	return a;
}

/* Tables of the page do not ask what sums have in common */
static void add_names(struct json_object *o, const struct sums *s)
{
	struct json_object *calls, *c;
	char name[4096];
	u64 i;

	json_object_object_get_ex(o, "calls", &calls);
	for (i = 0; i < json_object_array_length(calls); i++) {
		const struct sum *sum = s->sum[i];

		c = json_object_array_get_idx(calls, i);
		object_name(name, sizeof(name), sum->type, sum->id, sum->name);
		if (s->by & BY_OBJECT)
			json_string(c, "object", name);
	}
}

/**
 * report_html - write the page
 * @out: where to
 * @s: after sums_finish(), with a log, single requests and stacks
 * @top: so many sums, kinds of requests, and single requests besides what was asked
 *	for them, at most
 */
void report_html(FILE *out, const struct sums *s, u64 top)
{
	struct page page = { .s = s, .stacks = json_object_new_object() };
	struct json_object *o = json_result(s, top);
	u64 answered;

	json_object_object_add(o, "list", list_array(&page, top, &answered));
	json_object_object_add(o, "stacks", page.stacks);
	json_number(o, "answered", answered);
	json_number(o, "sums", s->nr);
	json_string(o, "clocks", list_clocks(s));
	json_string(o, "tool", PROGRAM " " TRACERIG_VERSION);
	add_names(o, s);
	page_open(out);
	page_json(out, o);
	page_close_data(out);
	fputs(ioreq_page, out);
	json_object_put(o);
}
