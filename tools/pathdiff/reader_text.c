// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the text of a function_graph trace: tracefs' trace and trace_pipe,
 * trace-cmd report, perf ftrace, whole or an excerpt.
 *
 * A function's depth is its indentation. A "}" without a name belongs to the function
 * that was called at its depth. Without time stamps, a CPU's clock advances by durations
 * only: by those of leaf functions, and to the entry of a returning function plus its
 * duration. Without tasks, a CPU's task is the B of the last "A => B", or unknown.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cut.h"
#include "softirq.h"
#include "textline.h"

/* Start of a CPU's clock if the text has no time stamps, ns */
#define CLOCK_BEGIN 1000000000

/* Lines between two signs of life */
#define LINES_ALIVE 65536

/* Text has times in microseconds, cut off */
#define ROUNDING 1000

/* How far a clock may go back from line to line, ns: times are rounded */
#define BACK 1000000

/**
 * struct text_cpu - state of a CPU at the line at hand
 * @clock:	its time, ns
 * @printed:	the largest time stamp of a line
 * @task:	its task
 * @first:	its task at the beginning, by the first line that says so
 * @leaf:	a thread whose last function has no duration: it has returned when the
 *		next line of the CPU was written; or NULL
 * @irqs:	interrupts that have begun and not ended, by the text's arrows or events
 * @softirqs:	the same of softirqs, by events
 * @lost:	the last line says that events were lost: until the next line
 */
struct text_cpu {
	u64 clock;
	u64 printed;
	struct cpu_task {
		bool known;
		s32 pid;
		char comm[64];
	} task, first;
	struct thread *leaf;
	u32 irqs;
	u32 softirqs;
	bool lost;
};

/**
 * struct lines - the text of a trace
 * @guard:	the guard
 * @paths:	where names go
 * @source:	counts
 * @file:	the file
 * @text:	the current line
 * @size:	its room
 * @lines:	number of lines so far
 * @cpu:	the CPUs
 * @stack:	functions of the stack that is being read
 * @stack_nr:	number of them
 * @stack_of:	where the stack was written
 * @in_stack:	lines of a stack may follow
 * @timed:	a line has a time stamp or a duration
 * @entries:	calls so far
 * @exits:	returns so far
 */
struct lines {
	struct guard *guard;
	struct paths *paths;
	struct source *source;
	FILE *file;
	char *text;
	size_t size;
	u64 lines;
	struct text_cpu *cpu;
	u32 stack[64];
	u32 stack_nr;
	struct context stack_of;
	bool in_stack;
	bool timed;
	u64 entries;
	u64 exits;
};

static void set_task(struct cpu_task *to, const struct line_task *task)
{
	to->pid = task->pid;
	to->known = true;
	snprintf(to->comm, sizeof(to->comm), "%.*s", (int)sizeof(to->comm) - 1,
		 task->comm);
}

static void restart(struct lines *t)
{
	u32 i;

	t->lines = t->entries = t->exits = 0;
	t->in_stack = false;
	for (i = 0; i < TEXT_CPUS; i++) {
		t->cpu[i].clock = CLOCK_BEGIN;
		t->cpu[i].task = t->cpu[i].first;
		t->cpu[i].leaf = NULL;
		t->cpu[i].printed = 0;
		t->cpu[i].irqs = t->cpu[i].softirqs = 0;
		t->cpu[i].lost = false;
	}
}

/**
 * lines_close - end it
 * @t: what lines_open() returned, or NULL
 */
void lines_close(struct lines *t)
{
	if (!t)
		return;
	fclose(t->file);
	free(t->text);
	free(t->cpu);
	free(t);
}

/**
 * lines_rewind - read from the beginning again
 * @t: the text
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int lines_rewind(struct lines *t)
{
	if (fseek(t->file, 0, SEEK_SET))
		return guard_fail(t->guard, GUARD_NOWHERE, "%s",
				  strerror(errno));
	restart(t);
	return 0;
}

/*
 * Names in events are current. Those in lines are, too, in what was read while it was
 * recorded; else they are the last ones. "<...>" stands for a name that is not known.
 */
static void name_by_line(struct cut *c, struct thread *thread,
			 const struct cpu_task *task)
{
	bool known = task->known && strcmp(task->comm, "<...>") != 0;

	if (!cut_has_comm(thread))
		cut_comm(c, thread, known ? task->comm : "unknown task");
	else if (known && !thread->named_by_event &&
		 strcmp(c->paths->names.name[thread->comm], task->comm) != 0)
		cut_comm(c, thread, task->comm);
}

