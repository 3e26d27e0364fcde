// SPDX-License-Identifier: GPL-2.0
/*
 * What ran between two samples: intervals, visits, and call chains.
 *
 * An interval with n branches consists of n + 1 visits of functions: one up to each
 * branch, and one up to the sample. The function of a visit is given by its end, the
 * FROM address of the branch or the ip of the sample; TO is not needed.
 */
#include <stdlib.h>
#include <string.h>

#include "lbrtime.h"
#include "order.h"
#include "text.h"

static struct cpu *get_cpu(struct timeline *t, u32 cpu)
{
	u32 i;

	if (cpu >= t->cpus) {
		t->cpu = xreallocarray(t->cpu, cpu + 1, sizeof(*t->cpu));
		for (i = t->cpus; i <= cpu; i++)
			t->cpu[i] = (struct cpu){ .pid = -1, .last = NONE };
		t->cpus = cpu + 1;
	}
	return &t->cpu[cpu];
}

/**
 * timeline_sample - add a sample
 * @t:		timeline
 * @cpu:	CPU, less than MAX_CPUS
 * @pid:	thread
 * @ts:		time, ns; not before the last sample or switch of the CPU
 *
 * Return: the sample, without branches yet, in an interval that counts as whole.
 */
struct sample *timeline_sample(struct timeline *t, u32 cpu, s32 pid, u64 ts)
{
	struct cpu *c = get_cpu(t, cpu);
	struct sample *s;

	GROW(t->sample, t->nr, t->room);
	s = &t->sample[t->nr];
	*s = (struct sample){
		.ts = ts,
		.start = c->there ? c->ts : ts,
		.first = t->branches,
		.pid = pid,
		.tgid = -1,
		.before = NONE,
		.after = NONE,
		.cpu = cpu,
		.state = !c->there     ? STATE_FIRST :
			 c->pid != pid ? STATE_START :
					 STATE_WHOLE,
	};
	if (s->state == STATE_WHOLE && c->last != NONE) {
		s->before = c->last;
		t->sample[c->last].after = t->nr;
	}
	*c = (struct cpu){ .ts = ts, .pid = pid, .last = t->nr, .there = true };
	t->nr++;
	return s;
}

/**
 * timeline_branch - add a branch to the last sample, oldest one first
 * @t:	timeline
 *
 * Return: the branch.
 */
struct branch *timeline_branch(struct timeline *t)
{
	GROW(t->branch, t->branches, t->branch_room);
	t->sample[t->nr - 1].nr++;
	return &t->branch[t->branches++];
}

/**
 * timeline_switch - another thread runs
 * @t:		timeline
 * @cpu:	CPU, less than MAX_CPUS
 * @ts:		time of the switch, ns
 * @pid:	thread, or -1 if unknown
 */
void timeline_switch(struct timeline *t, u32 cpu, u64 ts, s32 pid)
{
	*get_cpu(t, cpu) = (struct cpu){
		.ts = ts, .pid = pid, .last = NONE, .there = true
	};
}

/**
 * timeline_gap - records of a CPU were lost
 * @t:		timeline
 * @cpu:	CPU, less than MAX_CPUS
 */
void timeline_gap(struct timeline *t, u32 cpu)
{
	struct cpu *c = get_cpu(t, cpu);

	/* The thread that has been running since is unknown */
	c->pid = -1;
	c->last = NONE;
	t->gaps++;
}

/**
 * timeline_comm - number of a thread's name
 * @t:		timeline
 * @comm:	name
 */
u32 timeline_comm(struct timeline *t, const char *comm)
{
	char clean[sizeof(*t->comm)];
	u64 i;

	snprintf(clean, sizeof(clean), "%s", comm);
	clean_text(clean);
	for (i = t->comms; i--;) {
		if (!strcmp(t->comm[i], clean))
			return i;
	}
	GROW(t->comm, t->comms, t->comm_room);
	strcpy(t->comm[t->comms], clean);
	return t->comms++;
}

static int by_thread(const void *a, const void *b, void *arg)
{
	const struct timeline *t = arg;
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return ORDER(t->sample[x].pid, t->sample[y].pid) ?: ORDER(x, y);
}

/**
 * timeline_by_thread - numbers of all samples, by thread and time
 * @t:	timeline
 *
 * Return: an array, to be freed with free().
 */
