// SPDX-License-Identifier: GPL-2.0
/*
 * Executions of the entry function, cut out per thread.
 *
 * Each thread has a stack of the functions that have not returned. An execution
 * begins when the entry function is called and ends when that call returns; calls
 * of it in between, as in a recursion, are part of the path. The records are in
 * order of time over all CPUs, so a thread may sleep and migrate in between.
 *
 * Interrupts are not part of the path: frames whose context is above that of the
 * execution's entry, or whose name says so. Their time is subtracted from the function
 * that was interrupted. What runs below schedule() is part of it only if that is asked
 * for: how the scheduler picks a task is not a property of the call. Otherwise its time
 * is schedule()'s own. The time of tracepoints is their caller's.
 *
 * Records are missing when an exit does not fit the stack, or when a function is
 * called at a depth where another has not returned. Such an execution is counted as
 * broken and skipped: half a path is worse than none.
 */
#include <stdlib.h>
#include <string.h>

#include "cut.h"

#define MAX_FRAMES 4096

/* A call must sleep this long to show whether sleep-time was on, ns */
#define SLEEP_SPAN 100000

/* Longest time between two functions of an interrupt that nothing has called, ns */
#define IRQ_GAP 50000

/* Numbers are kept in blocks, so that they need not be moved */
#define CHUNK (4u << 20)

struct floats {
	struct floats *next;
	size_t used;
	size_t size;
	float v[];
};

/**
 * paths_floats - memory for numbers, as long as the paths
 * @p: the paths
 * @nr: number of them
 */
static float *paths_floats(struct paths *p, size_t nr)
{
	struct floats *f = p->chunk;

	if (!f || f->size - f->used < nr) {
		size_t size = nr > CHUNK ? nr : CHUNK;

		f = xreallocarray(NULL, 1, sizeof(*f) + size * sizeof(*f->v));
		f->next = p->chunk;
		f->used = 0;
		f->size = size;
		p->chunk = f;
	}
	f->used += nr;
	return f->v + f->used - nr;
}

/**
 * paths_clear - free all executions
 * @p: the paths
 */
void paths_clear(struct paths *p)
{
	struct floats *f;

	while ((f = p->chunk)) {
		p->chunk = f->next;
		free(f);
	}
	strings_free(&p->functions);
	strings_free(&p->names);
	patterns_free(&p->stacks);
	patterns_free(&p->patterns);
	free(p->exec);
	free(p->wait);
}

/**
 * cpu_forget - forget what a CPU is doing
 * @cpu: the CPU
 */
static void cpu_forget(struct cpu *cpu)
{
	memset(cpu->source, 0xff, sizeof(cpu->source)); /* NONE */
	cpu->device = NONE;
}

/**
 * cut_new - begin to cut a file
 * @paths: where executions go
 * @source: where counts go
 * @side: which file
 * @cpus: number of CPUs
 */
struct cut *cut_new(struct paths *paths, struct source *source, enum side side,
		    u32 cpus)
{
	struct cut *c = xzalloc(sizeof(*c));
	u32 i;

	c->paths = paths;
	c->source = source;
	c->side = side;
	c->cpus = cpus;
	c->cpu = xzalloc(cpus * sizeof(*c->cpu));
	for (i = 0; i < cpus; i++) {
		cpu_forget(&c->cpu[i]);
	}
	return c;
}

static void thread_free(struct thread *t)
{
	free(t->frame);
	free(t->function);
	free(t->path_depth);
	free(t->at);
	free(t->self);
	free(t->wait);
}

/**
 * cut_free - free it
 * @c: what cut_new() returned
 */
void cut_free(struct cut *c)
{
	struct thread *t;
	u32 i;

	hash_for_each(&c->threads, i, t)
		thread_free(t);
	hash_free(&c->threads);
	free(c->cpu);
	free(c->outermost);
	free(c);
}

/**
 * cut_thread - the thread of a pid
 * @c: the file
 * @pid: as records have it
 * @cpu: where the record is from: each CPU has an idle task, with pid 0
 */
struct thread *cut_thread(struct cut *c, s32 pid, u32 cpu)
{
	struct thread *t;
	u64 hash;

	if (!pid)
		pid = -1 - (s32)cpu;
	hash = hash_u64(pid);
	hash_for_each_possible_entry(&c->threads, hash, t) {
		if (t->pid == pid)
			return t;
	}
	t = hash_new(&c->threads, hash, sizeof(*t));
	t->pid = pid;
	t->comm = NONE;
	t->cpu = cpu;
	t->lock = NONE;
	return t;
}

/**
 * cut_comm - set the name of a thread
 * @c: the file
 * @t: the thread
 * @comm: its name
 */
void cut_comm(struct cut *c, struct thread *t, const char *comm)
{
	char clean[64];

	snprintf(clean, sizeof(clean), "%s", t->pid < 0 ? "idle" : comm);
	clean_text(clean);
	t->comm = string_id(&c->paths->names, clean);
}