/* A name from an event */
static void name_by_event(struct cut *c, struct thread *thread,
			  const char *comm)
{
	cut_comm(c, thread, comm);
	thread->named_by_event = true;
}

/* The thread that wrote a line */
static struct thread *thread_of(struct lines *t, struct cut *c,
				const struct line *l)
{
	struct cpu_task *task = &t->cpu[l->cpu].task;
	struct thread *thread;

	if (l->has_task)
		set_task(task, &l->task);
	thread = cut_thread(
		c, task->known ? task->pid : UNKNOWN_PID + (s32)l->cpu, l->cpu);
	name_by_line(c, thread, task);
	return thread;
}

/* Moves a CPU's clock to a line, and a thread's in it; returns the time */
static u64 time_of(struct lines *t, const struct thread *thread,
		   const struct line *l)
{
	struct text_cpu *cpu = &t->cpu[l->cpu];

	if (l->has_ts)
		cpu->clock = l->ts;
	if (cpu->clock < thread->last)
		cpu->clock = thread->last;
	return cpu->clock;
}

/* The context of a line: from its flags, or else from what has begun on its CPU */
static u32 context_of(const struct text_cpu *cpu, const struct line *l)
{
	if (l->has_flags)
		return l->flags;
	return cpu->irqs ? TRACE_HARDIRQ : cpu->softirqs ? TRACE_SOFTIRQ : 0;
}

/* High-resolution timers expire in interrupts, others in softirqs */
static u32 *context_count(struct text_cpu *cpu, const char *event)
{
	return !strncmp(event, "irq_handler_", 12) ||
			       !strncmp(event, "hrtimer_expire_", 15) ?
		       &cpu->irqs :
	       !strncmp(event, "softirq_e", 9) ||
			       !strncmp(event, "timer_expire_", 13) ?
		       &cpu->softirqs :
		       NULL;
}

static void begin_context(struct text_cpu *cpu, const struct line *l)
{
	u32 *count = context_count(cpu, l->name);

	if (count && strstr(l->name, "_entry"))
		++*count;
}

static void end_context(struct text_cpu *cpu, const struct line *l)
{
	u32 *count = context_count(cpu, l->name);

	if (count && *count && strstr(l->name, "_exit"))
		--*count;
}

/* The leaf without a duration, if there is one, has returned */
static void end_leaf(struct lines *t, struct cut *c, struct text_cpu *cpu,
		     u32 flags)
{
	struct thread *thread = cpu->leaf;
	const struct frame *f = thread ? top_frame(thread) : NULL;
	struct graph_event e;

	cpu->leaf = NULL;
	if (!f)
		return;
	e.function = f->function;
	e.depth = f->depth;
	e.flags = flags;
	e.ts = cpu->clock > f->ts ? cpu->clock : f->ts;
	e.duration = e.ts - f->ts;
	t->exits++;
	cut_leave(c, thread, &e);
}

/* The function at a depth that has not returned */
static const struct frame *frame_at(const struct thread *thread, s32 depth)
{
	u32 i = thread->frames;

	while (i && thread->frame[i - 1].depth > depth)
		i--;
	return i && thread->frame[i - 1].depth == depth ?
		       &thread->frame[i - 1] :
		       NULL;
}

static void on_leave(struct lines *t, struct cut *c, struct thread *thread,
		     const struct line *l, struct graph_event *e)
{
	const struct frame *f = frame_at(thread, e->depth);
	u64 *clock = &t->cpu[l->cpu].clock;

	e->function = l->name[0] ? string_id(&t->paths->functions, l->name) :
		      f		 ? f->function :
				   NONE;
	if (f && f->function != e->function)
		f = NULL;
	if (f && !l->has_ts && l->has_duration && *clock < f->ts + l->duration)
		*clock = f->ts + l->duration;
	e->ts = *clock;
	e->duration = l->has_duration	 ? l->duration :
		      f && e->ts > f->ts ? e->ts - f->ts :
					   0;
	t->exits++;
	cut_seen(c, thread, l->cpu, e->ts);
	cut_leave(c, thread, e);
}

static void on_function(struct lines *t, struct cut *c, const struct line *l)
{
	struct thread *thread = thread_of(t, c, l);
	struct text_cpu *cpu = &t->cpu[l->cpu];
	struct graph_event e = {
		.depth = l->indent,
		.flags = context_of(cpu, l),
		.ts = time_of(t, thread, l),
	};

	if (l->kind == LINE_LEAVE) {
		on_leave(t, c, thread, l, &e);
		return;
	}
	e.function = string_id(&t->paths->functions, l->name);
	t->entries++;
	cut_seen(c, thread, l->cpu, e.ts);
	cut_enter(c, thread, &e);
	if (l->kind == LINE_ENTER)
		return;
	if (l->has_ts && !l->has_duration) {
		cpu->leaf = thread;
		return;
	}
	e.duration = l->duration;
	e.ts += e.duration;
	if (!l->has_ts)
		cpu->clock = e.ts;
	t->exits++;
	cut_seen(c, thread, l->cpu, e.ts);
	cut_leave(c, thread, &e);
}

