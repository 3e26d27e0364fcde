// SPDX-License-Identifier: GPL-2.0
/*
 * The clocks of hosts, from messages between them.
 *
 * Let x(t) be the time of the reference's clock when a host's clock shows t, and
 * o(t) = x(t) - t. What is known of o:
 *
 *  - nothing is received before it was sent: x_s <= x_r, so for a message that one
 *    host sends at s of its clock and another one has at r of its own
 *	o_s(s) <= o_r(r) + (r - s)
 *  - rates differ by at most rho: |o(b) - o(a)| <= rho * |b - a| on each host
 *  - o = 0 on the reference.
 *
 * All of these are differences of two unknowns with a limit, so the largest o that
 * agrees with all of them is a shortest path from the reference over the times at which
 * messages were sent or received, and the smallest one likewise (Cormen et al.,
 * Introduction to Algorithms, "Difference constraints and shortest paths"). The truth
 * is one of the solutions, so it is between those two, over whatever hosts the messages
 * went. Solutions are a convex set: the middle of both is one as well, so times that are
 * converted with it have no effect before its cause, and clocks that do not run backwards.
 *
 * Where one line lies between both, the hosts' rates can have been constant. Which lines
 * do is seen at the vertices of the convex hulls (Moon, Skelly, Towsley, Estimation and
 * Removal of Clock Skew from Network Delay Measurements, INFOCOM 1999).
 */
#include <math.h>
#include <stdlib.h>

#include "clocks.h"
#include "ioreq.h"

/* Later times are damage: 73 years. Sums of two and what clocks drift fit into 64 bits */
#define TIME_LIMIT (1ull << 61)
#define UNKNOWN (1ll << 62)

#define PPM 1000000

/* Messages say too little to bring it to an end, or contradict each other */
#define MAX_ROUNDS 1000

/* A clock's time is up to a ns old, and drift is rounded: per message of a path, ns */
#define ROUNDING 2

/* So many messages one way are looked through for those that tell something */
#define MANY_MESSAGES 65536

/**
 * struct sent - a message
 * @sent:	when, ns of the sender
 * @received:	when, ns of the receiver
 */
struct sent {
	u64 sent;
	u64 received;
};

/**
 * struct way - messages one way, without those that tell nothing
 * @message:	they
 * @nr:		how many
 * @room:	for so many
 * @limit:	at so many it is time to look through them
 */
struct way {
	struct sent *message;
	u64 nr;
	u64 room;
	u64 limit;
};

/**
 * struct pair - two hosts with messages
 * @host:	both, the lower number first
 * @way:	messages from either one
 * @contradicts: no two clocks can have shown their times
 * @next:	of the same first host
 */
struct pair {
	u32 host[2];
	struct way way[2];
	bool contradicts;
	struct pair *next;
};

/**
 * struct node - what is known of o at a time of a host
 * @time:	it
 * @low:	o is not less
 * @high:	o is not greater
 */
struct node {
	u64 time;
	s64 low;
	s64 high;
};

/**
 * struct edge - a message between nodes
 * @sender:	where it was sent
 * @receiver:	where it was received
 * @delay:	by the clocks of both, ns
 */
struct edge {
	struct node *sender;
	struct node *receiver;
	s64 delay;
};

/**
 * struct host_clock - a host
 * @clock:	what is told of it
 * @pair:	its messages with hosts of higher numbers
 * @node:	what is known, by time
 * @nr:		how many
 * @slack:	what bounds have to be widened by, ns
 * @first:	time of the first message
 * @last:	of the last one
 */
struct host_clock {
	struct clock clock;
	struct pair *pair;
	struct node *node;
	u64 nr;
	u64 slack;
	u64 first;
	u64 last;
};

/**
 * struct clocks - see clocks_new()
 * @drift:	rates differ by at most so many ppm
 * @hosts:	how many
 * @host:	they
 * @edge:	messages between nodes of the hosts
 * @edges:	how many
 */
struct clocks {
	u32 drift;
	u32 hosts;
	struct host_clock *host;
	struct edge *edge;
	u64 edges;
};

