// SPDX-License-Identifier: GPL-2.0
/* What all formats of the result have in common, and the paper's figures. */
#include <stdlib.h>
#include <string.h>

#include "order.h"
#include "pathdiff.h"
#include "text.h"

/* Maximum factor shown: a function that is new takes infinitely longer */
#define MAX_FACTOR 1e6

/**
 * figure_cdf - figure 6: the distribution of durations
 * @r: the result
 * @side: the file they are from
 * @ns: where to put the durations that 0, 1, ... 100 % do not exceed
 *
 * Return: number of executions, 0 if there is no such file.
 */
u64 figure_cdf(const struct result *r, enum side side, u64 *ns)
{
	const struct paths *p = &r->paths;
	u64 *value = xzalloc(p->nr * sizeof(*value)), nr = 0;
	u32 i;

	for (i = 0; i < p->nr; i++) {
		if (p->exec[i].side == side)
			value[nr++] = p->exec[i].duration;
	}
	qsort(value, nr, sizeof(*value), order_u64);
	for (i = 0; nr && i < CDF_POINTS; i++)
		ns[i] = value[(nr - 1) * i / (CDF_POINTS - 1)];
	free(value);
	return nr;
}

/**
 * cause_pattern - the normal pattern that a cause's worst execution is nearest to
 * @r: the result
 * @c: the cause
 */
u32 cause_pattern(const struct result *r, const struct cause *c)
{
	const struct paths *p = &r->paths;

	return p->patterns.p[p->exec[c->worst].pattern].near;
}

/* Self time of a function in an execution; of interrupts, their time */
static double self_of(const struct paths *p, const struct exec *e,
		      const struct cause *c)
{
	const struct pattern *q = &p->patterns.p[e->pattern];
	double time = 0;
	u32 i;

	if (c->kind == CAUSE_IRQ)
		return e->irq;
	if (cause_is_calls(c->kind))
		return exec_function_inclusive(p, e, c->function);
	for (i = 0; i < q->len; i++) {
		if (q->function[i] == c->function)
			time += e->data[q->len + i];
	}
	return time;
}

/**
 * figure_cause - figure 8: the time of the cause's function in the executions of
 * the nearest pattern, and in abnormal ones
 * @r: the result
 * @c: the cause
 * @most: maximum number of executions of each kind
 * @f: where to put it; figure_cause_free() is due
 */
void figure_cause(const struct result *r, const struct cause *c, u32 most,
		  struct figure8 *f)
{
	const struct paths *p = &r->paths;
	u32 near = cause_pattern(r, c), i;

	memset(f, 0, sizeof(*f));
	f->normal = xzalloc(most * sizeof(*f->normal));
	f->abnormal = xzalloc(most * sizeof(*f->abnormal));
	for (i = 0; i < p->nr; i++) {
		const struct exec *e = &p->exec[i];

		if (e->abnormal && e->side == SIDE_TRACE &&
		    p->patterns.p[e->pattern].near == near && f->nr[1] < most)
			f->abnormal[f->nr[1]++] = self_of(p, e, c);
		else if (!e->abnormal && e->pattern == near && f->nr[0] < most)
			f->normal[f->nr[0]++] = self_of(p, e, c);
	}
}

/**
 * figure_cause_free - free the figure
 * @f: the figure
 */
void figure_cause_free(struct figure8 *f)
{
	free(f->normal);
	free(f->abnormal);
}

/**
 * factor_of - ratio of a time to the usual one
 * @self: the time
 * @normal: what is usual
 *
 * Return: at most 1e6, which stands for a function that is not usual at all.
 */
double factor_of(double self, double normal)
{
	if (self <= 0)
		return normal > 0 ? 0 : 1;
	return normal * MAX_FACTOR > self ? self / normal : MAX_FACTOR;
}

/**
 * cause_kind_name - the name of a kind of cause, as in JSON and CSV
 * @kind: an enum cause_kind
 */
const char *cause_kind_name(u8 kind)
{
	static const char *const name[] = { "slow", "extra", "interrupt",
					    "calls", "calls" };

	return name[kind];
}

/**
 * wait_name - the name of a kind of wait, as in JSON
 * @kind: an enum wait_kind
 */
const char *wait_name(u8 kind)
{
	static const char *const name[] = { "blocked", "preempted", "spinning",
					    "interrupted" };

	return name[kind];
}

/**
 * limit_warning - the warning about a limit that is far above the centre line
 * @r: the result
 * @buf: where to put it
 * @size: its size
 */
void limit_warning(const struct result *r, char *buf, size_t size)
{
	const struct limit *l = &r->limit;
	char times[32];

	format_count(times, sizeof(times), l->ns / (l->center ? l->center : 1));
	snprintf(
		buf, size,
		"the limit is %s times the centre line, since durations vary that much in %s: "
		"slow executions may be missed; give --limit%s",
		times,
		r->has_baseline ? "the baseline" : "the calm part of the trace",
		r->has_baseline ? ", or another baseline" : "");
}

