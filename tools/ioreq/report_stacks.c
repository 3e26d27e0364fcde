// SPDX-License-Identifier: GPL-2.0
/*
 * Reports of call stacks: for calls with the same key, the frames that they share from
 * the innermost one on, then the frame where they branch, with the times of each branch
 * (the paper's tables 8 and 9).
 */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "order.h"
#include "report.h"
#include "text.h"

/**
 * struct branch - calls with one stack
 * @sum:	sum of the calls
 * @stack:	stack, or NULL if unknown
 * @parts:	index of the first frame at which it differs from all others; the number
 *		of frames if there is none
 */
struct branch {
	const struct sum *sum;
	const struct stack *stack;
	u32 parts;
};

/**
 * struct group - calls that have all but their stack in common
 * @branch:	branches, one for each stack
 * @nr:		number of branches
 * @count:	number of calls
 * @time:	duration of the calls
 */
struct group {
	struct branch *branch;
	u64 nr;
	u64 count;
	u64 time;
};

/**
 * struct groups - all groups, longest time first
 * @group:	groups
 * @nr:		number of groups
 * @branch:	all branches
 */
struct groups {
	struct group *group;
	u64 nr;
	struct branch *branch;
};

static int by_key(const struct sum *a, const struct sum *b)
{
	int order = ORDER(a->host, b->host);

	order = order ?: ORDER(a->tgid, b->tgid);
	order = order ?: strcmp(a->comm, b->comm);
	order = order ?: strcmp(a->op, b->op);
	order = order ?: ORDER(a->type, b->type);
	order = order ?: ORDER(a->dev, b->dev);
	order = order ?: ORDER(a->id, b->id);
	order = order ?: strcmp(a->name, b->name);
	order = order ?: ORDER(a->size, b->size);
	return order ?: ORDER(a->client, b->client);
}

/* Stacks that begin with the same frames are next to each other */
static int by_frames(const struct branch *a, const struct branch *b)
{
	const struct stack *x = a->stack, *y = b->stack;
	u32 i;
	int order;

	for (i = 0; x && y && i < x->nr && i < y->nr; i++) {
		order = frame_order(&x->frame[i], &y->frame[i]);
		if (order)
			return order;
	}
	if (x && y)
		return ORDER(x->nr, y->nr) ?: ORDER(x->end, y->end);
	return x != y ? (x ? 1 : -1) : ORDER(a->sum->stack, b->sum->stack);
}

static int by_group(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;
	int order = by_key(x->sum, y->sum);

	order = order ?: by_frames(x, y);
	return order ?: ORDER(x->sum->stack, y->sum->stack);
}

static int by_time(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return ORDER(y->time, x->time) ?:
		       by_key(x->branch[0].sum, y->branch[0].sum);
}

/* Number of frames that two stacks share */
static u32 shared(const struct branch *a, const struct branch *b)
{
	const struct stack *x = a->stack, *y = b->stack;
	u32 i = 0;

	if (!x || !y)
		return 0;
	while (i < x->nr && i < y->nr &&
	       !frame_order(&x->frame[i], &y->frame[i]))
		i++;
	return i;
}

/* They are sorted, so neighbours share most */
static void find_parts(struct group *g)
{
	u64 i;

	for (i = 0; i < g->nr; i++) {
		struct branch *b = &g->branch[i];
		u32 before = i ? shared(b, b - 1) : 0,
		    behind = i + 1 < g->nr ? shared(b, b + 1) : 0;

		b->parts = before > behind ? before : behind;
		if (g->nr == 1 && b->stack)
			b->parts = b->stack->nr;
	}
}

static void make_groups(struct groups *g, const struct model *m)
{
	struct group *last = NULL;
	u64 i;

	g->branch = xzalloc((m->nr + 1) * sizeof(*g->branch));
	g->group = xzalloc((m->nr + 1) * sizeof(*g->group));
	g->nr = 0;
	for (i = 0; i < m->nr; i++) {
		g->branch[i].sum = m->sum[i];
		g->branch[i].stack =
			m->sum[i]->stack ?
				stacks_find(m->stacks, m->sum[i]->stack) :
				NULL;
	}
	qsort(g->branch, m->nr, sizeof(*g->branch), by_group);
	for (i = 0; i < m->nr; i++) {
		struct branch *b = &g->branch[i];

		if (!last || by_key(last->branch->sum, b->sum)) {
			last = &g->group[g->nr++];
			last->branch = b;
		}
		last->nr++;
		last->count += b->sum->times.nr;
		last->time += b->sum->times.sum;
	}
	for (i = 0; i < g->nr; i++)
		find_parts(&g->group[i]);
	qsort(g->group, g->nr, sizeof(*g->group), by_time);
}

