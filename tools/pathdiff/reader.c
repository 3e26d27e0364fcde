// SPDX-License-Identifier: GPL-2.0
/* Parses the records of a trace by the formats in it. */
#include <errno.h>
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <event-parse.h>

#include "pathdiff.h"
#include "softirq.h"
#include "text.h"

/* Records to read to find out the entry function and sleep-time */
#define SAMPLE 2000000

#define MAX_STACK 64
#define MAX_TYPE 65536

/* Kinds of records */
enum what {
	IS_NOTHING,
	IS_ENTRY,
	IS_EXIT,
	IS_SWITCH,
	IS_WAKING,
	IS_EXEC,
	IS_RENAME,
	IS_FORK,
	IS_STACK,
	IS_LOCK,
	IS_UNLOCK,
	IS_IRQ,
	IS_SOFTIRQ,
	IS_TIMER,
	IS_IRQ_GONE,
	IS_SOFTIRQ_GONE,
	IS_TIMER_GONE,
	IS_BLOCK,
	NR_WHAT,
};

#define MAX_FIELDS 4

/**
 * struct kind - an event that is parsed
 * @system:	its system
 * @name:	its name
 * @what:	what it says
 * @field:	names of the fields that are read, which all must be there
 */
static const struct kind {
	const char *system;
	const char *name;
	enum what what;
	const char *field[MAX_FIELDS];
} kinds[] = {
	{ "ftrace", "funcgraph_entry", IS_ENTRY, { "func", "depth" } },
	{ "ftrace", "funcgraph_retaddr_entry", IS_ENTRY, { "func", "depth" } },
	{ "ftrace", "fgraph_retaddr_entry", IS_ENTRY, { "func", "depth" } },
	{ "ftrace",
	  "funcgraph_exit",
	  IS_EXIT,
	  { "func", "depth", "calltime", "rettime" } },
	{ "ftrace", "kernel_stack", IS_STACK, { NULL } },
	{ "sched",
	  "sched_switch",
	  IS_SWITCH,
	  { "prev_pid", "prev_state", "next_pid" } },
	{ "sched", "sched_process_exec", IS_EXEC, { "pid" } },
	{ "sched", "sched_process_fork", IS_FORK, { "child_pid" } },
	{ "task", "task_rename", IS_RENAME, { "pid" } },
	{ "sched", "sched_waking", IS_WAKING, { "pid" } },
	{ "sched", "sched_wakeup", IS_WAKING, { "pid" } },
	{ "lock", "contention_begin", IS_LOCK, { "lock_addr" } },
	{ "lock", "contention_end", IS_UNLOCK, { "lock_addr" } },
	{ "irq", "irq_handler_entry", IS_IRQ, { "irq" } },
	{ "irq", "irq_handler_exit", IS_IRQ_GONE, { "irq" } },
	{ "irq", "softirq_entry", IS_SOFTIRQ, { "vec" } },
	{ "irq", "softirq_exit", IS_SOFTIRQ_GONE, { "vec" } },
	{ "timer", "hrtimer_expire_entry", IS_TIMER, { "function" } },
	{ "timer", "hrtimer_expire_exit", IS_TIMER_GONE, { "hrtimer" } },
	{ "timer", "timer_expire_entry", IS_TIMER, { "function" } },
	{ "timer", "timer_expire_exit", IS_TIMER_GONE, { "timer" } },
	{ "block", "block_rq_complete", IS_BLOCK, { "dev" } },
	{ "block", "block_bio_complete", IS_BLOCK, { "dev" } },
};

/**
 * struct event - an event of the file
 * @what:	what it says
 * @wakeup:	it is sched_wakeup, which is later than sched_waking
 * @min:	least size of its records
 * @field:	fields that are read
 * @text:	a string
 * @prev_comm:	of sched_switch: likewise
 * @name:	for diagnostics
 */
