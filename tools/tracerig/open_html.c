// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the page of a case. See open.h, and page_*.js and page.js for what
 * becomes of it.
 *
 * Times are ns since the operation began, or since the alarm if that is unknown. Events,
 * the largest part, are columns of numbers, their times as differences.
 */
#include <json-c/json.h>
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "open.h"
#include "order.h"
#include "page.h"
#include "text.h"
#include "tracerig.h"
#include "version.h"

PAGE_TEXT(case_style, "tracerig/page.css");
PAGE_TEXT(case_recording, "tracerig/page_recording.js");
PAGE_TEXT(case_timeline, "tracerig/page_timeline.js");
PAGE_TEXT(case_script, "tracerig/page.js");

static const char *const role_text[ROLES + 1] = {
	[ROLE_SWITCH] = "switch",     [ROLE_WAKING] = "waking",
	[ROLE_IRQ] = "irq",	      [ROLE_IRQ_EXIT] = "irq_exit",
	[ROLE_SOFTIRQ] = "softirq",   [ROLE_SOFTIRQ_EXIT] = "softirq_exit",
	[ROLE_BIO] = "bio",	      [ROLE_ISSUE] = "issue",
	[ROLE_COMPLETE] = "complete", [ROLES] = "",
};

static long long since(const struct open_page *p, u64 time)
{
	return time - p->events.begin;
}

static void add_int(struct json_object *a, s64 n)
{
	json_object_array_add(a, json_object_new_int64(n));
}

/* Texts in a case that a watch wrote are shorter */
#define SAME_BYTES_MAX 4096
#define SAME_ITEMS_MAX 100

/* A copy, in which long texts and arrays are cut */
static struct json_object *copy_cut(struct json_object *o)
{
	struct json_object *copy, *item;
	char more[32];
	const char *s;
	size_t i, n;

	switch (json_object_get_type(o)) {
	case json_type_string:
		s = json_object_get_string(o);
		if (page_room(s) <= SAME_BYTES_MAX)
			return json_object_get(o);
		return json_object_new_string(
			"(too long for the page: see case.json)");
	case json_type_array:
		copy = json_object_new_array();
		n = json_object_array_length(o);
		for (i = 0; i < n && i < SAME_ITEMS_MAX; i++) {
			item = json_object_array_get_idx(o, i);
			json_object_array_add(copy, copy_cut(item));
		}
		if (i < n) {
			snprintf(more, sizeof(more), "(%zu more)", n - i);
			json_object_array_add(copy,
					      json_object_new_string(more));
		}
		return copy;
	case json_type_object:
		copy = json_object_new_object();
		json_object_object_foreach(o, name, value)
		{
			json_object_object_add(copy, name, copy_cut(value));
		}
		return copy;
	default:
		return json_object_get(o);
	}
}

static void add_same(struct json_object *to, const char *name,
		     struct json_object *from)
{
	json_object_object_add(to, name, copy_cut(json_member(from, name)));
}

/* ---- what case.json has ---- */

static struct json_object *alarm_object(const struct open_page *p)
{
	static const char *const same[] = { "cpu",   "value",  "center",
					    "limit", "judged", "pid",
					    "comm",  "keys" };
	struct json_object *a = json_member(p->o, "alarm");
	struct json_object *o = json_object_new_object();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(same); i++)
		add_same(o, same[i], a);
	json_signed(o, "time", since(p, json_u64(a, "time")));
	return o;
}

/* [time, value, limit or null] */
static struct json_object *values_array(const struct open_page *p)
{
	struct json_object *values = json_member(p->o, "values"), *v, *one;
	struct json_object *a = json_object_new_array();
	size_t i;

	for (i = 0; i < json_object_array_length(values); i++) {
		v = json_object_array_get_idx(values, i);
		one = json_object_new_array();
		add_int(one, since(p, json_u64(v, "time")));
		add_int(one, json_u64(v, "value"));
		json_object_array_add(one,
				      json_object_get(json_member(v, "limit")));
		json_object_array_add(a, one);
	}
	return a;
}

static struct json_object *window_object(const struct open_page *p)
{
	struct json_object *w = json_member(p->o, "window");
	struct json_object *o = json_object_new_object();

	json_signed(o, "begin", since(p, json_u64(w, "begin")));
	json_signed(o, "end", since(p, json_u64(w, "end")));
	return o;
}

static struct json_object *case_object(const struct open_page *p)
{
	static const char *const same[] = { "case",   "time",	 "group",
					    "nth",    "host",	 "chart",
					    "losses", "missing", "nr_alarms" };
	struct json_object *o = json_object_new_object();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(same); i++)
		add_same(o, same[i], p->o);
	json_object_object_add(o, "alarm", alarm_object(p));
	json_object_object_add(o, "values", values_array(p));
	json_object_object_add(o, "window", window_object(p));
	return o;
}