/* Why the cause with most of the delay is not named */
static void undecided(const struct result *r, char *buf, size_t size)
{
	const struct cause *c = r->ranking.cause;
	double part = r->ranking.excess > 0 ? c->excess / r->ranking.excess : 0;
	char n[32];
	int len;

	len = snprintf(buf, size,
		       "Not decided: one place has %.0f %% of the delay, but ",
		       100 * part);
	buf += len;
	size -= len;
	format_count(n, sizeof(n), c->executions);
	if (cause_may_be_chance(c) && c->part >= 0.25)
		snprintf(
			buf, size,
			"%.0f %% of the normal time, too: delays at random moments, as on a busy host, could look the same.",
			100 * c->part);
	else if (c->executions > 1 && !cause_has_others(c))
		snprintf(
			buf, size,
			"nearly all in one execution: record more, or a baseline.");
	else if (cause_may_be_chance(c) || !cause_has_several(c) ||
		 !r->has_baseline)
		snprintf(
			buf, size,
			"%s slow execution%s may be there by chance: record more%s.",
			n, plural(c->executions),
			r->has_baseline ? "" : ", or a baseline");
	else
		snprintf(buf, size,
			 "slow executions of the baseline are there, too.");
}

static void healthy(const struct result *r, char *buf, size_t size)
{
	const struct limit *l = &r->limit;
	u64 skipped = r->source[SIDE_TRACE].broken;
	char n[32], and[96] = "";

	format_count(n, sizeof(n), skipped);
	if (skipped)
		snprintf(and, sizeof(and),
			 " But %s execution%s skipped, and may be slow.", n,
			 skipped == 1 ? " was" : "s were");
	format_count(n, sizeof(n), l->nr[1]);
	if (!l->nr[1])
		snprintf(buf, size,
			 "Looks healthy: no execution is above the limit.%s",
			 and);
	else
		snprintf(buf, size, "Looks healthy: %s slow execution%s, %s.%s",
			 n, plural(l->nr[1]),
			 r->has_baseline ?
				 "with no more delay than in the baseline" :
				 "no more than by chance",
			 and);
}

/**
 * result_verdict - the result in a sentence, if no cause is named
 * @r: the result
 * @buf: where to put it: what it is, a colon, and why
 * @size: its size
 *
 * Return: whether there is one.
 */
bool result_verdict(const struct result *r, char *buf, size_t size)
{
	const struct source *s = &r->source[SIDE_TRACE];
	const struct ranking *k = &r->ranking;

	if (r->limit.healthy && s->broken > s->executions)
		snprintf(buf, size,
			 "Not decided: most executions were skipped.");
	else if (r->limit.healthy)
		healthy(r, buf, size);
	else if (k->undecided)
		undecided(r, buf, size);
	else if (k->spread)
		snprintf(
			buf, size,
			"Nothing stands out: the delay is spread over %u function%s, as on a busy host.",
			k->nr, plural(k->nr));
	return r->limit.healthy || k->undecided || k->spread;
}

/**
 * cause_is_calls - whether the delay is in what a function calls
 * @kind: kind of the cause
 */
bool cause_is_calls(enum cause_kind kind)
{
	return kind == CAUSE_CALLS || kind == CAUSE_EXTRA_CALLS;
}

/**
 * cause_function - the function that a cause is named after
 * @r: the result
 * @c: the cause
 */
const char *cause_function(const struct result *r, const struct cause *c)
{
	return c->kind == CAUSE_IRQ ? r->paths.names.name[c->function] :
				      r->paths.functions.name[c->function];
}

static bool has_prefix(const char *name, const char *const *prefix)
{
	while (*prefix && strncmp(name, *prefix, strlen(*prefix)) != 0)
		prefix++;
	return *prefix;
}

/* A function of the tracer, its ring buffer ("rb_"), or its stacks */
static bool is_recording_function(const char *name)
{
	static const char *const recording[] = {
		"ring_buffer_", "rb_",
		"trace_",	"tracing_",
		"ftrace_",	"function_graph_",
		"stack_trace_", "arch_stack_walk",
		"unwind_",	NULL
	};
	static const char *const rbtree[] = { "rb_insert_color",
					      "rb_insert_augmented",
					      "rb_erase",
					      "rb_replace_node",
					      "rb_first",
					      "rb_last",
					      "rb_next",
					      "rb_prev",
					      NULL };

	name += strspn(name, "_");
	return has_prefix(name, recording) && !has_prefix(name, rbtree);
}

static bool is_recording_task(const char *name)
{
	return !strncmp(name, "trace-cmd", 9) || !strcmp(name, "perf");
}

/**
 * cause_is_overhead - whether a cause is overhead of the recording
 * @r: the result
 * @c: the cause
 */
