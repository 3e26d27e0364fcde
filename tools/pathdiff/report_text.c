// SPDX-License-Identifier: GPL-2.0
/* The result for people: the verdict first, then its evidence. */
#include <linux/kernel.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "order.h"
#include "pathdiff.h"
#include "text.h"

#define BOLD "\033[1m"
#define RED "\033[31m"
#define PLAIN "\033[m"

/* Columns of the bars */
#define BAR 40

static const char *bold(const struct result *r, bool on)
{
	return !r->color ? "" : on ? BOLD : PLAIN;
}

static const char *number(char *buf, u64 n)
{
	return format_count(buf, 32, n);
}

static const char *duration(char *buf, double ns)
{
	return format_value(buf, 32, ns < 0 ? 0 : ns + 0.5, true);
}

/* "1 execution", "1,554 executions" */
static const char *counted(char *buf, u64 n, const char *what)
{
	char digits[32];

	snprintf(buf, 96, "%s %s%s", number(digits, n), what, plural(n));
	return buf;
}

static void print_factor(char *buf, double factor)
{
	if (factor >= 1e6)
		snprintf(buf, 32, "new");
	else if (factor >= 100)
		snprintf(buf, 32, "%.0f x", factor);
	else
		snprintf(buf, 32, "%.3g x", factor);
}

static void print_lost(struct result *r, const struct source *s)
{
	char a[96], b[96];

	fprintf(r->out, "  %s skipped", counted(a, s->broken, "execution"));
	if (s->gaps && s->lost)
		fprintf(r->out, "; %s%s", s->uncounted ? "at least " : "",
			counted(a, s->lost, "record"));
	else if (s->gaps)
		fprintf(r->out, "; records");
	if (s->gaps)
		fprintf(r->out, " lost in %s (-b makes buffers larger)",
			counted(b, s->gaps, "gap"));
	if (s->cuts)
		fprintf(r->out, "; lines missing or cut in %s, first line %s",
			counted(a, s->cuts, "place"), number(b, s->first_cut));
	fprintf(r->out, "\n");
}

static const char *file_name(const struct source *s)
{
	return strcmp(s->file, "-") ? s->file : "standard input";
}

static void print_source(struct result *r, const struct source *s)
{
	char a[96], b[96];

	fprintf(r->out, "%s: %s of %s, %s in %.3f s\n", file_name(s),
		counted(a, s->executions, "execution"),
		r->paths.functions.name[r->paths.entry],
		counted(b, s->records, "record"), (s->last - s->first) / 1e9);
	if (s->began)
		fprintf(r->out,
			"  %s skipped that began before the recording\n",
			counted(a, s->began, "execution"));
	if (s->ended)
		fprintf(r->out, "  %s skipped that ended after the recording\n",
			counted(a, s->ended, "execution"));
	if (s->broken || s->gaps || s->cuts)
		print_lost(r, s);
	if (s->cut)
		fprintf(r->out, "  %s cut off at %u functions\n",
			counted(a, s->cut, "path"), MAX_PATH);
	if (s->sleep_off)
		fprintf(r->out,
			"  sleep-time was off: durations are computed from time stamps\n");
	else if (s->votes[0])
		fprintf(r->out,
			"  sleep-time was on: durations contain the time off the CPU\n");
}

static void print_chart(struct result *r)
{
	const struct limit *l = &r->limit;
	char a[96], b[32], c[96];

	if (l->floored)
		fprintf(r->out,
			" (the floor, %.0f %% above the centre line %s of",
			100 * r->floor, duration(b, l->center));
	else
		fprintf(r->out, " (median chart of");
	if (r->has_baseline)
		fprintf(r->out, " %s of %s", counted(a, l->learnt, "execution"),
			file_name(&r->source[SIDE_BASELINE]));
	else
		fprintf(r->out, " %s", counted(a, l->learnt, "calm execution"));
	if (!l->floored)
		fprintf(r->out, ", centre line %s", duration(b, l->center));
	if (r->has_baseline && l->set_aside)
		fprintf(r->out, ", without %s",
			counted(c, l->set_aside, "outlier"));
	fprintf(r->out, ")");
}