/* ---- the explanation ---- */

static void set_at(const struct open_page *p, struct json_object *part, u64 at)
{
	json_object_object_del(part, "at");
	json_signed(part, "at", since(p, at));
}

/* The last part that the page has room for stands for all further ones, too */
static void join_parts(const struct open_page *p, struct json_object *parts)
{
	static const char *const sums[] = { "percent", "ns", "usual" };
	size_t n = json_object_array_length(parts), first, i, k;
	struct json_object *rest, *one;
	char name[48];

	if (n <= OPEN_PARTS_MAX)
		return;
	first = OPEN_PARTS_MAX - 1;
	rest = json_object_array_get_idx(parts, first);
	for (i = first + 1; i < n; i++) {
		one = json_object_array_get_idx(parts, i);
		for (k = 0; k < ARRAY_SIZE(sums); k++)
			json_object_object_add(
				rest, sums[k],
				json_object_new_int64(json_u64(rest, sums[k]) +
						      json_u64(one, sums[k])));
		if (json_u64(one, "longest") <= json_u64(rest, "longest"))
			continue;
		add_same(rest, "longest", one);
		set_at(p, rest, p->x.op.part[i].at);
	}
	json_object_array_del_idx(parts, first + 1, n - first - 1);
	snprintf(name, sizeof(name), "%zu other part%s", n - first,
		 plural(n - first));
	json_string(rest, "name", name);
	json_string(rest, "evidence", "the longest of them");
}

static struct json_object *explain_part(const struct open_page *p)
{
	struct json_object *o = explain_object(&p->x), *parts;
	size_t i;

	/* Without members for events that the recording lacks */
	if (!p->x.op.nr && !p->x.nr_normal && p->x.why_none &&
	    !p->x.seen[SAW_SWITCH] && !p->x.seen[SAW_BLOCK])
		json_object_object_del(o, "not_seen");
	parts = json_member(o, "parts");
	for (i = 0; i < json_object_array_length(parts); i++) {
		struct json_object *one = json_object_array_get_idx(parts, i);

		set_at(p, one, p->x.op.part[i].at);
		json_number(one, "kind", p->x.op.part[i].kind);
		json_string(one, "key", p->x.op.part[i].key);
	}
	join_parts(p, parts);
	parts = json_member(o, "findings");
	for (i = 0; i < json_object_array_length(parts); i++)
		set_at(p, json_object_array_get_idx(parts, i),
		       p->x.finding[i].part.at);
	/* They have another place on the page, and are large */
	json_object_object_del(o, "analyzers");
	return o;
}

static int by_time(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	return ORDER(x->from, y->from);
}

static int by_length(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	return ORDER(y->to - y->from, x->to - x->from) ?: by_time(a, b);
}

/* The longest ones stay, in order of time; return: number and ns of the others */
static struct json_object *leave_stretches(struct execution *e)
{
	struct json_object *a = json_object_new_array();
	size_t most = OPEN_STRETCHES_MAX, left = 0;
	u64 ns = 0;

	if (e->stretches > most)
		qsort(e->stretch, e->stretches, sizeof(*e->stretch), by_length);
	for (; e->stretches > most; left++) {
		e->stretches--;
		ns += e->stretch[e->stretches].to -
		      e->stretch[e->stretches].from;
	}
	if (e->stretches)
		qsort(e->stretch, e->stretches, sizeof(*e->stretch), by_time);
	add_int(a, left);
	add_int(a, ns);
	return a;
}

/* [from, to, part, CPU] */
static struct json_object *stretches_array(const struct open_page *p)
{
	const struct execution *e = &p->x.op;
	struct json_object *a = json_object_new_array(), *one;
	size_t i, k;

	for (i = 0; i < e->stretches; i++) {
		for (k = 0; e->part[k].key != e->stretch[i].key;)
			k++;
		one = json_object_new_array();
		add_int(one, since(p, e->stretch[i].from));
		add_int(one, since(p, e->stretch[i].to));
		add_int(one, k < OPEN_PARTS_MAX ? k : OPEN_PARTS_MAX - 1);
		add_int(one, e->stretch[i].cpu);
		json_object_array_add(a, one);
	}
	return a;
}

static void put_member(FILE *out, const char *name, struct json_object *o)
{
	fprintf(out, ",\n\"%s\":", name);
	page_json(out, o);
	json_object_put(o);
}

/* ---- the recording ---- */

static struct json_object *kinds_array(const struct open_events *e)
{
	struct json_object *a = json_object_new_array(), *one;
	size_t i;

