// SPDX-License-Identifier: GPL-2.0
/* Reports as text, and values that all formats show. */
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "lbrtime.h"
#include "order.h"
#include "text.h"

/* Maximum number of functions that are listed for alarms */
#define SUSPECTS 10

/* Less than 1 / HELD_LEAST of the time is not worth a line */
#define HELD_LEAST 100

/**
 * state_name - name of an interval's state
 * @state:	state
 */
const char *state_name(enum interval_state state)
{
	static const char *const names[STATES] = { "whole", "lost",
						   "unknown start", "first" };

	return names[state];
}

/**
 * branch_kind_name - name of a kind of branches
 * @kind:	enum branch_kind
 */
const char *branch_kind_name(u8 kind)
{
	static const char *const names[] = { "unknown", "call", "return",
					     "jump", "far" };

	return names[kind];
}

/**
 * timed - total duration of all intervals
 * @t:	timeline, after timeline_finish()
 *
 * Return: ns.
 */
u64 timed(const struct timeline *t)
{
	return t->time[STATE_WHOLE] + t->time[STATE_LOST] +
	       t->time[STATE_START];
}

/**
 * covered - share of the time in whole intervals
 * @t:	timeline, after timeline_finish()
 *
 * Return: 0 to 1.
 */
double covered(const struct timeline *t)
{
	u64 all = timed(t);

	return all ? (double)t->time[STATE_WHOLE] / all : 0;
}

/**
 * resolution - function visits reconstructed per sample
 * @t:	timeline, after timeline_finish()
 *
 * Return: the mean; 1 without branches.
 */
double resolution(const struct timeline *t)
{
	return t->nr ? (double)(t->branches + t->nr) / t->nr : 0;
}

/**
 * timed_visits - visits of an interval with their times
 * @t:		timeline, after timeline_finish()
 * @sample:	number of the interval's sample
 * @m:		method
 * @timed_visit:	set to the visits; MAX_BRANCHES + 1 entries
 *
 * Return: number of visits. They are in order, the last one ends with the interval, and
 * visits of unknown time have no duration.
 */
u32 timed_visits(const struct timeline *t, u32 sample, enum method m,
		 struct timed_visit *timed_visit)
{
	const struct sample *s = &t->sample[sample];
	double time[MAX_BRANCHES + 1], error[MAX_BRANCHES + 1] = { 0 }, sum = 0;
	bool reliable[MAX_BRANCHES + 1] = { false };
	bool unknown[MAX_BRANCHES + 1];
	u64 all = assign_span(t, sample, m, time, unknown), at = s->ts - all;
	u32 i;

	if (reliability_available(m))
		reliability_find(t, sample, m, time, error, reliable);
	for (i = 0; i <= s->nr; i++) {
		timed_visit[i].function = timeline_visit(t, s, i);
		timed_visit[i].start = at;
		sum += time[i];
		at = s->ts - all + (u64)(sum + 0.5);
		if (at > s->ts || i == s->nr)
			at = s->ts;
		timed_visit[i].unknown = unknown[i];
		timed_visit[i].end = unknown[i] ? timed_visit[i].start : at;
		timed_visit[i].error = error[i] + 0.5;
		timed_visit[i].reliable = reliable[i];
	}
	return s->nr + 1;
}

static const char *name_of(const struct timeline *t, u32 function)
{
	return symtab_function(t->symbols, function)->name;
}

static const char *time_text(char *buf, double ns)
{
	return format_value(buf, 24, ns + 0.5, true);
}

static u64 count_threads(const struct timeline *t, u32 *cpus)
{
	bool *seen = xzalloc(t->cpus * sizeof(*seen));
	struct hash pids = { 0 };
	u64 i, threads, hash;
	s32 *pid;

	*cpus = 0;
	for (i = 0; i < t->nr; i++) {
		const struct sample *s = &t->sample[i];

		*cpus += !seen[s->cpu];
		seen[s->cpu] = true;
		hash = hash_u64(s->pid);
		hash_for_each_possible_entry(&pids, hash, pid) {
			if (*pid == s->pid)
				break;
		}
		if (!pid)
			*(s32 *)hash_new(&pids, hash, sizeof(*pid)) = s->pid;
	}
	threads = pids.nr;
	free(seen);
	hash_free(&pids);
	return threads;
}