static void free_groups(struct groups *g)
{
	free(g->group);
	free(g->branch);
}

/* ------------------------------------------------------------------------- */
/* Text */

/**
 * struct printer - output of the stacks of a group
 * @out:	output
 * @m:		model
 * @time:	duration of all calls of the group
 */
struct printer {
	FILE *out;
	const struct model *m;
	u64 time;
};

static void margin(const struct printer *p, u32 depth)
{
	fputs("  ", p->out);
	while (depth--)
		fputs("| ", p->out);
}

static void text_frame(const struct printer *p, const struct stack *stack,
		       u32 i, u32 depth)
{
	const struct elffile_source *source;
	u32 nr = stacks_sources(p->m->stacks, stack, i, &source), j;
	char name[4200], text[4200];

	frame_name(name, sizeof(name), &stack->frame[i], false);
	for (j = 0; j < nr; j++) {
		margin(p, depth);
		fprintf(p->out, "%-36s %s\n", name,
			source_text(text, sizeof(text), &source[j]));
	}
	if (!nr) {
		margin(p, depth);
		fprintf(p->out, "%s\n", name);
	}
}

static void text_end(const struct printer *p, const struct branch *b, u32 depth)
{
	const char *why = NULL;

	if (!b->sum->stack)
		why = "without a stack";
	else if (!b->stack)
		why = "stack not in the trace";
	else if (b->stack->end)
		why = b->stack->end_name;
	if (!why)
		return;
	margin(p, depth);
	fprintf(p->out, b->stack ? "... (%s)\n" : "%s\n", why);
}

static u64 time_of(const struct branch *b, u64 nr)
{
	u64 time = 0;

	while (nr--)
		time += b[nr].sum->times.sum;
	return time;
}

/* Number of branches, equal up to a frame, that are equal at this frame, too */
static u64 alike(const struct branch *b, u64 nr, u32 at)
{
	u64 i = 1;

	if (!b->stack || at == b->stack->nr)
		return 1;
	while (i < nr && b[i].stack && at < b[i].stack->nr &&
	       !frame_order(&b->stack->frame[at], &b[i].stack->frame[at]))
		i++;
	return i;
}

static void text_head(const struct printer *p, const struct branch *b, u64 nr,
		      u32 depth)
{
	char count[24], time[24], p50[24], p99[24];
	u64 calls = 0, i;

	for (i = 0; i < nr; i++)
		calls += b[i].sum->times.nr;
	margin(p, depth);
	fprintf(p->out, "%.1f %%: %s calls, %s",
		p->time ? 100.0 * time_of(b, nr) / p->time : 0,
		format_count(count, sizeof(count), calls),
		format_value(time, sizeof(time), time_of(b, nr), true));
	if (nr == 1)
		fprintf(p->out, ", p50 %s, p99 %s",
			format_value(p50, sizeof(p50), b->sum->times.p50, true),
			format_value(p99, sizeof(p99), b->sum->times.p99,
				     true));
	fputc('\n', p->out);
}

/**
 * struct fork - branches that are equal from a frame on at which others differ
 * @first:	first branch
 * @nr:		number of branches
 * @time:	duration of their calls
 */
struct fork {
	const struct branch *first;
	u64 nr;
	u64 time;
};

static int by_fork_time(const void *a, const void *b)
{
	const struct fork *x = a, *y = b;

	return ORDER(y->time, x->time) ?: ORDER(x->first, y->first);
}

static void text_from(const struct printer *p, const struct branch *b, u64 nr,
		      u32 at, u32 depth);

/* Longest time first */
static void text_forks(const struct printer *p, const struct branch *b, u64 nr,
		       u32 at, u32 depth)
{
	struct fork *fork = xzalloc(nr * sizeof(*fork));
	u64 forks = 0, i;

	for (i = 0; i < nr; i += fork[forks++].nr) {
		fork[forks].first = &b[i];
		fork[forks].nr = alike(&b[i], nr - i, at);
		fork[forks].time = time_of(&b[i], fork[forks].nr);
	}
	qsort(fork, forks, sizeof(*fork), by_fork_time);
	for (i = 0; i < forks; i++) {
		text_head(p, fork[i].first, fork[i].nr, depth);
		text_from(p, fork[i].first, fork[i].nr, at, depth + 1);
	}
	free(fork);
}

