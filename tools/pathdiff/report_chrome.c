// SPDX-License-Identifier: GPL-2.0
/*
 * Chrome's trace event format, for ui.perfetto.dev: for each cause its worst
 * execution as one thread, and below it a normal execution of the nearest pattern,
 * both from 0 on; waits and interrupts as slices of their own tracks.
 */
#include <linux/kernel.h>
#include <string.h>

#include "chrome.h"
#include "pathdiff.h"

static void put_slice(struct chrome_file *f, u32 pid, u32 tid, const char *name,
		      double at, double time)
{
	chrome_slice(f, pid, tid, name, at + 0.5, (time > 0 ? time : 0) + 0.5);
}

/*
 * Times are rounded and interrupts are left out of them, but slices must lie in
 * one another: an inner one ends where the outer one does, at the latest.
 */
static void put_path(struct chrome_file *f, const struct paths *p, u32 pid,
		     u32 tid, const struct exec *e, const u32 *match)
{
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
		if (depth >= ARRAY_SIZE(end) - 1)
			continue;
		if (!i)
			next = e->duration;
		if (depth && next > end[depth - 1])
			next = end[depth - 1];
		end[depth] = next;
		put_slice(f, pid, tid, p->functions.name[q->function[i]], at,
			  next - at);
		chrome_arg(f, "self us", "%.3f", e->data[q->len + i] / 1e3);
		chrome_arg(f, "in the normal path", "%s",
			   match && match[i] == NONE ? "false" : "true");
		chrome_end(f);
	}
}

static void put_waits(struct chrome_file *f, const struct paths *p, u32 pid,
		      u32 tid, const struct exec *e)
{
	char name[256];
	u32 i;

	for (i = e->wait; i < e->wait + e->waits; i++) {
		const struct wait *w = &p->wait[i];

		snprintf(name, sizeof(name), "%s%s%s", wait_name(w->kind),
			 w->who == NONE		 ? "" :
			 w->kind == WAIT_BLOCKED ? ", woken by " :
						   " by ",
			 w->who == NONE ? "" : p->names.name[w->who]);
		put_slice(f, pid, tid + w->kind, name, w->at, w->time);
		chrome_arg(f, "waited for a CPU us", "%.3f", w->queued / 1e3);
		if (w->lock != NONE)
			chrome_arg_text(f, "lock", p->names.name[w->lock]);
		if (w->device != NONE)
			chrome_arg_text(f, "device", p->names.name[w->device]);
		chrome_end(f);
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

static void put_one(struct chrome_file *f, struct result *r, u32 pid, u32 tid,
		    const char *what, const struct exec *e, const u32 *match)
{
	char name[256], task[128];
	u8 kind;

	snprintf(name, sizeof(name), "%s: %s at %.6f s", what,
		 exec_task(r, e, task, sizeof(task)), e->start / 1e9);
	chrome_name(f, "thread_name", pid, tid, name);
	for (kind = WAIT_BLOCKED; kind <= WAIT_IRQ; kind++) {
		snprintf(name, sizeof(name), "%s: %s", what, wait_name(kind));
		chrome_name(f, "thread_name", pid, tid + 1 + kind, name);
	}
	put_path(f, &r->paths, pid, tid, e, match);
	put_waits(f, &r->paths, pid, tid + 1, e);
}

/**
 * result_chrome - write the executions side by side
 * @r: the result
 */
void result_chrome(struct result *r)
{
	const struct paths *p = &r->paths;
	struct chrome_file f;
	char name[1024];
	u32 i;

	chrome_open(&f, r->out, PROGRAM, NULL);
	chrome_event(&f, 'M', 0, 0, "process_labels");
	chrome_arg_text(&f, "labels", PROGRAM);
	chrome_end(&f);
	for (i = 0; i < r->ranking.named; i++) {
		const struct cause *c = &r->ranking.cause[i];
		const struct exec *e = &p->exec[c->worst];
		const struct exec *normal = typical(p, cause_pattern(r, c));

		cause_headline(r, c, name, sizeof(name));
		chrome_name(&f, "process_name", i + 1, 1, name);
		put_one(&f, r, i + 1, 1, "slow", e,
			p->patterns.p[e->pattern].match);
		if (normal)
			put_one(&f, r, i + 1, 11, "normal", normal, NULL);
	}
	chrome_close(&f);
}