/* Intervals of samples without branches, which count as lost */
static u64 count_plain(const struct timeline *t)
{
	u64 i, nr = 0;

	for (i = 0; i < t->nr; i++)
		nr += t->sample[i].state == STATE_LOST &&
		      t->sample[i].flags & LBRPROF_PLAIN;
	return nr;
}

/* Begin a line with a number of intervals; @one, @many: the verb */
static void write_intervals(FILE *out, u64 nr, const char *one,
			    const char *many)
{
	char a[24];

	fprintf(out, "  %s interval%s ", format_count(a, sizeof(a), nr),
		plural(nr));
	fputs(nr == 1 ? one : many, out);
}

static void write_states(FILE *out, const struct timeline *t)
{
	u64 plain = count_plain(t), lost = t->intervals[STATE_LOST] - plain;
	char a[24];

	if (plain) {
		write_intervals(out, plain, "has", "have");
		fputs(" no branches: none were recorded (no LBR?)\n", out);
	}
	if (lost) {
		write_intervals(out, lost, "had", "had");
		fprintf(out, " more branches than were recorded%s\n",
			t->inferred ? ", or may have had" : "");
	}
	if (lost && !t->intervals[STATE_WHOLE])
		fprintf(out,
			"  no interval is whole, so only the samples say where time went: sample more often, or record only calls and returns%s\n",
			t->inferred ? " (-j any_call,any_ret)" : "");
	if (t->inferred && t->intervals[STATE_WHOLE])
		fprintf(out,
			"  at most %.2g %% of the whole intervals are expected to have lost branches, as samples can match by chance\n",
			100 * t->chance);
	if (t->intervals[STATE_START]) {
		write_intervals(out, t->intervals[STATE_START], "begins",
				"begin");
		fputs(" when the thread came to the CPU, at an unknown time (record sched:sched_switch)\n",
		      out);
	}
	if (t->gaps)
		fprintf(out, "  records lost in %s gap%s\n",
			format_count(a, sizeof(a), t->gaps), plural(t->gaps));
}

static void write_clock(FILE *out, const struct timeline *t)
{
	const struct clock *c = &t->clock;

	if (c->state == CLOCK_KNOWN && c->error > 0)
		fprintf(out, "1 cycle = %.4g ns (± %.2g %%%s)\n", c->ns,
			100 * c->error,
			clock_hides(t) ?
				"; shorter if the samples' interrupts took much time" :
				"");
	else if (c->state == CLOCK_KNOWN)
		fprintf(out, "1 cycle = %.4g ns\n", c->ns);
	else if (c->state != CLOCK_NONE)
		fprintf(out, "Cycles are not used: %s\n", clock_trouble(t));
	if (c->state == CLOCK_BOUND)
		fprintf(out, "1 cycle <= %.4g ns\n", c->ns);
}

static void write_held(FILE *out, const struct timeline *t)
{
	u64 held = unknown_held(t), all = timed(t);

	if (held * HELD_LEAST >= all && held)
		fprintf(out,
			"%.1f %% of all time is unknown by cycles only because it may have been in the kernel: record that, too (-e cycles -j any_call,any_ret)\n",
			100.0 * held / all);
}

static void write_summary(FILE *out, const struct timeline *t, enum method m)
{
	char a[24], b[24], c[24];
	u32 cpus;
	u64 threads = count_threads(t, &cpus);

	fprintf(out, "%s: %s sample%s of %s thread%s",
		strcmp(t->file, "-") ? t->file : "standard input",
		format_count(a, sizeof(a), t->nr), plural(t->nr),
		format_count(b, sizeof(b), threads), plural(threads));
	if (!t->by_thread)
		fprintf(out, " on %u CPU%s", cpus, plural(cpus));
	fprintf(out, ", %s branch%s\n", format_count(c, sizeof(c), t->branches),
		t->branches == 1 ? "" : "es");
	fprintf(out, "%.1f function visits reconstructed per sample\n",
		resolution(t));
	fprintf(out,
		"%.1f %% of %s covered: every visit is known in %s of %s intervals\n",
		100 * covered(t), time_text(a, timed(t)),
		format_count(b, sizeof(b), t->intervals[STATE_WHOLE]),
		format_count(c, sizeof(c), t->nr - t->intervals[STATE_FIRST]));
	write_states(out, t);
	if (reliability_available(m))
		fprintf(out,
			"Visit times are reliable (right function, within 10 %% of the interval or 1 us) for %.1f %% of the attributed time, by %s.\n",
			100 * reliability_share(t, m), method_name(m));
	write_clock(out, t);
	write_held(out, t);
}