/* Print what the branches share, from a frame on, and where they branch */
static void text_from(const struct printer *p, const struct branch *b, u64 nr,
		      u32 at, u32 depth)
{
	while (b->stack && at < b->stack->nr && alike(b, nr, at) == nr)
		text_frame(p, b->stack, at++, depth);
	if (nr == 1)
		text_end(p, b, depth);
	else
		text_forks(p, b, nr, at, depth);
}

static void text_word(FILE *out, const char *word, const char **comma)
{
	fprintf(out, "%s%s", *comma, word);
	*comma = ", ";
}

static void text_group(FILE *out, const struct model *m, const struct group *g)
{
	const struct printer p = { .out = out, .m = m, .time = g->time };
	const struct sum *sum = g->branch->sum;
	char text[4200], count[24], time[24];
	const char *comma = "";

	fputc('\n', out);
	if (m->by & BY_CLIENT)
		text_word(out,
			  sum->client ? endpoint_text(text, sizeof(text), m,
						      sum->client) :
					"-",
			  &comma);
	if (m->hosts > 1 && m->by & BY_HOST)
		text_word(out, m->host[sum->host].name, &comma);
	if (m->by & (BY_PROCESS | BY_COMM)) {
		snprintf(text, sizeof(text),
			 m->by & BY_PROCESS ? "%s-%d" : "%s", sum->comm,
			 sum->tgid);
		text_word(out, text, &comma);
	}
	if (m->by & BY_CALL)
		text_word(out, sum->op, &comma);
	if (m->by & BY_SIZE) {
		snprintf(text, sizeof(text), "%llu byte%s", sum->size,
			 plural(sum->size));
		text_word(out, text, &comma);
	}
	if (m->by & BY_OBJECT) {
		object_name(text, sizeof(text), sum->type, sum->id, sum->name);
		text_word(out, text, &comma);
	}
	fprintf(out, "%s%s call%s, %s", *comma ? ": " : "",
		format_count(count, sizeof(count), g->count), plural(g->count),
		format_value(time, sizeof(time), g->time, true));
	fprintf(out, g->nr > 1 ? ", %llu stacks\n" : "\n", g->nr);
	text_from(&p, g->branch, g->nr, 0, 0);
}

/**
 * text_stacks - print call stacks as text
 * @out:	output
 * @m:		model, after model_link()
 * @top:	maximum number of groups
 */
void text_stacks(FILE *out, const struct model *m, u64 top)
{
	struct groups g;
	u64 i;

	make_groups(&g, m);
	for (i = 0; i < g.nr && i < top; i++)
		text_group(out, m, &g.group[i]);
	if (g.nr > top)
		fprintf(out, "\n... %llu more (--top)\n", g.nr - top);
	free_groups(&g);
}

/* ------------------------------------------------------------------------- */
/* CSV and JSON */

static const char *end_of(const struct branch *b)
{
	if (!b->stack)
		return b->sum->stack ? "missing" : "none";
	return b->stack->end_name;
}

static void csv_frames(FILE *out, const struct model *m, const struct branch *b)
{
	const struct elffile_source *source;
	char name[4200], *text;
	size_t size;
	FILE *f = text_open(&text, &size);
	u32 i, j, nr;

	for (i = 0; b->stack && i < b->stack->nr; i++) {
		nr = stacks_sources(m->stacks, b->stack, i, &source);
		frame_name(name, sizeof(name), &b->stack->frame[i], true);
		fputs(i ? ";" : "", f);
		list_name(f, name, ";,");
		for (j = 0; j < nr; j++) {
			fputs(j ? ", " : " ", f);
			source_text(name, sizeof(name), &source[j]);
			list_name(f, name, ";,");
		}
	}
	text_close(f);
	csv_string(out, text);
	free(text);
}

static void csv_branch(FILE *out, const struct model *m, const struct group *g,
		       const struct branch *b)
{
	const struct sum *sum = b->sum;
	char name[300];

	csv_sum_key(out, m, sum);
	fputc(',', out);
	if (m->by & BY_SIZE)
		fprintf(out, "%llu", sum->size);
	fputc(',', out);
	if (m->by & BY_CLIENT)
		csv_string(out, sum->client ? endpoint_text(name, sizeof(name),
							    m, sum->client) :
					      "-");
	fprintf(out, ",%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%s,",
		sum->times.nr, sum->errors, sum->bytes, sum->times.sum,
		sum->times.p50, sum->times.p99, sum->times.max,
		sum->stack & 0xffffffff, end_of(b));
	if (g->nr > 1 && b->stack && b->parts < b->stack->nr)
		fprintf(out, "%u", b->parts);
	fputc(',', out);
	csv_frames(out, m, b);
	fputc('\n', out);
}

