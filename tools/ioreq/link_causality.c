// SPDX-License-Identifier: GPL-2.0
/*
 * Causality: finds the request that a thread works for, if it handles several at a time,
 * as event loops do, or if other threads hand work to it. The method is described in
 * docs/causality.md. This file has the passes over all events, the choice of each thread's
 * policy, and the interface.
 */
#include <stdlib.h>
#include <string.h>

#include "link_causality.h"
#include "order.h"

/* At most PASSES passes: each uses the parents that the one before has found */
#define PASSES 5

/* One in CONTRADICTIONS requests with both ends known may have contradictory ends */
#define CONTRADICTIONS 50

/*
 * Or one in MORE_CONTRADICTIONS, if at most one in WRONG_PARENTS parents inferred from one
 * end is then expected to be wrong
 */
#define WRONG_PARENTS 200
#define MORE_CONTRADICTIONS 20

/*
 * For an ordered policy, one in ORDERED_MIN, and at least as many requests with both ends
 * known: ends may agree by chance
 */
#define ORDERED_MIN 10

/* And it must attribute more requests than the other policy by one part in GAIN_MIN */
#define GAIN_MIN 20

/*
 * Return: number of candidates of both ends, or of the known one; @found is set to the
 * last of them
 */
static int common_parents(const struct causality *c,
			  const struct request_state *s, u64 time, u32 *found)
{
	const struct candidates *from =
		candidates_known(&s->causes) ? &s->causes : &s->continued;
	int i, n = 0;

	if (!candidates_known(from))
		return 0;
	for (i = 0; i < from->nr; i++) {
		if (candidates_known(&s->continued) &&
		    !candidates_has(&s->continued, from->request[i]))
			continue;
		if (!causality_in_progress(c, from->request[i], time))
			continue;
		*found = from->request[i];
		n++;
	}
	return n;
}

/* Return: the only one, or NONE */
static u32 common_parent(const struct causality *c,
			 const struct request_state *s, u64 time)
{
	u32 found = NONE;

	return common_parents(c, s, time, &found) == 1 ? found : NONE;
}

static void begin_pass(struct causality *c)
{
	struct channel *ch;
	struct worker *w;
	u32 i;

	for (i = 0; i < c->nr; i++) {
		c->request_state[i].causes = (struct candidates){ 0 };
		c->request_state[i].continued = (struct candidates){ 0 };
		c->request_state[i].has_effect = false;
		c->request_state[i].passed_on = false;
		c->request_state[i].made_for = NONE;
		c->request_state[i].waits_in = NULL;
	}
	hash_for_each(&c->channels, i, ch) {
		ch->set = (struct candidates){ 0 };
		ch->only = NONE;
		ch->first = ch->nr = 0;
	}
	hash_for_each(&c->workers, i, w) {
		w->nr = w->effects = w->nr_waiting = 0;
		w->woken = 0;
		w->nr_received = w->free = w->in_flight = 0;
		w->answered = NONE;
		w->fresh = NONE;
		w->mixed = w->just = w->responded = false;
		w->agreed[w->policy] = w->contradicted[w->policy] = 0;
		w->single[w->policy] = 0;
		w->nr_sent = w->attributed[w->policy] = w->undecided = 0;
	}
}

static void compare_ends(struct causality *c)
{
	u32 i;

	for (i = 0; i < c->listed; i++) {
		struct request_state *s = &c->request_state[i];
		struct worker *w = s->sender;
		bool both = candidates_known(&s->causes) &&
			    candidates_known(&s->continued);
		u32 found;
		int n;

		if (!w || s->made_for != NONE)
			continue;
		n = common_parents(c, s, causality_sent_at(c, i), &found);
		if (n == 1 && both)
			w->agreed[w->policy]++;
		else if (n == 1)
			w->single[w->policy]++;
		else if (both)
			w->contradicted[w->policy]++;
		w->undecided += both && n > 1;
	}
}

/*
 * Whether at most one request in @of contradicts. A policy in order may fit the behaviour
 * of any thread by chance, so it needs @of requests as evidence.
 */
static bool are_few(const struct worker *w, enum policy policy,
		    u64 contradicted, u64 of)
{
	u64 both = w->agreed[policy] + contradicted;

	return contradicted * of <= both &&
	       (!policy_is_ordered(policy) || both >= of);
}

static bool is_consistent(const struct worker *w, enum policy policy, u64 of)
{
	return are_few(w, policy, w->contradicted[policy], of);
}