	for (i = 0; i < e->kinds; i++) {
		one = json_object_new_object();
		json_string(one, "name", e->kind[i].name);
		json_string(one, "role", role_text[e->kind[i].role]);
		json_object_array_add(a, one);
	}
	return a;
}

static struct json_object *threads_array(const struct open_events *e)
{
	struct json_object *a = json_object_new_array(), *one;
	const struct open_thread *t;
	u32 i;

	hash_for_each(&e->threads, i, t) {
		one = json_object_new_array();
		add_int(one, t->pid);
		json_object_array_add(
			one, json_object_new_string(*t->comm ? t->comm : "?"));
		json_object_array_add(a, one);
	}
	return a;
}

static struct json_object *texts_array(const struct open_events *e)
{
	struct json_object *a = json_object_new_array();
	const char *text;
	u32 i;

	hash_for_each(&e->texts, i, text)
		json_object_array_add(a, json_object_new_string(text));
	return a;
}

static struct json_object *devices_array(const struct open_events *e)
{
	struct json_object *a = json_object_new_array();
	char name[32];
	size_t i;

	for (i = 0; i < e->devices; i++) {
		snprintf(name, sizeof(name), "%llu:%llu",
			 (unsigned long long)e->device[i] >> 20,
			 (unsigned long long)e->device[i] & 0xfffff);
		json_object_array_add(a, json_object_new_string(name));
	}
	return a;
}

static struct json_object *gaps_array(const struct open_page *p)
{
	struct json_object *a = json_object_new_array(), *one;
	const struct open_events *e = &p->events;
	size_t i;

	for (i = 0; i < e->gaps; i++) {
		one = json_object_new_array();
		add_int(one, e->gap[i].cpu);
		if (e->gap[i].from)
			add_int(one, since(p, e->gap[i].from));
		else
			json_object_array_add(one, NULL);
		add_int(one, since(p, e->gap[i].to));
		add_int(one, e->gap[i].missed);
		json_object_array_add(a, one);
	}
	return a;
}

/* [from, to, number] of events before those on the page, in their middle, and after, or null */
static struct json_object *left_array(const struct open_page *p)
{
	struct json_object *a = json_object_new_array(), *one;
	const struct open_left *left = p->events.left;
	int i;

	for (i = 0; i < LEFTS; i++) {
		one = left[i].nr ? json_object_new_array() : NULL;
		if (one) {
			add_int(one, since(p, left[i].from));
			add_int(one, since(p, left[i].to));
			add_int(one, left[i].nr);
		}
		json_object_array_add(a, one);
	}
	return a;
}

enum column { TIME, CPU, KIND, THREAD, A, B, COLUMNS };

static void put_column(const struct open_page *p, enum column c, FILE *out)
{
	const struct open_events *e = &p->events;
	u64 last = e->begin;
	size_t i;

	for (i = 0; i < e->nr; i++) {
		const struct open_event *v = &e->event[i];

		fputs(i ? "," : "", out);
		switch (c) {
		case TIME:
			fprintf(out, "%lld", (long long)(v->ts - last));
			last = v->ts;
			break;
		case CPU:
			fprintf(out, "%u", v->cpu);
			break;
		case KIND:
			fprintf(out, "%u", v->kind);
			break;
		case THREAD:
			fprintf(out, "%u", v->thread);
			break;
		case A:
			fprintf(out, "%d",
				v->a == OPEN_NO_TEXT ? -1 : (int)v->a);
			break;
		default:
			fprintf(out, "%llu", (unsigned long long)v->b);
		}
	}
}

static void put_events(const struct open_page *p, FILE *out)
{
	static const char *const name[COLUMNS] = { "t",	     "cpu", "kind",
						   "thread", "a",   "b" };
	enum column c;

	for (c = 0; c < COLUMNS; c++) {
		fprintf(out, "%s\"%s\":[", c ? "],\n" : ",\n\"events\":{",
			name[c]);
		put_column(p, c, out);
	}
	fputs("]}", out);
}

/* Whether it was in flight between two times */
static bool is_between(const struct request *r, u64 from, u64 to)
{
	u64 begin = r->queued ? r->queued : r->issued;

	return begin <= to && (!r->completed || r->completed >= from);
}

/*
 * Which requests the page has: those in flight while its events took place, first those of
 * the time of the operation. Return: for free(); @left: number of those without room
 */
