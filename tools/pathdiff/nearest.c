// SPDX-License-Identifier: GPL-2.0
/*
 * The normal pattern that is most like an abnormal one: similarity is the length
 * of the longest common subsequence as a part of the abnormal path's length.
 *
 * The intersection of the two as multisets of functions is no shorter than any
 * common subsequence, and quickly counted: candidates are tried in order of that
 * bound, until it is no longer than the longest one found. Of equal ones the
 * shorter pattern is nearer, then the one with more executions.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "order.h"
#include "pathdiff.h"
#include "text.h"

/* Maximum number of normal patterns to compare with, the most frequent ones */
#define MAX_CANDIDATES 4096

/* Normal patterns in table 2, which needs all pairs */
#define MAX_TABLE2 1024

/* Patterns that a thread processes at a time */
#define BATCH 16

/**
 * struct search - what the threads share
 * @paths:	all paths
 * @nearest:	what they find
 * @candidate:	normal patterns; the MAX_TABLE2 most frequent ones first, otherwise the
 *		shorter ones first
 * @nr:		number of them
 * @longest:	length of the longest pattern
 * @task:	patterns whose nearest one is searched for: abnormal ones, then normal
 * @tasks:	number of them
 * @abnormal:	of these the abnormal ones
 * @next:	the next task
 */
struct search {
	struct paths *paths;
	struct nearest *nearest;
	u32 *candidate;
	u32 nr;
	u32 longest;
	u32 *task;
	u32 tasks;
	u32 abnormal;
	u32 next;
};

/**
 * struct scratch - memory of a thread
 * @lcs:	for longest common subsequences
 * @most:	of each candidate, the bound
 * @order:	places of candidates, in descending order of the bound
 * @first:	for each bound, where its candidates begin in @order
 */
struct scratch {
	struct lcs *lcs;
	u32 *most;
	u32 *order;
	u32 *first;
};

/* Distinct functions with their counts, ascending */
static void count_functions(struct pattern *p)
{
	u32 *sorted = xzalloc(p->len * sizeof(*sorted)), i;

	memcpy(sorted, p->function, p->len * sizeof(*sorted));
	qsort(sorted, p->len, sizeof(*sorted), order_u32);
	p->counts = xzalloc(2 * (size_t)p->len * sizeof(*p->counts));
	p->distinct = 0;
	for (i = 0; i < p->len; i++) {
		if (!i || sorted[i] != sorted[i - 1])
			p->counts[2 * p->distinct++] = sorted[i];
		p->counts[2 * p->distinct - 1]++;
	}
	free(sorted);
}

static u32 intersection(const struct pattern *p, const struct pattern *q)
{
	const u32 *a = p->counts, *a_end = a + 2 * p->distinct;
	const u32 *b = q->counts, *b_end = b + 2 * q->distinct;
	u32 n = 0;

	while (a < a_end && b < b_end) {
		if (*a == *b) {
			n += a[1] < b[1] ? a[1] : b[1];
			a += 2;
			b += 2;
		} else if (*a < *b) {
			a += 2;
		} else {
			b += 2;
		}
	}
	return n;
}

/* Counting sort, since bounds are at most the length of the path */
static void sort_by_bound(struct scratch *w, u32 nr, u32 len)
{
	u32 i, n, at = 0;

	memset(w->first, 0, (len + 1) * sizeof(*w->first));
	for (i = 0; i < nr; i++)
		w->first[w->most[i]]++;
	for (i = len + 1; i--;) {
		n = w->first[i];
		w->first[i] = at;
		at += n;
	}
	for (i = 0; i < nr; i++)
		w->order[w->first[w->most[i]]++] = i;
}

static bool is_nearer(const struct pattern *p, u32 common,
		      const struct pattern *than, u32 than_common)
{
	if (common != than_common)
		return common > than_common;
	if (p->len != than->len)
		return p->len < than->len;
	return p->nr[0] > than->nr[0];
}