u32 *timeline_by_thread(const struct timeline *t)
{
	u32 *order = xcalloc(t->nr, sizeof(*order)), i;

	for (i = 0; i < t->nr; i++)
		order[i] = i;
	qsort_r(order, t->nr, sizeof(*order), by_thread, (void *)t);
	return order;
}

/**
 * timeline_visit - function of a visit
 * @t:	timeline, after symtab_resolve()
 * @s:	sample
 * @i:	number of the visit, 0 for the oldest one; s->nr is the sampled one
 */
u32 timeline_visit(const struct timeline *t, const struct sample *s, u32 i)
{
	const struct branch *b = &t->branch[s->first + i];
	u32 place = i < s->nr ? b->from : s->ip;

	if (i < s->nr && b->flags & BRANCH_KERNEL)
		place = t->kernel;
	return symtab_at(t->symbols, place)->function;
}

/**
 * timeline_measured - duration of the visit before a branch, by its cycles
 * @t:	timeline, with @ns_per_cycle
 * @s:	sample
 * @i:	number of the visit, less than s->nr
 *
 * Return: ns; 0 if it was not measured, or exceeds the counter.
 */
double timeline_measured(const struct timeline *t, const struct sample *s,
			 u32 i)
{
	u16 cycles = t->branch[s->first + i].cycles;

	return cycles < CYCLES_MAX ? cycles * t->ns_per_cycle : 0;
}

/**
 * timeline_least - minimum duration of the visit before a branch
 * @t:	timeline, with @ns_per_cycle
 * @s:	sample
 * @i:	number of the visit, less than s->nr
 *
 * Return: ns.
 */
double timeline_least(const struct timeline *t, const struct sample *s, u32 i)
{
	return t->branch[s->first + i].cycles * t->ns_per_cycle;
}

/**
 * timeline_held - time of an interval that the counter may not have counted
 * @t:	timeline, with @period
 * @s:	sample that ends it
 *
 * A counter of user space stops in system calls, page faults and interrupts: what an
 * interval lasts longer than others is such time. It is unknown for an interval that a
 * switch began.
 *
 * Return: ns, at most.
 */
double timeline_held(const struct timeline *t, const struct sample *s)
{
	double all = s->ts - s->start;

	if (t->period <= 0 || s->before == NONE)
		return all;
	return all > t->period ? all - t->period : 0;
}

/* ------------------------------------------------------------------------- */
/* After all was read */

/* If the input does not have the kind, use the code, or the target */
static u8 find_branch_kind(const struct timeline *t, const struct branch *b)
{
	const struct place *from = symtab_at(t->symbols, b->from), *to;

	if (b->kind != KIND_UNKNOWN)
		return b->kind;
	if (from->kind != KIND_UNKNOWN || b->to == NONE)
		return from->kind;
	to = symtab_at(t->symbols, b->to);
	if (to->start && to->addr == to->start)
		return KIND_CALL;
	if (to->function == from->function)
		return KIND_JUMP;
	return KIND_UNKNOWN;
}

/* Minimum number of pairs of branches that distinguishes call stacks from execution */
#define PAIRS_MIN 20

/* Minimum share of calls among branches, and of calls made by the function called last;
 * tail calls, signals and longjmp() leave a few others in a call stack
 */
#define STACK_CALLS_MIN 0.98
#define STACK_PAIRS_MIN 0.9

/* Whether a branch is made by the function that the one before it called */
static bool is_nested(const struct timeline *t, const struct branch *b)
{
	return b[-1].to != NONE &&
	       symtab_at(t->symbols, b[-1].to)->function ==
		       symtab_at(t->symbols, b->from)->function;
}

/**
 * timeline_is_call_stack - whether the branches are call stacks
 * @t:	timeline, after symtab_resolve() and before timeline_finish()
 *
 * With perf record --call-graph lbr a return removes its call from the LBR: nearly all
 * branches are calls, and nearly each is made by the function that the one before it
 * called.
 */
bool timeline_is_call_stack(const struct timeline *t)
{
	u64 branches = 0, calls = 0, pairs = 0, nested = 0, i;
	u32 j;

	for (i = 0; i < t->nr; i++) {
		const struct sample *s = &t->sample[i];

		for (j = 0; j < s->nr; j++) {
			const struct branch *b = &t->branch[s->first + j];

			branches++;
			calls += find_branch_kind(t, b) == KIND_CALL;
			pairs += j > 0;
			nested += j > 0 && is_nested(t, b);
		}
	}
	return pairs >= PAIRS_MIN && calls >= STACK_CALLS_MIN * branches &&
	       nested >= STACK_PAIRS_MIN * pairs;
}