/**
 * csv_stacks - print call stacks as CSV, a line for each stack of a group
 * @out:	output
 * @m:		model, after model_link()
 * @top:	maximum number of groups
 */
void csv_stacks(FILE *out, const struct model *m, u64 top)
{
	struct groups g;
	u64 i, j;

	fprintf(out,
		"host,comm,tgid,call,type,major,minor,id,name,size,client,count,failed,bytes,time,p50,p99,max,stack,end,parts,frames\n");
	make_groups(&g, m);
	for (i = 0; i < g.nr && i < top; i++) {
		for (j = 0; j < g.group[i].nr; j++)
			csv_branch(out, m, &g.group[i], &g.group[i].branch[j]);
	}
	free_groups(&g);
}

static void json_source(struct json_object *o, const struct elffile_source *p)
{
	if (p->function)
		json_string(o, "function", p->function);
	if (p->file) {
		json_string(o, "file", p->file);
		json_number(o, "line", p->line);
	}
}

static struct json_object *json_inlined(const struct elffile_source *source,
					u32 nr)
{
	struct json_object *all = json_object_new_array(), *o;
	u32 i;

	for (i = 0; i < nr; i++) {
		o = json_object_new_object();
		json_source(o, &source[i]);
		json_object_array_add(all, o);
	}
	return all;
}

static struct json_object *json_frame(const struct model *m,
				      const struct stack *stack, u32 i)
{
	struct json_object *o = json_object_new_object();
	const struct frame *f = &stack->frame[i];
	const struct elffile_source *source;
	char path[4200];
	u32 nr;

	if (f->mapped_file) {
		snprintf(path, sizeof(path), "%s", f->mapped_file->path);
		clean_text(path);
		json_string(o, "object", path);
	} else if (f->map) {
		snprintf(path, sizeof(path), "object-%u", f->map);
		json_string(o, "object", path);
	}
	json_number(o, f->map ? "offset" : "address", f->offset);
	nr = stacks_sources(m->stacks, stack, i, &source);
	if (nr)
		json_source(o, &source[nr - 1]);
	if (nr > 1)
		json_object_object_add(o, "inlined",
				       json_inlined(source, nr - 1));
	return o;
}

static struct json_object *json_branch(const struct model *m,
				       const struct group *g,
				       const struct branch *b)
{
	struct json_object *o = json_object_new_object();
	struct json_object *frames = json_object_new_array();
	const struct times *t = &b->sum->times;
	u32 i;

	json_number(o, "stack", b->sum->stack & 0xffffffff);
	json_string(o, "end", end_of(b));
	json_number(o, "guessed", b->stack ? b->stack->guessed : 0);
	json_number(o, "count", t->nr);
	json_number(o, "failed", b->sum->errors);
	json_number(o, "bytes", b->sum->bytes);
	json_number(o, "time", t->sum);
	json_number(o, "p50", t->p50);
	json_number(o, "p99", t->p99);
	json_number(o, "max", t->max);
	if (g->nr > 1 && b->stack && b->parts < b->stack->nr)
		json_number(o, "parts", b->parts);
	for (i = 0; b->stack && i < b->stack->nr; i++)
		json_object_array_add(frames, json_frame(m, b->stack, i));
	json_object_object_add(o, "frames", frames);
	return o;
}

/**
 * json_stacks - add call stacks
 * @o:		object to add to
 * @m:		model, after model_link()
 * @top:	maximum number of groups
 */
void json_stacks(struct json_object *o, const struct model *m, u64 top)
{
	struct json_object *groups = json_object_new_array();
	struct groups g;
	u64 i, j;

	make_groups(&g, m);
	for (i = 0; i < g.nr && i < top; i++) {
		struct json_object *group = json_object_new_object();
		struct json_object *stacks = json_object_new_array();

		json_sum_key(group, m, g.group[i].branch->sum);
		json_number(group, "count", g.group[i].count);
		json_number(group, "time", g.group[i].time);
		for (j = 0; j < g.group[i].nr; j++)
			json_object_array_add(
				stacks, json_branch(m, &g.group[i],
						    &g.group[i].branch[j]));
		json_object_object_add(group, "stacks", stacks);
		json_object_array_add(groups, group);
	}
	json_object_object_add(o, "stacks", groups);
	free_groups(&g);
}