/**
 * cut_has_comm - whether a thread's name is known
 * @t: the thread
 */
bool cut_has_comm(const struct thread *t)
{
	return t->comm != NONE;
}

/**
 * cut_seen - a thread has written a record
 * @c: the file
 * @t: the thread
 * @cpu: where
 * @ts: when
 */
void cut_seen(struct cut *c, struct thread *t, u32 cpu, u64 ts)
{
	/* It came from another CPU while records were lost on this one. */
	if (t->cpu != cpu && t->inside && t->last <= c->cpu[cpu].lost)
		t->broken = true;
	t->cpu = cpu;
	t->last = ts;
}

/**
 * cut_gap - what was recorded on a CPU has a gap
 * @c: the file
 * @cpu: the CPU, or NONE: any of them may have one
 */
void cut_gap(struct cut *c, u32 cpu)
{
	struct thread *t;
	u32 i;

	for (i = 0; i < c->cpus; i++) {
		if (cpu == NONE || cpu == i)
			cpu_forget(&c->cpu[i]);
	}
	hash_for_each(&c->threads, i, t) {
		if (cpu == NONE || t->cpu == cpu)
			t->broken = t->inside;
	}
}

/**
 * cut_lost - records were lost on a CPU
 * @c: the file
 * @cpu: the CPU
 * @ts: time stamp of the first one after them
 */
void cut_lost(struct cut *c, u32 cpu, u64 ts)
{
	c->source->gaps++;
	c->cpu[cpu].lost = ts;
	cut_gap(c, cpu);
}

/* Interrupts interrupt tasks, and each other in this order. */
static u8 level_of(u32 flags)
{
	if (flags & TRACE_NMI)
		return 3;
	if (flags & TRACE_HARDIRQ)
		return 2;
	return flags & TRACE_SOFTIRQ ? 1 : 0;
}

/**
 * thread_pos - the position in the path of what a thread is doing
 * @t: the thread, in an execution
 */
u32 thread_pos(struct thread *t)
{
	struct frame *f = top_frame(t);

	return f ? f->pos : 0;
}

static enum frame_kind kind_of(struct cut *c, struct thread *t,
			       const struct frame *parent, u32 function,
			       u8 level)
{
	const u8 *flags = c->paths->functions.flags;

	if (parent->kind == FRAME_IRQ || level > t->frame[t->base].level ||
	    flags[function] & FUNCTION_INTERRUPT)
		return FRAME_IRQ;
	if (parent->kind == FRAME_HIDDEN || flags[function] & FUNCTION_TRACES ||
	    (flags[parent->function] &
		     (FUNCTION_SCHEDULES | FUNCTION_MAY_SCHEDULE) &&
	     !c->paths->scheduler))
		return FRAME_HIDDEN;
	return FRAME_NORMAL;
}

/*
 * The context of a function that interrupts. Its name counts for more than the flags,
 * which the first and last functions of an interrupt lack.
 */
static enum irq_class class_of(struct cut *c, struct thread *t,
			       const struct frame *parent, u32 function,
			       u8 level)
{
	u8 flags = c->paths->functions.flags[function];

	if (level == 3 || flags & FUNCTION_NMI)
		return IRQ_NMI;
	if (flags & FUNCTION_SOFTIRQ)
		return IRQ_SOFT;
	if (flags & FUNCTION_INTERRUPT)
		return IRQ_HARD;
	/* Nothing has interrupted the caller */
	if (parent->kind == FRAME_IRQ && level == parent->level)
		return parent->irq;
	if (level > t->frame[t->base].level)
		return level == 2 ? IRQ_HARD : IRQ_SOFT;
	return parent->kind == FRAME_IRQ ? parent->irq : IRQ_HARD;
}

static bool grow_path(struct thread *t)
{
	u32 max = t->max_path ? 2 * t->max_path : 256;

	if (t->len < t->max_path)
		return true;
	if (t->len >= MAX_PATH)
		return false;
	t->function = xreallocarray(t->function, max, sizeof(*t->function));
	t->path_depth =
		xreallocarray(t->path_depth, max, sizeof(*t->path_depth));
	t->at = xreallocarray(t->at, max, sizeof(*t->at));
	t->self = xreallocarray(t->self, max, sizeof(*t->self));
	t->max_path = max;
	return true;
}

/* A function becomes the next one of the path */
static void step(struct thread *t, struct frame *f)
{
	if (!grow_path(t)) {
		t->too_long = true;
		f->kind = FRAME_HIDDEN;
		return;
	}
	f->pos = t->len++;
	t->function[f->pos] = f->function;
	t->path_depth[f->pos] = t->frames - 1 - t->base;
	t->at[f->pos] = f->ts - t->frame[t->base].ts;
	t->self[f->pos] = 0;
}

