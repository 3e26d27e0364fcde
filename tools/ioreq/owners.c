// SPDX-License-Identifier: GPL-2.0
/*
 * For which request each single call was made.
 *
 * What moves bytes on a request's own connection, while that request is at work there,
 * is for it, whatever else its thread does meanwhile. Of other calls those are known
 * that a thread makes while it works on one request, and on those that this one
 * was made for; and, of a thread that works on several, those that follow from what it has
 * read (loops.c). That may be done when the answer has gone, as is a line of a log.
 */
#include <stdlib.h>

#include "ioreq.h"

const struct request owner_ambiguous;

/**
 * struct owner - for whom a call was made
 * @request:	it, or &owner_ambiguous, or NULL
 * @own:	it was on the request's own connection
 */
struct owner {
	const struct request *request;
	bool own;
};

/**
 * struct owners - of all calls
 * @actor:	threads
 * @nr:		how many
 * @owner:	of each one's calls
 */
struct owners {
	struct actor *const *actor;
	u32 nr;
	struct owner **owner;
};

static bool made_for(const struct request *r, const struct request *other)
{
	for (; r; r = r->parent) {
		if (r == other)
			return true;
	}
	return false;
}

/* The innermost one, if one of them was made for the other one */
static const struct request *inner(const struct request *a,
				   const struct request *b)
{
	if (!a || made_for(b, a))
		return b;
	return made_for(a, b) ? a : &owner_ambiguous;
}

static void own_call(struct owner *o, const struct request *r, bool own)
{
	if (own && !o->own)
		*o = (struct owner){ .request = r, .own = true };
	else if (own == o->own)
		o->request = inner(o->request, r);
}

/* Calls from its begin to its end, and the one that got it */
static void own_calls(struct owners *o, const struct request *r,
		      const struct part *p, const struct actor *a)
{
	u64 i;

	for (i = a ? log_after(a, p->begin) : 0; a && i < a->nr; i++) {
		const struct logged *c = &a->call[i];
		bool own = c->socket && c->socket == p->id;
		u64 end = c->start + c->duration;

		if (end > p->over)
			break;
		if (own ? end >= p->begin : p->alone && c->start >= p->begin)
			own_call(&o->owner[a->number][i], r, own);
	}
}

/* What the thread works for as its loop is seen to act counts more than who is there */
static void own_by_loop(struct owners *o, const struct sums *s,
			const struct request *list, u64 nr)
{
	u64 i, j;

	for (i = 0; i < o->nr; i++) {
		const struct actor *a = o->actor[i];

		for (j = 0; j < a->nr; j++) {
			struct owner *owner = &o->owner[i][j];
			const struct request *r = loops_at(
				s->loops, a->host, a->pid, a->call[j].start);

			/* Those that are unclear have no place in the list */
			if (owner->own || a->call[j].step == STEP_POLL ||
			    r < list || r >= list + nr)
				continue;
			if (!made_for(owner->request, r))
				owner->request = r;
		}
	}
}

static void own_part(struct owners *o, const struct sums *s,
		     const struct request *r, const struct part *p)
{
	if (!p->seen)
		return;
	own_calls(o, r, p, log_actor(s->log, p->host, p->pid));
	if (p->last_pid != p->pid)
		own_calls(o, r, p, log_actor(s->log, p->host, p->last_pid));
}

/**
 * owners_new - find out for which request each call was made
 * @s: after sums_finish(), with a log
 * @r: requests, after list_parents()
 * @nr: how many
 *
 * Return: that; owners_free() frees it.
 */
struct owners *owners_new(const struct sums *s, const struct request *r, u64 nr)
{
	struct owners *o = allocate(sizeof(*o));
	u64 i;

	o->actor = log_actors(s->log, &o->nr);
	o->owner = allocate((o->nr + 1) * sizeof(*o->owner));
	for (i = 0; i < o->nr; i++)
		o->owner[i] =
			allocate((o->actor[i]->nr + 1) * sizeof(**o->owner));
	for (i = 0; i < nr; i++) {
		if (!r[i].answered)
			continue;
		own_part(o, s, &r[i], &r[i].part[ROLE_SERVER]);
		own_part(o, s, &r[i], &r[i].part[ROLE_CLIENT]);
	}
	own_by_loop(o, s, r, nr);
	return o;
}

/**
 * owners_get - for which request a call was made
 * @o: all of them
 * @actor: its thread
 * @call: number of it among the thread's ones
 *
 * Return: the innermost request, &owner_ambiguous if it may be several, or NULL.
 */
const struct request *owners_get(const struct owners *o,
				 const struct actor *actor, u64 call)
{
	return o->owner[actor->number][call].request;
}

/**
 * owners_free - free all of it
 * @o: owners
 */
void owners_free(struct owners *o)
{
	u32 i;

	for (i = 0; i < o->nr; i++)
		free(o->owner[i]);
	free(o->owner);
	free(o);
}
