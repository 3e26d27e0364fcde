// SPDX-License-Identifier: GPL-2.0
/*
 * Times in which an execution did not run: off the CPU, in interrupts, at locks.
 *
 * Between the sched_switch away from a task and the one back to it, sched_waking
 * divides the time blocked from the time waiting for a CPU. A task waited for the
 * task that woke it. If an interrupt woke it, it waited for the interrupt's device
 * or timer, not for the task that was interrupted. Irq and timer events,
 * block_rq_complete, the recorded functions of the waker or its stack name that
 * device or timer.
 */
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>

#include "cut.h"

/* Longest time from the completion of a request to a wake-up that it caused, ns */
#define COMPLETED 1000000

/* Longest part of a waker's stack that is kept */
#define MAX_STACK 24

/* sched_switch: states of a task that sleeps; without them it was preempted */
#define STATE_ASLEEP 0xff

static u32 name_id(struct cut *c, const char *prefix, const char *name)
{
	char text[640];

	snprintf(text, sizeof(text), "%s%s", prefix, name);
	clean_text(text);
	return string_id(&c->paths->names, text);
}

/**
 * wait_add - add a wait to the execution that a thread is in
 * @t: the thread
 * @w: the wait
 *
 * Return: its place.
 */
static u32 wait_add(struct thread *t, const struct wait *w)
{
	GROW(t->wait, t->waits, t->max_waits);
	t->wait[t->waits] = *w;
	return t->waits++;
}

static struct wait new_wait(const struct thread *t, u64 ts, u8 kind)
{
	return (struct wait){ .at = ts - t->frame[t->base].ts,
			      .who = NONE,
			      .lock = NONE,
			      .device = NONE,
			      .stack = NONE,
			      .other = NONE,
			      .kind = kind };
}

/**
 * wait_frames - what a thread is doing
 * @c: the file
 * @t: the thread
 * @irq: for the functions of the interrupt that interrupts it instead
 *
 * Return: its functions, innermost first, as a stack; NONE if none is recorded.
 */
static u32 wait_frames(struct cut *c, struct thread *t, bool irq)
{
	u32 function[MAX_STACK], nr = 0, i;

	for (i = t->frames; i && nr < MAX_STACK; i--) {
		const struct frame *f = &t->frame[i - 1];
		bool is_irq = f->level > 0 ||
			      c->paths->functions.flags[f->function] &
				      FUNCTION_INTERRUPT;

		if (is_irq == irq)
			function[nr++] = f->function;
	}
	return nr ? pattern_id(&c->paths->stacks, function, NULL, nr) : NONE;
}

/**
 * context_class - class of the interrupt that an event was in
 * @x: context of the event
 */
enum irq_class context_class(const struct context *x)
{
	if (x->flags & TRACE_NMI)
		return IRQ_NMI;
	return x->flags & TRACE_HARDIRQ ? IRQ_HARD : IRQ_SOFT;
}

/* What an interrupt is about, by the events in its context */
static u32 irq_source(struct cut *c, const struct context *x)
{
	const u32 *source = c->cpu[x->cpu].source[context_class(x)];

	return source[IRQ_TIMER] != NONE ? source[IRQ_TIMER] : source[IRQ_LINE];
}

/* The function that a timer calls, or the interrupt's outermost one */
static u32 irq_function(struct cut *c, u32 stack)
{
	static const char *const timers[] = { "__hrtimer_run_queues",
					      "call_timer_fn", "__run_timers",
					      "expire_timers" };
	const struct pattern *p = &c->paths->stacks.p[stack];
	const struct strings *f = &c->paths->functions;
	u32 i, k;

	for (i = 1; i < p->len; i++) {
		for (k = 0; k < ARRAY_SIZE(timers); k++) {
			if (!strcmp(f->name[p->function[i]], timers[k]))
				return name_id(c, "timer, ",
					       f->name[p->function[i - 1]]);
		}
	}
	for (i = p->len; i; i--) {
		const char *name = f->name[p->function[i - 1]];

		if (!(f->flags[p->function[i - 1]] & FUNCTION_INTERRUPT) &&
		    strncmp(name, "asm_", 4))
			return name_id(c, "interrupt, ", name);
	}
	return name_id(c, "interrupt, ", f->name[p->function[p->len - 1]]);
}

