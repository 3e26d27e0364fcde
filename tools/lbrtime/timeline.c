// SPDX-License-Identifier: GPL-2.0
/*
 * What ran between two samples: intervals, the visits in them, and call chains.
 *
 * An interval with n branches is n + 1 visits of functions: one up to each branch, and
 * one up to the sample. A visit's function is where it ends, at the branch's FROM
 * address or at the sample's ip: nothing else is needed for it, and TO is not.
 */
#include <stdlib.h>
#include <string.h>

#include "lbrtime.h"
#include "text.h"

/* Between a half and all of a visit */
#define ANEW 0.8

static struct cpu *get_cpu(struct timeline *t, u32 cpu)
{
	u32 i;

	if (cpu >= t->cpus) {
		t->cpu = reallocarray(t->cpu, cpu + 1, sizeof(*t->cpu));
		if (!t->cpu)
			abort();
		for (i = t->cpus; i <= cpu; i++)
			t->cpu[i] = (struct cpu){ .pid = -1, .last = NONE };
		t->cpus = cpu + 1;
	}
	return &t->cpu[cpu];
}

/**
 * timeline_sample - one more
 * @t: the timeline
 * @cpu: where, below MAX_CPUS
 * @pid: thread
 * @ts: when, ns; not before the CPU's last one
 *
 * Return: the sample, without branches yet, in an interval that is whole unless it is
 * told otherwise.
 */
struct sample *timeline_sample(struct timeline *t, u32 cpu, s32 pid, u64 ts)
{
	struct cpu *c = get_cpu(t, cpu);
	struct sample *s;

	t->sample = grow(t->sample, t->nr, &t->room, sizeof(*t->sample));
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
 * timeline_branch - one more of the last sample, the oldest one first
 * @t: the timeline
 *
 * Return: the branch.
 */
struct branch *timeline_branch(struct timeline *t)
{
	t->branch = grow(t->branch, t->branches, &t->branch_room,
			 sizeof(*t->branch));
	t->sample[t->nr - 1].nr++;
	return &t->branch[t->branches++];
}

/**
 * timeline_switch - another thread runs
 * @t: the timeline
 * @cpu: where, below MAX_CPUS
 * @ts: since when, ns
 * @pid: which, or -1 if nobody knows
 */
void timeline_switch(struct timeline *t, u32 cpu, u64 ts, s32 pid)
{
	*get_cpu(t, cpu) = (struct cpu){
		.ts = ts, .pid = pid, .last = NONE, .there = true
	};
}

/**
 * timeline_gap - records of a CPU were lost
 * @t: the timeline
 * @cpu: which, below MAX_CPUS
 */
void timeline_gap(struct timeline *t, u32 cpu)
{
	struct cpu *c = get_cpu(t, cpu);

	/* Nobody knows who ran since */
	c->pid = -1;
	c->last = NONE;
	t->gaps++;
}

/**
 * timeline_comm - the number of a thread's name
 * @t: the timeline
 * @comm: the name
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
	t->comm = grow(t->comm, t->comms, &t->comm_room, sizeof(*t->comm));
	strcpy(t->comm[t->comms], clean);
	return t->comms++;
}

/**
 * timeline_visit - the function of a visit
 * @t: after symbols_resolve()
 * @s: a sample
 * @i: which visit, the oldest one is 0; s->nr is that of the sample itself
 */
u32 timeline_visit(const struct timeline *t, const struct sample *s, u32 i)
{
	u32 place = i < s->nr ? t->branch[s->first + i].from : s->ip;

	return symbols_at(t->symbols, place)->function;
}

/**
 * timeline_measured - how long the visit before a branch lasted, by its cycles
 * @t: the timeline, with @ns_per_cycle
 * @s: a sample
 * @i: which visit, below s->nr
 *
 * Return: ns; 0 if it was not measured, or was longer than can be.
 */
double timeline_measured(const struct timeline *t, const struct sample *s,
			 u32 i)
{
	u16 cycles = t->branch[s->first + i].cycles;

	return cycles < CYCLES_MAX ? cycles * t->ns_per_cycle : 0;
}

/**
 * timeline_least - how long it lasted at least
 * @t: the timeline, with @ns_per_cycle
 * @s: a sample
 * @i: which visit, below s->nr
 *
 * Return: ns.
 */
double timeline_least(const struct timeline *t, const struct sample *s, u32 i)
{
	return t->branch[s->first + i].cycles * t->ns_per_cycle;
}

/**
 * timeline_held - how much of an interval may be time that the counter did not count
 * @t: the timeline, with @period
 * @s: the sample that ends it
 *
 * A counter of what user space does is held up by system calls, page faults and
 * interrupts: what an interval lasts longer than others is such. Of one that a switch began,
 * nobody knows.
 *
 * Return: ns.
 */
double timeline_held(const struct timeline *t, const struct sample *s)
{
	double all = s->ts - s->start;

	if (t->period <= 0 || s->before == NONE)
		return all;
	return all > t->period ? all - t->period : 0;
}

/* ------------------------------------------------------------------------- */
/* When all is read */

/* What the input does not say, the code does, or where the branch led */
static u8 find_kind(const struct timeline *t, const struct branch *b)
{
	const struct place *from = symbols_at(t->symbols, b->from), *to;

	if (b->kind != KIND_UNKNOWN)
		return b->kind;
	if (from->kind != KIND_UNKNOWN || b->to == NONE)
		return from->kind;
	to = symbols_at(t->symbols, b->to);
	if (to->start && to->addr == to->start)
		return KIND_CALL;
	if (to->function == from->function)
		return KIND_JUMP;
	return KIND_UNKNOWN;
}

/* A jump within a function ends no visit of it; @b has room for it */
static u32 drop_jumps(const struct timeline *t, struct sample *s,
		      struct branch *to)
{
	const struct branch *from = &t->branch[s->first];
	u32 i, nr = 0, cycles = 0;
	bool unmeasured = false;