/* "S", "R+", "D|K": as a number of sched_switch */
static u32 state_of(const char *s)
{
	static const char letters[] = "SDTtXZPI";
	const char *at = *s ? strchr(letters, *s) : NULL;

	if (at)
		return 1u << (at - letters);
	return s[0] == 'R' && s[1] == '+' ? 0x100 : 0;
}

/* trace-cmd's "comm:pid [prio]": moves @s past it */
static bool read_task(const char **s, struct line_task *task)
{
	const char *bracket = strstr(*s, " ["), *colon = bracket, *end;

	if (!bracket)
		return false;
	end = strchr(bracket, ']');
	while (colon > *s && *colon != ':')
		colon--;
	if (*colon != ':' || !end || (size_t)(colon - *s) >= sizeof(task->comm))
		return false;
	memcpy(task->comm, *s, colon - *s);
	task->comm[colon - *s] = '\0';
	task->pid = atoi(colon + 1);
	*s = end + 1;
	return true;
}

/* Of sched_switch, as the kernel and as trace-cmd write it */
static bool read_switch(const char *fields, struct line_task *prev,
			struct line_task *next, u32 *state)
{
	const char *s = fields, *arrow = strstr(fields, "==> ");
	char text[16];
	u64 a, b;

	if (!arrow)
		return false;
	if (line_number(fields, "prev_pid", &a) &&
	    line_number(arrow, "next_pid", &b)) {
		prev->pid = a;
		next->pid = b;
		line_string(fields, "prev_comm", prev->comm,
			    sizeof(prev->comm));
		line_string(arrow, "next_comm", next->comm, sizeof(next->comm));
		*state = line_string(fields, "prev_state", text, sizeof(text)) ?
				 state_of(text) :
				 0;
		return true;
	}
	s += strspn(s, " ");
	if (!read_task(&s, prev))
		return false;
	s += strspn(s, " ");
	*state = state_of(s);
	s = arrow + 4;
	return read_task(&s, next);
}

static void on_switch(struct lines *t, struct cut *c, const struct context *x,
		      const char *fields)
{
	struct line_task prev = { .comm = "" }, next = { .comm = "" };
	u32 state;

	if (!read_switch(fields, &prev, &next, &state))
		return;
	t->source->has_switch = true;
	if (prev.comm[0])
		name_by_event(c, cut_thread(c, prev.pid, x->cpu), prev.comm);
	if (next.comm[0])
		name_by_event(c, cut_thread(c, next.pid, x->cpu), next.comm);
	wait_switch(c, x, prev.pid, state, next.pid, next.comm);
	set_task(&t->cpu[x->cpu].task, &next);
}

static void on_waking(struct lines *t, struct cut *c, const struct context *x,
		      const char *fields)
{
	const char *s = fields + strspn(fields, " ");
	struct line_task task;
	u64 pid;

	if (line_number(fields, "pid", &pid))
		task.pid = pid;
	else if (!read_task(&s, &task))
		return;
	t->source->has_waking = true;
	wait_waking(c, x, task.pid);
}

static void rename_to(struct cut *c, const struct context *x,
		      const char *fields, const char *pid, const char *comm,
		      bool is_path)
{
	char buf[4096], *name = buf, *slash;
	u64 n;

	if (!line_number(fields, pid, &n) ||
	    !line_string(fields, comm, buf, sizeof(buf)))
		return;
	slash = strrchr(buf, '/');
	if (is_path && slash)
		name = slash + 1;
	name[strnlen(name, 15)] = '\0';
	if (*name)
		name_by_event(c, cut_thread(c, n, x->cpu), name);
}

static void on_block(struct cut *c, const struct context *x, const char *fields)
{
	unsigned int major, minor;

	if (sscanf(fields, " %u,%u", &major, &minor) == 2)
		wait_block(c, x, major << 20 | (minor & 0xfffff));
}

