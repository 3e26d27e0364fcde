// SPDX-License-Identifier: GPL-2.0
/*
 * Requests: what the servers' threads did during them.
 *
 * What a thread does outside of calls while it handles several requests may be for any of
 * them. It is a step of its own, or it would be counted as computing for each.
 */
#include <stdlib.h>

#include "link_requests.h"
#include "order.h"

/* Index of the first call of a thread that ended after a time */
u64 first_call_after(const struct thread_calls *t, u64 time)
{
	return FIRST(i, 0, t->nr, t->call[i].finish > time);
}

/* Remember which requests threads handle; of unanswered ones, the end is unknown */
void steps_handle(struct requests *r, const struct turns *server)
{
	u64 i;

	for (i = 0; i < server->nr; i++) {
		const struct turn *s = &server->turn[i];
		struct thread_calls *t;

		if (!s->thread || !s->answered || s->over < s->begin)
			continue;
		t = requests_thread(r, s->thread->host, s->thread->pid);
		GROW(t->begin, t->begins, t->begin_room);
		t->begin[t->begins++] = s->begin;
		GROW(t->over, t->overs, t->over_room);
		t->over[t->overs++] = s->over;
	}
}

/* Add the steps of a request to its sum, once all requests are known */
void steps_add(struct requests *r, struct flow *e, const struct turn *s,
	       u64 own)
{
	if (!s->thread || s->over < s->begin)
		return;
	GROW(r->stepped, r->nr_stepped, r->stepped_room);
	r->stepped[r->nr_stepped++] = (struct stepped){
		.flow = e,
		.thread = s->thread,
		.begin = s->begin,
		.over = s->over,
		.sent = s->sent,
		.own = own,
	};
}

/**
 * struct handling - how many requests a thread handles, as time goes on
 * @t:		thread
 * @begun:	number of requests that have begun by then
 * @over:	number of these that are over
 */
struct handling {
	const struct thread_calls *t;
	u64 begun;
	u64 over;
};

static struct handling handling_at(const struct thread_calls *t, u64 time)
{
	struct handling h = { .t = t };

	h.begun = FIRST(i, 0, t->begins, t->begin[i] > time);
	h.over = FIRST(i, 0, t->overs, t->over[i] > time);
	return h;
}

/* @time: not before that of the last call */
static u64 handled_next(struct handling *h, u64 time)
{
	const struct thread_calls *t = h->t;

	/* As a rule, none is passed */
	if (h->begun < t->begins && t->begin[h->begun] <= time)
		h->begun = FIRST(i, h->begun, t->begins, t->begin[i] > time);
	if (h->over < t->overs && t->over[h->over] <= time)
		h->over = FIRST(i, h->over, t->overs, t->over[i] > time);
	return h->begun - h->over;
}

/**
 * requests_handled - how many requests a thread handles alone at a time
 * @r:		requests, after requests_finish()
 * @host:	number of the host
 * @pid:	thread
 * @time:	time, ns of the host
 *
 * Return: their number.
 */
u64 requests_handled(const struct requests *r, u32 host, s32 pid, u64 time)
{
	struct handling h;
	const struct thread_calls *t;

	hash_for_each_possible_entry(&r->threads, hash_pair(host, pid), t) {
		if (t->host != host || t->pid != pid)
			continue;
		h = handling_at(t, time);
		return h.begun - h.over;
	}
	return 0;
}

/* The step that a call is */
static enum step step_of(const struct timed_call *c, const struct stepped *s)
{
	if ((c->id == s->own || c->step == STEP_POLL) && c->finish <= s->sent)
		return STEP_ARRIVING;
	return c->id == s->own ? STEP_OWN_SOCKET : c->step;
}

/* Outside of calls: on a CPU or not, if that is known */
static void add_time_outside(const struct model *m, const struct stepped *s,
			     struct handling *h, bool known, u64 from, u64 to)
{
	const struct thread_calls *t = s->thread;
	bool ambiguous = handled_next(h, from) > 1;
	u64 *step = s->flow->step, rest = to - from;
	struct off_cpu off;

	while (known && off_cpu_next(m, t->host, t->pid, &from, to, &off)) {
		step[STEP_SLEEPING] += off.runnable - off.begin;
		step[STEP_RUNNABLE] += off.end - off.runnable;
		rest -= off.end - off.begin;
	}
	if (known)
		step[ambiguous ? STEP_AMBIGUOUS_COMPUTING : STEP_COMPUTING] +=
			rest;
	else
		step[ambiguous ? STEP_AMBIGUOUS_NO_CALL : STEP_NO_CALL] += rest;
}

static void sum_steps(const struct model *m, const struct stepped *s)
{
	const struct thread_calls *t = s->thread;
	bool known = off_cpu_known(m, t->host, s->begin, s->over);
	struct handling h = handling_at(t, s->begin);
	u64 i, began = s->begin;

	s->flow->stepped++;
	for (i = first_call_after(t, s->begin); i < t->nr; i++) {
		const struct timed_call *c = &t->call[i];

		if (c->finish > s->over)
			break;
		/* A damaged trace may have calls within calls */
		if (c->start < began)
			continue;
		add_time_outside(m, s, &h, known, began, c->start);
		began = c->finish;
		s->flow->step[step_of(c, s)] += c->finish - c->start;
	}
	add_time_outside(m, s, &h, known, began, s->over);
}

/* Add the steps of all requests to their sums */
void steps_finish(struct requests *r)
{
	struct thread_calls *t;
	u64 j;
	u32 i;

	hash_for_each(&r->threads, i, t) {
		if (!t->begins)
			continue;
		sort_if_needed(t->begin, t->begins, sizeof(*t->begin),
			       order_u64);
		sort_if_needed(t->over, t->overs, sizeof(*t->over), order_u64);
	}
	for (j = 0; j < r->nr_stepped; j++)
		sum_steps(r->m, &r->stepped[j]);
	free(r->stepped);
	r->stepped = NULL;
	r->nr_stepped = r->stepped_room = 0;
}