	for (i = 0; i < s->nr; i++) {
		struct branch b = from[i];
		u32 here = symbols_at(t->symbols, b.from)->function;

		unmeasured |= !b.cycles;
		cycles += b.cycles;
		if (b.kind == KIND_JUMP && here == timeline_visit(t, s, i + 1))
			continue;
		b.cycles = unmeasured		? 0 :
			   cycles >= CYCLES_MAX ? CYCLES_MAX :
						  cycles;
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
		t->branch[i].kind = find_kind(t, &t->branch[i]);
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
 * Where its thread came to the CPU, an interval has no other branches than those since the
 * registers were cleared for it, and all of them as long as they are not full. Counters
 * know nothing of threads, and what they say is of those before, too.
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
	u32 functions = symbols_functions(t->symbols), j;
	u64 i;

	t->share = allocate(functions * sizeof(*t->share));
	t->sampled = allocate(functions * sizeof(*t->sampled));
	t->visits = allocate(functions * sizeof(*t->visits));
	for (i = 0; i < t->nr; i++) {
		const struct sample *s = &t->sample[i];

		/* The profile is that of overflows: a switch is no sample of time */
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

static bool is_measured(const struct timeline *t, const struct sample *s)
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
	u32 functions = symbols_functions(t->symbols), j;
	u64 *nr = allocate(functions * sizeof(*nr)), i;

	t->cycles_of = allocate(functions * sizeof(*t->cycles_of));
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

/* Cycles of an interval's visits */
static double sum_cycles(const struct timeline *t, const struct sample *s)
{
	double sum = 0;
	u32 i;

	for (i = 0; i < s->nr; i++)
		sum += t->branch[s->first + i].cycles;
	return sum;
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * The most cycles that visits have in an ns: of an interval with next to nothing that is
 * not measured. One in a thousand may be a slip.
 */
static double top_rate(const struct timeline *t)
{
	double *rate = allocate(t->nr * sizeof(*rate)), top;
	u64 nr = 0, i;

	for (i = 0; i < t->nr; i++) {
		const struct sample *s = &t->sample[i];

		if (s->state == STATE_WHOLE && s->ts > s->start &&
		    is_measured(t, s))
			rate[nr++] = sum_cycles(t, s) / (s->ts - s->start);
	}
	qsort(rate, nr, sizeof(*rate), by_size);
	top = nr ? rate[nr - 1 - nr / 1000] : 0;
	free(rate);
	return top;
}

/*
 * Does the counter of cycles begin anew with each sample? A sample falls into a visit
 * the more likely the longer that is: then what the first branch measures is on average
 * sum(L^2) / sum(L) of all visits' cycles L if it is all of the visit, but half of that
 * if it is only what came after the sample.
 */
static bool begins_anew(const struct timeline *t)
{
	double first = 0, nr = 0, sum = 0, squares = 0;
	u64 i;
	u32 j;

	for (i = 0; i < t->nr; i++) {
		const struct sample *s = &t->sample[i];

		if (s->state != STATE_WHOLE || s->before == NONE ||
		    !is_measured(t, s))
			continue;
		first += t->branch[s->first].cycles;
		nr++;
		for (j = 1; j < s->nr; j++) {
			double c = t->branch[s->first + j].cycles;

			sum += c;
			squares += c * c;
		}
	}
	return nr > 0 && first / nr * sum < ANEW * squares;
}

/*
 * An interval between two visits that were cut once, and all is measured: on average, it
 * has half of either. That they are measured says nothing of where they were cut.
 */
static bool halves(const struct timeline *t, const struct sample *s,
		   double *cycles)
{
	const struct sample *after = s->after == NONE ? NULL :
							&t->sample[s->after];
	u16 last;

	if (s->state != STATE_WHOLE || s->before == NONE ||
	    !t->sample[s->before].nr || !is_measured(t, s) || !after ||
	    after->state != STATE_WHOLE || !after->nr)
		return false;
	last = t->branch[after->first].cycles;
	*cycles = sum_cycles(t, s) + (last - t->branch[s->first].cycles) / 2.0;
	return last && last < CYCLES_MAX;
}

/* How long a cycle is */
static void measure(struct timeline *t, double ghz)
{
	double time = 0, cycles = 0, some, rate;
	u64 i;

	mean_cycles(t);
	t->restarts = begins_anew(t);
	for (i = 0; i < t->nr; i++) {
		const struct sample *s = &t->sample[i];

		if (!halves(t, s, &some))
			continue;
		time += s->ts - s->start;
		cycles += some;
	}
	rate = ghz > 0	   ? ghz :
	       t->restarts ? top_rate(t) :
	       time > 0	   ? cycles / time :
			     0;
	t->ns_per_cycle = rate > 0 ? 1 / rate : 0;
}

/**
 * timeline_finish - all is read, and symbols_resolve() done
 * @t: the timeline
 * @ghz: cycles a nanosecond, or 0: as the trace says
 */
void timeline_finish(struct timeline *t, double ghz)
{
	settle_states(t);
	settle_branches(t);
	count_visits(t);
	measure(t, ghz);
	fit(t);
	if (t->has_fit)
		ends(t);
	if (t->has_fit && method_there(t, METHOD_CYCLES))
		ends_measured(t);
}

/**
 * timeline_free - free all of it
 * @t: the timeline
 */
void timeline_free(struct timeline *t)
{
	symbols_free(t->symbols);
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
	free(t->doubt);
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
 * struct walk - samples that are gone through in order of time
 * @t:		the timeline
 * @kept:	by sample: which stack its end has left for the next one, or NONE
 * @stack:	stacks that are waiting for the next sample
 * @stacks:	how many
 * @room:	for so many
 * @spare:	those that are free again
 * @chains:	of the sample at hand
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
 * @function:	who called
 * @back:	where it goes on after the return, or 0
 */
struct frame {
	u32 function;
	u64 back;
};

/* The innermost frame is the last one; deeper ones than there is room for are forgotten */
struct stack {
	u32 len;
	struct frame frame[MAX_CHAIN];
};

/**
 * walk_new - begin with the first sample
 * @t: after timeline_finish()
 *
 * Return: what walk_next() needs; walk_free() is due.
 */
struct walk *walk_new(const struct timeline *t)
{
	struct walk *w = allocate(sizeof(*w));

	w->t = t;
	w->kept = allocate(t->nr * sizeof(*w->kept));
	memset(w->kept, 0xff, t->nr * sizeof(*w->kept));
	return w;
}

/**
 * walk_free - end
 * @w: from walk_new()
 */
void walk_free(struct walk *w)
{
	free(w->kept);
	free(w->stack);
	free(w->spare);
	free(w);
}

static void push(struct stack *k, u32 function, u64 back)
{
	if (k->len == MAX_CHAIN) {
		memmove(k->frame, k->frame + 1,
			(MAX_CHAIN - 1) * sizeof(*k->frame));
		k->len--;
	}
	k->frame[k->len++] = (struct frame){ function, back };
}

/*
 * The stack that the first visit has: that of the sample before, if nothing was lost in
 * between, and below it who is returned to beyond it.
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
			push(&below, timeline_visit(t, s, i + 1), 0);
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
		push(&below, k->frame[i].function, k->frame[i].back);
	*k = below;
}

static void take_chain(struct chain *c, const struct stack *k, u32 function)
{
	u32 i;

	c->function[0] = function;
	c->len = 1;
	for (i = k->len; i && c->len < MAX_CHAIN; i--)
		c->function[c->len++] = k->frame[i - 1].function;
}

/* Where a branch led, and how that is known; the stack is that before it */
static void find_target(const struct timeline *t, const struct branch *b,
			const struct stack *k, const struct place *next,
			u64 *to, const char **how)
{
	const struct place *from = symbols_at(t->symbols, b->from);

	*to = 0;
	*how = "unknown";
	if (b->to != NONE) {
		*to = symbols_at(t->symbols, b->to)->addr;
		*how = "recorded";
	} else if (from->target) {
		*to = from->target;
		*how = "decoded";
	} else if (b->kind == KIND_RETURN && k->len &&
		   k->frame[k->len - 1].back) {
		*to = k->frame[k->len - 1].back;
		*how = "matched";
	} else if (b->kind == KIND_CALL && next->start) {
		/* The function that came next, if it is where it was called */
		*to = next->start;
		*how = "entry";
	}
}

static struct stack *keep(struct walk *w, u32 sample)
{
	if (w->spares) {
		w->kept[sample] = w->spare[--w->spares];
	} else {
		w->stack =
			grow(w->stack, w->stacks, &w->room, sizeof(*w->stack));
		w->kept[sample] = w->stacks++;
	}
	return &w->stack[w->kept[sample]];
}

static void take_kept(struct walk *w, u32 sample, struct stack *k)
{
	if (sample == NONE || w->kept[sample] == NONE)
		return;
	*k = w->stack[w->kept[sample]];
	w->spare = grow(w->spare, w->spares, &w->spare_room, sizeof(*w->spare));
	w->spare[w->spares++] = w->kept[sample];
	w->kept[sample] = NONE;
}

/**
 * walk_next - the call chains of a sample's visits
 * @w: from walk_new()
 * @sample: which; those before it have been gone through
 *
 * Return: they, until the next call.
 */
const struct chains *walk_next(struct walk *w, u32 sample)
{
	const struct timeline *t = w->t;
	const struct sample *s = &t->sample[sample];
	struct chains *c = &w->chains;
	struct stack k = { 0 };
	u32 i;

	take_kept(w, s->before, &k);
	if (s->state != STATE_WHOLE)
		k.len = 0;
	find_bottom(t, s, &k);
	for (i = 0; i <= s->nr; i++) {
		u32 function = timeline_visit(t, s, i);
		const struct branch *b = &t->branch[s->first + i];
		const struct place *from;

		take_chain(&c->visit[i], &k, function);
		if (i == s->nr)
			break;
		from = symbols_at(t->symbols, b->from);
		find_target(t, b, &k,
			    symbols_at(t->symbols,
				       i + 1 < s->nr ? b[1].from : s->ip),
			    &c->to[i], &c->how[i]);
		if (b->kind == KIND_CALL)
			push(&k, function,
			     from->size ? from->addr + from->size : 0);
		else if (b->kind == KIND_RETURN && k.len)
			k.len--;
		else if (b->kind == KIND_UNKNOWN)
			k.len = 0;
	}
	if (s->after != NONE)
		*keep(w, sample) = k;
	return c;
}
