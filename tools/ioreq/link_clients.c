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
static const struct request *works_for(const struct model *m, u32 host, s32 pid,
				       const struct call *call)
{
	return causality_request_at(m->causality, host, pid,
				    call->start + call->duration);
}

/* Calls from begin to end of the request */
static void add_request_calls(const struct model *m, const struct view *p,
			      const struct request *r,
			      const struct endpoint *client)
{
	struct thread *a = p->seen && p->alone ?
				   log_thread(m->log, p->host, p->pid) :
				   NULL;
	u64 i;

	for (i = a ? log_after(a, p->begin) : 0; a && i < a->nr; i++) {
		struct call *call = &a->call[i];
		const struct request *other;

		if (call->start + call->duration > p->over)
			break;
		if (call->start < p->begin)
			continue;
		/* On a client's own connection it is for that one */
		if (call->socket &&
		    requests_serves(m->requests, p->host, call->socket)) {
			if (call->socket == p->id || !call->client)
				call->client = client;
			continue;
		}
		other = call->socket == p->id ?
				r :
				works_for(m, p->host, p->pid, call);
		/* A request and its downstream requests are one client's */
		if (other && client_of(other) != client)
			continue;
		if (call->client && call->client != client)
			call->client = &client_ambiguous;
		else
			call->client = client;
	}
}

/* Calls on files after the response, or in a thread that the request was handed to */
static void add_other_call(const struct model *m, const struct thread *a,
			   struct call *call)
{
	bool file = call->step == STEP_FILE || call->step == STEP_SYNC;
	const struct request *r = NULL;

	if (file && !call->client)
		r = works_for(m, a->host, a->pid, call);
	if (r)
		call->client = client_of(r);
}

/**
 * clients_sum - sum calls by the client that they were made for
 * @m:	model without sums, with a log and single requests
 */
void clients_sum(struct model *m)
{
	struct thread *const *a;
	struct request *r;
	u64 nr, i, j;
	u32 threads;

	r = requests_list(m->requests, &nr);
	for (i = 0; i < nr; i++) {
		if (!r[i].answered)
			continue;
		add_request_calls(m, &r[i].view[ROLE_CLIENT], &r[i],
				  client_of(&r[i]));
		add_request_calls(m, &r[i].view[ROLE_SERVER], &r[i],
				  client_of(&r[i]));
	}
	a = log_threads(m->log, &threads);
	for (i = 0; i < threads; i++) {
		for (j = 0; j < a[i]->nr; j++) {
			struct call *call = &a[i]->call[j];

			add_other_call(m, a[i], call);
			model_sum_call(m, a[i], log_op(m->log, call),
				       log_object(m->log, call), call);
		}
	}
}