/* So many millionths of a time. Rounded down: the difference of two is that of a chain */
static u64 millionths(u64 time, u64 ppm)
{
	return time / PPM * ppm + time % PPM * ppm / PPM;
}

/**
 * clocks_new - no messages yet
 * @hosts: how many there are
 * @drift: by how much at most their rates differ from the reference's, ppm, from 1 to
 * CLOCKS_MAX_DRIFT
 *
 * Return: that; clocks_free() frees it.
 */
struct clocks *clocks_new(u32 hosts, u32 drift)
{
	struct clocks *c = allocate(sizeof(*c));

	c->drift = drift;
	c->hosts = hosts;
	c->host = allocate((hosts + 1ull) * sizeof(*c->host));
	return c;
}

/* ------------------------------------------------------------------------- */
/* Messages */

static int by_sent(const void *a, const void *b)
{
	const struct sent *x = a, *y = b;

	if (x->sent != y->sent)
		return x->sent < y->sent ? -1 : 1;
	return (x->received > y->received) - (x->received < y->received);
}

static s64 delay_of(const struct sent *m)
{
	return (s64)m->received - (s64)m->sent;
}

/*
 * Keep of messages in order those that are not implied by one before them.
 *
 * o_s(s) <= o_r(r) + d follows from another one, of delay e, if the way from s over
 * that one to r is no longer: rho |s - s'| + e + rho |r - r'| <= d. Because r - s = d,
 * that is so if e + 2 rho / (1 - rho) |s - s'| <= d.
 */
