// SPDX-License-Identifier: GPL-2.0
/*
 * Chrome's trace event format, for ui.perfetto.dev: for each cause its worst
 * execution as one thread, and below it a normal execution of the nearest pattern,
 * both from 0 on; waits and interrupts as slices of their own tracks.
 */
#include <string.h>

#include "pathdiff.h"

static void put_meta(struct result *r, const char *what, u32 pid, u32 tid,
		     const char *name)
{
	fprintf(r->out,
		",\n{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":",
		what, pid, tid);
	html_string(r->out, name);
	fputs("}}", r->out);
}

static void put_slice(struct result *r, u32 pid, u32 tid, const char *name,
		      double at, double time)
{
	fputs(",\n{\"ph\":\"X\",\"name\":", r->out);
	html_string(r->out, name);
	fprintf(r->out, ",\"pid\":%u,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f", pid,
		tid, at / 1e3, (time > 0 ? time : 0) / 1e3);
}

/*
 * Times are rounded and interrupts are left out of them, but slices must lie in
 * one another: an inner one ends where the outer one does, at the latest.
 */
static void put_path(struct result *r, u32 pid, u32 tid, const struct exec *e,
		     const u32 *match)
{
	const struct paths *p = &r->paths;
	const struct pattern *q = &p->patterns.p[e->pattern];
	double end[4200];
	u32 i, k;

	for (i = 0; i < q->len; i++) {
		u32 depth = q->depth[i];
		double at = e->data[i];
		double next = at + exec_inclusive(p, e, i);

		for (k = e->wait; k < e->wait + e->waits; k++) {
			const struct wait *w = &p->wait[k];

			if (w->kind == WAIT_IRQ && w->at >= at && w->at <= next)
				next += w->time;
		}
		if (depth >= sizeof(end) / sizeof(*end) - 1)
			continue;
		if (!i)
			next = e->duration;
		if (depth && next > end[depth - 1])
			next = end[depth - 1];
		end[depth] = next;
		put_slice(r, pid, tid, p->functions.name[q->function[i]], at,
			  next - at);
		fprintf(r->out,
			",\"args\":{\"self us\":%.3f,\"in the normal path\":%s}}",
			e->data[q->len + i] / 1e3,
			match && match[i] == NONE ? "false" : "true");
	}
}

static void put_waits(struct result *r, u32 pid, u32 tid, const struct exec *e)
{
	const struct paths *p = &r->paths;
	char name[256];
	u32 i;

	for (i = e->wait; i < e->wait + e->waits; i++) {
		const struct wait *w = &p->wait[i];

		snprintf(name, sizeof(name), "%s%s%s", wait_name(w->kind),
			 w->who == NONE		 ? "" :
			 w->kind == WAIT_BLOCKED ? ", woken by " :
						   " by ",
			 w->who == NONE ? "" : p->names.name[w->who]);
		put_slice(r, pid, tid + w->kind, name, w->at, w->time);
		fputs(",\"args\":{", r->out);
		fprintf(r->out, "\"waited for a CPU us\":%.3f",
			w->queued / 1e3);
		if (w->lock != NONE) {
			fputs(",\"lock\":", r->out);
			html_string(r->out, p->names.name[w->lock]);
		}
		if (w->device != NONE) {
			fputs(",\"device\":", r->out);
			html_string(r->out, p->names.name[w->device]);
		}
		fputs("}}", r->out);
	}
}

/* A normal execution of a pattern, of about its mean duration */
static const struct exec *typical(const struct paths *p, u32 pattern)
{
	const struct exec *found = NULL;
	double mean = p->patterns.p[pattern].duration, best = 0;
	u32 i;

	for (i = 0; i < p->nr; i++) {
		const struct exec *e = &p->exec[i];
		double off = e->duration > mean ? e->duration - mean :
						  mean - e->duration;

		if (e->pattern != pattern || e->abnormal)
			continue;
		if (!found || off < best) {
			found = e;
			best = off;
		}
	}
	return found;
}

static void put_one(struct result *r, u32 pid, u32 tid, const char *what,
		    const struct exec *e, const u32 *match)
{
	const struct paths *p = &r->paths;
	char name[256];
	u8 kind;

	snprintf(name, sizeof(name), "%s: %s-%d at %.6f s", what,
		 e->comm == NONE ? "?" : p->names.name[e->comm], e->pid,
		 e->start / 1e9);
	put_meta(r, "thread_name", pid, tid, name);
	for (kind = WAIT_BLOCKED; kind <= WAIT_IRQ; kind++) {
		snprintf(name, sizeof(name), "%s: %s", what, wait_name(kind));
		put_meta(r, "thread_name", pid, tid + 1 + kind, name);
	}
	put_path(r, pid, tid, e, match);
	put_waits(r, pid, tid + 1, e);
}

/**
 * report_chrome - write the executions side by side
 * @r: the result
 */
void report_chrome(struct result *r)
{
	const struct paths *p = &r->paths;
	char name[1024];
	u32 i;

	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", r->out);
	fputs("{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":0,\"tid\":0,\"args\":{\"labels\":\"pathdiff\"}}",
	      r->out);
	for (i = 0; i < r->ranking.named; i++) {
		const struct cause *c = &r->ranking.cause[i];
		const struct exec *e = &p->exec[c->worst];
		const struct exec *normal = typical(p, cause_pattern(r, c));

		cause_headline(r, c, name, sizeof(name));
		put_meta(r, "process_name", i + 1, 1, name);
		put_one(r, i + 1, 1, "slow", e,
			p->patterns.p[e->pattern].match);
		if (normal)
			put_one(r, i + 1, 11, "normal", normal, NULL);
	}
	fputs("\n]}\n", r->out);
}