/* A jump within a function ends no visit; @b has room for the rest */
static u32 drop_jumps(const struct timeline *t, struct sample *s,
		      struct branch *to)
{
	const struct branch *from = &t->branch[s->first];
	u32 i, nr = 0, cycles = 0;
	bool unmeasured = false;
	u8 held = 0;

	for (i = 0; i < s->nr; i++) {
		struct branch b = from[i];
		u32 here = symtab_at(t->symbols, b.from)->function;

		unmeasured |= !b.cycles;
		cycles += b.cycles;
		held |= b.flags & BRANCH_HELD;
		if (b.kind == KIND_JUMP && here == timeline_visit(t, s, i + 1))
			continue;
		b.cycles = unmeasured		? 0 :
			   cycles >= CYCLES_MAX ? CYCLES_MAX :
						  cycles;
		b.flags |= held;
		held = 0;
		cycles = 0;
		unmeasured = false;
		to[nr++] = b;
	}
	return nr;
}

static void settle_branches(struct timeline *t)
{
	u64 at = 0, i;

	for (i = 0; i < t->branches; i++)
		t->branch[i].kind = find_branch_kind(t, &t->branch[i]);
	kernel_find(t);
	for (i = 0; i < t->nr; i++) {
		struct sample *s = &t->sample[i];
		u32 nr = drop_jumps(t, s, &t->branch[at]);

		s->first = at;
		s->nr = nr;
		at += nr;
	}
	t->branches = at;
}

/*
 * After its thread came to the CPU, an interval has only branches since the LBR was
 * cleared for the thread, and all of them unless the LBR is full. Counters are not per
 * thread: they include earlier branches of others.
 */
static bool is_lost(const struct timeline *t, const struct sample *s)
{
	if (s->flags & LBRPROF_PLAIN)
		return true;
	if (s->flags & LBRPROF_COUNTED && s->before == NONE && s->nr < t->depth)
		return false;
	return s->flags & LBRPROF_LOST ||
	       (s->flags & LBRPROF_COUNTED && s->calls > s->nr);
}

static void settle_states(struct timeline *t)
{
	u64 i;

	for (i = 0; i < t->nr; i++) {
		struct sample *s = &t->sample[i];

		if (s->state == STATE_WHOLE && is_lost(t, s))
			s->state = STATE_LOST;
		t->intervals[s->state]++;
		t->time[s->state] += s->ts - s->start;
	}
}

static void count_visits(struct timeline *t)
{
	u32 functions = symtab_functions(t->symbols), j;
	u64 i;

	t->share = xzalloc(functions * sizeof(*t->share));
	t->sampled = xzalloc(functions * sizeof(*t->sampled));
	t->visits = xzalloc(functions * sizeof(*t->visits));
	for (i = 0; i < t->nr; i++) {
		const struct sample *s = &t->sample[i];

		/* The profile consists of overflows: a switch is no sample of time */
		if (!(s->flags & LBRPROF_SWITCH))
			t->sampled[timeline_visit(t, s, s->nr)]++;
		for (j = 0; j <= s->nr; j++)
			t->visits[timeline_visit(t, s, j)]++;
	}
	for (i = j = 0; j < functions; j++)
		i += t->sampled[j];
	for (j = 0; j < functions && i; j++)
		t->share[j] = (double)t->sampled[j] / i;
}

/**
 * timeline_is_measured - whether all branches of a sample have cycles
 * @t:	timeline
 * @s:	sample
 */
bool timeline_is_measured(const struct timeline *t, const struct sample *s)
{
	u32 i;

	for (i = 0; i < s->nr; i++) {
		u16 cycles = t->branch[s->first + i].cycles;

		if (!cycles || cycles == CYCLES_MAX)
			return false;
	}
	return s->flags & LBRPROF_CYCLES && s->nr;
}