static void begin(struct cut *c, struct thread *t)
{
	(void)c;
	t->inside = true;
	t->broken = false;
	t->too_long = false;
	t->base = t->frames - 1;
	t->begin_cpu = t->cpu;
	t->len = 0;
	t->irq = 0;
	t->waits = 0;
	t->irqs.open = false;
	t->off = false;
	t->lock = NONE;
}

/* Drop calls that cannot return any more: another function is called at their depth */
static void drop_frames(struct thread *t, s32 depth)
{
	while (t->frames && top_frame(t)->depth >= depth) {
		t->frames--;
		if (!t->inside)
			continue;
		t->broken = true;
		if (t->frames <= t->base)
			t->inside = false;
	}
}

/* Whether an outermost function begins another interrupt than the one before it */
static bool is_another(struct cut *c, const struct thread *t,
		       const struct frame *f)
{
	return c->paths->functions.flags[f->function] & FUNCTION_BEGINS ||
	       f->ts - t->irqs.end > IRQ_GAP;
}

/**
 * cut_enter - a function was called
 * @c: the file
 * @t: the thread
 * @e: the record
 */
void cut_enter(struct cut *c, struct thread *t, const struct graph_event *e)
{
	bool was_inside = t->inside;
	struct frame *f, *parent;

	drop_frames(t, e->depth);
	if (t->frames == MAX_FRAMES) {
		t->broken = true;
		t->frames--;
	}
	if (was_inside && !t->inside)
		c->source->broken++;
	GROW(t->frame, t->frames, t->max_frames);
	f = &t->frame[t->frames++];
	f->function = e->function;
	f->depth = e->depth;
	f->level = level_of(e->flags);
	f->ts = e->ts;
	f->inner = 0;
	f->kind = FRAME_NORMAL;
	f->pos = 0;
	if (!t->inside) {
		if (e->function != c->paths->entry)
			return;
		begin(c, t);
		step(t, f);
		return;
	}
	parent = f - 1;
	f->pos = parent->pos;
	f->kind = kind_of(c, t, parent, e->function, f->level);
	if (f->kind != FRAME_IRQ ||
	    (parent->kind != FRAME_IRQ && is_another(c, t, f)))
		t->irqs.open = false;
	if (f->kind == FRAME_NORMAL)
		step(t, f);
	if (f->kind != FRAME_IRQ)
		return;
	f->irq = class_of(c, t, parent, e->function, f->level);
	wait_irq_begin(c, t, e->ts);
}

static void store(struct cut *c, struct thread *t, u64 duration)
{
	struct paths *p = c->paths;
	struct exec *e;
	u32 i;

	GROW(p->exec, p->nr, p->max);
	e = &p->exec[p->nr++];
	memset(e, 0, sizeof(*e));
	e->start = t->frame[t->base].ts;
	e->duration = duration;
	e->pattern =
		pattern_id(&p->patterns, t->function, t->path_depth, t->len);
	e->data = paths_floats(p, 2 * (size_t)t->len);
	memcpy(e->data, t->at, t->len * sizeof(*t->at));
	memcpy(e->data + t->len, t->self, t->len * sizeof(*t->self));
	e->irq = t->irq;
	e->pid = t->pid;
	e->comm = t->comm;
	e->cpu = t->begin_cpu;
	e->side = c->side;
	e->wait = p->waits;
	e->waits = t->waits;
	for (i = 0; i < t->waits; i++) {
		GROW(p->wait, p->waits, p->max_waits);
		p->wait[p->waits] = t->wait[i];
		if (t->wait[i].pos >= t->len)
			p->wait[p->waits].pos = t->len - 1;
		p->waits++;
	}
}

static void end(struct cut *c, struct thread *t, u64 duration)
{
	t->inside = false;
	if (t->broken) {
		c->source->broken++;
		return;
	}
	c->source->cut += t->too_long;
	c->source->executions++;
	store(c, t, duration);
}

/* Time spent in the outermost functions: one of them is the entry */
static void note_outermost(struct cut *c, u32 function, u64 time)
{
	u32 max = c->max_outermost;

	if (function >= max) {
		max = c->paths->functions.max;
		c->outermost =
			xreallocarray(c->outermost, max, sizeof(*c->outermost));
		memset(c->outermost + c->max_outermost, 0,
		       (max - c->max_outermost) * sizeof(*c->outermost));
		c->max_outermost = max;
	}
	c->outermost[function] += time + 1;
}

/**
 * cut_outermost - the outermost function with the most time; no recorded function
 * has called it
 * @c: the file
 *
 * Return: the function, or NONE.
 */
u32 cut_outermost(const struct cut *c)
{
	u32 i, found = NONE;

	for (i = 0; i < c->max_outermost; i++) {
		if (c->outermost[i] > 0 &&
		    (found == NONE || c->outermost[i] > c->outermost[found]))
			found = i;
	}
	return found;
}