static void search(struct search *s, struct scratch *w, u32 task, u32 *nearest,
		   u32 *common)
{
	const struct patterns *all = &s->paths->patterns;
	const struct pattern *p = &all->p[s->task[task]], *found = NULL;
	u32 nr = task < s->abnormal || s->nr < MAX_TABLE2 ? s->nr : MAX_TABLE2;
	u32 i, best = 0, compared = 0;

	for (i = 0; i < nr; i++)
		w->most[i] = intersection(p, &all->p[s->candidate[i]]);
	sort_by_bound(w, nr, p->len);
	lcs_first(w->lcs, p->function, p->len);
	for (i = 0; i < nr; i++) {
		const struct pattern *q = &all->p[s->candidate[w->order[i]]];
		u32 most = w->most[w->order[i]], length;

		if (found && most < best)
			break;
		if (q == p ||
		    (found && most == best && !is_nearer(q, best, found, best)))
			continue;
		length = lcs_length(w->lcs, q->function, q->len);
		compared++;
		if (!found || is_nearer(q, length, found, best)) {
			found = q;
			best = length;
		}
	}
	/* A normal pattern is a candidate of its own */
	nr -= task >= s->abnormal;
	__atomic_fetch_add(&s->nearest->compared, compared, __ATOMIC_RELAXED);
	__atomic_fetch_add(&s->nearest->pruned, nr - compared,
			   __ATOMIC_RELAXED);
	*nearest = found ? found - all->p : NONE;
	*common = best;
}

static void note(u32 *table, u32 common, u32 len)
{
	u32 tens = len ? (u32)((u64)common * 10 / len) : 0;

	tens = tens > 9 ? 9 : tens;
	__atomic_fetch_add(&table[9 - tens], 1, __ATOMIC_RELAXED);
}

static void do_task(struct search *s, struct scratch *w, u32 task)
{
	struct pattern *p = &s->paths->patterns.p[s->task[task]];
	const struct pattern *q;
	u32 nearest, common;

	if (task >= s->abnormal) {
		search(s, w, task, &nearest, &common);
		if (nearest != NONE)
			note(s->nearest->table2, common, p->len);
		return;
	}
	if (p->nr[0]) {
		p->near = s->task[task];
		p->common = p->len;
		if (p->nr[1])
			note(s->nearest->table3, p->len, p->len);
		return;
	}
	search(s, w, task, &p->near, &p->common);
	if (p->near == NONE)
		return;
	if (p->nr[1])
		note(s->nearest->table3, p->common, p->len);
	q = &s->paths->patterns.p[p->near];
	p->match = xzalloc(p->len * sizeof(*p->match));
	lcs_match(w->lcs, p->function, p->len, q->function, q->len, p->match);
}

static void *work(void *arg)
{
	struct search *s = arg;
	struct scratch w = {
		.lcs = lcs_new(s->paths->functions.nr),
		.most = xcalloc(s->nr, sizeof(*w.most)),
		.order = xcalloc(s->nr, sizeof(*w.order)),
		.first = xcalloc((size_t)s->longest + 1, sizeof(*w.first)),
	};
	u32 from, i;

	for (;;) {
		from = __atomic_fetch_add(&s->next, BATCH, __ATOMIC_RELAXED);
		if (from >= s->tasks)
			break;
		for (i = from; i < from + BATCH && i < s->tasks; i++)
			do_task(s, &w, i);
	}
	free(w.first);
	free(w.order);
	free(w.most);
	lcs_free(w.lcs);
	return NULL;
}

/* The usual times: means of normal executions, for each position of a pattern */
static void add_normal(struct pattern *p, const struct exec *e, double *incl)
{
	u32 i;

	if (!p->stat)
		p->stat = xzalloc(p->len * sizeof(*p->stat));
	p->duration += e->duration;
	p->irq += e->irq;
	for (i = p->len; i; i--) {
		u32 depth = p->depth[i - 1];
		float self = e->data[p->len + i - 1];
		struct position *s = &p->stat[i - 1];
		double all = self + incl[depth + 1];

		/* deeper functions after it are below it */
		incl[depth + 1] = 0;
		incl[depth] += all;
		s->incl += all;
		s->self += self;
		s->square += (double)self * self;
		if (self > s->max)
			s->max = self;
	}
	incl[0] = 0;
}