static void write_share(FILE *out, double part, double all)
{
	if (part <= 0)
		fprintf(out, " %8s", "-");
	else
		fprintf(out, " %7.2f%%", all > 0 ? 100 * part / all : 0);
}

static void write_methods(FILE *out, const struct timeline *t)
{
	enum method m;

	for (m = 0; m < METHODS; m++) {
		if (method_there(t, m))
			fprintf(out, "  %-6s  %s\n", method_name(m),
				method_meaning(m));
	}
}

static void write_functions(FILE *out, const struct timeline *t, u64 top)
{
	double unknown[METHODS], all = timed(t);
	struct totals *totals = totals_new(t, unknown);
	u32 functions = symtab_functions(t->symbols), i;
	u64 shown = 0, seen = 0;
	enum method m;
	char nr[24];

	fprintf(out, "\nParts of all time, unknown time included:\n");
	fprintf(out, "%10s %10s", "samples", "visits");
	for (m = 0; m < METHODS; m++) {
		if (method_there(t, m))
			fprintf(out, " %8s", method_name(m));
	}
	fprintf(out, "  function\n");
	for (i = 0; i < functions; i++) {
		u32 f = totals[i].function;

		if (!t->visits[f])
			continue;
		if (shown++ >= top)
			continue;
		seen++;
		fprintf(out, "%10s",
			format_count(nr, sizeof(nr), t->sampled[f]));
		fprintf(out, " %10s",
			format_count(nr, sizeof(nr), t->visits[f]));
		for (m = 0; m < METHODS; m++) {
			if (method_there(t, m))
				write_share(out, totals[i].time[m], all);
		}
		fprintf(out, "  %s\n", name_of(t, f));
	}
	fprintf(out, "%10s %10s", "", "");
	for (m = 0; m < METHODS; m++) {
		if (method_there(t, m))
			write_share(out, unknown[m], all);
	}
	fprintf(out, "  (unknown)\n");
	if (shown > seen)
		fprintf(out, "... %llu more (--top)\n", shown - seen);
	free(totals);
	fprintf(out,
		"Columns, by how time is attributed to visits of functions:\n");
	write_methods(out, t);
}

static void write_alarms(const struct timeline *t, const struct report *r);

/**
 * lbrtime_write_text - write the summary and the functions as text
 * @t:	timeline, after timeline_finish()
 * @r:	what to print
 */
void lbrtime_write_text(const struct timeline *t, const struct report *r)
{
	write_summary(r->out, t, r->method);
	write_functions(r->out, t, r->top);
	if (t->alarms)
		write_alarms(t, r);
}

/* ------------------------------------------------------------------------- */
/* Around a time, in alarms, and in executions */

/* Whether an interval overlaps [from, to]; those of a thread are in order */
static bool reaches(const struct sample *s, u64 from, u64 to)
{
	return s->ts >= from && s->start <= to;
}

static void write_when(FILE *out, u64 ns)
{
	fprintf(out, "%6llu.%09llu", ns / 1000000000, ns % 1000000000);
}