static void on_event(struct lines *t, struct cut *c, const struct line *l)
{
	static const char *const names[] = {
		"sched_switch",		"sched_waking",
		"sched_wakeup",		"sched_process_exec",
		"sched_process_fork",	"task_rename",
		"contention_begin",	"contention_end",
		"irq_handler_entry",	"irq_handler_exit",
		"softirq_entry",	"softirq_exit",
		"hrtimer_expire_entry", "hrtimer_expire_exit",
		"timer_expire_entry",	"timer_expire_exit",
		"block_rq_complete",	"block_bio_complete",
		"kernel_stack",		NULL
	};
	struct context x = { .thread = thread_of(t, c, l), .cpu = l->cpu };
	struct text_cpu *cpu = &t->cpu[l->cpu];
	const char *fields = l->fields;
	char buf[LINE_NAME];
	u64 n;
	int i;

	for (i = 0; names[i] && strcmp(names[i], l->name) != 0;)
		i++;
	begin_context(cpu, l);
	x.flags = context_of(cpu, l);
	x.ts = time_of(t, x.thread, l);
	switch (i) {
	case 0:
		on_switch(t, c, &x, fields);
		break;
	case 1:
	case 2:
		on_waking(t, c, &x, fields);
		break;
	case 3:
		rename_to(c, &x, fields, "pid", "filename", true);
		break;
	case 4:
		rename_to(c, &x, fields, "child_pid", "child_comm", false);
		break;
	case 5:
		rename_to(c, &x, fields, "pid", "newcomm", false);
		break;
	case 6:
		if (sscanf(fields, " %63s", buf) == 1)
			wait_lock(c, &x, buf);
		break;
	case 7:
		wait_unlock(c, &x);
		break;
	case 8:
		if (line_string(fields, "name", buf, sizeof(buf)))
			wait_irq_source(c, &x, IRQ_HARD, IRQ_LINE, buf);
		break;
	case 9:
		wait_irq_gone(c, &x, IRQ_HARD, IRQ_LINE);
		break;
	case 10:
		if (line_number(fields, "vec", &n))
			wait_irq_source(c, &x, IRQ_SOFT, IRQ_LINE,
					softirq_name(n));
		break;
	case 11:
		wait_irq_gone(c, &x, IRQ_SOFT, IRQ_LINE);
		break;
	case 12:
	case 14:
		if (line_string(fields, "function", buf, sizeof(buf)))
			wait_irq_source(c, &x, context_class(&x), IRQ_TIMER,
					buf);
		break;
	case 13:
	case 15:
		wait_irq_gone(c, &x, context_class(&x), IRQ_TIMER);
		break;
	case 16:
	case 17:
		on_block(c, &x, fields);
		break;
	case 18:
		t->in_stack = true;
		t->stack_nr = 0;
		t->stack_of = x;
		break;
	}
	end_context(cpu, l);
}

static void end_stack(struct lines *t, struct cut *c)
{
	if (!t->in_stack)
		return;
	t->in_stack = false;
	wait_stack(c, &t->stack_of, t->stack, t->stack_nr);
}

/* A function of a stack, one a line */
static void on_stack(struct lines *t, const struct line *l)
{
	if (t->in_stack && t->stack_nr < sizeof(t->stack) / sizeof(*t->stack))
		t->stack[t->stack_nr++] =
			string_id(&t->paths->functions, l->name);
}

/* Another task has the CPU: the clock is not before the last line of that task */
static void on_switched(struct lines *t, struct cut *c, const struct line *l)
{
	struct text_cpu *cpu = &t->cpu[l->cpu];
	struct thread *next;

	set_task(&cpu->task, &l->next);
	next = cut_thread(c, l->next.pid, l->cpu);
	name_by_line(c, next, &cpu->task);
	if (cpu->clock < next->last)
		cpu->clock = next->last;
}

static void on_line(struct lines *t, struct cut *c, const struct line *l)
{
	struct text_cpu *cpu = &t->cpu[l->cpu];

	/* A thread that comes to the CPU with this line may have been there before */
	if (cpu->lost && l->has_ts)
		c->cpu[l->cpu].lost = l->ts;
	cpu->lost = false;
	if (cpu->leaf && l->has_ts) {
		cpu->clock = l->ts;
		end_leaf(t, c, cpu, context_of(cpu, l));
	}
	switch (l->kind) {
	case LINE_ENTER:
	case LINE_LEAF:
	case LINE_LEAVE:
		on_function(t, c, l);
		break;
	case LINE_SWITCHED:
		on_switched(t, c, l);
		break;
	case LINE_IRQ_BEGIN:
		cpu->irqs++;
		break;
	case LINE_IRQ_END:
		cpu->irqs -= !!cpu->irqs;
		break;
	case LINE_EVENT:
		on_event(t, c, l);
		break;
	case LINE_LOST:
		cpu->irqs = cpu->softirqs = 0;
		t->source->lost += l->lost;
		t->source->uncounted += !l->lost;
		cpu->lost = true;
		cut_lost(c, l->cpu, cpu->clock);
		break;
	case LINE_CUT:
		if (!t->source->cuts++)
			t->source->first_cut = t->lines;
		cpu->irqs = cpu->softirqs = 0;
		cut_gap(c, l->has_cpu ? l->cpu : NONE);
		break;
	default:
		break;
	}
}