bool cause_is_overhead(const struct result *r, const struct cause *c)
{
	const char *name = cause_function(r, c);

	if (c->whos && c->who[0].name != NONE &&
	    2 * c->who[0].time >= c->wait_time &&
	    is_recording_task(r->paths.names.name[c->who[0].name]))
		return true;
	/* the interrupt that wakes readers of the buffer */
	if (c->kind == CAUSE_IRQ)
		return strstr(name, "rb_wake_up_waiters");
	return is_recording_function(name);
}

/**
 * cause_headline - a cause in a few words
 * @r: the result
 * @c: the cause
 * @buf: where to put them
 * @size: its size
 */
void cause_headline(const struct result *r, const struct cause *c, char *buf,
		    size_t size)
{
	const char *name = cause_function(r, c);
	const char *caller =
		c->caller == NONE ? NULL : r->paths.functions.name[c->caller];

	if (c->kind == CAUSE_IRQ)
		snprintf(buf, size, "interrupts: %s", name);
	else if (c->waits && caller)
		snprintf(buf, size, "%s waits%s in %s()%s", caller,
			 c->known && c->wait_kind == WAIT_PREEMPTED ?
				 " for a CPU" :
				 "",
			 name,
			 c->kind == CAUSE_EXTRA ?
				 ", which it usually does not" :
				 "");
	else if (c->waits)
		snprintf(buf, size, "%s() waits", name);
	else if (c->kind == CAUSE_EXTRA_CALLS)
		snprintf(buf, size,
			 "%s() and what it calls, which usually is not called",
			 name);
	else if (c->kind == CAUSE_CALLS)
		snprintf(buf, size, "%s() and what it calls take longer", name);
	else if (c->kind == CAUSE_EXTRA)
		snprintf(buf, size, "%s(), which usually is not called", name);
	else
		snprintf(buf, size, "%s() takes longer", name);
}

static const char *name_of(const struct result *r, u32 name)
{
	return name == NONE ? "?" : r->paths.names.name[name];
}

/**
 * cause_waits - the object of a wait, and its waker or the task that had the CPU
 * @r: the result
 * @c: the cause
 * @buf: where to put it; "" if it is not a wait
 * @size: its size
 */
void cause_waits(const struct result *r, const struct cause *c, char *buf,
		 size_t size)
{
	const struct source *s = &r->source[SIDE_TRACE];
	double all = c->wait_time > 0 ? c->wait_time : 1;
	size_t len = 0;
	u32 i;

	*buf = '\0';
	if (c->kind == CAUSE_IRQ || (!c->waits && !c->known))
		return;
	if (!c->known) {
		snprintf(
			buf, size,
			s->has_switch ?
				"not recorded" :
				"the reason is not recorded: add -e sched:sched_switch -e sched:sched_waking -R stacktrace");
		return;
	}
	if (c->lock != NONE)
		len += snprintf(buf + len, size - len, "lock %s, ",
				name_of(r, c->lock));
	if (c->device != NONE)
		len += snprintf(buf + len, size - len, "%s, ",
				name_of(r, c->device));
	if (len < size)
		len += snprintf(buf + len, size - len, "%s",
				c->wait_kind == WAIT_PREEMPTED ?
					"while the CPU ran" :
				c->wait_kind == WAIT_SPIN ? "spinning" :
				s->has_waking		  ? "until woken by" :
							    "asleep");
	for (i = 0; i < c->whos && i < 3 && len < size; i++) {
		if (c->who[i].name == NONE)
			continue;
		len += snprintf(buf + len, size - len, "%s %s (%.0f %%)",
				i ? "," : "", name_of(r, c->who[i].name),
				100 * c->who[i].time / all);
	}
	if (c->queued > 0.1 * all && len < size)
		snprintf(buf + len, size - len,
			 "; %.0f %% of it after that, for a CPU",
			 100 * c->queued / all);
}

/**
 * cause_shows - number of slower functions in a cause's table
 * @c: the cause
 */
u32 cause_shows(const struct cause *c)
{
	u32 i = 0;

	while (i < c->in_table && c->table[i].self > c->table[i].normal)
		i++;
	return i;
}

/**
 * exec_chain - the calls that lead to a function
 * @r: the result
 * @e: the execution
 * @pos: position of the function
 * @buf: where to put them: "a > b > c"
 * @size: its size
 */
void exec_chain(const struct result *r, const struct exec *e, u32 pos,
		char *buf, size_t size)
{
	const struct pattern *q = &r->paths.patterns.p[e->pattern];
	u32 chain[64], nr = 0, depth = q->depth[pos] + 1, i;
	size_t len = 0;

	for (i = pos + 1; i && nr < 64; i--) {
		if (q->depth[i - 1] >= depth)
			continue;
		depth = q->depth[i - 1];
		chain[nr++] = q->function[i - 1];
	}
	*buf = '\0';
	for (i = nr; i && len < size; i--)
		len += snprintf(buf + len, size - len, "%s%s",
				i < nr ? " > " : "",
				r->paths.functions.name[chain[i - 1]]);
}
