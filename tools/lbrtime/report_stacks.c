// SPDX-License-Identifier: GPL-2.0
/* Reports for other viewers: folded stacks, speedscope, Chrome's traces, brstack. */
#include <stdlib.h>
#include <string.h>

#include "chrome.h"
#include "hash.h"
#include "lbrtime.h"
#include "text.h"

static const char *name_of(const struct timeline *t, u32 function)
{
	return symtab_function(t->symbols, function)->name;
}

/* ------------------------------------------------------------------------- */

/**
 * struct node - a stack: a function that another stack has called
 * @parent:	the other stack, or NONE
 * @function:	function
 * @time:	self time, ns
 */
struct node {
	u32 parent;
	u32 function;
	double time;
};

/* All stacks, and their numbers by parent and function */
struct stacks {
	struct node *node;
	u64 nr, room;
	struct hash table;
};

static u32 find_stack(struct stacks *s, u32 parent, u32 function)
{
	u64 hash = hash_pair(parent, function);
	u32 i;

	hash_for_each_possible(&s->table, hash, i) {
		if (s->node[i].parent == parent &&
		    s->node[i].function == function)
			return i;
	}
	GROW(s->node, s->nr, s->room);
	s->node[s->nr++] =
		(struct node){ .parent = parent, .function = function };
	return hash_add(&s->table, hash);
}

static void write_stack(FILE *out, const struct timeline *t,
			const struct stacks *s, u32 node)
{
	u32 path[MAX_CHAIN], len = 0;
	const char *before = "";

	for (; node != NONE && len < MAX_CHAIN; node = s->node[node].parent)
		path[len++] = s->node[node].function;
	for (; len; len--)
		folded_frame(out, name_of(t, path[len - 1]), &before);
}

/**
 * lbrtime_write_folded - write stacks and ns, for flame graphs
 * @t:	timeline, after timeline_finish()
 * @r:	what to print
 */
void lbrtime_write_folded(const struct timeline *t, const struct report *r)
{
	double time[MAX_BRANCHES + 1], unknown = 0;
	struct walk *w = walk_new(t);
	struct stacks s = { 0 };
	u32 i, j, k, node;

	for (i = 0; i < t->nr; i++) {
		const struct sample *a = &t->sample[i];
		const struct chains *c = walk_next(w, i);
		u64 known = assign(t, i, r->method, time);

		unknown += a->ts - a->start > known ? a->ts - a->start - known :
						      0;
		for (j = 0; j <= a->nr; j++) {
			if (time[j] <= 0)
				continue;
			node = NONE;
			for (k = c->visit[j].len; k; k--)
				node = find_stack(&s, node,
						  c->visit[j].function[k - 1]);
			s.node[node].time += time[j];
		}
	}
	for (i = 0; i < s.nr; i++) {
		if (s.node[i].time < 0.5)
			continue;
		write_stack(r->out, t, &s, i);
		fprintf(r->out, " %.0f\n", s.node[i].time);
	}
	if (unknown >= 0.5)
		fprintf(r->out, "(unknown) %.0f\n", unknown);
	walk_free(w);
	free(s.node);
	hash_free(&s.table);
}

/* ------------------------------------------------------------------------- */

/* A function that writes a piece of a thread's time; @c is NULL
 * if it is unknown what ran
 */
typedef void piece(void *arg, const struct chain *c,
		   const struct timed_visit *p);

static void each_piece(const struct timeline *t, u32 sample,
		       const struct report *r, const struct chains *c,
		       piece *write, void *arg)
{
	const struct sample *s = &t->sample[sample];
	struct timed_visit timed_visit[MAX_BRANCHES + 1];
	u32 nr = timed_visits(t, sample, r->method, timed_visit), i;
	struct timed_visit gap = { .start = s->start, .reliable = true };

	for (i = 0; i <= nr; i++) {
		gap.end = i < nr ? timed_visit[i].start : s->ts;
		if (i < nr && timed_visit[i].end == timed_visit[i].start)
			continue;
		if (s->state != STATE_FIRST && gap.end > gap.start)
			write(arg, NULL, &gap);
		if (i == nr)
			break;
		write(arg, &c->visit[i], &timed_visit[i]);
		gap.start = timed_visit[i].end;
	}
}

/**
 * struct scope - state while speedscope's file is written
 * @out:	output
 * @weights:	text that comes later
 * @functions:	number of functions; this number itself stands for unknown
 * @comma:	what to write before the next item
 * @at:		end of the last piece, ns
 */
struct scope {
	FILE *out;
	FILE *weights;
	u32 functions;
	const char *comma;
	u64 at;
};

