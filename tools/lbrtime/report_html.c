// SPDX-License-Identifier: GPL-2.0
/*
 * The result as one page for a browser without external resources (lib/page.h), with a
 * summary as JSON, and samples and visits as numbers, LEB128 in base64, since there may
 * be millions.
 */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "lbrtime.h"
#include "page.h"
#include "text.h"
#include "version.h"

/* Added to the state of a sample that was recorded when the thread left the CPU */
#define SWITCHED 4

PAGE_TEXT(lbrtime_style, "lbrtime/page.css");
PAGE_TEXT(lbrtime_script, "lbrtime/page.js");

/* Bits that wait until three bytes make four letters */
struct base64 {
	FILE *out;
	u32 bits;
	u32 nr;
};

static void put_letters(struct base64 *b, u32 letters)
{
	static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";
	u32 i;

	for (i = 0; i < letters; i++)
		fputc(letter[b->bits >> (18 - 6 * i) & 63], b->out);
	b->bits = b->nr = 0;
}

static void put_byte(struct base64 *b, u8 byte)
{
	b->bits |= byte << (16 - 8 * b->nr++);
	if (b->nr == 3)
		put_letters(b, 4);
}

static void put_number(struct base64 *b, u64 n)
{
	for (; n > 0x7f; n >>= 7)
		put_byte(b, n | 0x80);
	put_byte(b, n);
}

static void end_base64(struct base64 *b)
{
	u32 nr = b->nr;

	if (!nr)
		return;
	put_letters(b, nr + 1);
	fputs(nr == 1 ? "==" : "=", b->out);
}

/* A visit of unknown time lasts until the next one */
static u64 until(const struct timed_visit *timed_visit, u32 i, u32 nr, u64 end)
{
	if (!timed_visit[i].unknown)
		return timed_visit[i].end;
	return i + 1 < nr ? timed_visit[i + 1].start : end;
}

static void put_times(struct base64 *b, const struct timeline *t, u32 sample,
		      enum method m)
{
	struct timed_visit timed_visit[MAX_BRANCHES + 1];
	u32 nr, i;

	if (!method_there(t, m))
		return;
	nr = timed_visits(t, sample, m, timed_visit);
	for (i = 0; i < nr; i++)
		put_number(b, 4 * (until(timed_visit, i, nr,
					 t->sample[sample].ts) -
				   timed_visit[i].start) +
				      2 * timed_visit[i].unknown +
				      !timed_visit[i].reliable);
}

/*
 * A sample: time since the one before, length of its interval, CPU, thread (index in
 * DATA.threads), state (4 more at a switch), number of branches, time that the methods
 * without a table account for, ns; for each visit 8 * function + kind of its branch;
 * then for each visit four times its ns by cycles and by fit, if available, plus one if
 * they are not reliable, plus two if its time is unknown.
 */
static void put_sample(struct base64 *b, const struct timeline *t, u32 sample,
		       u32 thread)
{
	const struct sample *s = &t->sample[sample];
	double time[MAX_BRANCHES + 1];
	u32 i;

	put_number(b, sample ? s->ts - t->sample[sample - 1].ts : 0);
	put_number(b, s->ts - s->start);
	put_number(b, s->cpu);
	put_number(b, thread);
	put_number(b, s->state + (s->flags & LBRPROF_SWITCH ? SWITCHED : 0));
	put_number(b, s->nr);
	put_number(b, assign(t, sample, METHOD_EQUAL, time));
	for (i = 0; i <= s->nr; i++) {
		u8 kind = i < s->nr ? t->branch[s->first + i].kind : 0;

		put_number(b, 8ull * timeline_visit(t, s, i) + kind);
	}
	put_times(b, t, sample, METHOD_CYCLES);
	put_times(b, t, sample, METHOD_FIT);
}

static void put_numbers(FILE *out, const struct timeline *t, const u32 *thread)
{
	struct base64 b = { .out = out };
	u32 i;

	for (i = 0; i < t->nr; i++)
		put_sample(&b, t, i, thread[i]);
	end_base64(&b);
}

static struct json_object *threads(const struct timeline *t, u32 *thread)
{
	struct json_object *a = json_object_new_array(), *o;
	u32 *order = timeline_by_thread(t), i, nr = 0;

	for (i = 0; i < t->nr; i++) {
		const struct sample *s = &t->sample[order[i]];

		if (!i || t->sample[order[i - 1]].pid != s->pid) {
			o = json_object_new_object();
			json_signed(o, "pid", s->pid);
			json_string(o, "comm", t->comm[s->comm]);
			json_object_array_add(a, o);
			nr++;
		}
		thread[order[i]] = nr - 1;
	}
	free(order);
	return a;
}

static void add_functions(struct json_object *o, const struct timeline *t)
{
	struct json_object *names = json_object_new_array();
	struct json_object *shares = json_object_new_array();
	u32 functions = symtab_functions(t->symbols), f;
	char text[40];

	for (f = 0; f < functions; f++) {
		json_object_array_add(
			names, json_object_new_string(
				       symtab_function(t->symbols, f)->name));
		snprintf(text, sizeof(text), "%.6g", t->share[f]);
		json_object_array_add(
			shares, json_object_new_double_s(t->share[f], text));
	}
	json_object_object_add(o, "names", names);
	json_object_object_add(o, "shares", shares);
}

static struct json_object *meanings(const struct timeline *t)
{
	struct json_object *o = json_object_new_object();
	enum method m;

	for (m = 0; m < METHODS; m++) {
		if (method_there(t, m))
			json_string(o, method_name(m), method_meaning(m));
	}
	return o;
}

static struct json_object *alarms(const struct timeline *t)
{
	struct json_object *a = json_object_new_array(), *o;
	u64 i, first = t->sample[0].ts;

	for (i = 0; i < t->alarms; i++) {
		o = json_object_new_object();
		json_signed(o, "start", t->alarm[i].start - first);
		json_signed(o, "end", t->alarm[i].end - first);
		json_signed(o, "pid", t->alarm[i].pid);
		json_string(o, "chart", t->alarm[i].chart);
		json_object_array_add(a, o);
	}
	return a;
}

/**
 * lbrtime_write_html - write the page
 * @t:	timeline, after timeline_finish()
 * @r:	what to print
 */
void lbrtime_write_html(const struct timeline *t, const struct report *r)
{
	u32 *thread = xzalloc(t->nr * sizeof(*thread));
	struct json_object *o = json_summary(t, r);
	char first[24];

	/* A JavaScript number has too few digits */
	snprintf(first, sizeof(first), "%llu", t->sample[0].ts);
	json_string(o, "first", first);
	json_boolean(o, "by_thread", t->by_thread);
	json_string(o, "tool", PROGRAM " " TRACERIG_VERSION);
	json_object_object_add(o, "threads", threads(t, thread));
	json_object_object_add(o, "alarms", alarms(t));
	json_object_object_add(o, "meanings", meanings(t));
	add_functions(o, t);
	page_open(r->out, lbrtime_style);
	page_json(r->out, o);
	fputs("\n</script>\n<script type=\"text/plain\" id=\"numbers\">",
	      r->out);
	put_numbers(r->out, t, thread);
	page_close(r->out, lbrtime_script);
	json_object_put(o);
	free(thread);
}
