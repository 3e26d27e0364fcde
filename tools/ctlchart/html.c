// SPDX-License-Identifier: GPL-2.0
/*
 * The report as one page for a browser, without external resources (lib/page.h).
 * Characters of the trace's texts that could end the script element are escaped here, and
 * page.js makes text of them, not HTML.
 */
#include <stdlib.h>
#include <string.h>

#include "ctlchart.h"
#include "hash.h"
#include "page.h"
#include "version.h"

PAGE_TEXT(ctlchart_style, "ctlchart/page.css");
PAGE_TEXT(ctlchart_script, "ctlchart/page.js");

/* A process, "reader-1234": each is written once, and then as its number */
static u32 index_of(struct hash *names, const char *comm, int pid)
{
	char name[COMM_LEN + 16];
	size_t size;
	u64 hash;
	u32 i;

	size = 1 + snprintf(name, sizeof(name), "%s-%d", comm, pid);
	hash = hash_string(name);
	hash_for_each_possible(names, hash, i) {
		if (!strcmp(hash_entry(names, i), name))
			return i;
	}
	memcpy(hash_new(names, hash, size), name, size);
	return names->nr - 1;
}

static void put_text(FILE *out, const char *key, const char *s)
{
	fprintf(out, "\"%s\":", key);
	html_string(out, s);
	fputc(',', out);
}

static void put_number(FILE *out, const char *key, u64 n)
{
	fprintf(out, "\"%s\":%llu,", key, n);
}

/* A line of a chart, if there is one */
static void put_line(FILE *out, const char *key, u64 n, bool there)
{
	fprintf(out, "\"%s\":", key);
	if (there)
		fprintf(out, "%llu,", n);
	else
		fputs("null,", out);
}

/* Times are ns after the first event of the trace, which doubles hold exactly. */
static long long since(const struct report *r, u64 time)
{
	return time - r->first;
}

static void put_who(FILE *out, const char *comm, int pid)
{
	char who[COMM_LEN + 16];

	snprintf(who, sizeof(who), "%s-%d", comm, pid);
	html_string(out, who);
}

/* Columns; times as differences, which are short */
static void put_points(struct report *r, const struct chart *c, bool alarms,
		       struct hash *names)
{
	const struct point *p;
	size_t n = points_get(c->points, alarms, &p), i;
	long long last = 0;

	fputs("{\"t\":[", r->out);
	for (i = 0; i < n; i++) {
		fprintf(r->out, "%s%lld", i ? "," : "",
			since(r, p[i].time) - last);
		last = since(r, p[i].time);
	}
	fputs("],\n\"v\":[", r->out);
	for (i = 0; i < n; i++)
		fprintf(r->out, "%s%llu", i ? "," : "", p[i].value);
	fputs("],\n\"p\":[", r->out);
	for (i = 0; i < n; i++)
		fprintf(r->out, "%s%u", i ? "," : "",
			index_of(names, p[i].comm, p[i].pid));
	fputs("],\n\"k\":[", r->out);
	for (i = 0; i < n; i++) {
		if (i)
			fputc(',', r->out);
		html_string(r->out, p[i].keys);
	}
	fputs("]},\n", r->out);
}

static void put_steps(struct report *r, const struct chart *c)
{
	const struct series_step *step;
	size_t n = series_steps(c->series, &step), i;

	fputs("\"steps\":[", r->out);
	for (i = 0; i < n; i++) {
		fprintf(r->out, "%s[%lld,", i ? "," : "",
			since(r, step[i].time));
		if (step[i].limits.ucl == U64_MAX)
			fputs("null,", r->out);
		else
			fprintf(r->out, "%llu,", step[i].limits.ucl);
		if (step[i].has_center)
			fprintf(r->out, "%llu]", step[i].limits.center);
		else
			fputs("null]", r->out);
	}
	fputs("],\n", r->out);
}

static void put_around(struct report *r, const struct around *a)
{
	size_t i;

	fprintf(r->out, ",\"before\":%zu,\"around\":[", a->before);
	for (i = 0; i < a->nr; i++) {
		const struct around_event *e = &a->event[i];

		fprintf(r->out, "%s[%lld,%d,", i ? ",\n" : "",
			since(r, e->time), e->cpu);
		html_string(r->out, e->who);
		fputc(',', r->out);
		html_string(r->out, e->name);
		fputc(',', r->out);
		html_string(r->out, e->text);
		fputc(']', r->out);
	}
	fputc(']', r->out);
}