static u32 waker_name(struct cut *c, const struct context *x, u32 stack)
{
	u32 name;

	if (!(x->flags & (TRACE_HARDIRQ | TRACE_SOFTIRQ | TRACE_NMI)))
		return x->thread->comm == NONE ? name_id(c, "task", "") :
						 x->thread->comm;
	name = irq_source(c, x);
	if (name != NONE)
		return name;
	return stack == NONE ? name_id(c, "interrupt", "") :
			       irq_function(c, stack);
}

/**
 * wait_waking - a thread was woken
 * @c: the file
 * @x: context of the waker
 * @pid: the thread
 */
void wait_waking(struct cut *c, const struct context *x, s32 pid)
{
	struct thread *t = cut_thread(c, pid, x->cpu);
	struct cpu *cpu = &c->cpu[x->cpu];
	bool irq = x->flags & (TRACE_HARDIRQ | TRACE_SOFTIRQ | TRACE_NMI);
	struct wait *w = &t->off_wait;

	cpu->woke = NULL;
	if (!t->inside || !t->off || t->woken || w->kind != WAIT_BLOCKED)
		return;
	t->woken = true;
	t->wake_ts = x->ts;
	w->stack = wait_frames(c, x->thread, irq);
	w->who = waker_name(c, x, w->stack);
	w->pid = irq ? 0 : x->thread->pid;
	if (cpu->device != NONE && x->ts - cpu->device_ts < COMPLETED)
		w->device = cpu->device;
	cpu->woke = t;
}

static bool is_tracing(const char *name)
{
	return !strncmp(name, "trace_event_", 12) ||
	       !strncmp(name, "__traceiter_", 12) ||
	       !strncmp(name, "stacktrace_trigger", 18) ||
	       !strncmp(name, "event_triggers_", 15) ||
	       !strncmp(name, "__trace_stack", 13) ||
	       !strncmp(name, "ftrace_", 7);
}

/* Text may be without the context of its lines, which the stack shows as well */
static bool is_of_interrupt(const struct cut *c, const u32 *function, u32 nr)
{
	while (nr--) {
		if (c->paths->functions.flags[*function++] &
		    (FUNCTION_INTERRUPT | FUNCTION_SOFTIRQ))
			return true;
	}
	return false;
}

/**
 * wait_stack - the stack of the event before
 * @c: the file
 * @x: context of the task
 * @function: the functions, innermost first
 * @nr: number of them
 */
void wait_stack(struct cut *c, const struct context *x, const u32 *function,
		u32 nr)
{
	bool irq = x->flags & (TRACE_HARDIRQ | TRACE_SOFTIRQ | TRACE_NMI);
	struct thread *t = c->cpu[x->cpu].woke;
	struct wait *w;

	if (!t || !nr)
		return;
	c->cpu[x->cpu].woke = NULL;
	w = &t->off_wait;
	irq |= is_of_interrupt(c, function, nr);
	/* Functions that write the event are on top */
	while (nr > 1 && is_tracing(c->paths->functions.name[*function])) {
		function++;
		nr--;
	}
	if (nr > MAX_STACK)
		nr = MAX_STACK;
	w->stack = pattern_id(&c->paths->stacks, function, NULL, nr);
	if (irq && irq_source(c, x) == NONE)
		w->who = irq_function(c, w->stack);
}

static void go_on(struct cut *c, struct thread *t, const struct context *x,
		  u32 prev_comm)
{
	struct wait *w = &t->off_wait;

	(void)c;
	t->off = false;
	/* The clock of a text is not exact */
	w->time = x->ts > t->off_ts ? x->ts - t->off_ts : 0;
	if (t->woken) {
		w->queued = x->ts > t->wake_ts ? x->ts - t->wake_ts : 0;
		w->other = prev_comm;
	}
	if (t->lock != NONE)
		t->lock_slept += w->time;
	wait_add(t, w);
}

/**
 * wait_switch - a CPU goes from one task to another
 * @c: the file
 * @x: the CPU
 * @prev: the task that leaves the CPU
 * @state: task state, from sched_switch
 * @next: the task that gets it
 * @next_comm: its name
 */