struct event {
	u8 what;
	u32 min;
	struct number field[MAX_FIELDS];
	struct tep_format_field *text;
	struct tep_format_field *prev_comm;
	const char *name;
};

/**
 * struct reader - a file that is read
 * @text:	it is text; otherwise NULL, and the rest is used
 * @event:	what is understood
 * @by_type:	for each common_type, one more than its place there
 */
struct reader {
	struct guard *guard;
	struct paths *paths;
	struct source *source;
	struct lines *text;
	struct records *records;
	struct symbols *symbols;
	struct cut *cut;
	struct number type;
	struct number flags;
	struct number pid;
	u32 common;
	struct event event[ARRAY_SIZE(kinds)];
	u8 by_type[MAX_TYPE];
	u32 entries;
	u32 exits;
	u64 seen[NR_WHAT];
	struct cached {
		struct thread *thread;
		s32 pid;
		bool there;
	} * cached;
	u32 cpus;
};

static const char *get_text(const struct tep_format_field *f,
			    const struct record *rec, char *buf, size_t size)
{
	array_text(f, rec, buf, size);
	return buf;
}

/* Returns false if the event lacks a field */
static bool understand(struct reader *r, const struct kind *k, struct event *e)
{
	struct tep_handle *tep = records_tep(r->records);
	struct tep_event *event =
		tep_find_event_by_name(tep, k->system, k->name);
	u32 i;

	memset(e, 0, sizeof(*e));
	e->name = k->name;
	if (!event || event->id < 0 || event->id >= MAX_TYPE)
		return true;
	for (i = 0; i < MAX_FIELDS && k->field[i]; i++) {
		struct number *n = &e->field[i];

		if (!number_find(n, r->records, event, k->field[i]))
			return false;
		if (e->min < n->offset + n->size)
			e->min = n->offset + n->size;
	}
	if (e->min < r->common)
		e->min = r->common;
	e->what = k->what;
	if (k->what == IS_SWITCH) {
		e->text = array_find(event, "next_comm");
		e->prev_comm = array_find(event, "prev_comm");
	}
	if (k->what == IS_EXEC)
		e->text = array_find(event, "filename");
	if (k->what == IS_RENAME)
		e->text = array_find(event, "newcomm");
	if (k->what == IS_FORK)
		e->text = array_find(event, "child_comm");
	if (k->what == IS_IRQ)
		e->text = array_find(event, "name");
	if (k->what == IS_STACK) {
		struct tep_format_field *f = tep_find_field(event, "caller");

		if (!f || f->offset < 1)
			return false;
		e->field[0] = r->type;
		e->field[0].offset = f->offset;
		e->field[0].size = tep_get_long_size(tep) == 4 ? 4 : 8;
		e->field[0].is_signed = false;
	}
	r->by_type[event->id] = e - r->event + 1;
	r->entries += k->what == IS_ENTRY;
	r->exits += k->what == IS_EXIT;
	return true;
}

/* All events have these in the same place: take it from one of them. */
static int find_common(struct reader *r)
{
	struct tep_event *event = tep_get_event(records_tep(r->records), 0);

	if (!event)
		return guard_fail(r->guard, GUARD_NOWHERE,
				  "describes no events");
	if (!number_find(&r->type, r->records, event, "common_type") ||
	    !number_find(&r->flags, r->records, event, "common_flags") ||
	    !number_find(&r->pid, r->records, event, "common_pid"))
		return guard_fail(
			r->guard, GUARD_NOWHERE,
			"damaged: its events have no type or no process");
	r->common = r->pid.offset + r->pid.size;
	if (r->common < r->flags.offset + r->flags.size)
		r->common = r->flags.offset + r->flags.size;
	if (r->common < r->type.offset + r->type.size)
		r->common = r->type.offset + r->type.size;
	return 0;
}

