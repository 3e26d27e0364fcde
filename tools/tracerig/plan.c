// SPDX-License-Identifier: GPL-2.0
/* Presets and filters. See plan.h. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "memory.h"
#include "plan.h"
#include "text.h"
#include "tracerig.h"

/* The kernel allows longer names; suffixes such as _return are added to these */
#define NAME_MAX_LEN 48

/*
 * With stale=, an operation that never ends keeps the reader from later windows only for
 * that time.
 */
#define WINDOW_LONG "dup=last, stale=5s, pre=20ms, post=5ms, from=start"
/* ioreq needs all of a request, at both ends */
#define WINDOW_REQUEST "dup=last, stale=5s, pre=50ms, post=50ms, from=start"
#define WINDOW_SHORT "dup=last, stale=1s, pre=10ms, post=1ms, from=start"

/* What the kernel calls the function of a system call begins with this */
#if defined(__x86_64__)
#define SYSCALL_FUNCTION "__x64_sys_"
#elif defined(__i386__)
#define SYSCALL_FUNCTION "__ia32_sys_"
#elif defined(__aarch64__)
#define SYSCALL_FUNCTION "__arm64_sys_"
#elif defined(__s390x__)
#define SYSCALL_FUNCTION "__s390x_sys_"
#elif defined(__riscv)
#define SYSCALL_FUNCTION "__riscv_sys_"
#else
#define SYSCALL_FUNCTION "sys_"
#endif

#define SYSCALL_END "sys_exit_"

#define PRESETS \
	"disk, wakeup, syscall:NAME, function:NAME, uprobe:FILE:SYMBOL or request:PORT"

static void add_context(struct plan *p, const char *event, bool optional)
{
	size_t i;

	for (i = 0; i < p->nr_context; i++) {
		if (!strcmp(p->context[i], event)) {
			p->optional[i] &= optional;
			return;
		}
	}
	p->context = xreallocarray(p->context, i + 1, sizeof(*p->context));
	p->optional = xreallocarray(p->optional, i + 1, sizeof(*p->optional));
	p->context[i] = xstrdup(event);
	p->optional[i] = optional;
	p->nr_context++;
}

/* NAME with the characters that charts and events may have in their names */
static char *clean_name(const char *name)
{
	char *clean = xstrndup(name, NAME_MAX_LEN), *c;

	for (c = clean; *c; c++) {
		if (!isalnum((unsigned char)*c))
			*c = '_';
	}
	return clean;
}

/* A call, up to its parenthesis; a filter has one */
#define CALL "ctlchart"

/* What ends the value of an option */
#define ENDS " \t,)"

static void scan_time(const char *s, u64 *ns)
{
	char *text = xstrndup(s, strcspn(s, ENDS));

	/* The kernel rejects values that are not times */
	if (!parse_time(text, ns))
		*ns = 0;
	free(text);
}

/* Options that the user's ctlchart() call has */
struct call_options {
	char *name;
	bool windows;
	u64 pre;
	const char *end;
};

/* Find the options and the closing parenthesis of a call; false if it is not closed */
static bool scan_call(const char *s, struct call_options *o)
{
	char quote = 0;
	int depth = 0;

	*o = (struct call_options){ 0 };
	for (; *s; s++) {
		if (quote) {
			if (*s == quote)
				quote = 0;
			continue;
		}
		if (*s == '"' || *s == '\'')
			quote = *s;
		else if (*s == '(')
			depth++;
		else if (*s == ')' && !--depth)
			break;
		if (!strchr("(, \t", *s))
			continue;
		if (!strncmp(s + 1, "pre=", 4) || !strncmp(s + 1, "post=", 5) ||
		    !strncmp(s + 1, "from=", 5))
			o->windows = true;
		if (!strncmp(s + 1, "pre=", 4))
			scan_time(s + 5, &o->pre);
		if (!strncmp(s + 1, "name=", 5) && !o->name)
			o->name = xstrndup(s + 6, strcspn(s + 6, ENDS));
	}
	o->end = s;
	return *s == ')';
}