/* Whether one known end suffices, assuming it is wrong as often as both contradict */
static bool one_end_suffices(const struct worker *w)
{
	u64 agreed = w->agreed[w->policy], single = w->single[w->policy];
	/* Those with several requests in common show nothing about that */
	u64 contradicted = w->contradicted[w->policy] - w->undecided;

	if (are_few(w, w->policy, contradicted, CONTRADICTIONS))
		return true;
	return are_few(w, w->policy, contradicted, MORE_CONTRADICTIONS) &&
	       (double)single * contradicted * WRONG_PARENTS <=
		       (double)(agreed + contradicted) * (agreed + single);
}

static bool is_reliable(const struct request_state *s)
{
	/* Its ends may agree by chance */
	if (s->passed_on && s->sender->contradicts)
		return false;
	return (candidates_known(&s->causes) &&
		candidates_known(&s->continued)) ||
	       one_end_suffices(s->sender);
}

/* Return: whether more is known than before */
static bool attribute_requests(struct causality *c)
{
	bool more = false;
	u32 i, owner;

	compare_ends(c);
	for (i = 0; i < c->listed; i++) {
		struct request_state *s = &c->request_state[i];

		if (!s->sender)
			continue;
		owner = NONE;
		if (!c->list[i].multiplexed && s->made_for != NONE)
			owner = s->made_for;
		else if (!c->list[i].multiplexed && is_reliable(s))
			owner = common_parent(c, s, causality_sent_at(c, i));
		more |= owner != s->owner;
		s->owner = owner;
		s->sender->nr_sent++;
		s->sender->attributed[s->sender->policy] += owner != NONE;
	}
	return more;
}

/* Repeat until nothing changes */
static void run_passes(struct causality *c, bool last)
{
	bool more = true;
	u64 i;
	int pass;

	for (i = 0; i < c->nr; i++)
		c->request_state[i].owner = NONE;
	c->last_pass = false;
	for (pass = 0; pass < PASSES && !c->last_pass && (more || last);
	     pass++) {
		c->last_pass = last && (!more || pass == PASSES - 1);
		begin_pass(c);
		for (i = 0; i < c->nr_events; i++)
			causality_handle_event(c, &c->event[i]);
		more = attribute_requests(c);
	}
}

/* Whether the ends contradict each other no more often under one policy than another */
static bool is_as_consistent(const struct worker *w, enum policy policy,
			     enum policy as)
{
	u64 nr = w->agreed[policy] + w->contradicted[policy];
	u64 of = w->agreed[as] + w->contradicted[as];

	return (double)w->contradicted[policy] * of <=
	       (double)w->contradicted[as] * nr;
}

static bool is_better(const struct worker *w, enum policy policy,
		      enum policy than)
{
	return is_consistent(w, policy, ORDERED_MIN) &&
	       w->attributed[policy] >
		       w->attributed[than] + w->attributed[than] / GAIN_MIN;
}

static enum policy best_policy(const struct worker *w)
{
	enum policy best = is_as_consistent(w, POLICY_STRICT, POLICY_LOOSE) ?
				   POLICY_STRICT :
				   POLICY_LOOSE;

	if (is_better(w, POLICY_ORDERED, best))
		best = POLICY_ORDERED;
	if (is_better(w, POLICY_REQUESTS_ORDERED, best))
		best = POLICY_REQUESTS_ORDERED;
	return is_better(w, POLICY_COMPLETE, best) ? POLICY_COMPLETE : best;
}

/* A thread that acts on each input before the next one has
 * nearly all requests attributed
 */
static bool is_strict(const struct worker *w)
{
	return !w->contradicted[POLICY_STRICT] &&
	       (w->nr_sent - w->attributed[POLICY_STRICT]) * CONTRADICTIONS <=
		       w->nr_sent;
}

/* Try a policy for all threads whose policy is unknown */
static bool try_policy(struct causality *c, enum policy policy)
{
	struct worker *w;
	bool any = false;
	u32 i;

	hash_for_each(&c->workers, i, w) {
		/* Order refers to inputs between two polls */
		if (is_strict(w) || (policy != POLICY_LOOSE && !w->polls &&
				     (policy != POLICY_COMPLETE || !w->async)))
			continue;
		w->policy = policy;
		any = true;
	}
	if (any)
		run_passes(c, false);
	return any;
}

static void choose_policies(struct causality *c)
{
	struct worker *w;
	u32 i;

	hash_for_each(&c->workers, i, w) {
		if (!is_strict(w))
			w->policy = best_policy(w);
	}
}