static void print_limit(struct result *r)
{
	const struct limit *l = &r->limit;
	bool alarms = r->color && l->nr[1] && !l->healthy;
	char a[96], b[96], text[256];

	fprintf(r->out, "limit %s", duration(a, l->ns));
	if (l->given)
		fprintf(r->out, " (fixed)");
	else
		print_chart(r);
	fprintf(r->out, ": %s%s of %s %s slow%s", alarms ? RED : "",
		number(a, l->nr[1]),
		counted(b, l->nr[0] + l->nr[1], "execution"),
		l->nr[1] == 1 ? "is" : "are", alarms ? PLAIN : "");
	fprintf(r->out, ", the longest %s\n", duration(a, l->longest));
	if (!l->is_far)
		return;
	limit_warning(r, text, sizeof(text));
	fprintf(r->out, "warning: %s\n", text);
}

static void print_cause(struct result *r, const struct cause *c)
{
	char text[1024], a[96], b[96], f[32];
	double n = c->executions;

	print_factor(f, factor_of(c->self, c->normal_self));
	fprintf(r->out, "   %s instead of %s (%s), %.1f %% of the time of ",
		duration(a, c->self / n), duration(b, c->normal_self / n), f,
		c->duration > 0 ? 100 * c->self / c->duration : 0);
	fprintf(r->out,
		"%s, %.0f %% of all delay; explains %.0f %% of the delay of %s\n",
		counted(a, c->executions, "slow execution"),
		r->ranking.excess > 0 ?
			fmin(100 * c->excess / r->ranking.excess, 100) :
			0,
		100 * c->explained,
		c->executions == 1 ? "this execution" : "these executions");
	cause_waits(r, c, text, sizeof(text));
	if (*text)
		fprintf(r->out, "   waits: %s\n", text);
	if (c->executions > 1 && 2 * c->most > c->excess)
		fprintf(r->out,
			"   one execution has %.0f %% of this delay: %s\n",
			100 * c->most / c->excess, duration(a, c->most));
	if (c->preempted > 0)
		fprintf(r->out, "   preempted meanwhile: %s, not counted\n",
			duration(a, c->preempted / n));
	if (cause_is_overhead(r, c))
		fprintf(r->out,
			"   overhead of recording: record fewer functions or events, or keep its program (trace-cmd, perf) on other CPUs (taskset)\n");
	exec_chain(r, &r->paths.exec[c->worst], c->worst_pos, text,
		   sizeof(text));
	fprintf(r->out, "   path: %s\n", text);
}

/* What there is instead of named causes: with the one that has most of the delay */
static void print_verdict(struct result *r)
{
	const struct ranking *k = &r->ranking;
	char text[1024];
	int colon;

	if (!result_verdict(r, text, sizeof(text)))
		return;
	colon = strcspn(text, ":");
	fprintf(r->out, "\n%s%.*s:%s%s\n", bold(r, true), colon, text,
		bold(r, false), text + colon + 1);
	if (!k->spread && !k->undecided)
		return;
	cause_headline(r, k->cause, text, sizeof(text));
	fprintf(r->out, "   The largest part: %s\n", text);
	print_cause(r, k->cause);
}

/**
 * exec_task - the task of an execution, "comm-pid"
 * @r: the result
 * @e: the execution
 * @buf: where to
 * @size: bytes
 *
 * Return: @buf.
 */
const char *exec_task(const struct result *r, const struct exec *e, char *buf,
		      size_t size)
{
	const char *comm = e->comm == NONE ? "?" : r->paths.names.name[e->comm];

	if (e->pid < UNKNOWN_PID)
		snprintf(buf, size, "%s-%d", comm, e->pid);
	else
		snprintf(buf, size, "%s", comm);
	return buf;
}