static char *add_chart(struct plan *p, const struct plan_chart *c)
{
	struct call_options call;
	size_t i;

	if (p->nr_charts == PLAN_CHARTS)
		return xasprintf("more than %d charts", PLAN_CHARTS);
	for (i = 0; i < p->nr_charts; i++) {
		const struct plan_chart *o = &p->chart[i];

		if (!strcmp(o->name, c->name))
			return xasprintf(
				"two charts are called %s: leave one out, or give the one of -f another name=",
				c->name);
		if (!strcmp(o->event, c->event) && !o->system == !c->system &&
		    (!o->system || !strcmp(o->system, c->system)))
			return xasprintf(
				"%s has two filters: an event can have only one",
				c->event);
	}
	p->chart[p->nr_charts++] = *c;
	scan_call(strstr(c->filter, CALL "(") + strlen(CALL), &call);
	free(call.name);
	if (call.pre > p->lead_in)
		p->lead_in = call.pre;
	return NULL;
}

static void free_chart(struct plan_chart *c)
{
	free(c->name);
	free(c->system);
	free(c->event);
	free(c->filter);
	free(c->symbol);
	free(c->file);
	free(c->build_id);
	free(c->paths);
}

/* Add a chart, or free it on error */
static char *add_chart_or_free(struct plan *p, struct plan_chart *c)
{
	char *error = add_chart(p, c);

	if (error)
		free_chart(c);
	return error;
}

static char *preset_disk(struct plan *p)
{
	struct plan_chart c = {
		.name = xstrdup("disk"),
		.system = xstrdup("block"),
		.event = xstrdup("block_rq_complete"),
		.filter = xstrdup(
			"ctlchart(block_bio_queue, dev, sector, by=dev, " WINDOW_LONG
			", name=disk)"),
	};

	add_context(p, "block:block_bio_queue", false);
	add_context(p, "block:block_rq_insert", true);
	add_context(p, "block:block_rq_issue", true);
	return add_chart_or_free(p, &c);
}

static char *preset_wakeup(struct plan *p)
{
	struct plan_chart c = {
		.name = xstrdup("wakeup"),
		.system = xstrdup("sched"),
		.event = xstrdup("sched_switch"),
		.filter = xstrdup(
			"ctlchart(sched_waking, pid:next_pid, " WINDOW_SHORT
			", name=wakeup)"),
	};

	return add_chart_or_free(p, &c);
}