static int find_events(struct reader *r)
{
	int status = find_common(r);
	u32 i;

	for (i = 0; !status && i < ARRAY_SIZE(kinds); i++) {
		if (!understand(r, &kinds[i], &r->event[i]))
			status = guard_fail(
				r->guard, GUARD_NOWHERE,
				"damaged: the format of its event %s:%s lacks a field",
				kinds[i].system, kinds[i].name);
	}
	if (!status && (!r->entries || !r->exits))
		status = guard_fail(
			r->guard, GUARD_NOWHERE,
			"has no function_graph events; record with: trace-cmd record -p function_graph -g FUNCTION");
	return status;
}

static struct thread *thread_of(struct reader *r, const struct record *rec)
{
	struct cached *cached = &r->cached[rec->cpu];
	s32 pid = number_get(&r->pid, rec);

	if (!cached->there || cached->pid != pid) {
		cached->thread = cut_thread(r->cut, pid, rec->cpu);
		cached->pid = pid;
		cached->there = true;
		if (!cut_has_comm(cached->thread))
			cut_comm(r->cut, cached->thread,
				 tep_data_comm_from_pid(records_tep(r->records),
							pid));
	}
	return cached->thread;
}

static void on_stack(struct reader *r, const struct event *e,
		     const struct context *x, const struct record *rec)
{
	struct number n = e->field[0];
	u32 function[MAX_STACK], nr = 0;

	for (; nr < MAX_STACK && number_fits(&n, rec); n.offset += n.size) {
		u64 address = number_get(&n, rec);

		if (!address || address == U64_MAX ||
		    (n.size == 4 && address == U32_MAX))
			break;
		function[nr++] = symbols_function(r->symbols, address);
	}
	wait_stack(r->cut, x, function, nr);
}

static void on_lock(struct reader *r, const struct context *x, u64 address)
{
	char *name = symbols_exact(r->symbols, address);

	wait_lock(r->cut, x, name);
	free(name);
}

/*
 * The name of a thread from here on: the names that the file has saved are the last ones
 */
static void rename_thread(struct reader *r, const struct record *rec, s32 pid,
			  const char *comm)
{
	if (*comm)
		cut_comm(r->cut, cut_thread(r->cut, pid, rec->cpu), comm);
}

/* A process has the name of the file that it executes, without directories, cut off at 15 */
static void on_exec(struct reader *r, const struct event *e,
		    const struct record *rec)
{
	char buf[4096], *slash;

	get_text(e->text, rec, buf, sizeof(buf));
	slash = strrchr(buf, '/');
	slash = slash ? slash + 1 : buf;
	slash[strnlen(slash, 15)] = '\0';
	rename_thread(r, rec, number_get(&e->field[0], rec), slash);
}

/* All but function_graph */
static void on_event(struct reader *r, const struct event *e,
		     const struct record *rec, struct thread *thread)
{
	const struct number *f = e->field;
	struct context x = { .thread = thread,
			     .cpu = rec->cpu,
			     .flags = number_get(&r->flags, rec),
			     .ts = rec->ts };
	char buf[64];

	switch (e->what) {
	case IS_EXEC:
		on_exec(r, e, rec);
		break;
	case IS_RENAME:
	case IS_FORK:
		rename_thread(r, rec, number_get(&f[0], rec),
			      get_text(e->text, rec, buf, sizeof(buf)));
		break;
	case IS_SWITCH:
		rename_thread(r, rec, number_get(&f[0], rec),
			      get_text(e->prev_comm, rec, buf, sizeof(buf)));
		wait_switch(r->cut, &x, number_get(&f[0], rec),
			    number_get(&f[1], rec), number_get(&f[2], rec),
			    get_text(e->text, rec, buf, sizeof(buf)));
		break;
	case IS_WAKING:
		wait_waking(r->cut, &x, number_get(&f[0], rec));
		break;
	case IS_STACK:
		on_stack(r, e, &x, rec);
		break;
	case IS_LOCK:
		on_lock(r, &x, number_get(&f[0], rec));
		break;
	case IS_UNLOCK:
		wait_unlock(r->cut, &x);
		break;
	case IS_IRQ:
		wait_irq_source(r->cut, &x, IRQ_HARD, IRQ_LINE,
				get_text(e->text, rec, buf, sizeof(buf)));
		break;
	case IS_SOFTIRQ:
		wait_irq_source(r->cut, &x, IRQ_SOFT, IRQ_LINE,
				softirq_name(number_get(&f[0], rec)));
		break;
	case IS_TIMER:
		wait_irq_source(r->cut, &x, context_class(&x), IRQ_TIMER,
				r->paths->functions.name[symbols_function(
					r->symbols, number_get(&f[0], rec))]);
		break;
	case IS_IRQ_GONE:
		wait_irq_gone(r->cut, &x, IRQ_HARD, IRQ_LINE);
		break;
	case IS_SOFTIRQ_GONE:
		wait_irq_gone(r->cut, &x, IRQ_SOFT, IRQ_LINE);
		break;
	case IS_TIMER_GONE:
		wait_irq_gone(r->cut, &x, context_class(&x), IRQ_TIMER);
		break;
	case IS_BLOCK:
		wait_block(r->cut, &x, number_get(&f[0], rec));
		break;
	}
}