static u64 keep_telling(struct sent *m, u64 nr, u64 ppm)
{
	u64 i, kept = 0;
	s64 best = 0;
	u64 at = 0;

	for (i = 0; i < nr; i++) {
		u64 apart = m[i].sent > at ? m[i].sent - at : at - m[i].sent;
		s64 limit = best + (s64)millionths(apart, ppm);

		/* Rounding must not make those that are left out tell something */
		if (i && delay_of(&m[i]) >= limit + 4)
			continue;
		if (!i || delay_of(&m[i]) < limit) {
			best = delay_of(&m[i]);
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

static void thin_out(struct way *w, u32 drift)
{
	u64 ppm = 2ull * PPM * drift / (PPM - drift) + 1;

	if (!w->nr)
		return;
	qsort(w->message, w->nr, sizeof(*w->message), by_sent);
	w->nr = keep_telling(w->message, w->nr, ppm);
	reverse(w->message, w->nr);
	w->nr = keep_telling(w->message, w->nr, ppm);
	reverse(w->message, w->nr);
}

static struct pair *find_pair(struct clocks *c, u32 low, u32 high)
{
	struct pair *p;

	for (p = c->host[low].pair; p; p = p->next) {
		if (p->host[1] == high)
			return p;
	}
	p = allocate(sizeof(*p));
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
 * clocks_message - a message went from a host to another one
 * @c: clocks
 * @from: number of the sender
 * @sent: not later than when it was sent, ns of that host's CLOCK_MONOTONIC
 * @to: number of the receiver
 * @received: not before it was received, ns of that one's
 *
 * Messages within a host, and times that no clock shows, are left out.
 */
void clocks_message(struct clocks *c, u32 from, u64 sent, u32 to, u64 received)
{
	bool down = from > to;
	struct way *w;

	if (from == to || sent >= TIME_LIMIT || received >= TIME_LIMIT)
		return;
	count_message(&c->host[from], sent);
	count_message(&c->host[to], received);
	w = &find_pair(c, down ? to : from, down ? from : to)->way[down];
	w->message = grow(w->message, w->nr, &w->room, sizeof(*w->message));
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

/* ------------------------------------------------------------------------- */
/* Shortest paths */

static int by_node(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

static void free_graph(struct clocks *c)
{
	u32 i;

	for (i = 0; i < c->hosts; i++) {
		free(c->host[i].node);
		c->host[i].node = NULL;
		c->host[i].nr = 0;
	}
	free(c->edge);
	c->edge = NULL;
	c->edges = 0;
}

static bool is_used(const struct clocks *c, const struct pair *p,
		    const struct pair *only)
{
	return only ? p == only :
		      !p->contradicts &&
			       c->host[p->host[0]].clock.reference ==
				       c->host[p->host[1]].clock.reference;
}

static struct node *find_node(const struct host_clock *h, u64 time)
{
	struct node key = { .time = time };

	return bsearch(&key, h->node, h->nr, sizeof(*h->node), by_node);
}

static void add_nodes(struct clocks *c, const struct pair *p, u32 from)
{
	struct host_clock *sender = &c->host[p->host[from]];
	struct host_clock *receiver = &c->host[p->host[!from]];
	const struct way *w = &p->way[from];
	u64 i;

	for (i = 0; i < w->nr; i++) {
		sender->node[sender->nr++].time = w->message[i].sent;
		receiver->node[receiver->nr++].time = w->message[i].received;
	}
}

static void add_edges(struct clocks *c, const struct pair *p, u32 from)
{
	const struct way *w = &p->way[from];
	u64 i;

	for (i = 0; i < w->nr; i++) {
		const struct sent *m = &w->message[i];

		c->edge[c->edges++] = (struct edge){
			.sender = find_node(&c->host[p->host[from]], m->sent),
			.receiver = find_node(&c->host[p->host[!from]],
					      m->received),
			.delay = delay_of(m),
		};
	}
}

/* Each time once, in order */
static void order_nodes(struct host_clock *h, bool is_reference)
{
	u64 i, nr = 0;

	qsort(h->node, h->nr, sizeof(*h->node), by_node);
	for (i = 0; i < h->nr; i++) {
		if (nr && h->node[nr - 1].time == h->node[i].time)
			continue;
		h->node[nr++] = (struct node){
			.time = h->node[i].time,
			.low = is_reference ? 0 : -UNKNOWN,
			.high = is_reference ? 0 : UNKNOWN,
		};
	}
	h->nr = nr;
}

static u32 reference_of(const struct clocks *c, u32 host,
			const struct pair *only)
{
	return only ? only->host[0] : c->host[host].clock.reference;
}

/* Of one pair, or of all that can be used */
static void make_graph(struct clocks *c, const struct pair *only)
{
	struct pair *p;
	u64 edges = 0;
	u64 *room = allocate((c->hosts + 1ull) * sizeof(*room));
	u32 i;

	free_graph(c);
	for (i = 0; i < c->hosts; i++) {
		for (p = c->host[i].pair; p; p = p->next) {
			u64 nr = p->way[0].nr + p->way[1].nr;

			if (!is_used(c, p, only))
				continue;
			room[p->host[0]] += nr;
			room[p->host[1]] += nr;
			edges += nr;
		}
	}
	for (i = 0; i < c->hosts; i++) {
		if (room[i])
			c->host[i].node =
				allocate(room[i] * sizeof(*c->host[i].node));
	}
	free(room);
	for (i = 0; i < c->hosts; i++) {
		for (p = c->host[i].pair; p; p = p->next) {
			if (!is_used(c, p, only))
				continue;
			add_nodes(c, p, 0);
			add_nodes(c, p, 1);
		}
	}
	for (i = 0; i < c->hosts; i++) {
		if (c->host[i].nr)
			order_nodes(&c->host[i], i == reference_of(c, i, only));
	}
	c->edge = allocate((edges + 1) * sizeof(*c->edge));
	for (i = 0; i < c->hosts; i++) {
		for (p = c->host[i].pair; p; p = p->next) {
			if (!is_used(c, p, only))
				continue;
			add_edges(c, p, 0);
			add_edges(c, p, 1);
		}
	}
}

/* Return: something has become better known */
static bool lower(s64 *high, s64 value)
{
	if (value >= *high)
		return false;
	*high = value < -UNKNOWN ? -UNKNOWN : value;
	return true;
}

static bool raise(s64 *low, s64 value)
{
	if (value <= *low)
		return false;
	*low = value > UNKNOWN ? UNKNOWN : value;
	return true;
}

static bool over_messages(struct clocks *c)
{
	bool better = false;
	u64 i;

	for (i = 0; i < c->edges; i++) {
		const struct edge *e = &c->edge[i];

		if (e->receiver->high < UNKNOWN)
			better |= lower(&e->sender->high,
					e->receiver->high + e->delay);
		if (e->sender->low > -UNKNOWN)
			better |= raise(&e->receiver->low,
					e->sender->low - e->delay);
	}
	return better;
}

static bool along_clock(struct node *to, const struct node *from, u32 drift)
{
	s64 a = millionths(from->time, drift), b = millionths(to->time, drift);
	s64 apart = a < b ? b - a : a - b;
	bool better = false;

	if (from->high < UNKNOWN)
		better |= lower(&to->high, from->high + apart);
	if (from->low > -UNKNOWN)
		better |= raise(&to->low, from->low - apart);
	return better;
}

static bool along_clocks(struct clocks *c)
{
	bool better = false;
	u32 i;
	u64 j;

	for (i = 0; i < c->hosts; i++) {
		struct host_clock *h = &c->host[i];

		for (j = 1; j < h->nr; j++)
			better |= along_clock(&h->node[j], &h->node[j - 1],
					      c->drift);
		for (j = h->nr; j-- > 1;)
			better |= along_clock(&h->node[j - 1], &h->node[j],
					      c->drift);
	}
	return better;
}

static bool contradicts(const struct host_clock *h)
{
	u64 i;

	for (i = 0; i < h->nr; i++) {
		if (h->node[i].low > h->node[i].high)
			return true;
	}
	return false;
}

static bool any_contradicts(const struct clocks *c)
{
	u32 i;

	for (i = 0; i < c->hosts; i++) {
		if (contradicts(&c->host[i]))
			return true;
	}
	return false;
}

/*
 * Bellman and Ford, with all of a host's times in one go: it takes as many rounds as
 * hosts are between one and the reference, and seldom one more.
 *
 * Return: in how many, or 0 if there is no solution.
 */
static u32 solve(struct clocks *c)
{
	u32 round;

	for (round = 1; round <= MAX_ROUNDS; round++) {
		bool better = over_messages(c);

		better |= along_clocks(c);
		if (any_contradicts(c))
			return 0;
		if (!better)
			return round;
	}
	return 0;
}

/* ------------------------------------------------------------------------- */
/* Which hosts can be compared */

/* To whom messages of a host came, over any others, or from whom messages came to it */
static void spread(const struct clocks *c, bool *reached, bool forward)
{
	bool more = true;
	struct pair *p;
	u32 i, way;

	while (more) {
		more = false;
		for (i = 0; i < c->hosts; i++) {
			for (p = c->host[i].pair; p; p = p->next) {
				for (way = 0; way < 2; way++) {
					u32 from = p->host[way ^ !forward];
					u32 to = p->host[!way ^ !forward];

					if (p->contradicts || !p->way[way].nr ||
					    !reached[from] || reached[to])
						continue;
					reached[to] = more = true;
				}
			}
		}
	}
}

/* Hosts that have messages to and from each other, over any others */
static void find_references(struct clocks *c)
{
	bool *to = allocate(c->hosts + 1ull), *from = allocate(c->hosts + 1ull);
	bool *done = allocate(c->hosts + 1ull);
	u32 i, j;

	for (i = 0; i < c->hosts; i++) {
		if (done[i])
			continue;
		for (j = 0; j < c->hosts; j++)
			to[j] = from[j] = i == j;
		spread(c, to, true);
		spread(c, from, false);
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

/* ------------------------------------------------------------------------- */
/* What is told of a host */

/**
 * struct point - a vertex of a hull
 * @t:	time since the host's first node, ns
 * @o:	offset, less the one there, ns
 */
struct point {
	double t;
	double o;
};

/**
 * struct hulls - of the lowest and highest offsets
 * @low:	upper hull of the lowest ones
 * @lows:	how many
 * @high:	lower hull of the highest ones
 * @highs:	how many
 */
struct hulls {
	struct point *low;
	u64 lows;
	struct point *high;
	u64 highs;
};

static double turn(const struct point *a, const struct point *b,
		   const struct point *c)
{
	return (b->t - a->t) * (c->o - a->o) - (b->o - a->o) * (c->t - a->t);
}

/* Andrew's monotone chain; @sign: 1 for a lower hull, -1 for an upper one */
static u64 add_point(struct point *hull, u64 nr, struct point p, int sign)
{
	while (nr > 1 && sign * turn(&hull[nr - 2], &hull[nr - 1], &p) <= 0)
		nr--;
	hull[nr] = p;
	return nr + 1;
}

static void make_hulls(struct hulls *hulls, const struct host_clock *h)
{
	u64 i;

	hulls->low = allocate(h->nr * sizeof(*hulls->low));
	hulls->high = allocate(h->nr * sizeof(*hulls->high));
	hulls->lows = hulls->highs = 0;
	for (i = 0; i < h->nr; i++) {
		double t = h->node[i].time - h->node->time;
		struct point low = { t, h->node[i].low - h->node->low };
		struct point high = { t, h->node[i].high - h->node->low };

		hulls->lows = add_point(hulls->low, hulls->lows, low, -1);
		hulls->highs = add_point(hulls->high, hulls->highs, high, 1);
	}
}

/* How far lines of a slope can be moved between the hulls; less than 0: there is none.
 * Concave in the slope
 */
static double room_for(const struct hulls *h, double slope)
{
	double low = -INFINITY, high = INFINITY;
	u64 i;

	for (i = 0; i < h->lows; i++)
		low = fmax(low, h->low[i].o - slope * h->low[i].t);
	for (i = 0; i < h->highs; i++)
		high = fmin(high, h->high[i].o - slope * h->high[i].t);
	return high - low;
}

static double best_slope(const struct hulls *h, double most)
{
	double a = -most, b = most;
	int i;

	for (i = 0; i < 200; i++) {
		double x = a + (b - a) / 3, y = b - (b - a) / 3;

		if (room_for(h, x) < room_for(h, y))
			a = x;
		else
			b = y;
	}
	return (a + b) / 2;
}

/* The last slope from one that fits towards another that does not */
static double last_slope(const struct hulls *h, double fits, double beyond)
{
	int i;

	if (room_for(h, beyond) >= 0)
		return beyond;
	for (i = 0; i < 100; i++) {
		double mid = (fits + beyond) / 2;

		if (room_for(h, mid) >= 0)
			fits = mid;
		else
			beyond = mid;
	}
	return fits;
}

static void set_drift(struct host_clock *h, u32 drift)
{
	const struct node *first = h->node, *last = &h->node[h->nr - 1];
	double most = (double)drift / PPM, best, low, high;
	double apart = last->time - first->time;
	struct hulls hulls;

	make_hulls(&hulls, h);
	best = best_slope(&hulls, most);
	h->clock.steady = room_for(&hulls, best) >= 0;
	if (h->clock.steady) {
		low = last_slope(&hulls, best, -most);
		high = last_slope(&hulls, best, most);
	} else {
		low = fmax((last->low - first->high) / apart, -most);
		high = fmin((last->high - first->low) / apart, most);
	}
	/* What the reference gains on it, it loses; and nothing is not -0 */
	h->clock.drift = 0 - (low + high) / 2 * PPM;
	/* Its own second is not the reference's: second order */
	h->clock.drift_bound = (high - low) / 2 * PPM + most * most * PPM;
	free(hulls.low);
	free(hulls.high);
}

static u64 bound_of(const struct host_clock *h, const struct node *n)
{
	return ((u64)(n->high - n->low) + 1) / 2 + h->slack;
}

/* What is known at a time, from the times next to it */
static struct node at_time(const struct host_clock *h, u64 time, u32 drift)
{
	struct node n = { .time = time, .low = -UNKNOWN, .high = UNKNOWN };
	u64 low = 0, high = h->nr;

	while (low < high) {
		u64 mid = (low + high) / 2;

		if (h->node[mid].time > time)
			high = mid;
		else
			low = mid + 1;
	}
	if (low)
		along_clock(&n, &h->node[low - 1], drift);
	if (low < h->nr)
		along_clock(&n, &h->node[low], drift);
	return n;
}

/* Between two times both limits are highest where what they say meets: no more than
 * half the way's drift above the mean of both
 */
static u64 worst_between(const struct host_clock *h, const struct node *a,
			 const struct node *b, u32 drift)
{
	u64 widths = (u64)(a->high - a->low) + (u64)(b->high - b->low);
	u64 way = millionths(b->time, drift) - millionths(a->time, drift);

	return (widths / 2 + way + 2) / 2 + h->slack;
}

static void set_worst(struct host_clock *h, u32 drift)
{
	struct node first = at_time(h, h->first, drift);
	struct node last = at_time(h, h->last, drift);
	u64 worst = bound_of(h, &first), bound = bound_of(h, &last), i;

	for (i = 0; i < h->nr; i++) {
		worst = bound > worst ? bound : worst;
		if (i + 1 < h->nr)
			bound = worst_between(h, &h->node[i], &h->node[i + 1],
					      drift);
	}
	h->clock.worst = worst;
}

static void set_clock(struct host_clock *h, u32 drift)
{
	const struct node *best = h->node;
	u64 i;

	for (i = 1; i < h->nr; i++) {
		if (bound_of(h, &h->node[i]) < bound_of(h, best))
			best = &h->node[i];
	}
	h->clock.at = best->time;
	h->clock.offset = -((best->low + best->high) >> 1);
	h->clock.bound = bound_of(h, best);
	set_worst(h, drift);
	set_drift(h, drift);
}

static void thin_all(struct clocks *c)
{
	struct pair *p;
	u32 i;

	for (i = 0; i < c->hosts; i++) {
		for (p = c->host[i].pair; p; p = p->next) {
			thin_out(&p->way[0], c->drift);
			thin_out(&p->way[1], c->drift);
		}
	}
}

/* Two hosts that contradict each other do not spoil the others */
static void leave_out_contradictions(struct clocks *c)
{
	struct pair *p;
	u32 i;

	for (i = 0; i < c->hosts; i++) {
		for (p = c->host[i].pair; p; p = p->next) {
			if (p->contradicts)
				continue;
			make_graph(c, p);
			p->contradicts = !solve(c);
		}
	}
}

/* None of them does with another one, but all together do */
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
	make_graph(c, NULL);
	return solve(c);
}

/**
 * clocks_finish - all messages are there
 * @c: clocks
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
		set_clock(h, c->drift);
	}
	free(c->edge);
	c->edge = NULL;
	for (i = 0; i < c->hosts; i++) {
		struct pair *p;

		for (p = c->host[i].pair; p; p = p->next) {
			free(p->way[0].message);
			free(p->way[1].message);
			p->way[0].message = p->way[1].message = NULL;
		}
	}
}

/**
 * clocks_get - what is known of a host's clock
 * @c: clocks, after clocks_finish()
 * @host: its number
 *
 * Return: that; until clocks_free().
 */
const struct clock *clocks_get(const struct clocks *c, u32 host)
{
	return &c->host[host].clock;
}

/**
 * clocks_common - a host's time by the clock of its reference
 * @c: clocks, after clocks_finish()
 * @host: its number
 * @time: ns of its CLOCK_MONOTONIC
 * @common: set to the time of the reference's CLOCK_MONOTONIC, ns
 * @bound: set to how far the true time is away from @common at most, ns
 *
 * Times of hosts can be compared if clocks_get() names the same reference for both.
 * A message's end is not before its begin then, and of two times of a host the later one
 * is later.
 *
 * Return: false if nothing is known of the clock, or no clock shows such a time.
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
	n = at_time(h, time, c->drift);
	*common = (s64)time + ((n.low + n.high) >> 1);
	*bound = bound_of(h, &n);
	return true;
}

/**
 * clocks_to_reference - a host's time by the first host's clock
 * @c: clocks, after clocks_finish()
 * @host: its number
 * @time: ns of its CLOCK_MONOTONIC
 * @common: set to the time of the first host's CLOCK_MONOTONIC, ns
 * @bound: set to how far the true time is away from @common at most, ns
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
 * clocks_free - free all of it
 * @c: clocks
 */
void clocks_free(struct clocks *c)
{
	struct pair *p;
	u32 i;

	if (!c)
		return;
	free_graph(c);
	for (i = 0; i < c->hosts; i++) {
		while ((p = c->host[i].pair)) {
			c->host[i].pair = p->next;
			free(p->way[0].message);
			free(p->way[1].message);
			free(p);
		}
	}
	free(c->host);
	free(c);
}
