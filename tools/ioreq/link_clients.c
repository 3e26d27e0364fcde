// SPDX-License-Identifier: GPL-2.0
/*
 * Sums by the client that calls were made for (the paper's figure 6): a thread that
 * handles one request works for the client of the request at the root.
 */
#include "link.h"

const struct endpoint client_ambiguous = { .host = NO_HOST,
					   .name = "ambiguous",
					   .address = "" };

static const struct endpoint *client_of(const struct request *r)
{
	while (r->parent || r->outlives)
		r = r->parent ? r->parent : r->outlives;
	return r->ambiguous ? &client_ambiguous : r->endpoint[ROLE_CLIENT];
}

/* The request that the thread works for when the call ends, or NULL if unknown */
static const struct request *works_for(const struct model *s, u32 host, s32 pid,
				       const struct call *c)
{
	return causality_request_at(s->causality, host, pid,
				    c->start + c->duration);
}

/* Calls from begin to end of the request */
static void add_request_calls(const struct model *s, const struct view *p,
			      const struct request *r,
			      const struct endpoint *client)
{
	struct thread *a = p->seen && p->alone ?
				   log_thread(s->log, p->host, p->pid) :
				   NULL;
	u64 i;

	for (i = a ? log_after(a, p->begin) : 0; a && i < a->nr; i++) {
		struct call *c = &a->call[i];
		const struct request *other;

		if (c->start + c->duration > p->over)
			break;
		if (c->start < p->begin)
			continue;
		other = c->socket == p->id ? r :
					     works_for(s, p->host, p->pid, c);
		/* A request and its downstream requests are one client's */
		if (other && client_of(other) != client)
			continue;
		if (c->client && c->client != client)
			c->client = &client_ambiguous;
		else
			c->client = client;
	}
}

/* Calls on files after the response, or in a thread that the request was handed to */
static void add_other_call(const struct model *s, const struct thread *a,
			   struct call *c)
{
	bool file = c->step == STEP_FILE || c->step == STEP_SYNC;
	const struct request *r = NULL;

	if (file && !c->client)
		r = works_for(s, a->host, a->pid, c);
	if (r)
		c->client = client_of(r);
}

/**
 * clients_sum - sum calls by the client that they were made for
 * @s:	model without sums, with a log and single requests
 */
void clients_sum(struct model *s)
{
	struct thread *const *a;
	struct request *r;
	u64 nr, i, j;
	u32 threads;

	r = requests_list(s->requests, &nr);
	for (i = 0; i < nr; i++) {
		if (!r[i].answered)
			continue;
		add_request_calls(s, &r[i].view[ROLE_CLIENT], &r[i],
				  client_of(&r[i]));
		add_request_calls(s, &r[i].view[ROLE_SERVER], &r[i],
				  client_of(&r[i]));
	}
	a = log_threads(s->log, &threads);
	for (i = 0; i < threads; i++) {
		for (j = 0; j < a[i]->nr; j++) {
			struct call *c = &a[i]->call[j];

			add_other_call(s, a[i], c);
			model_sum_call(s, a[i], log_op(s->log, c),
				       log_object(s->log, c), c);
		}
	}
}