/* Return: 1, or -1 after guard_fail() if the CPU's clock goes back */
static int check_clock(struct lines *t, const struct line *l)
{
	struct text_cpu *cpu = &t->cpu[l->cpu];

	t->timed |= l->has_ts || l->has_duration;
	if (!l->has_ts)
		return 1;
	if (l->ts + BACK < cpu->printed) {
		guard_fail(
			t->guard, GUARD_NOWHERE,
			"line %llu: the clock of CPU %u goes back: if this is more than one recording, save each in a file",
			t->lines, l->cpu);
		return -1;
	}
	if (cpu->printed < l->ts)
		cpu->printed = l->ts;
	return 1;
}

/*
 * next_line - read a line
 *
 * Return: 1, 0 at the end of the file, or -1 after guard_fail().
 */
static int next_line(struct lines *t, struct line *l)
{
	if (getline(&t->text, &t->size, t->file) < 0) {
		if (!ferror(t->file))
			return 0;
		guard_fail(t->guard, GUARD_NOWHERE, "%s", strerror(errno));
		return -1;
	}
	if (!(++t->lines % LINES_ALIVE))
		guard_alive(t->guard, ftell(t->file));
	l->cpu = 0;
	line_parse(l, t->text);
	if (l->refused) {
		guard_fail(t->guard, GUARD_NOWHERE, "line %llu: %s", t->lines,
			   l->refused);
		return -1;
	}
	if (l->kind == LINE_OTHER)
		return 1;
	if (l->cpu < TEXT_CPUS)
		return check_clock(t, l);
	guard_fail(t->guard, GUARD_NOWHERE,
		   "line %llu: Linux has at most %u CPUs, this is number %u",
		   t->lines, TEXT_CPUS, l->cpu);
	return -1;
}

/* Which task each CPU has at the beginning */
static int find_first_tasks(struct lines *t)
{
	struct line l;
	int more;

	while ((more = next_line(t, &l)) > 0) {
		struct cpu_task *first = &t->cpu[l.cpu].first;

		if (l.kind != LINE_OTHER && l.has_task && !first->known)
			set_task(first, &l.task);
	}
	return more ? EXIT_FAILURE : lines_rewind(t);
}

/**
 * lines_read - read lines
 * @t: the text
 * @c: the file that they are cut into executions for
 * @most: until there have been this many
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int lines_read(struct lines *t, struct cut *c, u64 most)
{
	struct source *s = t->source;
	struct line l;
	int more = 1;

	c->rounding = ROUNDING;
	while (t->lines < most && (more = next_line(t, &l)) > 0) {
		if (l.kind == LINE_STACK) {
			on_stack(t, &l);
			continue;
		}
		end_stack(t, c);
		if (l.kind == LINE_OTHER)
			continue;
		on_line(t, c, &l);
		if (!s->records++)
			s->first = t->cpu[l.cpu].clock;
		if (s->last < t->cpu[l.cpu].clock)
			s->last = t->cpu[l.cpu].clock;
	}
	end_stack(t, c);
	s->graph = t->entries + t->exits;
	if (!more && t->entries && !t->timed && !s->cuts)
		return guard_fail(
			t->guard, GUARD_NOWHERE,
			"has neither times nor durations: record with the option funcgraph-duration or funcgraph-abstime");
	return more < 0 ? EXIT_FAILURE : 0;
}

/**
 * lines_entries - the number of calls in what was read
 * @t: the text
 */
u64 lines_entries(const struct lines *t)
{
	return t->entries;
}

/**
 * lines_open - begin to read a trace's text
 * @g: the guard
 * @p: where names go
 * @s: what is in it is counted
 * @file: it, from its beginning; closed at the end, also after a failure
 *
 * Return: the text, or NULL after guard_fail().
 */
struct lines *lines_open(struct guard *g, struct paths *p, struct source *s,
			 FILE *file)
{
	struct lines *t = xzalloc(sizeof(*t));

	t->guard = g;
	t->paths = p;
	t->source = s;
	t->file = file;
	t->cpu = xzalloc(TEXT_CPUS * sizeof(*t->cpu));
	if (find_first_tasks(t)) {
		lines_close(t);
		return NULL;
	}
	return t;
}