/* Mean cycles of a function's visits */
static void mean_cycles(struct timeline *t)
{
	u32 functions = symtab_functions(t->symbols), j;
	u64 *nr = xzalloc(functions * sizeof(*nr)), i;

	t->cycles_of = xzalloc(functions * sizeof(*t->cycles_of));
	for (i = 0; i < t->nr; i++) {
		const struct sample *s = &t->sample[i];

		for (j = 0; j < s->nr && s->flags & LBRPROF_CYCLES; j++) {
			u32 c = t->branch[s->first + j].cycles;
			u32 f = timeline_visit(t, s, j);

			t->has_cycles |= c > 0;
			if (c == CYCLES_MAX)
				continue;
			t->cycles_of[f] += c;
			nr[f] += c > 0;
		}
	}
	for (j = 0; j < functions; j++) {
		if (nr[j])
			t->cycles_of[j] /= nr[j];
	}
	free(nr);
}

/**
 * timeline_finish - reconstruct the visits, after symtab_resolve()
 * @t:		timeline
 * @ghz:	cycles per ns, or 0 to find it
 */
void timeline_finish(struct timeline *t, double ghz)
{
	settle_states(t);
	settle_branches(t);
	count_visits(t);
	mean_cycles(t);
	clock_find(t, ghz);
	clock_check(t);
	fit(t);
	if (t->has_fit)
		ends(t);
	if (t->has_fit && method_there(t, METHOD_CYCLES))
		ends_measured(t);
}

/**
 * timeline_free - free the timeline
 * @t:	timeline
 */
void timeline_free(struct timeline *t)
{
	symtab_free(t->symbols);
	free(t->sample);
	free(t->branch);
	free(t->comm);
	free(t->alarm);
	free(t->cpu);
	free(t->share);
	free(t->sampled);
	free(t->visits);
	free(t->key);
	free(t->fitted);
	free(t->variance);
	free(t->reach);
	free(t->fit_variance);
	free(t->straight);
	free(t->group);
	free(t->grouped);
	free(t->first_part);
	free(t->last_part);
	free(t->first_measured);
	free(t->last_measured);
	free(t->elapsed);
	free(t->cycles_of);
}

/* ------------------------------------------------------------------------- */
/* Call chains */

/**
 * struct walk - iteration over samples, in order of time
 * @t:		timeline
 * @kept:	by sample: number of the stack at its end, for the next one, or NONE
 * @stack:	stacks that are kept for the next sample
 * @stacks:	number of stacks
 * @room:	allocated entries of @stack
 * @spare:	numbers of unused stacks
 * @chains:	chains of the current sample
 */
struct walk {
	const struct timeline *t;
	u32 *kept;
	struct stack *stack;
	u64 stacks, room;
	u32 *spare;
	u64 spares, spare_room;
	struct chains chains;
};

/**
 * struct frame - a call that has not returned
 * @function:	the caller
 * @site:	place of the call, or NONE
 * @back:	return address, or 0
 */
struct frame {
	u32 function;
	u32 site;
	u64 back;
};

/* The last frame is the innermost one; the outermost ones of
 * deeper stacks are dropped
 */
struct stack {
	u32 len;
	struct frame frame[MAX_CHAIN];
};

/**
 * walk_new - begin with the first sample
 * @t:	timeline, after timeline_finish()
 *
 * Return: an iterator, to be freed with walk_free().
 */
struct walk *walk_new(const struct timeline *t)
{
	struct walk *w = xzalloc(sizeof(*w));

	w->t = t;
	w->kept = xzalloc(t->nr * sizeof(*w->kept));
	memset(w->kept, 0xff, t->nr * sizeof(*w->kept));
	return w;
}

/**
 * walk_free - free an iterator
 * @w:	iterator
 */
void walk_free(struct walk *w)
{
	free(w->kept);
	free(w->stack);
	free(w->spare);
	free(w);
}

static void push(struct stack *k, u32 function, u32 site, u64 back)
{
	if (k->len == MAX_CHAIN) {
		memmove(k->frame, k->frame + 1,
			(MAX_CHAIN - 1) * sizeof(*k->frame));
		k->len--;
	}
	k->frame[k->len++] = (struct frame){ function, site, back };
}

/*
 * The stack at the first visit: that of the sample before, if nothing was lost in
 * between, and below it the functions that are returned to.
 */
static void find_bottom(const struct timeline *t, const struct sample *s,
			struct stack *k)
{
	struct stack below = { 0 };
	s64 depth = k->len;
	u32 i;