static int on_record(struct reader *r, const struct record *rec)
{
	const struct event *e;
	struct thread *thread;
	u32 type;

	r->source->records++;
	if (rec->lost) {
		cut_lost(r->cut, rec->cpu, rec->ts);
		r->source->lost += rec->missed;
		r->source->uncounted += !rec->missed;
	}
	if (rec->size < r->common)
		return 0;
	type = number_get(&r->type, rec);
	if (type >= MAX_TYPE || !r->by_type[type])
		return 0;
	e = &r->event[r->by_type[type] - 1];
	if (rec->size < e->min)
		return guard_fail(
			r->guard, rec->offset,
			"damaged: a %s is shorter than its format says",
			e->name);
	r->seen[e->what]++;
	thread = thread_of(r, rec);
	if (e->what <= IS_EXIT) {
		const struct number *f = e->field;
		struct graph_event g = {
			.function = symbols_function(r->symbols,
						     number_get(&f[0], rec)),
			.depth = number_get(&f[1], rec),
			.flags = number_get(&r->flags, rec),
			.ts = rec->ts,
		};

		cut_seen(r->cut, thread, rec->cpu, rec->ts);
		if (e->what == IS_ENTRY) {
			cut_enter(r->cut, thread, &g);
			return 0;
		}
		g.duration = number_get(&f[3], rec) - number_get(&f[2], rec);
		if ((s64)g.duration < 0)
			g.duration = 0;
		cut_leave(r->cut, thread, &g);
		return 0;
	}
	on_event(r, e, rec, thread);
	return 0;
}

/* From the first record on */
static void start_over(struct reader *r)
{
	struct source *s = r->source;
	struct source empty = { .file = s->file, .sleep_off = s->sleep_off };

	*s = empty;
	memset(r->seen, 0, sizeof(r->seen));
	if (r->cached)
		memset(r->cached, 0, r->cpus * sizeof(*r->cached));
}

static int rewind_file(struct reader *r)
{
	return r->text ? lines_rewind(r->text) : records_rewind(r->records);
}

/* Read at most @most records */
static int read_records(struct reader *r, u64 most)
{
	struct source *s = r->source;
	struct record rec;
	int status = 0;

	if (r->text) {
		status = lines_read(r->text, r->cut, most);
		r->seen[IS_ENTRY] = lines_entries(r->text);
		return status;
	}
	while (!status && s->records < most && records_next(r->records, &rec)) {
		if (!s->records)
			s->first = rec.ts;
		s->last = rec.ts;
		status = on_record(r, &rec);
	}
	if (!status)
		status = records_status(r->records);
	s->graph = r->seen[IS_ENTRY] + r->seen[IS_EXIT];
	s->has_switch = r->seen[IS_SWITCH];
	s->has_waking = r->seen[IS_WAKING];
	return status;
}