static void print_worst(struct result *r, const struct cause *c)
{
	const struct paths *p = &r->paths;
	const struct exec *e = &p->exec[c->worst];
	const struct pattern *q = &p->patterns.p[e->pattern];
	const struct pattern *near = &p->patterns.p[q->near];
	char a[96], b[96], f[32], n[96], task[128];

	fprintf(r->out,
		"   worst: %s by %s at %llu.%06llu s, %s usually; %s with the nearest normal path (%s)\n",
		duration(a, e->duration), exec_task(r, e, task, sizeof(task)),
		e->start / 1000000000, e->start / 1000 % 1000000,
		duration(b, near->duration),
		q->common == q->len ? "identical" : "similar",
		counted(n, near->nr[0], "execution"));
	if (q->common != q->len)
		fprintf(r->out,
			"          similarity %.1f %%: %u of %u functions in common\n",
			100.0 * q->common / q->len, q->common, q->len);
	print_factor(f, factor_of(c->incl, c->normal_incl));
	fprintf(r->out, "   inclusive %s instead of %s (%s); %s\n",
		duration(a, c->incl / c->executions),
		duration(b, c->normal_incl / c->executions), f,
		counted(n, c->patterns, "pattern"));
}

/* Figure 7 */
static void print_functions(struct result *r, const struct cause *c)
{
	u32 nr = cause_shows(c), i;
	char a[32], b[32], f[32];
	double n;

	if (nr > r->top)
		nr = r->top;
	if (!nr && c->kind != CAUSE_IRQ)
		return;
	n = c->executions > 2000 ? 2000 : c->executions;
	fprintf(r->out, "   %-36s %10s %10s %8s\n",
		"self time per execution of", "slow", "normal", "factor");
	/* an interrupt is not a function of the path, but it is the slower part */
	if (c->kind == CAUSE_IRQ) {
		print_factor(f, factor_of(c->self, c->normal_self));
		fprintf(r->out, "   %-36s %10s %10s %8s\n", "(interrupts)",
			duration(a, c->self / c->executions),
			duration(b, c->normal_self / c->executions), f);
	}
	for (i = 0; i < nr; i++) {
		const struct slowed *s = &c->table[i];

		print_factor(f, factor_of(s->self, s->normal));
		fprintf(r->out, "   %-36s %10s %10s %8s\n",
			r->paths.functions.name[s->function],
			duration(a, s->self / n),
			s->extra ? "-" : duration(b, s->normal / n), f);
	}
}

static void print_stack(struct result *r, const struct cause *c)
{
	const struct paths *p = &r->paths;
	const struct pattern *s;
	u32 i;

	if (!c->whos || c->who[0].stack == NONE)
		return;
	s = &p->stacks.p[c->who[0].stack];
	fprintf(r->out, "   the waker was in:");
	for (i = 0; i < s->len && i < 10; i++)
		fprintf(r->out, "%s%s", i ? " < " : " ",
			p->functions.name[s->function[i]]);
	fprintf(r->out, "\n");
}

static void print_spread(struct result *r, const char *what, double *v, u32 nr)
{
	char a[32], b[32], c[32];

	if (!nr)
		return;
	qsort(v, nr, sizeof(*v), order_double);
	fprintf(r->out, "     %-18s %6u   %10s %10s %10s\n", what, nr,
		duration(a, v[0]), duration(b, v[nr / 2]),
		duration(c, v[nr - 1]));
}

/* Figure 8 */
static void print_across(struct result *r, const struct cause *c)
{
	struct figure8 f;

	figure_cause(r, c, 100000, &f);
	fprintf(r->out, "   %s across executions: %s\n", cause_function(r, c),
		"least, median, most");
	print_spread(r, "all slow", f.abnormal, f.nr[1]);
	print_spread(r, "normal", f.normal, f.nr[0]);
	figure_cause_free(&f);
}

