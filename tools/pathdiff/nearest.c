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
 * @candidate:	normal patterns, the most frequent first
 * @nr:		number of them
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
	u32 *task;
	u32 tasks;
	u32 abnormal;
	u32 next;
};

struct bound {
	u32 candidate;
	u32 most;
	u32 len;
	u32 nr;
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

static int by_bound(const void *a, const void *b)
{
	const struct bound *x = a, *y = b;
	int order = ORDER(y->most, x->most);

	order = order ?: ORDER(x->len, y->len);
	return order ?: ORDER(x->candidate, y->candidate);
}

static bool is_nearer(const struct bound *b, u32 common,
		      const struct bound *than, u32 than_common)
{
	if (common != than_common)
		return common > than_common;
	if (b->len != than->len)
		return b->len < than->len;
	return b->nr > than->nr;
}

static void search(struct search *s, struct lcs *lcs, struct bound *bound,
		   u32 task, u32 *nearest, u32 *common)
{
	const struct patterns *all = &s->paths->patterns;
	const struct pattern *p = &all->p[s->task[task]];
	u32 nr = task < s->abnormal || s->nr < MAX_TABLE2 ? s->nr : MAX_TABLE2;
	u32 i, n = 0, best = 0, compared = 0;
	const struct bound *found = NULL;

	for (i = 0; i < nr; i++) {
		const struct pattern *q = &all->p[s->candidate[i]];

		if (q == p)
			continue;
		bound[n].candidate = s->candidate[i];
		bound[n].most = intersection(p, q);
		bound[n].len = q->len;
		bound[n++].nr = q->nr[0];
	}
	qsort(bound, n, sizeof(*bound), by_bound);
	lcs_first(lcs, p->function, p->len);
	for (i = 0; i < n; i++) {
		const struct pattern *q = &all->p[bound[i].candidate];
		u32 length;

		if (found && bound[i].most < best)
			break;
		if (found && bound[i].most == best &&
		    !is_nearer(&bound[i], best, found, best))
			continue;
		length = lcs_length(lcs, q->function, q->len);
		compared++;
		if (!found || is_nearer(&bound[i], length, found, best)) {
			found = &bound[i];
			best = length;
		}
	}
	__atomic_fetch_add(&s->nearest->compared, compared, __ATOMIC_RELAXED);
	__atomic_fetch_add(&s->nearest->pruned, n - compared, __ATOMIC_RELAXED);
	*nearest = found ? found->candidate : NONE;
	*common = best;
}

static void note(u32 *table, u32 common, u32 len)
{
	u32 tens = len ? (u32)((u64)common * 10 / len) : 0;

	tens = tens > 9 ? 9 : tens;
	__atomic_fetch_add(&table[9 - tens], 1, __ATOMIC_RELAXED);
}

static void do_task(struct search *s, struct lcs *lcs, struct bound *bound,
		    u32 task)
{
	struct pattern *p = &s->paths->patterns.p[s->task[task]];
	const struct pattern *q;
	u32 nearest, common;

	if (task >= s->abnormal) {
		search(s, lcs, bound, task, &nearest, &common);
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
	search(s, lcs, bound, task, &p->near, &p->common);
	if (p->near == NONE)
		return;
	if (p->nr[1])
		note(s->nearest->table3, p->common, p->len);
	q = &s->paths->patterns.p[p->near];
	p->match = xzalloc(p->len * sizeof(*p->match));
	lcs_match(lcs, p->function, p->len, q->function, q->len, p->match);
}

static void *work(void *arg)
{
	struct search *s = arg;
	struct lcs *lcs = lcs_new(s->paths->functions.nr);
	struct bound *bound = xzalloc(s->nr * sizeof(*bound));
	u32 from, i;

	for (;;) {
		from = __atomic_fetch_add(&s->next, BATCH, __ATOMIC_RELAXED);
		if (from >= s->tasks)
			break;
		for (i = from; i < from + BATCH && i < s->tasks; i++)
			do_task(s, lcs, bound, i);
	}
	free(bound);
	lcs_free(lcs);
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

static void list_patterns(struct search *s)
{
	struct patterns *all = &s->paths->patterns;
	u32 i;

	s->candidate = xzalloc(all->nr * sizeof(*s->candidate));
	s->task = xzalloc(2 * (size_t)all->nr * sizeof(*s->task));
	for (i = 0; i < all->nr; i++) {
		if (all->p[i].nr[0])
			s->candidate[s->nr++] = i;
		if (all->p[i].nr[1] || all->p[i].base)
			s->task[s->tasks++] = i;
		s->nearest->abnormal += all->p[i].nr[1] > 0;
	}
	s->abnormal = s->tasks;
	s->nearest->normal = s->nr;
	sorted_patterns = all;
	qsort(s->candidate, s->nr, sizeof(*s->candidate), by_frequency);
	if (s->nr > MAX_CANDIDATES)
		s->nr = MAX_CANDIDATES;
	for (i = 0; i < s->nr && i < MAX_TABLE2; i++)
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