/* The frame that an exit belongs to becomes the top one */
static struct frame *unwind(struct thread *t, u32 function)
{
	u32 i = t->frames;

	while (i && t->frame[i - 1].function != function)
		i--;
	if (!i)
		return NULL;
	if (i < t->frames && t->inside)
		t->broken = true;
	t->frames = i;
	return &t->frame[i - 1];
}

/* An exit without a call: it was before the recording, or is lost */
static void leave_unknown(struct cut *c, struct thread *t,
			  const struct graph_event *e)
{
	if (t->inside)
		t->broken = true;
	else if (e->function == c->paths->entry)
		c->source->began++;
}

static void vote(struct cut *c, const struct frame *f, u64 ts, u64 duration)
{
	u64 span = ts - f->ts;

	if (span < SLEEP_SPAN ||
	    !(c->paths->functions.flags[f->function] & FUNCTION_SCHEDULES))
		return;
	c->source->votes[duration < span / 2]++;
}

/* It was part of the path until it proved to be the beginning of an interrupt */
static void make_irq(struct cut *c, struct thread *t, struct frame *f, u8 level)
{
	f->irq = class_of(c, t, f - 1, f->function, level);
	t->len = f->pos;
	f->kind = FRAME_IRQ;
	f->pos = f[-1].pos;
}

/* Time of an interrupt is self time of no function of the path */
static void add_irq_time(struct thread *t, u32 below, u64 time)
{
	while (below > t->base && t->frame[below].kind != FRAME_NORMAL)
		below--;
	t->frame[below].inner += time;
	t->irq += time;
}

static void leave_irq(struct cut *c, struct thread *t, struct frame *f,
		      const struct graph_event *e, u64 time)
{
	u64 self = time > f->inner ? time - f->inner : 0;
	u64 gap = 0;

	wait_irq_begin(c, t, f->ts);
	wait_irq_self(c, t, f, self, time);
	if (f[-1].kind == FRAME_IRQ) {
		f[-1].inner += time;
		return;
	}
	if (t->irqs.end && f->ts > t->irqs.end)
		gap = f->ts - t->irqs.end;
	wait_irq(c, t, f, e->ts, time + gap);
	add_irq_time(t, t->frames - 2, time + gap);
}

/*
 * The record of a return is written by code that runs after the function and belongs to
 * its caller, also what happens there: a preemption or an interrupt
 */
static u64 return_late(const struct cut *c, struct thread *t,
		       const struct frame *f, u64 time)
{
	u64 end = f->ts - t->frame[t->base].ts + time;
	u32 i;

	for (i = t->waits; i && t->wait[i - 1].at + c->rounding >= end; i--) {
		if (t->wait[i - 1].pos == f->pos)
			t->wait[i - 1].pos = f[-1].pos;
	}
	return time > f->inner ? time : f->inner;
}

/**
 * cut_leave - a function has returned
 * @c: the file
 * @t: the thread
 * @e: the record
 */
void cut_leave(struct cut *c, struct thread *t, const struct graph_event *e)
{
	struct frame *f = top_frame(t);
	bool was_inside = t->inside;
	u64 time;

	if (!f || f->function != e->function)
		f = unwind(t, e->function);
	if (!f) {
		leave_unknown(c, t, e);
		return;
	}
	if (was_inside && t->frames <= t->base) {
		/* What had called the entry returns before it */
		t->inside = false;
		c->source->broken++;
	}
	vote(c, f, e->ts, e->duration);
	time = c->source->sleep_off ? e->ts - f->ts : e->duration;
	if (t->frames == 1 && t->pid > 0 && !f->level)
		note_outermost(c, f->function, time);
	if (!t->inside) {
		t->frames--;
		return;
	}
	if (t->frames - 1 == t->base) {
		t->self[0] = time > f->inner ? time - f->inner : 0;
		end(c, t, time);
		t->frames--;
		return;
	}
	if (f->kind == FRAME_NORMAL &&
	    level_of(e->flags) > t->frame[t->base].level)
		make_irq(c, t, f, level_of(e->flags));
	if (f->kind == FRAME_NORMAL) {
		t->self[f->pos] = time > f->inner ? time - f->inner : 0;
		f[-1].inner += return_late(c, t, f, time);
	} else if (f->kind == FRAME_IRQ) {
		leave_irq(c, t, f, e, time);
	}
	if (f->kind != FRAME_IRQ)
		t->irqs.open = false;
	t->frames--;
}

/**
 * cut_finish - end the executions at the end of the file
 * @c: the file
 */
void cut_finish(struct cut *c)
{
	struct thread *t;
	u32 i;

	hash_for_each(&c->threads, i, t)
		c->source->ended += t->inside;
}