	for (i = 0; i < s->nr; i++) {
		u8 kind = t->branch[s->first + i].kind;

		if (kind == KIND_UNKNOWN)
			break;
		if (kind == KIND_CALL)
			depth++;
		if (kind == KIND_RETURN && --depth < 0) {
			push(&below, timeline_visit(t, s, i + 1), NONE, 0);
			depth = 0;
		}
	}
	if (!below.len)
		return;
	/* Found from the inside to the outside */
	for (i = 0; i < below.len / 2; i++) {
		struct frame f = below.frame[i];

		below.frame[i] = below.frame[below.len - 1 - i];
		below.frame[below.len - 1 - i] = f;
	}
	for (i = 0; i < k->len; i++)
		push(&below, k->frame[i].function, k->frame[i].site,
		     k->frame[i].back);
	*k = below;
}

static void add_to_chain(struct chain *c, u32 function)
{
	if (c->len < MAX_CHAIN)
		c->function[c->len++] = function;
}

static void copy_chain(const struct timeline *t, struct chain *c,
		       const struct stack *k, u32 function)
{
	const struct frame *f = &k->frame[k->len];
	const u32 *inlined;
	u32 nr, i;

	c->len = 0;
	add_to_chain(c, function);
	while (f-- > k->frame) {
		nr = 0;
		if (f->site != NONE)
			inlined = symtab_inlined(t->symbols, f->site, &nr);
		for (i = 0; i < nr; i++)
			add_to_chain(c, inlined[i]);
		add_to_chain(c, f->function);
	}
}

/* Target of a branch, and how it is known; @k: stack before it */
static void find_target(const struct timeline *t, const struct branch *b,
			const struct stack *k, const struct place *next,
			u64 *to, const char **how)
{
	const struct place *from = symtab_at(t->symbols, b->from);

	*to = 0;
	*how = "unknown";
	if (b->to != NONE) {
		*to = symtab_at(t->symbols, b->to)->addr;
		*how = "recorded";
	} else if (from->target) {
		*to = from->target;
		*how = "decoded";
	} else if (b->kind == KIND_RETURN && k->len &&
		   k->frame[k->len - 1].back) {
		*to = k->frame[k->len - 1].back;
		*how = "matched";
	} else if (b->kind == KIND_CALL && next->start) {
		/* The next function, if the visit is at the address that was called */
		*to = next->start;
		*how = "entry";
	}
}

static struct stack *save_stack(struct walk *w, u32 sample)
{
	if (w->spares) {
		w->kept[sample] = w->spare[--w->spares];
	} else {
		GROW(w->stack, w->stacks, w->room);
		w->kept[sample] = w->stacks++;
	}
	return &w->stack[w->kept[sample]];
}

static void restore_stack(struct walk *w, u32 sample, struct stack *k)
{
	if (sample == NONE || w->kept[sample] == NONE)
		return;
	*k = w->stack[w->kept[sample]];
	GROW(w->spare, w->spares, w->spare_room);
	w->spare[w->spares++] = w->kept[sample];
	w->kept[sample] = NONE;
}

/**
 * walk_next - call chains of a sample's visits
 * @w:		iterator
 * @sample:	number of the sample; not before those of earlier calls
 *
 * Return: the chains, valid until the next call.
 */
const struct chains *walk_next(struct walk *w, u32 sample)
{
	const struct timeline *t = w->t;
	const struct sample *s = &t->sample[sample];
	struct chains *c = &w->chains;
	struct stack k = { 0 };
	u32 i;

	restore_stack(w, s->before, &k);
	if (s->state != STATE_WHOLE)
		k.len = 0;
	find_bottom(t, s, &k);
	for (i = 0; i <= s->nr; i++) {
		u32 function = timeline_visit(t, s, i);
		const struct branch *b = &t->branch[s->first + i];
		const struct place *from;

		copy_chain(t, &c->visit[i], &k, function);
		if (i == s->nr)
			break;
		from = symtab_at(t->symbols, b->from);
		find_target(t, b, &k,
			    symtab_at(t->symbols,
				      i + 1 < s->nr ? b[1].from : s->ip),
			    &c->to[i], &c->how[i]);
		if (b->kind == KIND_CALL)
			push(&k, function, b->from,
			     from->size ? from->addr + from->size : 0);
		else if (b->kind == KIND_RETURN && k.len)
			k.len--;
		else if (b->kind == KIND_UNKNOWN)
			k.len = 0;
	}
	if (s->after != NONE)
		*save_stack(w, sample) = k;
	return c;
}
