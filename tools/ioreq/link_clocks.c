// SPDX-License-Identifier: GPL-2.0
/*
 * Alignment of the hosts' clocks, from the messages between them.
 *
 * Let x(t) be the time of the reference's clock when a host's clock shows t, and o(t) =
 * x(t) - t. What is known of o:
 *
 *  - nothing is received before it was sent: x_s <= x_r, so for a message that one
 *    host sends at s of its clock and another one receives at r of its own
 *        o_s(s) <= o_r(r) + (r - s)
 *  - rates differ by at most rho: |o(b) - o(a)| <= rho * |b - a| on each host
 *  - o = 0 on the reference.
 *
 * All of these are differences of two unknowns with a limit, so the largest o that
 * agrees with all of them is a shortest path from the reference over the times at which
 * messages were sent or received, and the smallest one likewise (Cormen et al.,
 * Introduction to Algorithms, "Difference constraints and shortest paths"). The truth
 * is one of the solutions, so it is between those two, for any route of the messages.
 * Solutions are a convex set, so the midpoint of two is a solution as well: with times
 * converted by it, no message is received before it was sent and no clock runs
 * backwards.
 *
 * If one straight line fits between both, the hosts' rates can have been constant.
 * Which slopes fit is seen at the vertices of the convex hulls (Moon, Skelly, Towsley,
 * Estimation and Removal of Clock Skew from Network Delay Measurements, INFOCOM 1999).
 */
#include <stdlib.h>

#include "link_clocks.h"
#include "order.h"

/* A clock's time is up to 1 ns old, and drift is rounded: ns
 * for each message of a path
 */
#define ROUNDING 2

/* Number of messages in one direction at which messages that others imply are removed */
#define MANY_MESSAGES 65536

/**
 * clocks_new - create an alignment without messages
 * @hosts:	number of hosts
 * @drift:	maximum difference of a host's rate from the reference's, ppm, 1 to
 *		CLOCKS_MAX_DRIFT
 *
 * Return: the alignment, to be freed with clocks_free().
 */
struct clocks *clocks_new(u32 hosts, u32 drift)
{
	struct clocks *c = xzalloc(sizeof(*c));

	c->drift = drift;
	c->hosts = hosts;
	c->host = xzalloc((hosts + 1ull) * sizeof(*c->host));
	return c;
}

static int by_sent(const void *a, const void *b)
{
	const struct sent *x = a, *y = b;

	return ORDER(x->sent, y->sent) ?: ORDER(x->received, y->received);
}

/*
 * Keep the messages that are not implied by an earlier one in the array.
 *
 * o_s(s) <= o_r(r) + d follows from another message, of delay e, if the path from s
 * over that one to r is no longer: rho |s - s'| + e + rho |r - r'| <= d. Because r - s
 * = d, that is so if e + 2 rho / (1 - rho) |s - s'| <= d.
 */
static u64 keep_binding(struct sent *m, u64 nr, u64 ppm)
{
	u64 i, kept = 0;
	s64 best = 0;
	u64 at = 0;

	for (i = 0; i < nr; i++) {
		u64 apart = m[i].sent > at ? m[i].sent - at : at - m[i].sent;
		s64 limit = best + (s64)clocks_millionths(apart, ppm);

		/* Rounding must not remove a message that is not implied */
		if (i && message_delay(&m[i]) >= limit + 4)
			continue;
		if (!i || message_delay(&m[i]) < limit) {
			best = message_delay(&m[i]);
			at = m[i].sent;
		}
		m[kept++] = m[i];
	}
	return kept;
}

static void reverse(struct sent *m, u64 nr)
{
	u64 i;

	for (i = 0; i < nr / 2; i++) {
		struct sent swap = m[i];

		m[i] = m[nr - 1 - i];
		m[nr - 1 - i] = swap;
	}
}

static void thin_out(struct direction *w, u32 drift)
{
	u64 ppm = 2ull * PPM * drift / (PPM - drift) + 1;

	if (!w->nr)
		return;
	qsort(w->message, w->nr, sizeof(*w->message), by_sent);
	w->nr = keep_binding(w->message, w->nr, ppm);
	reverse(w->message, w->nr);
	w->nr = keep_binding(w->message, w->nr, ppm);
	reverse(w->message, w->nr);
}

static struct pair *find_pair(struct clocks *c, u32 low, u32 high)
{
	struct pair *p;