static void scope_piece(void *arg, const struct chain *c,
			const struct timed_visit *p)
{
	struct scope *s = arg;
	u64 start = p->start, end = p->end;
	u32 i;

	/* According to the samples nothing ran there */
	if (s->at && start > s->at) {
		fprintf(s->out, "%s[]", s->comma);
		fprintf(s->weights, "%s%llu", s->comma, start - s->at);
		s->comma = ",";
	}
	s->at = end;
	fprintf(s->out, "%s[", s->comma);
	if (!c)
		fprintf(s->out, "%u", s->functions);
	for (i = c ? c->len : 0; i; i--)
		fprintf(s->out, "%u%s", c->function[i - 1], i > 1 ? "," : "");
	fputc(']', s->out);
	fprintf(s->weights, "%s%llu", s->comma, end - start);
	s->comma = ",";
}

/* Write the samples of one thread from order[i] on; returns the
 * index of the next thread's
 */
static u64 scope_thread(const struct timeline *t, const struct report *r,
			struct walk *w, const u32 *order, u64 i)
{
	const struct sample *s = &t->sample[order[i]];
	struct scope x = { .out = r->out,
			   .functions = symtab_functions(t->symbols),
			   .comma = "" };
	char *weights = NULL, name[64];
	size_t size;
	s32 pid = s->pid;

	x.weights = text_open(&weights, &size);
	snprintf(name, sizeof(name), "%s-%d", t->comm[s->comm], pid);
	fputs("{\"type\":\"sampled\",\"name\":", r->out);
	html_string(r->out, name);
	fputs(",\"unit\":\"nanoseconds\",\"samples\":[", r->out);
	for (; i < t->nr && t->sample[order[i]].pid == pid; i++)
		each_piece(t, order[i], r, walk_next(w, order[i]), scope_piece,
			   &x);
	text_close(x.weights);
	fprintf(r->out,
		"],\"weights\":[%s],\"startValue\":0,\"endValue\":%llu}",
		weights, t->sample[order[i - 1]].ts - s->start);
	free(weights);
	return i;
}

/**
 * lbrtime_write_speedscope - write a file for speedscope
 * @t:	timeline, after timeline_finish()
 * @r:	what to print
 */
void lbrtime_write_speedscope(const struct timeline *t, const struct report *r)
{
	u32 functions = symtab_functions(t->symbols), f;
	u32 *order = timeline_by_thread(t);
	struct walk *w = walk_new(t);
	u64 i = 0;

	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
	      "\"exporter\":\"lbrtime\",\"shared\":{\"frames\":[\n",
	      r->out);
	for (f = 0; f < functions; f++) {
		const struct function *p = symtab_function(t->symbols, f);

		fputs("{\"name\":", r->out);
		html_string(r->out, p->name);
		fputs(",\"file\":", r->out);
		html_string(r->out, p->object);
		fputs("},\n", r->out);
	}
	fputs("{\"name\":\"(unknown)\"}]},\n\"profiles\":[\n", r->out);
	while (i < t->nr) {
		i = scope_thread(t, r, w, order, i);
		fputs(i < t->nr ? ",\n" : "\n", r->out);
	}
	fputs("]}\n", r->out);
	walk_free(w);
	free(order);
}

/* ------------------------------------------------------------------------- */

/**
 * struct chrome - state while a thread's events are written
 * @t:		timeline
 * @file:	output
 * @s:		current sample
 * @open:	functions that have begun, outermost one first
 * @len:	number of these
 * @at:		end of the last piece, ns
 * @has_error:	errors of times are known
 */
struct chrome {
	const struct timeline *t;
	struct chrome_file *file;
	const struct sample *s;
	u32 open[MAX_CHAIN];
	u32 len;
	u64 at;
	bool has_error;
};

/* @name: of a function that begins, as part of piece @p */
static void put_event(struct chrome *x, char phase, const char *name, u64 ts,
		      const struct timed_visit *p)
{
	s32 tgid = x->s->tgid < 0 ? x->s->pid : x->s->tgid;

	chrome_event(x->file, phase, tgid, x->s->pid, name);
	chrome_time(x->file, "ts", ts);
	if (name && p && x->has_error)
		chrome_arg(x->file, "error", "%llu", p->error);
	chrome_end(x->file);
}

static void end_functions(struct chrome *x, u32 to, u64 ts)
{
	for (; x->len > to; x->len--)
		put_event(x, 'E', NULL, ts, NULL);
}

static void chrome_piece(void *arg, const struct chain *c,
			 const struct timed_visit *p)
{
	struct chrome *x = arg;
	u64 start = p->start, end = p->end;
	u32 common = 0, i;

	if (start != x->at || !c)
		end_functions(x, 0, x->at);
	x->at = end;
	if (!c) {
		put_event(x, 'B', "(unknown)", start, NULL);
		put_event(x, 'E', NULL, end, NULL);
		return;
	}
	while (common < x->len && common < c->len &&
	       x->open[common] == c->function[c->len - 1 - common])
		common++;
	end_functions(x, common, start);
	for (i = common; i < c->len; i++) {
		x->open[x->len++] = c->function[c->len - 1 - i];
		put_event(x, 'B', name_of(x->t, x->open[i]), start, p);
	}
}

/**
 * lbrtime_write_chrome - write a file for Perfetto
 * @t:	timeline, after timeline_finish()
 * @r:	what to print
 */