void wait_switch(struct cut *c, const struct context *x, s32 prev, u32 state,
		 s32 next, const char *next_comm)
{
	struct thread *from = cut_thread(c, prev, x->cpu);
	struct thread *to = cut_thread(c, next, x->cpu);

	if (*next_comm)
		cut_comm(c, to, next_comm);
	if (to->inside && to->off)
		go_on(c, to, x, from->comm);
	if (!from->inside || from->off)
		return;
	from->off = true;
	from->woken = false;
	from->off_ts = x->ts;
	from->off_wait = new_wait(from, x->ts, WAIT_BLOCKED);
	from->off_wait.pos = thread_pos(from);
	from->off_wait.state = state;
	from->off_wait.lock = from->lock;
	if (state & STATE_ASLEEP)
		return;
	from->off_wait.kind = WAIT_PREEMPTED;
	from->off_wait.who = to->comm;
	from->off_wait.pid = next;
}

/**
 * wait_lock - the current task begins to wait for a lock
 * @c: the file
 * @x: context of the task
 * @lock: its name
 */
void wait_lock(struct cut *c, const struct context *x, const char *lock)
{
	struct thread *t = x->thread;

	if (!t->inside ||
	    x->flags & (TRACE_HARDIRQ | TRACE_SOFTIRQ | TRACE_NMI))
		return;
	t->lock = name_id(c, "", lock);
	t->lock_ts = x->ts;
	t->lock_slept = 0;
}

/**
 * wait_unlock - the current task has got its lock
 * @c: the file
 * @x: context of the task
 */
void wait_unlock(struct cut *c, const struct context *x)
{
	struct thread *t = x->thread;
	u64 time = x->ts - t->lock_ts;
	struct wait w;

	(void)c;
	if (!t->inside || t->lock == NONE ||
	    x->flags & (TRACE_HARDIRQ | TRACE_SOFTIRQ | TRACE_NMI))
		return;
	w = new_wait(t, t->lock_ts, WAIT_SPIN);
	w.pos = thread_pos(t);
	w.lock = t->lock;
	w.time = time > t->lock_slept ? time - t->lock_slept : 0;
	t->lock = NONE;
	wait_add(t, &w);
}

/**
 * wait_irq_begin - an interrupt of the execution that a thread is in
 * @c: the file
 * @t: the thread
 * @ts: when
 *
 * Interrupts with nothing in between are one.
 */
void wait_irq_begin(struct cut *c, struct thread *t, u64 ts)
{
	struct interrupt *i = &t->irqs;
	u32 irq, kind;
	struct wait w;

	(void)c;
	if (i->open)
		return;
	w = new_wait(t, ts, WAIT_IRQ);
	w.pos = thread_pos(t);
	memset(i, 0, sizeof(*i));
	for (irq = 0; irq < IRQ_CLASSES; irq++) {
		for (kind = 0; kind < IRQ_SOURCES; kind++)
			i->part[irq].source[kind] = NONE;
	}
	i->wait = wait_add(t, &w);
	i->open = true;
}

/* The longest source of a context names it */
static void add_source(struct interrupt *i, enum irq_class irq,
		       enum irq_source kind, u32 name, u64 time)
{
	struct irq_part *p = &i->part[irq];

	if (p->source[kind] == name) {
		p->source_time[kind] += time;
	} else if (time >= p->source_time[kind]) {
		p->source[kind] = name;
		p->source_time[kind] = time;
	}
}

/* What begins and ends an interrupt, softirqs after it included: it does not name it */
static bool is_frame_of_irq(const struct strings *functions, u32 function)
{
	const char *name = functions->name[function];

	return !strncmp(name, "irq_e", 5) || !strncmp(name, "__irq_e", 7);
}

/* Whether the second of two outermost functions names their context better */
static bool names_better(const struct strings *functions,
			 const struct irq_part *p, u32 function, u64 time)
{
	bool was, is;

	if (!p->outer_time)
		return true;
	was = is_frame_of_irq(functions, p->outer);
	is = is_frame_of_irq(functions, function);
	return was == is ? time >= p->outer_time : was;
}

/**
 * wait_irq_self - a function of an interrupt has returned
 * @c: the file
 * @t: the thread
 * @f: the function
 * @self: its self time, ns
 * @time: its duration, ns
 */
void wait_irq_self(struct cut *c, struct thread *t, const struct frame *f,
		   u64 self, u64 time)
{
	struct irq_part *p = &t->irqs.part[f->irq];
	const struct strings *functions = &c->paths->functions;

	p->time += self;
	if (self >= p->hot_self) {
		p->hot = f->function;
		p->hot_self = self;
	}
	if ((f[-1].kind != FRAME_IRQ || f[-1].irq != f->irq) &&
	    names_better(functions, p, f->function, time)) {
		p->outer = f->function;
		p->outer_time = time;
	}
	/* Without events, functions say which softirq it is */
	if (f->irq == IRQ_SOFT &&
	    c->cpu[t->cpu].source[IRQ_SOFT][IRQ_LINE] == NONE &&
	    functions->flags[f->function] & FUNCTION_SOFTIRQ &&
	    softirq_of(functions->name[f->function]))
		add_source(&t->irqs, IRQ_SOFT, IRQ_LINE,
			   name_id(c, "softirq ",
				   softirq_of(functions->name[f->function])),
			   time);
}