static void make_means(struct paths *p)
{
	double *incl = xzalloc((65536 + 1) * sizeof(*incl));
	u32 i, k;

	for (i = 0; i < p->nr; i++) {
		const struct exec *e = &p->exec[i];
		struct pattern *q = &p->patterns.p[e->pattern];

		if (e->abnormal && e->side == SIDE_BASELINE) {
			q->base++;
			continue;
		}
		q->nr[e->abnormal]++;
		if (!e->abnormal)
			add_normal(q, e, incl);
		if (q->first == NONE ||
		    (e->abnormal && e->duration > p->exec[q->first].duration))
			q->first = i;
	}
	for (i = 0; i < p->patterns.nr; i++) {
		struct pattern *q = &p->patterns.p[i];
		double n = q->nr[0];

		for (k = 0; n > 0 && k < q->len; k++) {
			q->stat[k].self /= n;
			q->stat[k].incl /= n;
			q->stat[k].square /= n;
		}
		if (n > 0) {
			q->irq /= n;
			q->duration /= n;
		}
	}
	free(incl);
}

static const struct patterns *sorted_patterns;

static int by_frequency(const void *a, const void *b)
{
	const u32 x = *(const u32 *)a, y = *(const u32 *)b;
	const struct pattern *p = sorted_patterns->p;

	return ORDER(p[y].nr[0], p[x].nr[0]) ?: ORDER(x, y);
}

static int by_length(const void *a, const void *b)
{
	const u32 x = *(const u32 *)a, y = *(const u32 *)b;
	const struct pattern *p = sorted_patterns->p;

	return ORDER(p[x].len, p[y].len) ?: ORDER(x, y);
}

static void list_patterns(struct search *s)
{
	struct patterns *all = &s->paths->patterns;
	u32 i, table2;

	s->candidate = xzalloc(all->nr * sizeof(*s->candidate));
	s->task = xzalloc(2 * (size_t)all->nr * sizeof(*s->task));
	for (i = 0; i < all->nr; i++) {
		if (all->p[i].nr[0])
			s->candidate[s->nr++] = i;
		if (all->p[i].nr[1] || all->p[i].base)
			s->task[s->tasks++] = i;
		s->nearest->abnormal += all->p[i].nr[1] > 0;
		if (all->p[i].len > s->longest)
			s->longest = all->p[i].len;
	}
	s->abnormal = s->tasks;
	s->nearest->normal = s->nr;
	sorted_patterns = all;
	qsort(s->candidate, s->nr, sizeof(*s->candidate), by_frequency);
	if (s->nr > MAX_CANDIDATES)
		s->nr = MAX_CANDIDATES;
	table2 = s->nr < MAX_TABLE2 ? s->nr : MAX_TABLE2;
	qsort(s->candidate, table2, sizeof(*s->candidate), by_length);
	qsort(s->candidate + table2, s->nr - table2, sizeof(*s->candidate),
	      by_length);
	for (i = 0; i < table2; i++)
		s->task[s->tasks++] = s->candidate[i];
	for (i = 0; i < all->nr; i++) {
		if (all->p[i].nr[0] || all->p[i].nr[1] || all->p[i].base)
			count_functions(&all->p[i]);
	}
}

/**
 * nearest_find - find the nearest normal pattern of each abnormal one
 * @g: the guard
 * @p: the paths
 * @n: the tables of similarities
 * @jobs: threads to use
 */
void nearest_find(struct guard *g, struct paths *p, struct nearest *n, u32 jobs)
{
	struct search s = { .paths = p, .nearest = n };
	pthread_t *thread = xzalloc(jobs * sizeof(*thread));
	u32 i, started = 0;

	guard_alive(g, GUARD_NOWHERE);
	make_means(p);
	list_patterns(&s);
	guard_alive(g, GUARD_NOWHERE);
	guard_progress(g, "comparing %u pattern%s with %u", s.abnormal,
		       plural(s.abnormal), s.nr);
	for (i = 1; i < jobs && i * BATCH < s.tasks; i++) {
		if (!pthread_create(&thread[started], NULL, work, &s))
			started++;
	}
	work(&s);
	for (i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	guard_alive(g, GUARD_NOWHERE);
	free(thread);
	free(s.candidate);
	free(s.task);
}