static bool *choose_requests(const struct open_events *e,
			     const struct request *r, size_t nr, size_t *left)
{
	bool *chosen = xcalloc(nr + 1, sizeof(*chosen));
	size_t i, room = OPEN_REQUESTS_MAX;
	int first;

	*left = 0;
	for (first = 1; first >= 0 && e->nr; first--) {
		for (i = 0; i < nr; i++) {
			if (!is_between(&r[i], e->event[0].ts,
					e->event[e->nr - 1].ts) ||
			    is_between(&r[i], e->begin, e->end) != first)
				continue;
			chosen[i] = room;
			*left += !room;
			room -= chosen[i];
		}
	}
	return chosen;
}

/* The thread that made it; it may have got another name since, which events have given it */
static u32 maker(struct open_events *e, const struct request *r)
{
	u32 i = open_thread(e, r->pid, NULL);
	const struct open_thread *t = hash_entry(&e->threads, i);

	return *t->comm ? i : open_thread(e, r->pid, r->comm);
}

/*
 * [thread, device, sector, sectors, when queued, when issued, when completed]: the
 * first time that is known as difference from the request before, the others from that; or null
 */
static void put_requests(struct open_page *p, FILE *out)
{
	struct open_events *e = &p->events;
	const struct request *all, *r;
	u64 last = e->begin, begin;
	const char *before = "";
	size_t nr, left;
	bool *chosen;

	fputs(",\n\"requests\":[", out);
	all = blk_requests_all(e->requests, &nr);
	chosen = choose_requests(e, all, nr, &left);
	for (r = all; r < all + nr; r++) {
		if (!chosen[r - all])
			continue;
		begin = r->queued ? r->queued : r->issued;
		fprintf(out, "%s[%u,%u,%llu,%llu,", before, maker(e, r),
			open_device(e, r->dev), (unsigned long long)r->sector,
			(unsigned long long)r->nr);
		fprintf(out, r->queued ? "%lld," : "null,%lld,",
			(long long)(begin - last));
		if (r->queued && r->issued)
			fprintf(out, "%llu,",
				(unsigned long long)(r->issued - begin));
		else if (r->queued)
			fputs("null,", out);
		if (r->completed)
			fprintf(out, "%llu]",
				(unsigned long long)(r->completed - begin));
		else
			fputs("null]", out);
		last = begin;
		before = ",";
	}
	fprintf(out, "],\n\"requestsLeft\":%zu,\"requestsFull\":%s", left,
		nr == BLK_REQUESTS_MAX ? "true" : "false");
	free(chosen);
}

static struct json_object *operation_object(struct open_page *p)
{
	struct json_object *o = json_object_new_object();
	const struct explain *x = &p->x;

	json_signed(o, "start", since(p, x->op.start));
	json_signed(o, "end", since(p, x->op.end));
	if (x->op.pid)
		json_signed(o, "pid", x->op.pid);
	if (x->sector || x->dev) {
		json_number(o, "sector", x->sector);
		json_number(o, "dev", open_device(&p->events, x->dev));
	}
	return o;
}

/**
 * open_html - write the page
 * @p: all that is on it
 * @out: where to
 */
void open_html(struct open_page *p, FILE *out)
{
	struct open_events *e = &p->events;
	char base[32], *script;

	snprintf(base, sizeof(base), "%llu", (unsigned long long)e->begin);
	page_open(out, case_style);
	fprintf(out,
		"{\"tool\":\"" PROGRAM " " TRACERIG_VERSION
		"\",\"first\":\"%s\",\"total\":%llu,"
		"\"textsLeft\":%llu,\"gapsLeft\":%llu",
		base, (unsigned long long)e->total,
		(unsigned long long)e->texts_left,
		(unsigned long long)e->gaps_left);
	put_member(out, "case", case_object(p));
	put_member(out, "damage",
		   json_object_new_string(p->damage ? p->damage : ""));
	put_member(out, "explain", explain_part(p));
	put_member(out, "analyzers", open_analyzers(&p->x));
	if (!p->stretches_left)
		p->stretches_left = leave_stretches(&p->x.op);
	put_member(out, "stretchesLeft", json_object_get(p->stretches_left));
	put_member(out, "stretches", stretches_array(p));
	put_member(out, "operation",
		   p->is_operation ? operation_object(p) : NULL);
	put_events(p, out);
	put_requests(p, out);
	put_member(out, "kinds", kinds_array(e));
	put_member(out, "threads", threads_array(e));
	put_member(out, "texts", texts_array(e));
	put_member(out, "devices", devices_array(e));
	put_member(out, "gaps", gaps_array(p));
	put_member(out, "left", left_array(p));
	put_member(out, "state",
		   open_state(p->dir, json_member(p->o, "files")));
	fputs("}\n", out);
	script =
		xasprintf("%s%s%s", case_recording, case_timeline, case_script);
	page_close(out, script);
	free(script);
}