static void write_sample(FILE *out, const struct timeline *t, u32 sample,
			 const struct report *r, struct walk *w)
{
	const struct sample *s = &t->sample[sample];
	const struct chains *c = walk_next(w, sample);
	struct timed_visit timed_visit[MAX_BRANCHES + 1];
	u32 nr = timed_visits(t, sample, r->method, timed_visit), i, j;
	u64 all = s->ts - s->start, known = s->ts - timed_visit[0].start;
	char time[24];

	fprintf(out, "%s-%d", t->comm[s->comm], s->pid);
	if (!t->by_thread)
		fprintf(out, " on CPU %u", s->cpu);
	fprintf(out, ", %s to the sample at ", time_text(time, all));
	write_when(out, s->ts);
	fprintf(out, s->state == STATE_WHOLE ? "\n" : " (%s)\n",
		state_name(s->state));
	if (s->state != STATE_FIRST && all > known)
		fprintf(out, "  %17s %9s  (unknown)\n", "",
			time_text(time, all - known));
	for (i = 0; i < nr; i++) {
		fputs("  ", out);
		write_when(out, timed_visit[i].start);
		fprintf(out, " %9s  ",
			known && !timed_visit[i].unknown ?
				time_text(time, timed_visit[i].end -
							timed_visit[i].start) :
				"-");
		for (j = c->visit[i].len; j > 1; j--)
			fprintf(out, "%s > ",
				name_of(t, c->visit[i].function[j - 1]));
		fprintf(out, "%s%s", name_of(t, timed_visit[i].function),
			i == s->nr ? " <- sampled" : "");
		if (!known || !reliability_available(r->method) ||
		    timed_visit[i].reliable)
			;
		else if (timed_visit[i].unknown ||
			 timed_visit[i].error >
				 timed_visit[i].end - timed_visit[i].start)
			fputs(" (time unknown)", out);
		else
			fprintf(out, " (± %s)",
				time_text(time, timed_visit[i].error));
		fputc('\n', out);
	}
}

static void write_around(const struct timeline *t, const struct report *r)
{
	u64 from = r->around > r->span ? r->around - r->span : 0;
	u64 to = r->around < U64_MAX - r->span ? r->around + r->span : U64_MAX;
	struct walk *w = walk_new(t);
	bool found = false;
	u32 i;

	fprintf(r->out, "by %s\n", method_name(r->method));
	for (i = 0; i < t->nr; i++) {
		if (reaches(&t->sample[i], from, to)) {
			write_sample(r->out, t, i, r, w);
			found = true;
		} else {
			walk_next(w, i);
		}
	}
	walk_free(w);
	if (found)
		return;
	fputs("no samples there; the trace is from ", r->out);
	write_when(r->out, t->sample[0].ts);
	fputs(" to ", r->out);
	write_when(r->out, t->sample[t->nr - 1].ts);
	fputc('\n', r->out);
}

/**
 * struct suspect - a function that ran in slow operations
 * @function:	function
 * @alarms:	number of operations in which it was seen
 * @inside:	number of its visits in these
 * @outside:	number of its visits elsewhere
 * @time:	its time in these, ns
 * @expected:	number of visits if it were as frequent there as elsewhere
 * @score:	how unlikely that is: deviance of a Poisson variable, o ln(o/e) - (o -
 *		e)
 * @last:	last operation that it was counted for
 */
struct suspect {
	u32 function;
	u64 alarms;
	u64 inside;
	u64 outside;
	double time;
	double expected;
	double score;
	u64 last;
};

static int by_score(const void *a, const void *b)
{
	const struct suspect *x = a, *y = b;

	return ORDER(y->score, x->score) ?: ORDER(x->function, y->function);
}

static int by_start(const void *a, const void *b)
{
	const struct alarm *x = *(struct alarm *const *)a,
			   *y = *(struct alarm *const *)b;

	return ORDER(x->start, y->start);
}

static void add_timed_visit(struct suspect *s, u64 alarm,
			    const struct timed_visit *p)
{
	s->inside++;
	s->time += p->end - p->start;
	if (s->last != alarm + 1)
		s->alarms++;
	s->last = alarm + 1;
}

/* A slow operation of the thread at a time, or NONE; there may be others */
static u64 alarm_of(struct alarm *const *alarm, u64 nr, s32 pid, u64 ts,
		    u64 longest)
{
	u64 low = FIRST(i, 0, nr, alarm[i]->start > ts);

	while (low-- && ts - alarm[low]->start <= longest) {
		if (alarm[low]->pid == pid && ts <= alarm[low]->end)
			return low;
	}
	return U64_MAX;
}