static void print_evidence(struct result *r)
{
	char text[1024];
	u32 i;

	for (i = 0; i < r->ranking.named; i++) {
		const struct cause *c = &r->ranking.cause[i];

		cause_headline(r, c, text, sizeof(text));
		fprintf(r->out, "\n%s%u. %s%s\n", bold(r, true), i + 1, text,
			bold(r, false));
		print_worst(r, c);
		print_stack(r, c);
		print_functions(r, c);
		print_across(r, c);
	}
}

/* Tables 2 and 3 */
static void print_similarities(struct result *r)
{
	const struct nearest *n = &r->nearest;
	char a[96], b[32];
	int i, last = 0;

	for (i = 0; i < SIMILARITIES; i++) {
		if (n->table2[i] || n->table3[i])
			last = i;
	}
	fprintf(r->out,
		"\n%sSimilarity:%s %s of normal executions, %s of slow ones\n",
		bold(r, true), bold(r, false), counted(a, n->normal, "pattern"),
		number(b, n->abnormal));
	fprintf(r->out,
		"  similarity to the nearest   normal to normal   slow to normal\n");
	for (i = 0; i <= last; i++)
		fprintf(r->out, "  %3d-%-3d %%                 %17u %16u\n",
			100 - 10 * i, 90 - 10 * i, n->table2[i], n->table3[i]);
}

/* Figure 6 */
static void print_cdf(struct result *r)
{
	static const int at[] = { 1, 10, 25, 50, 75, 90, 99, 100 };
	u64 ns[2][CDF_POINTS] = { { 0 } }, most = 0;
	enum side side = r->has_baseline ? SIDE_BASELINE : SIDE_TRACE;
	char a[32], b[32];
	size_t i;

	if (r->has_baseline)
		figure_cdf(r, SIDE_BASELINE, ns[0]);
	figure_cdf(r, SIDE_TRACE, ns[1]);
	most = ns[1][100] > ns[0][100] ? ns[1][100] : ns[0][100];
	fprintf(r->out, "\n%sDurations%s%s\n", bold(r, true), bold(r, false),
		side == SIDE_BASELINE ? "     baseline      trace" :
					"        trace");
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		int bar = most ? (double)ns[1][at[i]] * BAR / most : 0;

		fprintf(r->out, "  %3d %% up to", at[i]);
		if (side == SIDE_BASELINE)
			fprintf(r->out, " %10s", duration(a, ns[0][at[i]]));
		fprintf(r->out, " %10s %.*s\n", duration(b, ns[1][at[i]]), bar,
			"########################################");
	}
}

/**
 * result_text - write the result for people
 * @r: the result
 */
void result_text(struct result *r)
{
	const struct ranking *k = &r->ranking;
	char a[96], text[1024];
	u32 i;

	print_source(r, &r->source[SIDE_TRACE]);
	if (r->has_baseline)
		print_source(r, &r->source[SIDE_BASELINE]);
	print_limit(r);
	for (i = 0; i < k->named; i++) {
		cause_headline(r, &k->cause[i], text, sizeof(text));
		fprintf(r->out, "\n%s%u. %s%s\n", bold(r, true), i + 1, text,
			bold(r, false));
		print_cause(r, &k->cause[i]);
	}
	if (!k->named)
		print_verdict(r);
	else if (k->nr > k->named)
		fprintf(r->out,
			"\n%s, each of little delay or no more than by chance\n",
			counted(a, k->nr - k->named, "more cause"));
	if (!r->limit.healthy && k->throughout)
		fprintf(r->out, "\nin %s no function stands out: %s\n",
			counted(a, k->throughout, "slow execution"),
			k->nr ? "they are hardly above the limit" :
				"they are slow throughout");
	if (k->unmatched)
		fprintf(r->out,
			"\nno normal execution to compare with for %s: record a baseline\n",
			counted(a, k->unmatched, "slow execution"));
	if (r->brief)
		return;
	print_evidence(r);
	print_similarities(r);
	print_cdf(r);
}