static bool mostly_off(const struct source *s)
{
	return s->votes[1] > s->votes[0];
}

/*
 * Without executions, to find out the entry, and whether calls that slept have
 * durations that say so
 */
static int look_ahead(struct reader *r, const struct read_options *o,
		      enum side side)
{
	struct paths *p = r->paths;
	int status;

	r->cut = cut_new(p, r->source, side, r->cpus);
	p->entry = NONE;
	start_over(r);
	status = read_records(r, o->entry ? SAMPLE / 10 : SAMPLE);
	if (!status && !o->entry && cut_outermost(r->cut) == NONE)
		status = read_records(r, U64_MAX);
	p->entry = !o->entry ? cut_outermost(r->cut) :
		   r->text   ? string_id(&p->functions, o->entry) :
			       symbols_named(r->symbols, o->entry);
	r->source->sleep_off =
		o->sleep == SLEEP_OFF ||
		(o->sleep == SLEEP_AUTO && mostly_off(r->source));
	cut_free(r->cut);
	r->cut = NULL;
	if (!status)
		status = rewind_file(r);
	return status;
}

/* Text in which more than one line in MOST_CUT is cut cannot be understood */
#define MOST_CUT 10

static int explain_nothing(struct reader *r)
{
	const struct source *s = r->source;
	const struct paths *p = r->paths;

	if (r->text && !s->graph)
		return guard_fail(
			r->guard, GUARD_NOWHERE,
			"neither a trace.dat file nor the text of a function_graph trace; record with: trace-cmd record -p function_graph -g FUNCTION -o FILE.dat");
	if (!s->records)
		return guard_fail(r->guard, GUARD_NOWHERE, "has no events");
	if (!s->graph)
		return guard_fail(
			r->guard, GUARD_NOWHERE,
			"has no function_graph events; record with: trace-cmd record -p function_graph -g FUNCTION");
	if (!r->seen[IS_ENTRY])
		return guard_fail(
			r->guard, GUARD_NOWHERE,
			"has only returns of functions: record without tracing_thresh");
	if (p->entry == NONE)
		return guard_fail(r->guard, GUARD_NOWHERE,
				  "has no complete execution of any function");
	return guard_fail(
		r->guard, GUARD_NOWHERE,
		"has no complete execution of %s%s (%llu began before the recording, %llu ended after it, %llu lack records)%s",
		p->functions.name[p->entry],
		r->text || symbols_known(r->symbols) ?
			"" :
			"; it has no symbols, so name functions by address",
		s->began, s->ended, s->broken,
		s->began || s->ended || s->broken ?
			"" :
			": record it (trace-cmd record -g), or give --entry a function that was recorded");
}

/* All of it, with executions */
static int cut_all(struct reader *r, const struct read_options *o)
{
	struct paths *p = r->paths;
	u32 nr = p->nr, waits = p->waits;
	struct source *s = r->source;
	int status;

	for (;;) {
		r->cut = cut_new(p, s, o->side, r->cpus);
		start_over(r);
		status = read_records(r, U64_MAX);
		if (!status)
			cut_finish(r->cut);
		cut_free(r->cut);
		r->cut = NULL;
		if (status || o->sleep != SLEEP_AUTO ||
		    mostly_off(s) == s->sleep_off)
			return status;
		/* The rest of the file contradicts its beginning. */
		s->sleep_off = mostly_off(s);
		p->nr = nr;
		p->waits = waits;
		status = rewind_file(r);
		if (status)
			return status;
	}
}

static bool is_text(const unsigned char *buf, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if ((buf[i] < ' ' && !strchr("\t\n\r\f\033", buf[i])) ||
		    !buf[i] || buf[i] == 0x7f)
			return false;
	}
	return nr;
}