	for (p = c->host[low].pair; p; p = p->next) {
		if (p->host[1] == high)
			return p;
	}
	p = xzalloc(sizeof(*p));
	p->host[0] = low;
	p->host[1] = high;
	p->next = c->host[low].pair;
	c->host[low].pair = p;
	return p;
}

static void count_message(struct host_clock *h, u64 time)
{
	if (!h->clock.messages++ || time < h->first)
		h->first = time;
	if (time > h->last)
		h->last = time;
}

/**
 * clocks_message - add a message from a host to another one
 * @c:		alignment, before clocks_finish()
 * @from:	number of the sending host
 * @sent:	not later than when it was sent, ns of that host's CLOCK_MONOTONIC
 * @to:		number of the receiving host
 * @received:	not before it was received, ns of that host's CLOCK_MONOTONIC
 *
 * Messages within a host, and impossible times, are ignored.
 */
void clocks_message(struct clocks *c, u32 from, u64 sent, u32 to, u64 received)
{
	bool down = from > to;
	struct direction *w;

	if (from == to || sent >= TIME_LIMIT || received >= TIME_LIMIT)
		return;
	count_message(&c->host[from], sent);
	count_message(&c->host[to], received);
	w = &find_pair(c, down ? to : from, down ? from : to)->direction[down];
	GROW(w->message, w->nr, w->room);
	w->message[w->nr++] =
		(struct sent){ .sent = sent, .received = received };
	if (!w->limit)
		w->limit = MANY_MESSAGES;
	if (w->nr < w->limit)
		return;
	thin_out(w, c->drift);
	if (w->limit < 2 * w->nr)
		w->limit = 2 * w->nr;
}

/* Mark the hosts that messages of marked hosts reach, or, backward, that reach them */
static void reach(const struct clocks *c, bool *reached, bool forward)
{
	bool more = true;
	struct pair *p;
	u32 i, direction;

	while (more) {
		more = false;
		for (i = 0; i < c->hosts; i++) {
			for (p = c->host[i].pair; p; p = p->next) {
				for (direction = 0; direction < 2;
				     direction++) {
					u32 from =
						p->host[direction ^ !forward];
					u32 to = p->host[!direction ^ !forward];

					if (p->contradicts ||
					    !p->direction[direction].nr ||
					    !reached[from] || reached[to])
						continue;
					reached[to] = more = true;
				}
			}
		}
	}
}

/* Find the sets of hosts with messages to and from each other, over any others */
static void find_references(struct clocks *c)
{
	bool *to = xzalloc(c->hosts + 1ull), *from = xzalloc(c->hosts + 1ull);
	bool *done = xzalloc(c->hosts + 1ull);
	u32 i, j;

	for (i = 0; i < c->hosts; i++) {
		if (done[i])
			continue;
		for (j = 0; j < c->hosts; j++)
			to[j] = from[j] = i == j;
		reach(c, to, true);
		reach(c, from, false);
		for (j = i; j < c->hosts; j++) {
			if (!to[j] || !from[j])
				continue;
			c->host[j].clock.reference = i;
			done[j] = true;
		}
	}
	free(to);
	free(from);
	free(done);
}

static bool has_company(const struct clocks *c, u32 host)
{
	u32 i;

	for (i = 0; i < c->hosts; i++) {
		if (i != host &&
		    c->host[i].clock.reference == c->host[host].clock.reference)
			return true;
	}
	return false;
}

static bool has_contradiction(const struct clocks *c, u32 host)
{
	struct pair *p;
	u32 i;

	for (i = 0; i < c->hosts; i++) {
		for (p = c->host[i].pair; p; p = p->next) {
			if (p->contradicts &&
			    (p->host[0] == host || p->host[1] == host))
				return true;
		}
	}
	return false;
}

static enum clock_state state_of(const struct clocks *c, u32 host)
{
	const struct host_clock *h = &c->host[host];

	if (h->clock.reference != host)
		return CLOCK_ALIGNED;
	if (!host || has_company(c, host))
		return CLOCK_REFERENCE;
	if (has_contradiction(c, host))
		return CLOCK_CONTRADICTS;
	return h->clock.messages ? CLOCK_ONE_WAY : CLOCK_ALONE;
}

static void thin_all(struct clocks *c)
{
	struct pair *p;
	u32 i;

	for (i = 0; i < c->hosts; i++) {
		for (p = c->host[i].pair; p; p = p->next) {
			thin_out(&p->direction[0], c->drift);
			thin_out(&p->direction[1], c->drift);
		}
	}
}