static void put_alarm(struct report *r, const struct alarm *a)
{
	char rules[64];

	fprintf(r->out, "{\"t\":%lld,", since(r, a->time));
	put_number(r->out, "v", a->value);
	if (a->start)
		fprintf(r->out, "\"start\":%lld,", since(r, a->start));
	else
		fputs("\"start\":null,", r->out);
	put_line(r->out, "limit", a->limits.ucl, a->limits.ucl != U64_MAX);
	put_text(r->out, "rules", format_rules(rules, sizeof(rules), a->rules));
	put_text(r->out, "keys", a->keys);
	fprintf(r->out, "\"kept\":%s,\"who\":", a->kept ? "true" : "false");
	put_who(r->out, a->comm, a->pid);
	if (a->around)
		put_around(r, a->around);
	fputc('}', r->out);
}

static void put_chart(struct report *r, const struct chart *c)
{
	struct hash names = { 0 };
	const char *name;
	u32 i;

	fputc('{', r->out);
	put_text(r->out, "name", c->name);
	put_text(r->out, "event", c->event);
	put_text(r->out, "start", c->start ? c->start : "");
	put_text(r->out, "field", c->field ? c->field : "");
	put_text(r->out, "filter", c->call ? c->call->filter : "");
	fprintf(r->out, "\"isTime\":%s,", c->is_time ? "true" : "false");
	put_number(r->out, "values", c->values);
	put_number(r->out, "learnt", c->learnt);
	put_number(r->out, "alarms", c->alarms);
	put_number(r->out, "overdue", c->overdue);
	put_line(r->out, "limit", c->limits.ucl, c->has_limit);
	put_line(r->out, "center", c->limits.center,
		 c->has_limit && c->has_center);
	put_number(r->out, "pointStep", points_step(c->points));
	if (c->phase1_end)
		fprintf(r->out, "\"phase1End\":%lld,\n",
			since(r, c->phase1_end));
	else
		fputs("\"phase1End\":null,\n", r->out);
	put_steps(r, c);
	fputs("\"points\":", r->out);
	put_points(r, c, false, &names);
	fputs("\"alarmPoints\":", r->out);
	put_points(r, c, true, &names);
	fputs("\"who\":[", r->out);
	hash_for_each(&names, i, name) {
		if (i)
			fputc(',', r->out);
		html_string(r->out, name);
	}
	fputs("],\n\"worst\":[", r->out);
	for (i = 0; i < c->nr_worst; i++) {
		fputs(i ? ",\n" : "\n", r->out);
		put_alarm(r, &c->worst[i]);
	}
	fputs("]}", r->out);
	hash_free(&names);
}

static void put_head(struct report *r)
{
	put_text(r->out, "tool", PROGRAM " " TRACERIG_VERSION);
	put_text(r->out, "file", r->file);
	put_text(r->out, "instance", r->instance);
	fprintf(r->out, "\"first\":\"%llu\",\"seconds\":%.9f,\"linear\":%s,",
		r->first, (r->last - r->first) / 1e9,
		r->linear ? "true" : "false");
	put_number(r->out, "events", r->events);
	put_number(r->out, "gaps", r->gaps);
	if (!r->log_events)
		return;
	fprintf(r->out,
		"\n\"log\":{\"events\":%llu,\"bytes\":%llu,\"kept_events\":%llu,\"alarm_events\":%llu,\"kept_bytes\":%llu},",
		r->log_events, r->log_bytes, r->kept_events, r->alarm_events,
		r->kept_bytes);
}

/**
 * html_report - write the page
 * @r: the report
 */
void html_report(struct report *r)
{
	size_t i, n = 0, left_out = 0;

	page_open(r->out, ctlchart_style);
	fputc('{', r->out);
	put_head(r);
	fputs("\n\"charts\":[", r->out);
	for (i = 0; i < r->nr_charts; i++) {
		const struct chart *c = r->chart[i];

		if (!report_wants(r, c->name))
			continue;
		if (!c->points) {
			left_out++;
			continue;
		}
		fputs(n++ ? ",\n" : "\n", r->out);
		put_chart(r, c);
	}
	fprintf(r->out, "],\"leftOut\":%zu}", left_out);
	page_close(r->out, ctlchart_script);
}