/*
 * Find threads whose requests wait for one another: those whose ends contradict, or with
 * a parent for less than half of what they sent
 */
static void find_queues(struct causality *c)
{
	struct worker *w;
	u32 i;

	hash_for_each(&c->workers, i, w) {
		w->contradicts = w->contradicted[w->policy] >= ORDERED_MIN &&
				 !is_consistent(w, w->policy, ORDERED_MIN);
		w->queues = w->contradicts ||
			    (w->nr_sent >= 2 * ORDERED_MIN &&
			     w->attributed[w->policy] * 2 < w->nr_sent);
	}
}

/**
 * causality_new - find out which request each thread works for
 * @m:	model, after requests_finish(), with single requests and a log
 *
 * Return: causality, to be freed with causality_free().
 */
struct causality *causality_new(const struct model *m)
{
	struct causality *c = xzalloc(sizeof(*c));
	u64 n;

	c->m = m;
	c->list = requests_list(m->requests, &c->listed);
	c->unclear = requests_unclear(m->requests, &n);
	c->nr = c->listed + n;
	c->request_state = xzalloc((c->nr + 1) * sizeof(*c->request_state));
	causality_collect_events(c);
	run_passes(c, false);
	if (try_policy(c, POLICY_LOOSE)) {
		try_policy(c, POLICY_ORDERED);
		try_policy(c, POLICY_REQUESTS_ORDERED);
		try_policy(c, POLICY_COMPLETE);
		choose_policies(c);
	}
	find_queues(c);
	run_passes(c, true);
	return c;
}

/**
 * causality_parent - find the parent of a request
 * @c:		causality
 * @r:		number of the request in requests_list()
 * @known:	set to whether there are any candidates
 *
 * Return: the parent, or NULL if unknown.
 */
struct request *causality_parent(const struct causality *c, u64 r, bool *known)
{
	const struct request_state *s = &c->request_state[r];

	*known = s->causes.nr || s->continued.nr;
	/* The parent is an unclear request, or has no end */
	if (s->owner == NONE || s->owner >= c->listed ||
	    !c->list[s->owner].answered)
		return NULL;
	return &c->list[s->owner];
}

/* Return: the thread, or NULL if it never worked for a known request */
static const struct worker *worker_at(const struct causality *c, u32 host,
				      s32 pid)
{
	u64 hash = hash_pair(host, pid);
	const struct worker *w;

	hash_for_each_possible_entry(&c->workers, hash, w) {
		if (w->host == host && w->pid == pid)
			return w->spans ? w : NULL;
	}
	return NULL;
}

/**
 * causality_queued - whether a request is of a thread whose requests wait for one another
 * @c:		causality
 * @r:		number of the request in requests_list()
 *
 * Return: true if the thread's requests seem to wait for one another.
 */
bool causality_queued(const struct causality *c, u64 r)
{
	const struct worker *w = c->request_state[r].sender;

	return w && w->queues;
}

/**
 * causality_has_worked - whether a thread has worked for any request
 * @c:		causality
 * @host:	number of the host
 * @pid:	thread
 *
 * Return: whether it has.
 */
bool causality_has_worked(const struct causality *c, u32 host, s32 pid)
{
	return worker_at(c, host, pid);
}

/**
 * causality_request_at - which request a thread works for
 * @c:		causality
 * @host:	number of the host
 * @pid:	thread
 * @time:	time, ns of the host
 *
 * Return: the request, or NULL if unknown.
 */
const struct request *causality_request_at(const struct causality *c, u32 host,
					   s32 pid, u64 time)
{
	const struct worker *w = worker_at(c, host, pid);
	u64 after = w ? FIRST(i, 0, w->spans, w->span[i].time > time) : 0;
	const struct work_span *span = after ? &w->span[after - 1] : NULL;

	if (!span || span->request == NONE)
		return NULL;
	/* A response by another thread ends the work of this one, too */
	if (!span->answered && !causality_in_progress(c, span->request, time))
		return NULL;
	return causality_request(c, span->request);
}

/**
 * causality_free - free causality
 * @c:	causality, or NULL
 */
void causality_free(struct causality *c)
{
	struct channel *ch;
	struct worker *w;
	u32 i;

	if (!c)
		return;
	hash_for_each(&c->workers, i, w) {
		free(w->input);
		free(w->waiting);
		free(w->received);
		free(w->span);
	}
	hash_free(&c->workers);
	hash_for_each(&c->channels, i, ch)
		free(ch->pipe_write);
	hash_free(&c->channels);
	free(c->event);
	free(c->request_state);
	free(c);
}