void lbrtime_write_chrome(const struct timeline *t, const struct report *r)
{
	struct chrome_file f;
	struct chrome x = { .t = t,
			    .file = &f,
			    .has_error = reliability_available(r->method) };
	u32 *order = timeline_by_thread(t);
	struct walk *w = walk_new(t);
	u64 i;

	chrome_open(&f, r->out, PROGRAM, NULL);
	chrome_event(&f, 'M', 0, 0, PROGRAM);
	chrome_arg_text(&f, "method", method_name(r->method));
	chrome_end(&f);
	for (i = 0; i < t->nr; i++) {
		x.s = &t->sample[order[i]];
		if (!i || t->sample[order[i - 1]].pid != x.s->pid)
			chrome_name(&f, "thread_name",
				    x.s->tgid < 0 ? x.s->pid : x.s->tgid,
				    x.s->pid, t->comm[x.s->comm]);
		each_piece(t, order[i], r, walk_next(w, order[i]), chrome_piece,
			   &x);
		if (i + 1 == t->nr || t->sample[order[i + 1]].pid != x.s->pid)
			end_functions(&x, 0, x.at);
	}
	chrome_close(&f);
	walk_free(w);
	free(order);
}

/* ------------------------------------------------------------------------- */

static const char *brstack_kind(u8 kind)
{
	static const char *const names[] = {
		[KIND_UNKNOWN] = "-",	[KIND_CALL] = "CALL",
		[KIND_RETURN] = "RET",	[KIND_JUMP] = "UNCOND",
		[KIND_FAR] = "SYSCALL",
	};

	return names[kind];
}

static void brstack_head(FILE *out, const struct timeline *t,
			 const struct sample *s, u64 ts)
{
	fprintf(out, "%16s %7d/%-7d ", t->comm[s->comm],
		s->tgid < 0 ? s->pid : s->tgid, s->pid);
	if (!t->by_thread)
		fprintf(out, "[%03u] ", s->cpu);
	fprintf(out, "%5llu.%09llu: ", ts / 1000000000, ts % 1000000000);
}

/* When the thread came to the CPU, if the samples do not show it;
 * @c: state that they show
 */
static void brstack_switch(FILE *out, const struct timeline *t, u32 sample,
			   struct cpu *c)
{
	const struct sample *s = &t->sample[sample];
	bool known = s->state == STATE_WHOLE || s->state == STATE_LOST;
	bool same = c->there && c->ts == s->start &&
		    known == (c->pid == s->pid);

	if (s->state != STATE_FIRST &&
	    (!same || (known && c->last != s->before))) {
		brstack_head(out, t, s, s->start);
		fprintf(out, "PERF_RECORD_SWITCH %s\n", known ? "IN" : "OUT");
	}
	*c = (struct cpu){
		.ts = s->ts, .pid = s->pid, .last = sample, .there = true
	};
}

/* What perf's format lacks: flags, and number of branches; all that follow are new */
static void brstack_flags(FILE *out, const struct sample *s)
{
	u32 flags = (s->flags & ~LBRPROF_LOST) | LBRPROF_TO;

	if (s->state == STATE_LOST)
		flags |= LBRPROF_LOST;
	fprintf(out, "# lbrtime: %x %llu\n", flags, s->calls);
}

static void brstack_maps(FILE *out, const struct timeline *t,
			 const struct sample *s)
{
	u32 i;

	for (i = 0; i <= s->nr; i++)
		symtab_write_maps(t->symbols,
				  i < s->nr ? t->branch[s->first + i].from :
					      s->ip,
				  t->comm[s->comm], s->ts, out);
}

/**
 * lbrtime_write_brstack - write as perf script prints
 *	comm,pid,tid,cpu,time,ip,sym,brstack
 * @t:	timeline, after timeline_finish()
 * @r:	what to print
 *
 * An unknown target of a branch is 0. Comments contain the rest, so that lbrtime can
 * read its own output.
 */
void lbrtime_write_brstack(const struct timeline *t, const struct report *r)
{
	struct cpu *cpu = xzalloc(t->cpus * sizeof(*cpu));
	struct walk *w = walk_new(t);
	u32 i, j;

	for (i = 0; i < t->nr; i++) {
		const struct sample *s = &t->sample[i];
		const struct chains *c = walk_next(w, i);

		brstack_maps(r->out, t, s);
		brstack_switch(r->out, t, i, &cpu[s->cpu]);
		brstack_flags(r->out, s);
		brstack_head(r->out, t, s, s->ts);
		fprintf(r->out, "%16llx %s ",
			symtab_at(t->symbols, s->ip)->addr,
			name_of(t, timeline_visit(t, s, s->nr)));
		for (j = s->nr; j--;) {
			const struct branch *b = &t->branch[s->first + j];

			fprintf(r->out, " 0x%llx/0x%llx/-/-/-/%u/%s/-",
				symtab_at(t->symbols, b->from)->addr, c->to[j],
				b->cycles, brstack_kind(b->kind));
		}
		fputc('\n', r->out);
	}
	walk_free(w);
	free(cpu);
}
