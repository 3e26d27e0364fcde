// SPDX-License-Identifier: GPL-2.0
/*
 * The result as one page for a browser without external resources (lib/page.h), with the data
 * as JSON, of which page.js makes text.
 */
#include <json-c/json.h>
#include <string.h>

#include "report.h"
#include "page.h"
#include "text.h"
#include "version.h"

/* Maximum number of calls of a request, and of its thread's calls for others meanwhile */
#define MAX_CALLS 400
#define MAX_OTHER_CALLS 200

PAGE_TEXT(ioreq_style, "ioreq/page.css");
PAGE_TEXT(ioreq_script, "ioreq/page.js");

/**
 * struct page - state of the output
 * @m:		model
 * @owners:	which request each call was made for
 * @stacks:	stacks of the calls in the page: frames by key
 */
struct page {
	const struct model *m;
	const struct owners *owners;
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

static struct json_object *frames_array(const struct model *m,
					const struct stack *stack)
{
	struct json_object *a = json_object_new_array();
	char name[4200], text[4200], line[8500];
	const struct elffile_source *source;
	u32 i, j, nr;

	for (i = 0; i < stack->nr; i++) {
		nr = stacks_sources(m->stacks, stack, i, &source);
		frame_name(name, sizeof(name), &stack->frame[i], false);
		for (j = 0; j < nr; j++) {
			snprintf(line, sizeof(line), "%s %s", name,
				 source_text(text, sizeof(text), &source[j]));
			add_string(a, line);
		}
		if (!nr)
			add_string(a, name);
	}
	if (stack->end) {
		snprintf(line, sizeof(line), "... (%s)", stack->end_name);
		add_string(a, line);
	}
	return a;
}

/* Many calls have the same stack */
static void add_stack(struct json_object *call, const struct page *p, u32 host,
		      u32 id)
{
	const struct stack *stack =
		stacks_find(p->m->stacks, stack_key(host, id));
	char key[32];

	if (!stack)
		return;
	snprintf(key, sizeof(key), "%u-%u", host, id);
	add_string(call, key);
	if (!json_object_object_get_ex(p->stacks, key, NULL))
		json_object_object_add(p->stacks, key,
				       frames_array(p->m, stack));
}

/* Whether one request is, or was made for, the other one */
static bool is_related(const struct request *a, const struct request *b)
{
	const struct request *r;

	for (r = a; r; r = r->parent) {
		if (r == b)
			return true;
	}
	for (r = b; r; r = r->parent) {
		if (r == a)
			return true;
	}
	return false;
}

/* 0: for this request or of no known one, 1: for another one, 2: for one of several */
static int other_request(const struct page *p, const struct request *r,
			 const struct thread *a, u64 call)
{
	const struct request *owner = owners_get(p->owners, a, call);

	if (owner == &owner_ambiguous)
		return 2;
	return owner && !is_related(owner, r);
}

/* [call, object, ns since the begin, duration, bytes, result,
 * type of the object, whether for another request, stack]
 */
static struct json_object *call_array(const struct page *p,
				      const struct request *r,
				      const struct thread *thread, u64 i,
				      u64 begin)
{
	const struct call *call = &thread->call[i];
	const struct log *l = p->m->log;
	const struct object *o = log_object(l, call);
	struct json_object *a = json_object_new_array();
	char name[4096];

	object_name(name, sizeof(name), o->type, o->id, o->name);
	add_string(a, log_op(l, call));
	add_string(a, name);
	add_number(a, call->start - begin);
	add_number(a, call->duration);
	add_number(a, call->bytes);
	add_number(a, call->result);
	add_string(a, type_name(o->type));
	add_number(a, other_request(p, r, thread, i));
	add_stack(a, p, thread->host, call->stack);
	return a;
}

/* The calls of the thread meanwhile; unknown if there are several threads */
static void add_calls(struct json_object *o, const struct page *page,
		      const struct request *r, const struct view *p)
{
	struct json_object *all = json_object_new_array();
	const struct thread *a = log_thread(page->m->log, p->host, p->pid);
	u64 i, own = 0, others = 0, more = 0;

	for (i = a ? log_after(a, p->begin) : 0; a && i < a->nr; i++) {
		const struct call *call = &a->call[i];

		if (call->start + call->duration > view_over(p))
			break;
		if (call->start < p->begin)
			continue;
		if (other_request(page, r, a, i) == 1 ?
			    ++others > MAX_OTHER_CALLS :
			    ++own > MAX_CALLS)
			more++;
		else
			json_object_array_add(all, call_array(page, r, a, i,
							      p->begin));
	}
	json_object_object_add(o, "calls", all);
	json_number(o, "more", more);
}

static void add_view(struct json_object *o, const char *key,
		     const struct page *page, const struct request *r,
		     enum role role)
{
	const struct view *p = &r->view[role];
	const struct model *m = page->m;
	struct json_object *view;
	u64 over;