static struct suspect *find_suspects(const struct timeline *t, enum method m,
				     u64 *seen)
{
	u32 functions = symtab_functions(t->symbols), i, j, nr;
	struct suspect *s = xzalloc(functions * sizeof(*s));
	struct alarm **alarm = xzalloc(t->alarms * sizeof(*alarm));
	struct timed_visit timed_visit[MAX_BRANCHES + 1];
	double inside = 0, outside = 0;
	u64 longest = 0, k, at;
	bool *has = xzalloc(t->alarms * sizeof(*has));

	for (k = 0; k < t->alarms; k++) {
		alarm[k] = &t->alarm[k];
		if (alarm[k]->end - alarm[k]->start > longest)
			longest = alarm[k]->end - alarm[k]->start;
	}
	qsort(alarm, t->alarms, sizeof(*alarm), by_start);
	for (i = 0; i < functions; i++)
		s[i].function = i;
	for (i = 0; i < t->nr; i++) {
		nr = timed_visits(t, i, m, timed_visit);
		for (j = 0; j < nr; j++) {
			at = alarm_of(alarm, t->alarms, t->sample[i].pid,
				      timed_visit[j].start, longest);
			if (at == U64_MAX) {
				s[timed_visit[j].function].outside++;
				outside++;
			} else {
				add_timed_visit(&s[timed_visit[j].function], at,
						&timed_visit[j]);
				inside++;
				has[at] = true;
			}
		}
	}
	for (k = *seen = 0; k < t->alarms; k++)
		*seen += has[k];
	for (i = 0; i < functions; i++) {
		double o = s[i].inside;

		/* One more elsewhere, so that the expected value is not 0 */
		s[i].expected = inside * (s[i].outside + 1) / (outside + 1);
		if (o > s[i].expected)
			s[i].score = o * __builtin_log(o / s[i].expected) -
				     (o - s[i].expected);
	}
	qsort(s, functions, sizeof(*s), by_score);
	free(alarm);
	free(has);
	return s;
}

/* Functions that are more frequent in slow operations than elsewhere */
static void write_alarms(const struct timeline *t, const struct report *r)
{
	u64 seen;
	struct suspect *s = find_suspects(t, r->method, &seen);
	u32 functions = symtab_functions(t->symbols), i;
	char a[24], b[24], time[24];

	fprintf(r->out,
		"\nslow operations reported by ctlchart: %s, with samples in %s of them; functions there that are rare elsewhere:\n",
		format_count(a, sizeof(a), t->alarms),
		format_count(b, sizeof(b), seen));
	fprintf(r->out, "%10s %10s %10s %10s  function\n", "operations",
		"visits", "expected", "time");
	for (i = 0; i < functions && i < SUSPECTS && s[i].score > 0; i++)
		fprintf(r->out, "%10s %10s %10.2f %10s  %s\n",
			format_count(a, sizeof(a), s[i].alarms),
			format_count(b, sizeof(b), s[i].inside), s[i].expected,
			time_text(time, s[i].time), name_of(t, s[i].function));
	if (!i)
		fprintf(r->out, "  nothing\n");
	free(s);
}

/* ------------------------------------------------------------------------- */
/* Executions of a function */

/**
 * struct execution - an execution of the function from call to return
 * @start:	begin, ns
 * @end:	end, ns
 * @first:	sample with its first visit
 * @last:	sample with its last visit
 */
struct execution {
	u64 start;
	u64 end;
	u32 first;
	u32 last;
};

static int by_duration(const void *a, const void *b)
{
	const struct execution *x = a, *y = b;

	return ORDER(y->end - y->start, x->end - x->start) ?:
		       ORDER(x->start, y->start);
}

/* Whether it is one of these functions, or called by one */
static bool is_in(const struct chain *c, const bool *wanted)
{
	u32 i;

	for (i = c->len; i; i--) {
		if (wanted[c->function[i - 1]])
			return true;
	}
	return false;
}

/**
 * struct search - search for executions
 * @execution:	executions found
 * @nr:		number of these
 * @room:	allocated entries of @execution
 * @open:	by the thread's last sample: the execution in progress; @first is NONE
 *		if there is none
 */
struct search {
	struct execution *execution;
	u64 nr, room;
	struct execution *open;
};