/* Name of a context: the source with most of its time, else its outermost function */
static void part_name(struct cut *c, enum irq_class irq,
		      const struct irq_part *p, char *buf, size_t size)
{
	static const char *const context[] = { "softirq", "hard interrupt",
					       "NMI" };
	const struct strings *functions = &c->paths->functions;
	u32 source = NONE;
	size_t len;

	if (p->source_time[IRQ_TIMER] * 2 >= p->time)
		source = p->source[IRQ_TIMER];
	if (source == NONE && p->source_time[IRQ_LINE] * 2 >= p->time)
		source = p->source[IRQ_LINE];
	if (source != NONE)
		snprintf(buf, size, "%s", c->paths->names.name[source]);
	else
		snprintf(buf, size, "%s, %s()", context[irq],
			 functions->name[p->outer]);
	len = strlen(buf);
	if (p->hot_self * 2 >= p->time &&
	    (p->hot != p->outer || source != NONE))
		snprintf(buf + len, size - len, IRQ_MOST "%s()",
			 functions->name[p->hot]);
}

/**
 * wait_irq - an outermost function of the interrupt has returned
 * @c: the file
 * @t: the thread
 * @f: the function
 * @ts: when
 * @time: its duration, with the time between the function before and it, ns
 *
 * The context in which the most time was spent names the interruption.
 */
void wait_irq(struct cut *c, struct thread *t, const struct frame *f, u64 ts,
	      u64 time)
{
	struct interrupt *i = &t->irqs;
	struct wait *w = &t->wait[i->wait];
	enum irq_class irq, most = f->irq;
	char text[1024];

	if (!i->end)
		w->at = f->ts - t->frame[t->base].ts;
	w->time += time;
	w->pos = f->pos;
	i->end = ts;
	for (irq = 0; irq < IRQ_CLASSES; irq++) {
		if (i->part[irq].time > i->part[most].time)
			most = irq;
	}
	part_name(c, most, &i->part[most], text, sizeof(text));
	w->who = name_id(c, "", text);
}

/**
 * wait_irq_source - a CPU begins to handle an interrupt, a softirq or a timer
 * @c: the file
 * @x: context of the event
 * @irq: context of the interrupt
 * @kind: what @name names
 * @name: name of the interrupt, the softirq or the timer's function
 */
void wait_irq_source(struct cut *c, const struct context *x, enum irq_class irq,
		     enum irq_source kind, const char *name)
{
	struct cpu *cpu = &c->cpu[x->cpu];
	const char *prefix = kind == IRQ_TIMER ? "timer, " :
			     irq == IRQ_SOFT   ? "softirq " :
						 "irq ";

	cpu->source[irq][kind] = name_id(c, prefix, name);
	cpu->since[irq][kind] = x->ts;
}

/**
 * wait_irq_gone - a CPU has handled an interrupt, a softirq or a timer
 * @c: the file
 * @x: context of the event
 * @irq: context of the interrupt
 * @kind: what was named
 */
void wait_irq_gone(struct cut *c, const struct context *x, enum irq_class irq,
		   enum irq_source kind)
{
	struct cpu *cpu = &c->cpu[x->cpu];
	u32 name = cpu->source[irq][kind];

	cpu->source[irq][kind] = NONE;
	if (name != NONE && x->thread->inside && x->thread->irqs.open)
		add_source(&x->thread->irqs, irq, kind, name,
			   x->ts - cpu->since[irq][kind]);
}

/**
 * wait_block - a block device has completed a request
 * @c: the file
 * @x: context of the event
 * @dev: the kernel's dev_t
 */
void wait_block(struct cut *c, const struct context *x, u32 dev)
{
	char text[32];

	snprintf(text, sizeof(text), "%u:%u", dev >> 20, dev & 0xfffff);
	c->cpu[x->cpu].device = name_id(c, "device ", text);
	c->cpu[x->cpu].device_ts = x->ts;
}