	if (!p->seen)
		return;
	view = json_object_new_object();
	/* Times in a damaged trace can be anything */
	json_number(view, "at", axis_time(m, p->host, p->begin));
	over = view_over(p);
	json_number(view, "time", over > p->begin ? over - p->begin : 0);
	json_number(view, "pid", p->pid);
	json_boolean(view, "aligned", axis_aligned(m, p->host));
	json_boolean(view, "alone", p->alone);
	if (p->alone)
		add_calls(view, page, r, p);
	json_object_object_add(o, key, view);
}

/* An end of a request: its name, if it was recorded, and its address, if known */
static const char *end_text(char *buf, size_t size, const struct model *m,
			    const struct request *r, enum role role)
{
	const struct endpoint *e = r->endpoint[role];
	const char *arrow = strstr(r->name, "->");
	const char *address;
	char name[300];
	int len;

	if (!arrow)
		return role == ROLE_SERVER ? server_text(buf, size, m, e) :
					     endpoint_text(buf, size, m, e);
	address = role == r->named ? r->name : arrow + 2;
	len = role == r->named ? (int)(arrow - r->name) : (int)strlen(address);
	if (e->host == NO_HOST)
		snprintf(buf, size, "%.*s", len, address);
	else
		snprintf(buf, size, "%s %.*s",
			 endpoint_text(name, sizeof(name), m, e), len, address);
	return buf;
}

static struct json_object *request_object(const struct page *page,
					  const struct request *list,
					  const struct request *r)
{
	const struct model *m = page->m;
	struct json_object *o = json_object_new_object();
	struct json_object *ends = json_object_new_array();
	char name[600];

	json_number(o, "id", r - list);
	if (r->parent)
		json_number(o, "parent", r->parent - list);
	json_string(o, "from",
		    endpoint_text(name, sizeof(name), m,
				  r->endpoint[ROLE_CLIENT]));
	json_string(o, "to",
		    server_text(name, sizeof(name), m,
				r->endpoint[ROLE_SERVER]));
	json_string(o, "addresses", r->name);
	add_string(ends, end_text(name, sizeof(name), m, r, ROLE_CLIENT));
	add_string(ends, end_text(name, sizeof(name), m, r, ROLE_SERVER));
	json_object_object_add(o, "ends", ends);
	json_number(o, "sent", r->sent);
	json_number(o, "received", r->received);
	json_boolean(o, "unanswered", !r->answered);
	json_boolean(o, "cut_off", r->cut_off);
	if (r->failure)
		json_string(o, "failure", r->failure);
	json_boolean(o, "unclear", r->unclear);
	json_boolean(o, "multiplexed", r->multiplexed);
	json_boolean(o, "maybe_multiplexed", r->maybe_multiplexed);
	json_boolean(o, "ambiguous", r->ambiguous);
	json_boolean(o, "queued", r->queued);
	add_view(o, "client", page, r, ROLE_CLIENT);
	add_view(o, "server", page, r, ROLE_SERVER);
	return o;
}

static struct json_object *list_array(const struct page *page, u64 top,
				      u64 *requests)
{
	const struct model *m = page->m;
	struct json_object *a = json_object_new_array();
	struct request *r;
	u64 nr, i;

	r = requests_list(m->requests, &nr);
	select_requests(m, r, nr, top);
	*requests = nr;
	for (i = 0; i < nr; i++) {
		if (r[i].marked)
			json_object_array_add(a,
					      request_object(page, r, &r[i]));
	}
	return a;
}

/* The page's tables do not depend on the grouping key */
static void add_names(struct json_object *o, const struct model *m)
{
	struct json_object *calls, *c;
	char name[4096];
	u64 i;

	json_object_object_get_ex(o, "calls", &calls);
	for (i = 0; i < json_object_array_length(calls); i++) {
		const struct sum *sum = m->sum[i];

		c = json_object_array_get_idx(calls, i);
		object_name(name, sizeof(name), sum->type, sum->id, sum->name);
		if (m->by & BY_OBJECT)
			json_string(c, "object", name);
	}
}

/* Paths, what to fix first, and the texts of the steps' names */
static void add_paths(struct json_object *o, const struct model *m, u64 top)
{
	struct json_object *texts = json_object_new_object();
	struct paths *p = request_paths_new(m);
	int i;

	json_paths(o, m, p, top);
	request_paths_free(p);
	for (i = 0; i < WAITS; i++)
		json_string(texts, step_names[i], step_texts[i]);
	json_object_object_add(o, "steps", texts);
}

/**
 * ioreq_write_html - write the page
 * @out:	output
 * @m:		model, after model_link(), with a log, single requests and stacks
 * @top:	maximum number of sums, of flows, and of single requests besides their
 *		downstream ones
 */
void ioreq_write_html(FILE *out, const struct model *m, u64 top)
{
	struct page page = { .m = m, .stacks = json_object_new_object() };
	struct json_object *o = model_json(m, top);
	struct owners *owners;
	struct request *r;
	u64 requests;

	r = requests_list(m->requests, &requests);
	page.owners = owners = owners_new(m, r, requests);
	add_paths(o, m, top);
	json_object_object_add(o, "list", list_array(&page, top, &requests));
	json_object_object_add(o, "stacks", page.stacks);
	json_number(o, "singles", requests);
	json_number(o, "sums", m->nr);
	json_string(o, "clocks", axis_description(m));
	json_string(o, "tool", PROGRAM " " TRACERIG_VERSION);
	add_names(o, m);
	page_open(out, ioreq_style);
	page_json(out, o);
	page_close(out, ioreq_script);
	json_object_put(o);
	owners_free(owners);
}
