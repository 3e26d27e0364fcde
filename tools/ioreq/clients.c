// SPDX-License-Identifier: GPL-2.0
/*
 * Sums by the client for which calls were made (the paper's figure 6): what one thread
 * does while it answers a request is for that one, and so for the client of the request
 * that all began with.
 */
#include "ioreq.h"

const struct party client_ambiguous = { .host = NO_HOST, .name = "ambiguous" };

static const struct party *client_of(const struct request *r)
{
	while (r->parent || r->outlives)
		r = r->parent ? r->parent : r->outlives;
	return r->ambiguous ? &client_ambiguous : r->party[ROLE_CLIENT];
}

/* What the thread works for then, or NULL if it may be anything */
static const struct request *works_for(const struct sums *s, u32 host, s32 pid,
				       const struct logged *c)
{
	return loops_at(s->loops, host, pid, c->start + c->duration);
}

/* Calls from the begin of it to its end */
static void own_calls(const struct sums *s, const struct part *p,
		      const struct request *r, const struct party *client)
{
	struct actor *a =
		p->seen && p->alone ? log_actor(s->log, p->host, p->pid) : NULL;
	u64 i;

	for (i = a ? log_after(a, p->begin) : 0; a && i < a->nr; i++) {
		struct logged *c = &a->call[i];
		const struct request *other;

		if (c->start + c->duration > p->over)
			break;
		if (c->start < p->begin)
			continue;
		other = c->socket == p->id ? r :
					     works_for(s, p->host, p->pid, c);
		/* The parts of a request, and of those made for it, are one client's */
		if (other && client_of(other) != client)
			continue;
		if (c->client && c->client != client)
			c->client = &client_ambiguous;
		else
			c->client = client;
	}
}

/* Files, behind the answer, or in a thread that was handed the request */
static void other_call(const struct sums *s, const struct actor *a,
		       struct logged *c)
{
	bool file = c->step == STEP_FILE || c->step == STEP_SYNC;
	const struct request *r = NULL;

	if (file && !c->client)
		r = works_for(s, a->host, a->pid, c);
	if (r)
		c->client = client_of(r);
}

/**
 * clients_sum - add up calls by the client that they were made for
 * @s: sums, of which there are none yet, with a log and single requests
 */
void clients_sum(struct sums *s)
{
	struct actor *const *a;
	struct request *r;
	u64 nr, i, j;
	u32 actors;

	r = requests_list(s->requests, &nr);
	for (i = 0; i < nr; i++) {
		if (!r[i].answered)
			continue;
		own_calls(s, &r[i].part[ROLE_CLIENT], &r[i], client_of(&r[i]));
		own_calls(s, &r[i].part[ROLE_SERVER], &r[i], client_of(&r[i]));
	}
	a = log_actors(s->log, &actors);
	for (i = 0; i < actors; i++) {
		for (j = 0; j < a[i]->nr; j++) {
			struct logged *c = &a[i]->call[j];

			other_call(s, a[i], c);
			sums_add(s, a[i], log_op(s->log, c),
				 log_object(s->log, c), c);
		}
	}
}
