// SPDX-License-Identifier: GPL-2.0
/*
 * Request attribution: which request each single call was made for.
 *
 * A call that moves bytes on a request's own connection, while the request is in
 * progress, was made for that request, whatever else its thread does meanwhile. Other
 * calls are attributed if the thread works on one request only (and on the requests that
 * this one was made for), or, if it works on several, by what the thread has read before
 * (link_causality.c). A call may also come after the response, such as one that writes
 * a line of a log.
 */
#include <stdlib.h>

#include "link.h"

const struct request owner_ambiguous;

/**
 * struct attribution - which request a call was made for
 * @request:	the request, &owner_ambiguous, or NULL
 * @own:	the call was on the request's own connection
 */
struct attribution {
	const struct request *request;
	bool own;
};

/**
 * struct owners - attribution of all calls
 * @thread:		threads
 * @nr:			number of threads
 * @attribution:	attributions of each thread's calls
 */
struct owners {
	struct thread *const *thread;
	u32 nr;
	struct attribution **attribution;
};

static bool is_descendant(const struct request *r, const struct request *other)
{
	for (; r; r = r->parent) {
		if (r == other)
			return true;
	}
	return false;
}

/* The innermost of two requests, if one was made for the other */
static const struct request *innermost(const struct request *a,
				       const struct request *b)
{
	if (!a || is_descendant(b, a))
		return b;
	return is_descendant(a, b) ? a : &owner_ambiguous;
}

static void attribute_call(struct attribution *o, const struct request *r,
			   bool own)
{
	if (own && !o->own)
		*o = (struct attribution){ .request = r, .own = true };
	else if (own == o->own)
		o->request = innermost(o->request, r);
}

/* Calls from begin to end of the request, and the call that received it */
static void attribute_calls(struct owners *o, const struct request *r,
			    const struct view *p, const struct thread *a)
{
	u64 i;

	for (i = a ? log_after(a, p->begin) : 0; a && i < a->nr; i++) {
		const struct call *call = &a->call[i];
		bool own = call->socket && call->socket == p->id;
		u64 end = call->start + call->duration;

		if (end > p->over)
			break;
		/* Bytes of a multiplexed connection may be of any of its requests */
		if (own ? end >= p->begin : p->alone && call->start >= p->begin)
			attribute_call(
				&o->attribution[a->number][i],
				own && r->multiplexed ? &owner_ambiguous : r,
				own);
	}
}

/* After the response, a thread may write a log, but works on other connections for others */
static bool is_elsewhere(const struct request *r, const struct call *call)
{
	const struct view *p = &r->view[ROLE_SERVER];

	return p->seen && r->answered && call->socket &&
	       call->socket != p->id && call->start >= p->over;
}

/* What a thread was seen to work for takes precedence over which
 * requests are in progress
 */
static void attribute_by_causality(struct owners *o, const struct model *m,
				   const struct request *list, u64 nr)
{
	u64 i, j;

	for (i = 0; i < o->nr; i++) {
		const struct thread *a = o->thread[i];

		for (j = 0; j < a->nr; j++) {
			struct attribution *attribution = &o->attribution[i][j];
			const struct request *r =
				causality_request_at(m->causality, a->host,
						     a->pid, a->call[j].start);

			/* Unclear requests are not in the list */
			if (attribution->own || a->call[j].step == STEP_POLL ||
			    r < list || r >= list + nr ||
			    is_elsewhere(r, &a->call[j]))
				continue;
			if (!is_descendant(attribution->request, r))
				attribution->request = r;
		}
	}
}

static void attribute_view(struct owners *o, const struct model *m,
			   const struct request *r, const struct view *p)
{
	if (!p->seen)
		return;
	attribute_calls(o, r, p, log_thread(m->log, p->host, p->pid));
	if (p->last_pid != p->pid)
		attribute_calls(o, r, p,
				log_thread(m->log, p->host, p->last_pid));
}

/**
 * owners_new - attribute all calls
 * @m:	model with a log, after model_link()
 * @r:	requests, after link_parents()
 * @nr:	number of requests
 *
 * Return: attributions, to be freed with owners_free().
 */
struct owners *owners_new(const struct model *m, const struct request *r,
			  u64 nr)
{
	struct owners *o = xzalloc(sizeof(*o));
	u64 i;

	o->thread = log_threads(m->log, &o->nr);
	o->attribution = xzalloc((o->nr + 1) * sizeof(*o->attribution));
	for (i = 0; i < o->nr; i++)
		o->attribution[i] = xzalloc((o->thread[i]->nr + 1) *
					    sizeof(**o->attribution));
	for (i = 0; i < nr; i++) {
		if (!r[i].answered)
			continue;
		attribute_view(o, m, &r[i], &r[i].view[ROLE_SERVER]);
		attribute_view(o, m, &r[i], &r[i].view[ROLE_CLIENT]);
	}
	attribute_by_causality(o, m, r, nr);
	return o;
}

/**
 * owners_get - which request a call was made for
 * @o:		attributions
 * @thread:	thread of the call
 * @call:	index of the call among the thread's calls
 *
 * Return: the innermost request, &owner_ambiguous if it may be one of several, or NULL.
 */
const struct request *owners_get(const struct owners *o,
				 const struct thread *thread, u64 call)
{
	return o->attribution[thread->number][call].request;
}

/**
 * owners_free - free all attributions
 * @o:	attributions
 */
void owners_free(struct owners *o)
{
	u32 i;

	for (i = 0; i < o->nr; i++)
		free(o->attribution[i]);
	free(o->attribution);
	free(o);
}
