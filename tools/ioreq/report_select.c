// SPDX-License-Identifier: GPL-2.0
/* Selection of single requests and calls for reports. */
#include <stdlib.h>

#include "order.h"
#include "report.h"

/* The client's time, if it was recorded */
static u64 length(const struct request *r)
{
	const struct view *p = &r->view[!r->view[ROLE_CLIENT].seen];

	if (!r->answered)
		return requests_unanswered_time(r);
	return p->over > p->begin ? p->over - p->begin : 0;
}

static int by_length(const void *a, const void *b)
{
	const struct request *x = *(struct request *const *)a,
			     *y = *(struct request *const *)b;

	return ORDER(length(y), length(x)) ?:
		       ORDER(x->view[x->named].begin, y->view[y->named].begin);
}

static void mark_calls(const struct model *m, const struct view *p)
{
	struct thread *a = p->seen ? log_thread(m->log, p->host, p->pid) : NULL;
	u64 i, over = p->until ? p->until : p->over;

	if (!a)
		return;
	for (i = log_after(a, p->begin); i < a->nr; i++) {
		if (a->call[i].start > over)
			break;
		a->call[i].marked = true;
	}
}

static void mark_all(const struct model *m)
{
	u32 threads, i;
	struct thread *const *a = log_threads(m->log, &threads);
	u64 j;

	for (i = 0; i < threads; i++) {
		for (j = 0; j < a[i]->nr; j++)
			a[i]->call[j].marked = true;
	}
}

static void mark_ancestors(struct request *r)
{
	for (; r; r = r->parent)
		r->marked = true;
}

/**
 * select_requests - mark the longest requests, their ancestors and downstream requests,
 *	and the calls of their threads meanwhile
 * @m:		model, after model_link()
 * @r:		requests, after link_parents()
 * @nr:		number of requests
 * @top:	number of requests to mark, besides downstream ones; UINT64_MAX: all
 *		requests and all calls
 */
void select_requests(const struct model *m, struct request *r, u64 nr, u64 top)
{
	struct request **order = xzalloc((nr + 1) * sizeof(*order));
	const struct request *at;
	u64 i, n = 0;

	for (i = 0; i < nr; i++)
		order[n++] = &r[i];
	qsort(order, n, sizeof(*order), by_length);
	for (i = 0; i < n && i < top; i++)
		mark_ancestors(order[i]);
	for (i = 0; i < n; i++) {
		for (at = order[i]; at && !at->marked; at = at->parent)
			;
		if (at)
			order[i]->marked = true;
	}
	for (i = 0; i < n && top != UINT64_MAX; i++) {
		if (!order[i]->marked)
			continue;
		mark_calls(m, &order[i]->view[ROLE_CLIENT]);
		mark_calls(m, &order[i]->view[ROLE_SERVER]);
	}
	if (top == UINT64_MAX)
		mark_all(m);
	free(order);
}