static void search_sample(struct search *x, const struct timeline *t,
			  const struct chains *c, u32 sample,
			  const bool *wanted, enum method m)
{
	const struct sample *s = &t->sample[sample];
	struct timed_visit timed_visit[MAX_BRANCHES + 1];
	struct execution e = { .first = NONE };
	u32 nr = timed_visits(t, sample, m, timed_visit), i;
	bool in = false, known = s->state == STATE_WHOLE && s->before != NONE;

	/* It continues from the previous sample */
	if (known && x->open[s->before].first != NONE) {
		e = x->open[s->before];
		in = true;
	} else if (is_in(&c->visit[0], wanted)) {
		in = true; /* its call was not seen */
	}
	for (i = 0; i < nr; i++) {
		bool now = is_in(&c->visit[i], wanted);

		if (now && !in)
			e = (struct execution){ .start = timed_visit[i].start,
						.first = sample };
		if (in && !now && e.first != NONE) {
			e.end = timed_visit[i].start;
			e.last = sample;
			GROW(x->execution, x->nr, x->room);
			x->execution[x->nr++] = e;
			e.first = NONE;
		}
		if (!now)
			e.first = NONE;
		in = now;
	}
	x->open[sample] = e;
}

static void write_execution(FILE *out, const struct timeline *t,
			    const struct execution *e, enum method m)
{
	u32 functions = symtab_functions(t->symbols), i, j, nr;
	double *time = xzalloc(functions * sizeof(*time)), best;
	struct timed_visit timed_visit[MAX_BRANCHES + 1];
	const struct sample *s = &t->sample[e->first];
	char text[24];

	fprintf(out, "%9s  ", time_text(text, e->end - e->start));
	write_when(out, e->start);
	fprintf(out, " %s-%d:", t->comm[s->comm], s->pid);
	for (i = e->first;; i = t->sample[i].after) {
		nr = timed_visits(t, i, m, timed_visit);
		for (j = 0; j < nr; j++) {
			if (timed_visit[j].start >= e->start &&
			    timed_visit[j].end <= e->end)
				time[timed_visit[j].function] +=
					timed_visit[j].end -
					timed_visit[j].start;
		}
		if (i == e->last || t->sample[i].after == NONE)
			break;
	}
	for (i = 0; i < 5; i++) {
		for (best = 0, j = nr = 0; j < functions; j++) {
			if (time[j] > best) {
				best = time[j];
				nr = j;
			}
		}
		if (best <= 0)
			break;
		fprintf(out, "%s %s %s", i ? "," : "", name_of(t, nr),
			time_text(text, best));
		time[nr] = 0;
	}
	fputc('\n', out);
	free(time);
}

static void write_executions(const struct timeline *t, const struct report *r,
			     const bool *wanted)
{
	struct search x = { .open = xzalloc(t->nr * sizeof(*x.open)) };
	struct walk *w = walk_new(t);
	char a[24], b[24];
	u64 i;

	for (i = 0; i < t->nr; i++)
		search_sample(&x, t, walk_next(w, i), i, wanted, r->method);
	walk_free(w);
	if (x.nr)
		qsort(x.execution, x.nr, sizeof(*x.execution), by_duration);
	fprintf(r->out, "%s executions of %s from call to return",
		format_count(a, sizeof(a), x.nr), r->request);
	if (x.nr)
		fprintf(r->out, "; half of them take %s or less",
			time_text(b, x.execution[x.nr / 2].end -
					     x.execution[x.nr / 2].start));
	fprintf(r->out, "\nby %s\n", method_name(r->method));
	for (i = 0; i < x.nr && i < r->top; i++)
		write_execution(r->out, t, &x.execution[i], r->method);
	if (x.nr > r->top)
		fprintf(r->out, "... %llu more (--top)\n", x.nr - r->top);
	free(x.execution);
	free(x.open);
}

/**
 * lbrtime_write_needles - write what ran at a time, or in the slowest executions of a
 *	function
 * @t:	timeline, after timeline_finish()
 * @r:	which of these
 */
void lbrtime_write_needles(const struct timeline *t, const struct report *r)
{
	u32 functions = symtab_functions(t->symbols), i;
	bool *wanted, found = false;

	if (r->has_around) {
		write_around(t, r);
		return;
	}
	/* Several files may have a function of that name */
	wanted = xzalloc(functions * sizeof(*wanted));
	for (i = 0; i < functions; i++)
		found |= wanted[i] = symtab_is_named(t->symbols, i, r->request);
	if (found)
		write_executions(t, r, wanted);
	else
		fprintf(r->out, "%s is in no sample\n", r->request);
	free(wanted);
}