/* A pair of hosts that contradict each other must not spoil the others */
static void leave_out_contradictions(struct clocks *c)
{
	struct pair *p;
	u32 i;

	for (i = 0; i < c->hosts; i++) {
		for (p = c->host[i].pair; p; p = p->next) {
			if (p->contradicts)
				continue;
			clocks_make_graph(c, p);
			p->contradicts = !clocks_solve(c);
		}
	}
}

/* No pair contradicts itself, but all together do */
static void leave_out_all(struct clocks *c)
{
	struct pair *p;
	u32 i;

	for (i = 0; i < c->hosts; i++) {
		for (p = c->host[i].pair; p; p = p->next)
			p->contradicts = true;
	}
}

static u32 solve_all(struct clocks *c)
{
	find_references(c);
	clocks_make_graph(c, NULL);
	return clocks_solve(c);
}

/**
 * clocks_finish - align the clocks
 * @c:	alignment, with all messages
 */
void clocks_finish(struct clocks *c)
{
	u32 i, rounds;

	thin_all(c);
	rounds = solve_all(c);
	if (!rounds) {
		leave_out_contradictions(c);
		rounds = solve_all(c);
	}
	if (!rounds) {
		leave_out_all(c);
		rounds = solve_all(c);
	}
	for (i = 0; i < c->hosts; i++) {
		struct host_clock *h = &c->host[i];

		h->clock.state = state_of(c, i);
		if (h->clock.state != CLOCK_ALIGNED)
			continue;
		h->slack = (u64)ROUNDING * rounds;
		clocks_set_clock(h, c->drift);
	}
	free(c->edge);
	c->edge = NULL;
	for (i = 0; i < c->hosts; i++) {
		struct pair *p;

		for (p = c->host[i].pair; p; p = p->next) {
			free(p->direction[0].message);
			free(p->direction[1].message);
			p->direction[0].message = p->direction[1].message =
				NULL;
		}
	}
}

/**
 * clocks_get - what is known of a host's clock
 * @c:		alignment, after clocks_finish()
 * @host:	number of the host
 *
 * Return: the clock, valid until clocks_free().
 */
const struct clock *clocks_get(const struct clocks *c, u32 host)
{
	return &c->host[host].clock;
}

/**
 * clocks_common - convert a host's time to the clock of its reference
 * @c:		alignment, after clocks_finish()
 * @host:	number of the host
 * @time:	ns of its CLOCK_MONOTONIC
 * @common:	set to the time of the reference's CLOCK_MONOTONIC, ns
 * @bound:	set to the error bound of @common, ns
 *
 * Times of hosts with the same reference (see clocks_get()) can be compared. In
 * converted times no message ends before it begins, and the order of a host's times
 * stays.
 *
 * Return: false if the clock is unknown, or the time impossible.
 */
bool clocks_common(const struct clocks *c, u32 host, u64 time, s64 *common,
		   u64 *bound)
{
	const struct host_clock *h = &c->host[host];
	struct node n;

	if (time >= TIME_LIMIT || (h->clock.state != CLOCK_REFERENCE &&
				   h->clock.state != CLOCK_ALIGNED))
		return false;
	if (h->clock.state == CLOCK_REFERENCE) {
		*common = time;
		*bound = 0;
		return true;
	}
	n = node_at_time(h, time, c->drift);
	*common = (s64)time + ((n.low + n.high) >> 1);
	*bound = node_bound(h, &n);
	return true;
}

/**
 * clocks_to_reference - convert a host's time to the first host's clock
 * @c:		alignment, after clocks_finish()
 * @host:	number of the host
 * @time:	ns of its CLOCK_MONOTONIC
 * @common:	set to the time of the first host's CLOCK_MONOTONIC, ns
 * @bound:	set to the error bound of @common, ns
 *
 * Return: false if that clock cannot be compared with the first host's.
 */
bool clocks_to_reference(const struct clocks *c, u32 host, u64 time,
			 s64 *common, u64 *bound)
{
	return !c->host[host].clock.reference &&
	       clocks_common(c, host, time, common, bound);
}

/**
 * clocks_free - free an alignment
 * @c:	alignment, or NULL
 */
void clocks_free(struct clocks *c)
{
	struct pair *p;
	u32 i;

	if (!c)
		return;
	clocks_free_graph(c);
	for (i = 0; i < c->hosts; i++) {
		while ((p = c->host[i].pair)) {
			c->host[i].pair = p->next;
			free(p->direction[0].message);
			free(p->direction[1].message);
			free(p);
		}
	}
	free(c->host);
	free(c);
}