static char *preset_syscall(struct plan *p, const char *name)
{
	struct plan_chart c = { 0 };
	char *start;

	if (!*name ||
	    name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")])
		return xasprintf("syscall:%s: not the name of a system call",
				 name);
	c.name = xasprintf("syscall.%s", name);
	c.system = xstrdup("syscalls");
	c.event = xasprintf("sys_exit_%s", name);
	c.filter = xasprintf("ctlchart(sys_enter_%s, common_pid, " WINDOW_LONG
			     ", name=%s)",
			     name, c.name);
	start = xasprintf("syscalls:sys_enter_%s", name);
	add_context(p, start, false);
	free(start);
	return add_chart_or_free(p, &c);
}

/* Whether another file's function has a chart of this name */
static bool is_other(const struct plan *p, const char *kind, const char *name,
		     const char *file)
{
	char *chart = xasprintf("%s.%s", kind, name);
	size_t i;

	for (i = 0; i < p->nr_charts && strcmp(p->chart[i].name, chart); i++)
		;
	free(chart);
	return i < p->nr_charts && p->chart[i].file &&
	       strcmp(p->chart[i].file, file) != 0;
}

/* The function's name; with the file's if a function of another file has the same */
static char *probe_name(const struct plan *p, const char *kind,
			const struct plan_probe *where, const char *symbol)
{
	char *name = clean_name(symbol), *both;

	if (!where->file || !is_other(p, kind, name, where->file))
		return name;
	free(name);
	both = xasprintf("%s_%s", symbol, strrchr(where->file, '/') + 1);
	name = clean_name(both);
	free(both);
	return name;
}

/* Two probes, at a function's entry and return, and a chart of the time between */
static char *add_probes(struct plan *p, const char *kind,
			const struct plan_probe *where, const char *symbol,
			const char *build_id)
{
	char *clean = probe_name(p, kind, where, symbol);
	struct plan_probe entry = *where;
	struct plan_chart c = { 0 };
	int i;

	c.name = xasprintf("%s.%s", kind, clean);
	c.event = xasprintf("%s_return", clean);
	c.filter = xasprintf("ctlchart(%s_entry, common_pid, " WINDOW_LONG
			     ", name=%s)",
			     clean, c.name);
	c.symbol = xstrdup(symbol);
	c.file = xstrdup(where->file);
	c.build_id = xstrdup(build_id);
	for (i = 0; i < 2; i++) {
		entry.returns = i;
		entry.event = xasprintf("%s_%s", clean, i ? "return" : "entry");
		entry.function = xstrdup(where->function);
		entry.file = xstrdup(where->file);
		GROW(p->probe, p->nr_probes, p->probe_room);
		p->probe[p->nr_probes++] = entry;
	}
	free(clean);
	return add_chart_or_free(p, &c);
}

static char *preset_function(struct plan *p, const char *name)
{
	struct plan_probe where = { .function = (char *)name };
	const char *c;

	for (c = name; isalnum((unsigned char)*c) || *c == '_' || *c == '.';)
		c++;
	if (!*name || *c)
		return xasprintf("function:%s: not the name of a function",
				 name);
	return add_probes(p, "function", &where, name, NULL);
}

/* Look for a program in PATH, as a shell does */
static char *find_file(const char *name)
{
	char *dirs, *dir, *rest, *path, *found = NULL;

	if (strchr(name, '/'))
		return realpath(name, NULL);
	rest = dirs = xstrdup(getenv("PATH"));
	while (rest && !found && (dir = strsep(&rest, ":")) != NULL) {
		path = xasprintf("%s/%s", dir, name);
		if (!access(path, X_OK))
			found = realpath(path, NULL);
		free(path);
	}
	free(dirs);
	if (!found)
		errno = ENOENT;
	return found;
}

static char *preset_uprobe(struct plan *p, const char *text)
{
	const char *colon = strrchr(text, ':');
	struct plan_probe where = { 0 };
	char *name, *error, *build_id = NULL;

	if (!colon || colon == text || !colon[1])
		return xasprintf(
			"uprobe:%s: must be uprobe:FILE:SYMBOL, such as uprobe:/usr/bin/bash:readline",
			text);
	name = xstrndup(text, colon - text);
	where.file = find_file(name);
	if (where.file)
		error = uprobe_find(where.file, colon + 1, &where.offset,
				    &build_id);
	else
		error = xasprintf("%s: %s", name, strerror(errno));
	/* In the kernel's syntax a colon ends the file, and a blank the word */
	if (!error && where.file[strcspn(where.file, ": \t\n")])
		error = xasprintf(
			"%s: the kernel cannot probe files with a colon or blank in their path",
			where.file);
	if (!error)
		error = add_probes(p, "uprobe", &where, colon + 1, build_id);
	free(build_id);
	free(where.file);
	free(name);
	return error;
}

/* Of iosys: numbers of the calls that receive from a socket, and that send to it */
#define RECEIVES \
	"op == 1 || op == 5 || op == 12 || op == 14 || op == 16 || op == 18"
#define SENDS \
	"op == 2 || op == 6 || op == 11 || op == 13 || op == 15 || op == 17"

static void add_event_probe(struct plan *p, char *event, const char *calls,
			    u64 port)
{
	GROW(p->probe, p->nr_probes, p->probe_room);
	p->probe[p->nr_probes++] = (struct plan_probe){
		.event = event,
		.of = "iosys/io_syscall",
		.args = xasprintf(
			"id=$id:u64 if (%s) && result > 0 && name ~ \"*:%llu->*\"",
			calls, port)
	};
}

/*
 * From the end of the last call that receives on a connection at the port to the end of
 * the next call that sends on it, by the same thread. Calls without bytes do not count:
 * servers with an event loop read until there is nothing. Two events of their own, so that
 * io_syscall itself has no filter, and all calls are context.
 */
static char *preset_request(struct plan *p, const char *port)
{
	struct plan_chart c = { 0 };
	u64 number;

	if (!parse_number(port, &number) || !number || number > 65535)
		return xasprintf("request:%s: must be a port from 1 to 65535",
				 port);
	c.name = xasprintf("request.%llu", number);
	c.event = xasprintf("request_%llu_send", number);
	c.filter = xasprintf(
		"ctlchart(request_%llu_receive, common_pid, id, " WINDOW_REQUEST
		", name=%s)",
		number, c.name);
	add_event_probe(p, xasprintf("request_%llu_receive", number), RECEIVES,
			number);
	add_event_probe(p, xstrdup(c.event), SENDS, number);
	add_context(p, "iosys:io_syscall", false);
	/* Which code made them; some architectures have no stacks */
	add_context(p, "iosys:io_stack", true);
	add_context(p, "iosys:io_map", true);
	return add_chart_or_free(p, &c);
}

/**
 * plan_preset - add what a preset stands for
 * @p: the plan
 * @text: disk, wakeup, syscall:NAME, function:NAME, uprobe:FILE:SYMBOL or request:PORT
 *
 * Return: NULL, or what is wrong, for free().
 */
char *plan_preset(struct plan *p, const char *text)
{
	if (!strcmp(text, "disk"))
		return preset_disk(p);
	if (!strcmp(text, "wakeup"))
		return preset_wakeup(p);
	if (!strncmp(text, "syscall:", 8))
		return preset_syscall(p, text + 8);
	if (!strncmp(text, "function:", 9))
		return preset_function(p, text + 9);
	if (!strncmp(text, "uprobe:", 7))
		return preset_uprobe(p, text + 7);
	if (!strncmp(text, "request:", 8))
		return preset_request(p, text + 8);
	return xasprintf("unknown preset %s: must be " PRESETS, text);
}

/* SYSTEM:EVENT; names of events have no other characters, nor does the shell change these */
static bool is_event(const char *text)
{
	static const char valid[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
	size_t system = strspn(text, valid);
	const char *event = text + system + 1;

	return system && text[system] == ':' && *event &&
	       !event[strspn(event, valid)];
}

/**
 * plan_filter - add a chart that is given as for trace-cmd
 * @p: the plan
 * @event: the judged event, "system:event"
 * @filter: its filter, with a ctlchart() call. If the call has no window, one is added,
 *	so that alarms have a context; if it has no name, one is added, too
 *
 * Return: NULL, or what is wrong, for free().
 */
char *plan_filter(struct plan *p, const char *event, const char *filter)
{
	const char *colon = strchr(event, ':'), *call;
	struct call_options o;
	struct plan_chart c = { 0 };
	char *more = NULL;

	if (!is_event(event))
		return xasprintf("-e %s: must be SYSTEM:EVENT", event);
	call = strstr(filter, CALL "(");
	if (!call)
		return xasprintf("-f %s: must have a ctlchart() call", filter);
	if (!scan_call(call + strlen(CALL), &o)) {
		free(o.name);
		return xasprintf("-f %s: a parenthesis is not closed", filter);
	}
	if (strstr(o.end, CALL "(")) {
		free(o.name);
		return xasprintf("-f %s: only one ctlchart() call is allowed",
				 filter);
	}
	c.system = xstrndup(event, colon - event);
	c.event = xstrdup(colon + 1);
	if (!o.name) {
		c.name = clean_name(c.event);
		more = xasprintf(", name=%s", c.name);
	} else {
		c.name = o.name;
	}
	c.filter = xasprintf("%.*s%s%s%s", (int)(o.end - filter), filter,
			     o.windows ? "" : ", pre=100ms, post=5ms",
			     more ? more : "", o.end);
	free(more);
	return add_chart_or_free(p, &c);
}

/**
 * plan_context - add an event that is recorded around alarms
 * @p: the plan
 * @event: "system:event"
 *
 * Return: NULL, or what is wrong, for free().
 */
char *plan_context(struct plan *p, const char *event)
{
	if (!is_event(event))
		return xasprintf("-e %s: must be SYSTEM:EVENT", event);
	add_context(p, event, false);
	return NULL;
}

/**
 * plan_call - the system call that is the operation of a chart
 * @c: the chart
 *
 * Return: its name, or NULL.
 */
const char *plan_call(const struct plan_chart *c)
{
	size_t len = strlen(SYSCALL_END);

	return c->system && !strcmp(c->system, "syscalls") &&
			       !strncmp(c->event, SYSCALL_END, len) ?
		       c->event + len :
		       NULL;
}

/* The function of the kernel that is the operation of a chart, for free(); or NULL */
static char *function_of(const struct plan_chart *c)
{
	const char *call = plan_call(c);

	if (c->symbol && !c->file)
		return xstrdup(c->symbol);
	return call ? xasprintf(SYSCALL_FUNCTION "%s", call) : NULL;
}

static void add_paths(struct plan *p, const char *function)
{
	char *clean;
	size_t i;

	for (i = 0; i < p->nr_probes; i++) {
		if (p->probe[i].paths &&
		    !strcmp(p->probe[i].function, function))
			return;
	}
	clean = clean_name(function);
	GROW(p->probe, p->nr_probes, p->probe_room);
	p->probe[p->nr_probes++] = (struct plan_probe){
		.event = xasprintf("%s" PLAN_PATHS, clean),
		.function = xstrdup(function),
		.paths = true,
	};
	free(clean);
}

/**
 * plan_paths - record the paths of all charts of a function of the kernel
 * @p: the plan, with its charts
 *
 * Return: NULL, or what is wrong, for free().
 */
char *plan_paths(struct plan *p)
{
	size_t i;

	for (i = 0; i < p->nr_charts; i++) {
		struct plan_chart *c = &p->chart[i];

		c->paths = function_of(c);
		if (c->paths)
			add_paths(p, c->paths);
	}
	return plan_has_paths(p) ?
		       NULL :
		       xstrdup("--paths needs function:NAME or syscall:NAME");
}

/**
 * plan_has_paths - whether the paths of a function are recorded
 * @p: the plan
 */
bool plan_has_paths(const struct plan *p)
{
	size_t i;

	for (i = 0; i < p->nr_charts && !p->chart[i].paths; i++)
		;
	return i < p->nr_charts;
}

/**
 * plan_common - add the events that every watch records around alarms
 * @p: the plan, with its charts
 */
void plan_common(struct plan *p)
{
	static const char *const events[] = {
		"sched:sched_switch",	   "sched:sched_waking",
		"irq:irq_handler_entry",   "irq:irq_handler_exit",
		"irq:softirq_entry",	   "irq:softirq_exit",
		"block:block_bio_queue",   "block:block_rq_issue",
		"block:block_rq_complete", "ctlchart:ctlchart_limit",
		"ctlchart:ctlchart_alarm"
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		add_context(p, events[i], strncmp(events[i], "ctlchart:", 9));
	/* The values before and after an alarm */
	add_context(p, "ctlchart_debug:ctlchart_value", true);
}

static bool is_judged(const struct plan *p, const char *event)
{
	const char *colon = strchr(event, ':');
	size_t i;

	for (i = 0; i < p->nr_charts; i++) {
		const struct plan_chart *c = &p->chart[i];

		if (c->system && !strcmp(c->event, colon + 1) &&
		    strlen(c->system) == (size_t)(colon - event) &&
		    !strncmp(c->system, event, colon - event))
			return true;
	}
	return false;
}

/* Whether the kernel lacks an optional event */
static bool lacks(const struct plan *p, size_t i,
		  bool (*has_event)(const char *system, const char *event))
{
	const char *name = strchr(p->context[i], ':') + 1;
	char *system;
	bool has;

	if (!p->optional[i] || !has_event)
		return false;
	system = xstrndup(p->context[i], name - 1 - p->context[i]);
	has = has_event(system, name);
	free(system);
	return !has;
}

/**
 * plan_print - print the commands that record the same
 * @p: the plan
 * @out: where to
 * @buffer: bytes of the ring buffer of each CPU
 * @has_event: whether the kernel has an event; NULL: that is not known
 */
void plan_print(const struct plan *p, FILE *out, u64 buffer,
		bool (*has_event)(const char *system, const char *event))
{
	size_t i;

	for (i = 0; i < p->nr_probes; i++) {
		const struct plan_probe *e = &p->probe[i];

		if (e->paths)
			fprintf(out,
				"echo %s >> /sys/kernel/tracing/set_graph_function\n",
				e->function);
		else if (e->of)
			fprintf(out,
				"echo 'e:" PROGRAM
				"/%s %s %s' >> /sys/kernel/tracing/dynamic_events\n",
				e->event, e->of, e->args);
		else if (e->file)
			fprintf(out,
				"echo '%c:" PROGRAM
				"/%s %s:0x%llx' >> /sys/kernel/tracing/uprobe_events\n",
				e->returns ? 'r' : 'p', e->event, e->file,
				e->offset);
		else if (e->returns)
			fprintf(out,
				"echo 'r%d:" PROGRAM
				"/%s %s' >> /sys/kernel/tracing/kprobe_events\n",
				PLAN_CALLS, e->event, e->function);
		else
			fprintf(out,
				"echo 'p:" PROGRAM
				"/%s %s' >> /sys/kernel/tracing/kprobe_events\n",
				e->event, e->function);
	}
	fprintf(out, "trace-cmd record -B " PROGRAM " -C mono -b %llu",
		buffer >> 10);
	if (plan_has_paths(p))
		fprintf(out, " -p " PLAN_TRACER);
	for (i = 0; i < p->nr_charts; i++) {
		const struct plan_chart *c = &p->chart[i];

		fprintf(out, " \\\n  -e %s:%s -f ",
			c->system ? c->system : PROGRAM, c->event);
		shell_string(out, c->filter);
	}
	for (i = 0; i < p->nr_context; i++) {
		if (!is_judged(p, p->context[i]) && !lacks(p, i, has_event))
			fprintf(out, " \\\n  -e %s", p->context[i]);
	}
	fputc('\n', out);
}

/**
 * plan_systems - systems of all events
 * @p: the plan
 * @probes: the system of its probes
 *
 * Return: their names, each once, up to NULL; plan_systems_free() is due.
 */
const char **plan_systems(const struct plan *p, const char *probes)
{
	const char **list =
		xcalloc(p->nr_charts + p->nr_context + 1, sizeof(*list));
	size_t i, k, nr = 0;

	for (i = 0; i < p->nr_charts + p->nr_context; i++) {
		const char *name;
		char *copy;

		if (i >= p->nr_charts)
			name = p->context[i - p->nr_charts];
		else
			name = p->chart[i].system ? p->chart[i].system : probes;
		copy = xstrndup(name, strcspn(name, ":"));
		for (k = 0; k < nr && strcmp(list[k], copy) != 0; k++)
			;
		if (k < nr)
			free(copy);
		else
			list[nr++] = copy;
	}
	return list;
}

/**
 * plan_systems_free - free what plan_systems() returned
 * @list: that, or NULL
 */
void plan_systems_free(const char **list)
{
	size_t i;

	for (i = 0; list && list[i]; i++)
		free((char *)list[i]);
	free(list);
}

/**
 * plan_free - free what is in a plan
 * @p: the plan
 */
void plan_free(struct plan *p)
{
	size_t i;

	for (i = 0; i < p->nr_charts; i++)
		free_chart(&p->chart[i]);
	for (i = 0; i < p->nr_probes; i++) {
		free(p->probe[i].event);
		free(p->probe[i].function);
		free(p->probe[i].file);
		free(p->probe[i].args);
	}
	for (i = 0; i < p->nr_context; i++)
		free(p->context[i]);
	free(p->probe);
	free(p->context);
	free(p->optional);
	*p = (struct plan){ 0 };
}