/* A copy that can be read more than once, which a pipe cannot; @buf is its beginning */
static FILE *copy_text(struct guard *g, FILE *in, unsigned char *buf,
		       size_t size, size_t nr)
{
	FILE *copy = tmpfile();

	for (; copy && nr; nr = fread(buf, 1, size, in)) {
		guard_alive(g, GUARD_NOWHERE);
		if (fwrite(buf, 1, nr, copy) != nr)
			break;
	}
	if (copy && !nr && !ferror(in) && !fflush(copy))
		return copy;
	guard_fail(g, GUARD_NOWHERE, "cannot be copied to a temporary file: %s",
		   strerror(errno));
	if (copy)
		fclose(copy);
	return NULL;
}

/*
 * Opens a file if it is text, by its first bytes; a trace.dat is none, and is opened by
 * name. Returns 0, also if it is none, or EXIT_FAILURE after guard_fail().
 */
static int open_text(struct guard *g, const char *name, FILE **file)
{
	bool is_stdin = !strcmp(name, "-"), has_text, copied;
	FILE *in = is_stdin ? stdin : fopen(name, "re");
	unsigned char buf[4096];
	struct stat st;
	size_t nr;

	*file = NULL;
	if (!in)
		return 0;
	nr = fread(buf, 1, sizeof(buf), in);
	has_text = is_text(buf, nr);
	copied = is_stdin || fstat(fileno(in), &st) ||
		 !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
	if (has_text && copied) {
		*file = copy_text(g, in, buf, sizeof(buf), nr);
	} else if (has_text) {
		rewind(in);
		*file = in;
	} else if (copied) {
		guard_fail(
			g, GUARD_NOWHERE,
			"has no text; a trace.dat must be a regular file, given by name");
	}
	if (in != *file && !is_stdin)
		fclose(in);
	return copied && !*file ? EXIT_FAILURE : 0;
}

static int open_records(struct reader *r, const struct read_options *o)
{
	int status;

	r->records =
		records_open_expanded(r->guard, r->source->file, o->instance);
	if (!r->records)
		return EXIT_FAILURE;
	r->cpus = records_cpus(r->records);
	r->cached = xzalloc(r->cpus * sizeof(*r->cached));
	status = find_events(r);
	if (status)
		return status;
	r->symbols =
		symbols_read(records_tep(r->records), &r->paths->functions);
	return 0;
}

/**
 * reader_read - read a file, and cut out the executions of a function
 * @g: the guard
 * @p: where they go
 * @s: counts; its file is read
 * @o: how
 *
 * Return: 0, or EXIT_FAILURE after guard_fail().
 */
int reader_read(struct guard *g, struct paths *p, struct source *s,
		const struct read_options *o)
{
	struct reader *r = xzalloc(sizeof(*r));
	FILE *text;
	int status;

	r->guard = g;
	r->paths = p;
	r->source = s;
	status = open_text(g, s->file, &text);
	if (text) {
		r->cpus = TEXT_CPUS;
		r->text = lines_open(g, p, s, text);
		status = r->text ? 0 : EXIT_FAILURE;
	} else if (!status) {
		status = open_records(r, o);
	}
	if (!status)
		status = look_ahead(r, o, o->side);
	if (!status && p->entry != NONE)
		status = cut_all(r, o);
	if (!status && s->cuts > s->graph / MOST_CUT)
		status = guard_fail(
			g, GUARD_NOWHERE,
			"%llu line%s cut off, first line %llu: save the text without wrapping lines or removing their indentation",
			s->cuts, plural(s->cuts), s->first_cut);
	else if (!status && !s->executions)
		status = explain_nothing(r);
	if (!status && !r->text && !symbols_known(r->symbols))
		guard_note(g, "has no symbols: functions are shown by address");
	lines_close(r->text);
	symbols_free(r->symbols);
	free(r->cached);
	records_close(r->records);
	free(r);
	return status;
}
